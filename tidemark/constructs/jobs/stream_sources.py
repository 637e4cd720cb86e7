"""The streams that a streaming job reads, and its role's permissions on them.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-kinesis-home.html,
https://docs.aws.amazon.com/streams/latest/dev/controlling-access.html,
https://docs.aws.amazon.com/msk/latest/developerguide/kafka-actions.html
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import aws_cdk as cdk
from aws_cdk import aws_kinesis as kinesis

from tidemark.constructs.jobs.permissions import Statement, allow, use_data_keys
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

STREAM = re.compile(r"arn:[\w-]+:kinesis:[\w-]+:\d{12}:stream/[\w.-]{1,128}")
CLUSTER = re.compile(r"arn:[\w-]+:kafka:[\w-]+:\d{12}:cluster/[\w-]{1,64}/[\w-]+")
KEY = re.compile(r"arn:[\w-]+:kms:[\w-]+:\d{12}:key/[\w-]+")
TOPIC = re.compile(r"[\w.-]{1,249}")


@checked
@dataclass(frozen=True)
class KinesisStream:
    """A Kinesis data stream that a job reads.

    Attributes:
        arn: the stream, or its ARN, which it becomes.
        key_arn: ARN of the KMS key that encrypts it. None: that of a stream of the app; else not
            encrypted, or with AWS's own key.

    Raises:
        JobDefinitionError: one of them is another kind of ARN.

    Example:
        >>> clicks = KinesisStream("arn:aws:kinesis:eu-west-1:123456789012:stream/clicks")
        >>> clicks.key_arn is None
        True
    """

    arn: kinesis.IStream | str
    key_arn: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.arn, str):
            key = self.arn.encryption_key
            object.__setattr__(self, "key_arn", self.key_arn or (key.key_arn if key else None))
            object.__setattr__(self, "arn", self.arn.stream_arn)
        _check("KinesisStream", "arn", str(self.arn), STREAM, "a stream of Kinesis, or its ARN")
        if self.key_arn is not None:
            _check("KinesisStream", "key_arn", self.key_arn, KEY, "the ARN of a KMS key, no alias")

    def statements(self) -> list[Statement]:
        """Return the permission to read the stream."""
        actions = [
            "kinesis:DescribeStream",
            "kinesis:DescribeStreamSummary",
            "kinesis:GetRecords",
            "kinesis:GetShardIterator",
            "kinesis:ListShards",
        ]
        keys = [self.key_arn] if self.key_arn else []
        return [allow(actions, [str(self.arn)]), *use_data_keys(keys, may_write=False)]


@checked
@dataclass(frozen=True)
class MskTopics:
    """Topics of an MSK cluster with IAM access control; the job joins its network by connections=.

    A Kafka cluster without IAM access control needs only the connection.

    Attributes:
        cluster_arn: ARN of the cluster.
        topics: names of the topics that the job reads.
        group_prefix: prefix of its consumer groups; Spark's own by default.

    Raises:
        JobDefinitionError: one of them is not valid.
    """

    cluster_arn: str
    topics: Sequence[str]
    group_prefix: str = "spark-kafka-source-"

    def __post_init__(self) -> None:
        _check("MskTopics", "cluster_arn", self.cluster_arn, CLUSTER, "the ARN of an MSK cluster")
        if not self.topics:
            raise JobDefinitionError(
                "MskTopics has topics []; allowed: a list of names of topics; name each"
            )
        for name in (*self.topics, self.group_prefix):
            _check("MskTopics", "the name", name, TOPIC, "letters, digits, _, . and -")

    def statements(self) -> list[Statement]:
        """Return the permission to connect, and to read the topics."""
        topics, groups = (
            self.cluster_arn.replace(":cluster/", f":{kind}/") for kind in ("topic", "group")
        )
        return [
            allow(["kafka-cluster:Connect"], [self.cluster_arn]),
            allow(
                ["kafka-cluster:DescribeTopic", "kafka-cluster:ReadData"],
                [f"{topics}/{topic}" for topic in self.topics],
            ),
            allow(
                ["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"],
                [f"{groups}/{self.group_prefix}*"],
            ),
        ]


StreamSource: TypeAlias = KinesisStream | MskTopics
"""A stream that a job may read."""


def _check(what: str, key: str, value: str, form: re.Pattern[str], allowed: str) -> None:
    if not form.fullmatch(value) and not (key.endswith("arn") and cdk.Token.is_unresolved(value)):
        raise wrong(what, key, value, allowed, "correct it")
