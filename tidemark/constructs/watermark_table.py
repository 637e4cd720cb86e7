"""The DynamoDB table that remembers how far each watermark job has come."""

import re
from collections.abc import Callable, Mapping
from typing import Self

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from constructs import Construct

from tidemark.constructs.security.explanations import skip_checkov
from tidemark.errors import JobDefinitionError
from watermarks import EXPIRES_AT, TABLE_NAME, create_table_request

ALLOWED_NAME = re.compile(r"[a-zA-Z0-9_.-]{3,255}")


class WatermarkTable(Construct):
    """Creates the table `glue-watermarks`: on demand, recoverable, kept when the stack goes.

    A watermark that is lost means a full load at best, so the table has deletion protection,
    point-in-time recovery and stays when its stack is deleted. `from_table_name` takes one that is
    there already.

    Attributes:
        table: the table; one row per job (`jobName`) and run (`runId`).
        key: the KMS key of an imported table that has one of its own, or None.
    """

    table: dynamodb.ITable
    key: kms.IKey | None = None

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
            JobDefinitionError: DynamoDB takes no such name.
        """
        name: object = table_name
        if not isinstance(name, str) or not ALLOWED_NAME.fullmatch(name):
            raise JobDefinitionError(
                f"table_name is {table_name!r}; allowed: 3 to 255 letters, digits and _.-; pass "
                "another"
            )
        super().__init__(scope, id_)
        self.table = _imported(self) if _imported else self._made(table_name)

    @classmethod
    def from_table_name(
        cls, scope: Construct, id_: str, table_name: str, *, key: kms.IKey | None = None
    ) -> Self:
        """Return a table that another stack or another tool made, in this account and region.

        Its keys are `jobName` (S, HASH) and `runId` (S, RANGE); `expiresAt` should be its time to
        live. `tidemark run` makes it in the local DynamoDB.

        Args:
            scope: the construct that owns the reference.
            id_: construct id.
            table_name: name of the table.
            key: the KMS key that encrypts it, if that is not one of DynamoDB; jobs may use it.

        Raises:
            JobDefinitionError: DynamoDB takes no such name.
        """
        found = cls(
            scope,
            id_,
            table_name=table_name,
            _imported=lambda self: dynamodb.Table.from_table_attributes(
                self, "Table", table_name=table_name, encryption_key=key
            ),
        )
        found.key = key
        return found

    def _made(self, table_name: str) -> dynamodb.Table:
        partition, sort = create_table_request(table_name)["KeySchema"]
        table = dynamodb.Table(
            self,
            "Table",
            table_name=table_name,
            partition_key=_text_key(partition),
            sort_key=_text_key(sort),
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
        return table


def _text_key(key: Mapping[str, str]) -> dynamodb.Attribute:
    return dynamodb.Attribute(name=key["AttributeName"], type=dynamodb.AttributeType.STRING)
