"""The DynamoDB table that remembers how far each watermark job has come."""

import aws_cdk as cdk
from aws_cdk import aws_dynamodb as dynamodb
from constructs import Construct

from infra.explanations import skip_checkov

# Jobs outside this repository know the table by this name.
TABLE_NAME = "glue-watermarks"


class WatermarkTable(Construct):
    """Creates the table `glue-watermarks`: on demand, recoverable, kept when the stack goes.

    A watermark that is lost means a full load at best, so the table has deletion protection,
    point-in-time recovery and stays when its stack is deleted.

    Attributes:
        table: the table; one row per job (`jobName`) and run (`runId`).
    """

    def __init__(self, scope: Construct, id_: str) -> None:
        super().__init__(scope, id_)
        self.table = dynamodb.Table(
            self,
            "Table",
            table_name=TABLE_NAME,
            partition_key=dynamodb.Attribute(name="jobName", type=dynamodb.AttributeType.STRING),
            sort_key=dynamodb.Attribute(name="runId", type=dynamodb.AttributeType.STRING),
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            point_in_time_recovery_specification=dynamodb.PointInTimeRecoverySpecification(
                point_in_time_recovery_enabled=True
            ),
            time_to_live_attribute="expiresAt",
            deletion_protection=True,
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )
        skip_checkov(
            self.table,
            CKV_AWS_119="encrypted with DynamoDB's own key: watermarks outlive every key of ours",
        )
