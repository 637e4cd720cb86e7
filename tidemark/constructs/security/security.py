"""Encryption with one key per stage: data, bookmarks, logs and alerts."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from weakref import WeakKeyDictionary, WeakSet

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct, IConstruct

from tidemark.constructs.shared_checks import check_free, check_no_alias, check_stage_is_here
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from tidemark.model.stage.config import StageConfig
from tidemark.model.stage.settings import CONNECTION as CONFIGURATION

_IN_USE: WeakSet[kms.IKey] = WeakSet()  # keys whose policies let the services in
# Keys whose policies let CloudWatch Logs in, and for which prefixes of log groups.
_LOGGED: WeakKeyDictionary[kms.IKey, set[str]] = WeakKeyDictionary()
# By app: account, region and name of each resource to the path of its construct.
_GROUPS: WeakKeyDictionary[IConstruct, dict[tuple[str, str, str], str]] = WeakKeyDictionary()
LOG_GROUPS = "/aws-glue/jobs/"  # prefix of all log groups of Glue


@checked
class StageKey(Construct):
    """Creates the KMS key of a stage, which is rotated every year and outlives the stack.

    Without the key nothing that it encrypted can be read, so it is never deleted with a stack.

    Attributes:
        key: the key.
    """

    def __init__(self, scope: Construct, id_: str, *, stage: StageConfig) -> None:
        check_free(scope, id_, "the key")
        check_stage_is_here("the key", cdk.Stack.of(scope), stage)
        super().__init__(scope, id_)
        self.key = kms.Key(
            self,
            "Key",
            alias=f"alias/{stage.name_of()}",
            description=f"Tidemark {stage.name}: data, bookmarks, logs and alerts",
            enable_key_rotation=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        let_services_use(self, self.key)


def let_services_use(scope: Construct, key: kms.IKey) -> None:
    """Let logs, alarms and rules of a stage use a key; warn if only its owner can allow it."""
    if key in _IN_USE:
        return
    stack = cdk.Stack.of(scope)
    # Source: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    publish = let_alerts(stack, ["kms:Decrypt", "kms:GenerateDataKey*"], "*")
    wanted = [_encrypt_logs(stack, LOG_GROUPS), *publish]
    added = [key.add_to_resource_policy(statement).statement_added for statement in wanted]
    if all(added):
        _IN_USE.add(key)
        return
    # An app can neither change nor see an imported key: without these permissions CloudFormation
    # cannot create a log group, and no alert arrives.
    cdk.Annotations.of(scope).add_warning_v2(
        "tidemark:imported-key",
        "the key is imported, so its policy is not changed: it must let CloudWatch Logs, "
        "CloudWatch and EventBridge use it as docs/security.md shows; acknowledge this once it "
        "does",
    )


def let_logs_use(scope: Construct, key: kms.IKey, groups: str = LOG_GROUPS) -> None:
    """Let CloudWatch Logs of a stack use a key; warn if only the key's owner can allow it.

    Args:
        scope: scope in the stack.
        key: the key.
        groups: prefix of the log groups.
    """
    known = _LOGGED.setdefault(key, set())
    if groups in known or (groups == LOG_GROUPS and key in _IN_USE):
        return
    known.add(groups)
    if key.add_to_resource_policy(_encrypt_logs(cdk.Stack.of(scope), groups)).statement_added:
        return
    cdk.Annotations.of(scope).add_warning_v2(
        "tidemark:imported-logs-key",
        "the key of the logs is imported, so its policy is not changed: it must let CloudWatch "
        "Logs use it as docs/security.md shows; acknowledge this once it does",
    )


def _encrypt_logs(stack: cdk.Stack, prefix: str) -> iam.PolicyStatement:
    groups = stack.format_arn(
        service="logs",
        resource="log-group",
        resource_name=f"{prefix}*",
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    return iam.PolicyStatement(
        principals=[iam.ServicePrincipal(f"logs.{stack.region}.{stack.url_suffix}")],
        actions=["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*"],
        resources=["*"],
        conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
    )


def let_alerts(
    stack: cdk.Stack, actions: Sequence[str], resource: str
) -> list[iam.PolicyStatement]:
    """Return statements that allow alarms and rules of an account actions on a key or a topic."""
    # EventBridge does not send its source: with a condition nothing arrives, and it says nothing.
    conditions = {
        "cloudwatch": {"StringEquals": {"aws:SourceAccount": stack.account}},
        "events": {},
    }
    return [
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
            actions=list(actions),
            resources=[resource],
            conditions=condition,
        )
        for service, condition in conditions.items()
    ]


class LogGroups(Enum):
    """Who creates the log groups of jobs."""

    MADE = "made"
    EXISTING = "existing"


@checked
@dataclass(frozen=True)
class ExistingSecurity:
    """An existing security configuration, in the account and region of the stack.

    The app cannot see its content. It must encrypt logs with SSE-KMS, since Glue then puts its name
    into log groups, and bookmarks with CSE-KMS. Jobs that share a network and a
    security configuration can reach each other's clusters.
    Source: https://docs.aws.amazon.com/glue/latest/dg/encryption-security-configuration.html

    Attributes:
        name: the security configuration, or its name. One of the app brings its keys.
        logs_key: its key for logs; None means the key of the pipeline.
        bookmarks_key: its key for bookmarks; likewise.
        data_key: its key for data of jobs in S3; likewise.

    Raises:
        JobDefinitionError: the name or a key is not valid.
    """

    name: glue.ISecurityConfiguration | str
    logs_key: kms.IKey | None = None
    bookmarks_key: kms.IKey | None = None
    data_key: kms.IKey | None = None

    def __post_init__(self) -> None:
        name = self.name
        if isinstance(name, glue.SecurityConfiguration):
            for kind, key in (
                ("logs_key", name.cloud_watch_encryption_key),
                ("bookmarks_key", name.job_bookmarks_encryption_key),
                ("data_key", name.s3_encryption_key),
            ):
                object.__setattr__(self, kind, getattr(self, kind) or key)
        elif isinstance(name, str) and not (
            cdk.Token.is_unresolved(name) or CONFIGURATION.fullmatch(name)
        ):
            raise JobDefinitionError(
                f"a security configuration is named {name!r}; allowed: a security configuration, "
                "or its name of 1 to 255 characters, no * ? : /; write its name"
            )
        of = f"the security configuration {self.plain_name!r}"
        for kind in ("logs_key", "bookmarks_key", "data_key"):
            check_no_alias(of, getattr(self, kind), kind)

    @property
    def plain_name(self) -> str:
        """Return the name, as a plain string where the app states it."""
        if isinstance(self.name, str):
            return self.name
        made = self.name.node.default_child
        if isinstance(made, glue.CfnSecurityConfiguration):
            return made.name
        return self.name.security_configuration_name

    @property
    def reference(self) -> str:
        """Return the name, in a form that makes jobs wait for the configuration."""
        if isinstance(self.name, str):
            return self.name
        return self.name.security_configuration_name


class JobSecurity(Construct):
    """Creates the security configuration of a pipeline, or uses an existing one.

    Jobs that share a network can reach each other's clusters unless they have different security
    configurations, so each pipeline has its own.
    Source: https://docs.aws.amazon.com/glue/latest/dg/encryption-security-configuration.html

    Attributes:
        configuration_name: the security configuration, for jobs.
        name: name of the security configuration, as a plain string.
        key_arns: its keys, for logs, bookmarks and data.
        logs_key_arn: the key of the log groups.
        log_group_prefix: `--custom-logGroup-prefix` of the jobs.
        log_retention_days: how long their logs are kept.
        log_groups: who creates them.
        is_made: False if the security configuration does not belong to this app.
        groups: the log groups that the pipeline creates, by name.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        key: kms.IKey,
        log_retention_days: int,
        existing: ExistingSecurity | None = None,
        log_groups: LogGroups = LogGroups.MADE,
    ) -> None:
        """Declare it.

        Args:
            scope: the construct that owns it.
            id_: construct id.
            name: name of the security configuration, also part of the names of the log groups.
            key: the key to encrypt with.
            log_retention_days: how long logs are kept, one of the values of CloudWatch Logs.
            existing: a security configuration to use instead.
            log_groups: MADE creates two for each job; with EXISTING they are not in this stack.
        """
        super().__init__(scope, id_)
        keys = [key] * 3
        if existing:
            named = (existing.logs_key, existing.bookmarks_key, existing.data_key)
            keys = [own or key for own in named]
        self.logs_key_arn = keys[0].key_arn
        self.key_arns = tuple(dict.fromkeys(used.key_arn for used in keys))
        self.log_group_prefix = f"{LOG_GROUPS}{name}"
        self.log_retention_days = log_retention_days
        self.log_groups = log_groups
        self._logs_key = keys[0]
        if keys[0] is not key and log_groups is LogGroups.MADE:
            let_logs_use(self, keys[0])
        self.is_made = existing is None
        self.groups: dict[str, logs.CfnLogGroup] = {}
        if existing:
            self.name, self.configuration_name = existing.plain_name, existing.reference
        else:
            self.name = name
            self.configuration_name = self._configuration(key.key_arn).ref

    def encrypt_logs(self, groups: str) -> None:
        """Let log groups with another prefix be encrypted, if they are created here."""
        if self.log_groups is LogGroups.MADE:
            let_logs_use(self, self._logs_key, groups)

    def prefix_of(self, job: str, *, role_is_given: bool) -> str:
        """Return the prefix of a job's log groups."""
        # Glue ends the names with the name of the role, which two jobs may share.
        return f"{self.log_group_prefix}/{job}" if role_is_given else self.log_group_prefix

    def groups_below(self, prefix: str) -> str:
        """Return the log groups of this pipeline below a prefix, for a policy."""
        # The prefix of Spark jobs is the pipeline's own; below any other one Glue puts the name of
        # the security configuration first.
        is_own = prefix.startswith(self.log_group_prefix)
        return f"{prefix}/*" if is_own else f"{prefix}/{self.name}-role/*"

    def _configuration(self, key: str) -> glue.CfnSecurityConfiguration:
        made = glue.CfnSecurityConfiguration
        return made(
            self,
            "Configuration",
            name=self.name,
            encryption_configuration=made.EncryptionConfigurationProperty(
                cloud_watch_encryption=made.CloudWatchEncryptionProperty(
                    cloud_watch_encryption_mode="SSE-KMS", kms_key_arn=key
                ),
                job_bookmarks_encryption=made.JobBookmarksEncryptionProperty(
                    job_bookmarks_encryption_mode="CSE-KMS", kms_key_arn=key
                ),
                s3_encryptions=[
                    made.S3EncryptionProperty(s3_encryption_mode="SSE-KMS", kms_key_arn=key)
                ],
            ),
        )


