"""What AWS is asked when a role does what it is for: requests, in the words of AWS's documents."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.fixtures.everything import CLUSTER, STREAM, STREAM_KEY
from tests.fixtures.pipelines import ACCOUNT, REGION

GLUE = f"arn:aws:glue:{REGION}:{ACCOUNT}:"
EC2 = f"arn:aws:ec2:{REGION}:{ACCOUNT}:"
SHARED = f"arn:aws:ec2:{REGION}:999988887777:"  # of another account, which shares its VPC
DATA = ["glue:BatchGetPartition", "glue:GetPartition", "glue:GetPartitions", "glue:GetTable"]


@dataclass(frozen=True)
class Request:
    """An action on a resource, with the keys of conditions that the request carries."""

    action: str
    resource: str
    context: Mapping[str, Sequence[str]] = field(default_factory=dict)


def each(actions: Sequence[str], *resources: str, **context: Sequence[str]) -> list[Request]:
    named = {key.replace("__", ":"): values for key, values in context.items()}
    return [Request(action, arn, named) for action in actions for arn in resources]


def reads(bucket: str, *folders: str) -> list[Request]:
    """A reader lists a folder, asks whether it is an object, and reads what is below it."""
    return [
        request
        for folder in folders
        for request in (
            *each(["s3:ListBucket"], bucket, s3__prefix=[f"{folder}/"]),
            *each(["s3:ListBucket"], bucket, s3__prefix=[folder]),
            *each(["s3:GetObject"], f"{bucket}/{folder}", f"{bucket}/{folder}/day=1/part-0"),
        )
    ]


def writes(bucket: str, *folders: str) -> list[Request]:
    """A writer reads, too: it renames, and takes back what it uploaded before it failed."""
    actions = ["s3:AbortMultipartUpload", "s3:DeleteObject", "s3:PutObject"]
    return reads(bucket, *folders) + each(actions, *(f"{bucket}/{one}/part-0" for one in folders))


def uses_key(arn: str) -> list[Request]:
    """Glue encrypts data and bookmarks by it.

    https://docs.aws.amazon.com/glue/latest/dg/encryption-security-configuration.html
    """
    return each(["kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"], arn)


def logs(groups: Sequence[str]) -> list[Request]:
    """Glue makes groups that are not there, with the key of the security configuration.

    https://docs.aws.amazon.com/glue/latest/dg/monitor-continuous-logging-enable.html,
    https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_LogGroup.html
    """
    arns = [f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{name}" for name in groups]
    return [
        *each(
            ["logs:AssociateKmsKey", "logs:CreateLogGroup", "logs:CreateLogStream"],
            *(f"{arn}:*" for arn in arns),
        ),
        *each(["logs:PutLogEvents"], *(f"{arn}:log-stream:jr_1" for arn in arns)),
    ]


def uses_connections(*connections: str) -> list[Request]:
    """Glue asks for a connection, and looks at the networks of the account.

    https://docs.aws.amazon.com/aws-managed-policy/latest/reference/AWSGlueServiceRole.html
    """
    described = ("NetworkInterfaces", "RouteTables", "SecurityGroups", "Subnets")
    arns = [f"{GLUE}connection/{name}" for name in connections]
    return [
        *each(["glue:GetConnection"], f"{GLUE}catalog", *arns),
        *each([f"ec2:Describe{what}" for what in (*described, "VpcEndpoints")], "*"),
        *each(["ec2:DescribeVpcAttribute"], f"{SHARED}vpc/vpc-1"),
    ]


def joins(*connections: str, subnet: str = "subnet-1", group: str = "sg-1") -> list[Request]:
    """Glue makes a network interface in the subnet of a connection, shared by another account.

    https://docs.aws.amazon.com/vpc/latest/userguide/vpc-sharing.html
    https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
    """
    made = [
        f"{EC2}network-interface/eni-1",
        f"{SHARED}subnet/{subnet}",
        f"{SHARED}security-group/{group}",
    ]
    return [
        *uses_connections(*connections),
        *each(["ec2:CreateNetworkInterface"], *made),
        *each(["ec2:DeleteNetworkInterface"], made[0], ec2__Subnet=[made[1]]),
        *each(
            ["ec2:CreateTags", "ec2:DeleteTags"],
            made[0],
            aws__TagKeys=["aws-glue-service-resource"],
        ),
    ]


def uses_application(connection: str, secret: str) -> list[Request]:
    """Glue asks an application by its connection, and keeps the tokens in the secret.

    https://docs.aws.amazon.com/glue/latest/dg/salesforce-configuring-iam-permissions.html
    """
    asked = ["DescribeConnectionType", "DescribeEntity", "ListConnectionTypes", "ListEntities"]
    return [
        *uses_connections(connection),
        *each([f"glue:{action}" for action in (*asked, "RefreshOAuth2Tokens")], "*"),
        *each(["secretsmanager:DescribeSecret", "secretsmanager:PutSecretValue"], secret),
    ]


def in_catalog(actions: Sequence[str], *tables: str, of: str = GLUE) -> list[Request]:
    """An action on a table is asked of its database and its catalog too.

    https://docs.aws.amazon.com/glue/latest/dg/glue-specifying-resource-arns.html
    """
    databases = dict.fromkeys(table.partition("/")[0] for table in tables)
    arns = [f"{of}catalog", *(f"{of}database/{name}" for name in databases)]
    return each(actions, *arns, *(f"{of}table/{table}" for table in tables))


def reads_tables(*tables: str, of: str = GLUE) -> list[Request]:
    databases = dict.fromkeys(table.partition("/")[0] for table in tables)
    arns = [f"{of}catalog", *(f"{of}database/{name}" for name in databases)]
    return in_catalog(DATA, *tables, of=of) + each(["glue:GetDatabase"], *arns)


def writes_tables(*tables: str) -> list[Request]:
    """https://docs.aws.amazon.com/glue/latest/dg/update-from-job.html, and AWS's Hive client."""
    changes = ("BatchCreate", "BatchDelete", "Create", "Delete", "Update")
    return in_catalog([*(f"glue:{c}Partition" for c in changes), "glue:UpdateTable"], *tables)


