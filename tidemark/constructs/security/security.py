"""Encryption with one key per stage: data, bookmarks, logs and alerts."""

from weakref import WeakSet

import aws_cdk as cdk
from aws_cdk import aws_glue as glue
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from tidemark.stage.config import StageConfig

_IN_USE: WeakSet[kms.IKey] = WeakSet()  # keys whose policies let the services in
LOG_GROUPS = "/aws-glue/jobs/"  # before the names of all log groups of Glue


class StageKey(Construct):
    """Creates the KMS key of a stage, which is rotated every year and kept when the stack goes.

    Without the key nothing that it encrypted can be read, so it is never deleted with a stack.

    Attributes:
        key: the key.
    """

    def __init__(self, scope: Construct, id_: str, *, stage: StageConfig) -> None:
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
    """Let logs, alarms and rules of a stack use a key; warn where only the key's owner can.

    What an app imports it cannot change, nor see: without these permissions CloudFormation cannot
    make a log group, and no alert arrives.
    """
    if key in _IN_USE:
        return
    changed = [key.add_to_resource_policy(it) for it in _statements(cdk.Stack.of(scope))]
    if all(result.statement_added for result in changed):
        _IN_USE.add(key)
        return
    cdk.Annotations.of(scope).add_warning_v2(
        "tidemark:imported-key",
        "the key is imported, so its policy is not changed: it must let CloudWatch Logs, "
        "CloudWatch and EventBridge use it as docs/security.md shows; acknowledge this once it "
        "does",
    )


def _statements(stack: cdk.Stack) -> list[iam.PolicyStatement]:
    """Return what the policy of a key says of the services of one account and region."""
    groups = stack.format_arn(
        service="logs",
        resource="log-group",
        resource_name=f"{LOG_GROUPS}*",
        arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
    )
    return [
        iam.PolicyStatement(
            principals=[iam.ServicePrincipal(f"logs.{stack.region}.{stack.url_suffix}")],
            actions=["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*"],
            resources=["*"],
            conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": groups}},
        ),
        _publish("cloudwatch", {"StringEquals": {"aws:SourceAccount": stack.account}}),
        # With a condition on the source EventBridge cannot publish, and tells no one.
        _publish("events", {}),
    ]


def _publish(service: str, conditions: dict[str, dict[str, str]]) -> iam.PolicyStatement:
    """Return that a service may publish to topics that the key encrypts.

    Source: https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
    """
    return iam.PolicyStatement(
        principals=[iam.ServicePrincipal(f"{service}.amazonaws.com")],
        actions=["kms:Decrypt", "kms:GenerateDataKey*"],
        resources=["*"],
        conditions=conditions,
    )


class JobSecurity(Construct):
    """Creates the security configuration of a pipeline.

    Jobs that share a network can reach each other's clusters unless they have different security
    configurations, so each pipeline has its own.
    Source: https://docs.aws.amazon.com/glue/latest/dg/encryption-security-configuration.html

    Attributes:
        configuration_name: the security configuration, for jobs.
        name: of the security configuration, as a plain text.
        key_arn: the key.
        log_group_prefix: `--custom-logGroup-prefix` of the jobs.
        log_retention_days: how long their logs are kept.
    """

    def __init__(
        self, scope: Construct, id_: str, *, name: str, key_arn: str, log_retention_days: int
    ) -> None:
        """Declare it.

        Args:
            scope: the construct that owns it.
            id_: construct id.
            name: of the security configuration, also part of the names of the log groups.
            key_arn: the key to encrypt with.
            log_retention_days: how long logs are kept, one of the numbers CloudWatch Logs knows.
        """
        super().__init__(scope, id_)
        self.name = name
        self.key_arn = key_arn
        self.log_group_prefix = f"{LOG_GROUPS}{name}"
        self.log_retention_days = log_retention_days
        kms_mode = "SSE-KMS"
        configuration = glue.CfnSecurityConfiguration(
            self,
            "Configuration",
            name=name,
            encryption_configuration=glue.CfnSecurityConfiguration.EncryptionConfigurationProperty(
                cloud_watch_encryption=glue.CfnSecurityConfiguration.CloudWatchEncryptionProperty(
                    cloud_watch_encryption_mode=kms_mode, kms_key_arn=key_arn
                ),
                job_bookmarks_encryption=glue.CfnSecurityConfiguration.JobBookmarksEncryptionProperty(
                    job_bookmarks_encryption_mode="CSE-KMS", kms_key_arn=key_arn
                ),
                s3_encryptions=[
                    glue.CfnSecurityConfiguration.S3EncryptionProperty(
                        s3_encryption_mode=kms_mode, kms_key_arn=key_arn
                    )
                ],
            ),
        )
        self.configuration_name = configuration.ref


class JobLogs(Construct):
    """Creates the two log groups of a job, encrypted and kept for as long as the stage says.

    With a security configuration that encrypts logs, Glue names them by it and by the job's role,
    and makes them itself, to be kept for ever, where they are not there yet.
    Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuous-logging.html

    Attributes:
        error: name of the group with what Glue, Spark and the logger write.
        groups: both groups; what the script prints is in the other one.
    """

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        security: JobSecurity,
        role_name: str,
        prefix: str,
    ) -> None:
        super().__init__(scope, id_)
        prefix = f"{prefix}/{security.name}-role/{role_name}"
        self.error = f"{prefix}/error"
        self.groups = [
            logs.CfnLogGroup(
                self,
                kind.capitalize(),
                log_group_name=f"{prefix}/{kind}",
                kms_key_id=security.key_arn,
                retention_in_days=security.log_retention_days,
            )
            for kind in ("error", "output")
        ]
        for group in self.groups:
            # A name can only be taken again after the group is gone.
            group.apply_removal_policy(cdk.RemovalPolicy.DESTROY)
