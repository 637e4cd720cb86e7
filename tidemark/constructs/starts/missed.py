"""The queue for starts that failed."""

import aws_cdk as cdk
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from tidemark.constructs.security.explanations import explain, skip_checkov

KEPT_DAYS = 14  # SQS's maximum


def missed_queue(scope: Construct, holds: str) -> sqs.Queue:
    """Create the queue for failed starts: encrypted, kept for two weeks."""
    queue = sqs.Queue(
        scope,
        "Missed",
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=cdk.Duration.days(KEPT_DAYS),
    )
    explain(queue, "AwsSolutions-SQS3", "it is itself the queue for what failed")
    skip_checkov(queue, CKV_AWS_27=f"encrypted with SQS's own key: it holds {holds} and no data")
    return queue