class JobLogs(Construct):
    """Creates the two log groups of a job, encrypted and kept for as long as the stage says.

    With a security configuration that encrypts logs, Glue names them by it and by the job's role,
    and creates missing ones itself, without expiry.
    Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuous-logging.html

    Attributes:
        error: name of the group for output of Glue, Spark and the logger.
        groups: both groups, if they are created here; the other one has the script's output.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        security: JobSecurity,
        role_name: str,
        prefix: str,
        retention_days: int | None = None,
    ) -> None:
        """Declare them.

        Args:
            scope: the construct that owns them.
            id_: construct id.
            security: encryption, and a part of the names.
            role_name: name of the job's role.
            prefix: prefix of the names.
            retention_days: how long they are kept; None: as long as those of the pipeline.
        """
        super().__init__(scope, id_)
        if retention_days and security.log_groups is not LogGroups.MADE:
            raise JobDefinitionError(
                f"JobOptions has log_retention_days {retention_days} in a pipeline with "
                f"LogGroups.{security.log_groups.name}, which makes no log groups; leave it out: "
                "whoever makes them says how long logs are kept"
            )
        prefix = f"{prefix}/{security.name}-role/{role_name}"
        self.error = f"{prefix}/error"
        kinds = ("error", "output") if security.log_groups is LogGroups.MADE else ()
        self.groups = [
            log_group(self, kind.capitalize(), security, f"{prefix}/{kind}", days=retention_days)
            for kind in kinds
        ]


def log_group(
    scope: Construct, id_: str, security: JobSecurity, name: str, *, days: int | None = None
) -> logs.CfnLogGroup:
    """Return a log group of a pipeline: a new one, or that of another job with the same role.

    Args:
        scope: the construct that owns it, if it is new.
        id_: construct id.
        security: encryption, and the groups that the pipeline has created so far.
        name: name of the log group.
        days: how long logs are kept; None: as long as those of the pipeline.

    Raises:
        JobDefinitionError: another pipeline creates it, or keeps it for another time.
    """
    kept = days or security.log_retention_days
    if name in security.groups:
        group = security.groups[name]
        if group.retention_in_days != kept:
            raise JobDefinitionError(
                f"two jobs with one role keep the log group {name} for {group.retention_in_days} "
                f"and {kept} days; allowed: one number; give them the same log_retention_days"
            )
        return group
    if not security.is_made:  # otherwise its name is in the name of the group
        stack = cdk.Stack.of(scope)
        made = _GROUPS.setdefault(scope.node.root, {})
        owner = made.setdefault((stack.account, stack.region, name), security.node.path)
        if owner != security.node.path:
            raise JobDefinitionError(
                f"the log group {name} is created by {owner} already; allowed: one creator; "
                "pass log_groups=LogGroups.EXISTING to one of the two pipelines"
            )
    group = security.groups[name] = logs.CfnLogGroup(
        scope, id_, log_group_name=name, kms_key_id=security.logs_key_arn, retention_in_days=kept
    )
    # A name can only be taken again after the group is gone.
    group.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
    return group
