"""The DynamoDB table with the position of each watermark job."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Self, cast

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from tidemark.constructs.jobs.permissions import use_watermarks
from tidemark.constructs.security.explanations import explain_to_standards, skip_checkov
from tidemark.constructs.shared_checks import KEY_PLACES, check_free, check_here, check_no_alias
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from watermarks import EXPIRES_AT, TABLE_NAME, create_table_request

RESTORED = (
    "its point-in-time recovery has every second of the last 35 days, and it is protected from "
    "deletion; older watermarks are worth nothing, since the newest decides what is read next. A "
    "backup plan of the account can select it by its tags"
)
ALLOWED_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")
TABLE_ARN = re.compile(
    r"arn:aws[a-z-]*:dynamodb:([a-z0-9-]+):(\d{12}):table/([a-zA-Z0-9_.-]{3,255})"
)
OF = "the watermark table"  # at the start of an error
MADE = (dynamodb.Table, dynamodb.TableV2)  # of the app, not imported


@checked
class WatermarkTable(Construct):
    """Creates the table `glue-watermarks`: on demand, recoverable, kept when the stack is deleted.

    A lost watermark means a full load at best, so the table has deletion protection and
    point-in-time recovery, and remains when its stack is deleted. `from_table`,
    `from_table_name` and `from_table_arn` use an existing one.

    Attributes:
        table: the table; one row per job (`jobName`) and run (`runId`).
        key: the KMS key of an imported table that has its own, or None.
        reference: the value of `watermark_table` in scripts: its name, or its ARN.
    """

    table: dynamodb.ITable
    key: kms.IKey | None = None
    reference: str

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        table_name: str = TABLE_NAME,
        _imported: Callable[[Construct], dynamodb.ITable] | None = None,
    ) -> None:
        """Declare it.

        Args:
            scope: the construct that owns the table.
            id_: construct id.
            table_name: name of the table, unique in the account and region.

        Raises:
            JobDefinitionError: DynamoDB does not allow the name.
        """
        if not ALLOWED_NAME.fullmatch(table_name):
            raise JobDefinitionError(
                f"table_name is {table_name!r}; allowed: 3 to 255 letters, digits and _.-; pass "
                "another"
            )
        check_free(scope, id_, OF)
        super().__init__(scope, id_)
        self.table = _imported(self) if _imported else self._create_table(table_name)
        self.reference = self.table.table_name

    @classmethod
    @checked
    def from_table_name(
        cls, scope: Construct, id_: str, table_name: str, *, key: kms.IKey | None = None
    ) -> Self:
        """Return a table that another stack or another tool created, in this account and region.

        Its keys are `jobName` (S, HASH) and `runId` (S, RANGE); `expiresAt` should be its time to
        live. `tidemark run` creates it in the local DynamoDB.

        Args:
            scope: the construct that owns the reference.
            id_: construct id.
            table_name: name of the table.
            key: the KMS key that encrypts it, unless it is DynamoDB's; jobs may use it.

        Raises:
            JobDefinitionError: DynamoDB does not allow the name.
        """
        return cls._existing(scope, id_, _importing(key, table_name=table_name), key, table_name)

    @classmethod
    @checked
    def from_table(cls, scope: Construct, id_: str, table: dynamodb.ITable) -> Self:
        """Return a table that is a construct of the app, with the keys `jobName` and `runId`.

        Of a table that was imported by the ARN of another account scripts get the ARN, as
        `from_table_arn` describes it; the keys of an imported one are not known here.

        Args:
            scope: the construct that owns the reference.
            id_: construct id.
            table: the table; if it has a KMS key, jobs may use it.

        Raises:
            JobDefinitionError: it has other keys, or is in another region.
        """
        _check_keys(table)
        check_here(OF, cdk.Stack.of(scope), "its table", table, kinds=KEY_PLACES)
        arn = table.table_arn
        is_literal = not cdk.Token.is_unresolved(arn)
        is_elsewhere = is_literal and f":{cdk.Stack.of(scope).account}:" not in arn
        return cls._existing(
            scope,
            id_,
            lambda self: table,
            table.encryption_key,
            table_arn=arn if is_elsewhere and not isinstance(table, MADE) else "",
        )

    @classmethod
    @checked
    def from_table_arn(
        cls, scope: Construct, id_: str, table_arn: str, *, key: kms.IKey | None = None
    ) -> Self:
        """Return an existing table in this region, in this account or another.

        Scripts get its ARN, which DynamoDB accepts like a name. For a table of another
        account its resource policy, and that of its key, must let this account in: synthesis prints
        the required statements. On this machine it is a table of that name.
        Source: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/rbac-iam-actions.html

        Args:
            scope: the construct that owns the reference.
            id_: construct id.
            table_arn: ARN of the table, `arn:aws:dynamodb:<region>:<account>:table/<name>`.
            key: the KMS key that encrypts it, unless it is DynamoDB's; jobs may use it.

        Raises:
            JobDefinitionError: it is not the ARN of a table, or the table is in another region.
        """
        match = TABLE_ARN.fullmatch(table_arn)
        if match is None:
            raise JobDefinitionError(
                f"table_arn is {table_arn!r}; allowed: arn:aws:dynamodb:REGION:ACCOUNT:table/NAME, "
                "no wildcards; pass another"
            )
        imported = _importing(key, table_arn=table_arn)
        return cls._existing(scope, id_, imported, key, match[3], table_arn)

    @classmethod
    def _existing(
        cls,
        scope: Construct,
        id_: str,
        get_table: Callable[[Construct], dynamodb.ITable],
        key: kms.IKey | None,
        table_name: str = TABLE_NAME,
        table_arn: str = "",
    ) -> Self:
        """Return a table that exists; scripts get its ARN, if one is given, instead of its name."""
        check_no_alias(OF, key)
        stack = cdk.Stack.of(scope)
        # Scripts look for a table in their own region, also by its ARN.
        check_here(OF, stack, "its table", table_arn, kinds=KEY_PLACES)
        existing = cls(scope, id_, table_name=table_name, _imported=get_table)
        existing.key = key
        if table_arn:
            existing.reference = table_arn
            if f":{stack.account}:" not in table_arn:
                _warn_about_account(existing, table_arn, stack.account)
        return existing

    def _create_table(self, table_name: str) -> dynamodb.Table:
        partition, sort = create_table_request(table_name)["KeySchema"]
        table = dynamodb.Table(
            self,
            "Table",
            table_name=table_name,
            partition_key=_string_key(partition),
            sort_key=_string_key(sort),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            time_to_live_attribute=EXPIRES_AT,
            deletion_protection=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        skip_checkov(
            table,
            CKV_AWS_119="encrypted with DynamoDB's own key: watermarks outlive every key of ours",
        )
        explain_to_standards(cdk.Stack.of(self), table, DynamoDBInBackupPlan=RESTORED)
        return table


def _importing(key: kms.IKey | None, **named: Any) -> Callable[[Construct], dynamodb.ITable]:
    return lambda scope: dynamodb.Table.from_table_attributes(
        scope, "Table", encryption_key=key, **named
    )


def _warn_about_account(scope: Construct, table_arn: str, account: str) -> None:
    """Warn what the resource policy of a table must allow, which the app cannot change."""
    own = "the account of the stack" if cdk.Token.is_unresolved(account) else account
    granted = use_watermarks(table_arn, "")
    statement = {
        "Effect": "Allow",
        "Principal": {"AWS": f"arn:aws:iam::{own}:root"},
        "Action": [
            action for statement in granted for action in cast("list[str]", statement["Action"])
        ],
        "Resource": table_arn,
    }
    cdk.Annotations.of(scope).add_warning_v2(
        "tidemark:imported-table",
        "the watermark table may be of another account, whose resource policy must then hold "
        f"{json.dumps(statement)}; which rows a job may use, its role says; acknowledge this once "
        "it does",
    )


def _check_keys(table: dynamodb.ITable) -> None:
    """Raise unless the keys of a table of the app are those of watermarks."""
    made = table.node.default_child if isinstance(table, MADE) else None
    if not isinstance(made, dynamodb.CfnTable | dynamodb.CfnGlobalTable):
        return
    wanted = create_table_request("any")
    schema, attributes = cdk.Stack.of(table).resolve([made.key_schema, made.attribute_definitions])
    names = [key["attributeName"] for key in schema]
    types = {attribute["attributeName"]: attribute["attributeType"] for attribute in attributes}
    are_right = names == [key["AttributeName"] for key in wanted["KeySchema"]]
    if not (are_right and all(types[name] == "S" for name in names)):
        shown = ", ".join(f"{name} ({types[name]})" for name in names)
        raise JobDefinitionError(
            f"the table '{table.node.path}' has the keys {shown}; allowed: jobName (S), runId (S), "
            "as the watermark library writes; pass another"
        )


def _string_key(key: Mapping[str, str]) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=key["AttributeName"], type=dynamodb.AttributeType.STRING)