def commits_iceberg(*tables: str) -> list[Request]:
    """Iceberg looks a table up, and commits by a change of its metadata_location.

    https://github.com/apache/iceberg/tree/apache-iceberg-1.10.0/aws (GlueTableOperations)
    """
    return in_catalog(["glue:GetTable", "glue:UpdateTable"], *tables)


def logs_optimizers(*kinds: str) -> list[Request]:
    """An optimizer writes its own log groups.

    https://docs.aws.amazon.com/glue/latest/dg/optimization-prerequisites.html
    """
    groups = [
        f"arn:aws:logs:{REGION}:{ACCOUNT}:log-group:/aws-glue/iceberg-{k}/logs" for k in kinds
    ]
    return [
        *each(["logs:CreateLogGroup", "logs:CreateLogStream"], *(f"{arn}:*" for arn in groups)),
        *each(["logs:PutLogEvents"], *(f"{arn}:log-stream:1" for arn in groups)),
    ]


def crawls(table: str, *, deletes: bool = False) -> list[Request]:
    """A crawler looks at tables of its database, and writes those of its targets.

    https://docs.aws.amazon.com/glue/latest/dg/crawler-prereqs.html
    """
    kinds = ["BatchCreatePartition", "BatchUpdatePartition", "CreatePartition", "CreateTable"]
    kinds += ["UpdatePartition", "UpdateTable"]
    if deletes:
        kinds += ["BatchDeletePartition", "BatchDeleteTable", "DeletePartition", "DeleteTable"]
    return [
        *reads_tables("sales/any"),
        *in_catalog(["glue:GetTables"], "sales/any"),
        *in_catalog([f"glue:{kind}" for kind in kinds], table),
    ]


def metrics() -> list[Request]:
    """Metrics of a run are published in the namespace of Glue.

    https://docs.aws.amazon.com/glue/latest/dg/monitor-observability.html
    """
    return each(["cloudwatch:PutMetricData"], "*", cloudwatch__namespace=["Glue"])


def hive(databases: Sequence[str], *tables: str) -> list[Request]:
    """Spark finds tables by AWS's client of a Hive metastore.

    https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-data-catalog-hive.html
    """
    catalog, arns = f"{GLUE}catalog", [f"{GLUE}database/{name}" for name in databases]
    functions = [f"{GLUE}userDefinedFunction/{name}/f" for name in databases]
    default, temporary = f"{GLUE}database/default", f"{GLUE}database/global_temp"
    return [
        *each(["glue:GetDatabase"], catalog, default, temporary),
        *each(["glue:CreateDatabase"], catalog, default),
        *each(["glue:GetDatabases"], catalog, *arns),
        *each(["glue:GetUserDefinedFunctions"], catalog, *arns, *functions),
        *in_catalog(["glue:GetTables"], *tables),
    ]


def stream() -> list[Request]:
    """A consumer looks for shards and reads them.

    https://docs.aws.amazon.com/streams/latest/dev/kcl-iam-permissions.html
    """
    actions = ["DescribeStream", "DescribeStreamSummary", "GetRecords", "GetShardIterator"]
    actions += ["ListShards"]
    return each([f"kinesis:{one}" for one in actions], STREAM) + each(["kms:Decrypt"], STREAM_KEY)


def topics() -> list[Request]:
    """A consumer reads its topics in a group.

    https://docs.aws.amazon.com/msk/latest/developerguide/iam-access-control-use-cases.html
    """
    topic = CLUSTER.replace(":cluster/", ":topic/") + "/orders"
    group = CLUSTER.replace(":cluster/", ":group/") + "/spark-kafka-source-1"
    return [
        *each(["kafka-cluster:Connect"], CLUSTER),
        *each(["kafka-cluster:DescribeTopic", "kafka-cluster:ReadData"], topic),
        *each(["kafka-cluster:AlterGroup", "kafka-cluster:DescribeGroup"], group),
    ]
