"""The role of a job, as deployed, allows what the job does and nothing else.

MiniStack's IAM evaluator decides on every request here; `emulator.py` tells it which partition keys
a request names.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.deploy.cloud import Cloud
from tests.deploy.story import FLIGHTS, STORAGE, Step
from watermarks import Watermarks

JOB = "ingest-flights"
OTHER = "ingest-weather"
TABLE = "glue-watermarks"
DENIED = r"AccessDenied"
Clients = Callable[[str], Any]


@pytest.fixture(scope="module")
def administrator(cloud: Cloud) -> Clients:
    """Return clients of a user who may do everything that only identity policies decide."""
    iam = cloud.client("iam")
    iam.create_user(UserName="administrator")
    everything = {"Effect": "Allow", "Action": "*", "Resource": "*"}
    policy = {"Version": "2012-10-17", "Statement": [everything]}
    iam.put_user_policy(
        UserName="administrator", PolicyName="everything", PolicyDocument=json.dumps(policy)
    )
    return cloud.as_somebody(iam.create_access_key(UserName="administrator")["AccessKey"])


@pytest.fixture(scope="module")
def run_as(back: Step, cloud: Cloud) -> Callable[[str], Clients]:
    """Return a function that returns the clients of a job's role.

    The roles trust Glue alone; MiniStack lets the account's root assume them nevertheless.
    """

    def clients_of(job: str) -> Clients:
        sts = cloud.client("sts")
        run = sts.assume_role(RoleArn=back.jobs[job]["Role"], RoleSessionName="run")
        return cloud.as_somebody(run["Credentials"])

    return clients_of


@pytest.fixture(scope="module")
def ingest_flights(run_as: Callable[[str], Clients]) -> Clients:
    return run_as(JOB)


@pytest.fixture(scope="module")
def ingest_weather(run_as: Callable[[str], Clients]) -> Clients:
    return run_as(OTHER)


@pytest.fixture(scope="module")
def bucket(back: Step) -> Callable[[str], str]:
    """Return a function that returns the name of a bucket by its logical id without hash."""

    def named(name: str) -> str:
        buckets = back.of_type("AWS::S3::Bucket").items()
        return next(it.id for logical_id, it in buckets if logical_id.startswith(name))

    return named


def test_nobody_but_glue_may_assume_a_role(back: Step, administrator: Clients) -> None:
    assert administrator("sts").get_caller_identity()["Arn"].endswith("user/administrator")
    with pytest.raises(ClientError, match=DENIED):
        administrator("sts").assume_role(RoleArn=back.jobs[JOB]["Role"], RoleSessionName="run")


def test_a_job_keeps_its_watermarks_with_its_role(ingest_flights: Clients) -> None:
    watermarks = Watermarks(TABLE, ingest_flights("dynamodb"))

    for run_id, high in (("jr_1", 3), ("jr_2", 5)):
        for window in watermarks.windows(
            job_id=JOB, run_id=run_id, cursor="id", high=lambda _, high=high: high
        ):
            assert window.high == high

    assert watermarks.get_watermark_values(JOB) == {"id": 5}


def key(job: str) -> dict[str, dict[str, str]]:
    return {"jobName": {"S": job}, "runId": {"S": "jr_0"}}


REQUESTS: dict[str, tuple[str, Callable[[str, str], dict[str, Any]]]] = {
    "read": ("get_item", lambda table, job: {"TableName": table, "Key": key(job)}),
    "put": ("put_item", lambda table, job: {"TableName": table, "Item": key(job)}),
    "update": ("update_item", lambda table, job: {"TableName": table, "Key": key(job)}),
    "query": (
        "query",
        lambda table, job: {
            "TableName": table,
            "KeyConditionExpression": "#job = :job",
            "ExpressionAttributeNames": {"#job": "jobName"},
            "ExpressionAttributeValues": {":job": {"S": job}},
        },
    ),
    "put in a transaction": (
        "transact_write_items",
        lambda table, job: {"TransactItems": [{"Put": {"TableName": table, "Item": key(job)}}]},
    ),
}


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_a_job_has_its_own_rows_of_the_watermark_table_and_no_others(
    ingest_flights: Clients, request_: tuple[str, Callable[[str, str], dict[str, Any]]]
) -> None:
    name, request_of = request_
    operation = getattr(ingest_flights("dynamodb"), name)

    operation(**request_of(TABLE, JOB))
    for table, job in ((TABLE, OTHER), ("another-table", JOB)):
        with pytest.raises(ClientError, match=DENIED):
            operation(**request_of(table, job))


def test_a_job_cannot_delete_or_list_rows(ingest_flights: Clients) -> None:
    dynamodb = ingest_flights("dynamodb")

    with pytest.raises(ClientError, match=DENIED):
        dynamodb.delete_item(TableName=TABLE, Key=key(JOB))
    with pytest.raises(ClientError, match=DENIED):
        dynamodb.scan(TableName=TABLE)


def test_a_job_without_watermarks_has_no_row(ingest_weather: Clients) -> None:
    with pytest.raises(ClientError, match=DENIED):
        ingest_weather("dynamodb").get_item(TableName=TABLE, Key=key(OTHER))


def test_a_job_reads_its_sources_and_writes_its_targets(
    ingest_weather: Clients, cloud: Cloud, bucket: Callable[[str], str]
) -> None:
    s3 = ingest_weather("s3")
    landing, raw = bucket("Landing"), bucket("Raw")
    for folder in ("weather", "flights"):
        cloud.client("s3").put_object(Bucket=landing, Key=f"{folder}/a.json", Body=b"{}")

    assert s3.get_object(Bucket=landing, Key="weather/a.json")["Body"].read() == b"{}"
    assert s3.list_objects_v2(Bucket=landing, Prefix="weather/")["KeyCount"] == 1
    s3.put_object(Bucket=raw, Key="weather/a.parquet", Body=b"rows")
    s3.delete_object(Bucket=raw, Key="weather/a.parquet")
    for refused in (
        lambda: s3.get_object(Bucket=landing, Key="flights/a.json"),
        lambda: s3.list_objects_v2(Bucket=landing, Prefix="flights/"),
        lambda: s3.put_object(Bucket=landing, Key="weather/b.json", Body=b""),
        lambda: s3.delete_object(Bucket=landing, Key="weather/a.json"),
        lambda: s3.put_object(Bucket=raw, Key="flights/a.parquet", Body=b""),
    ):
        with pytest.raises(ClientError, match=DENIED):
            refused()


def test_a_list_without_a_prefix_shows_names_of_the_whole_bucket_and_no_content(
    ingest_weather: Clients, cloud: Cloud, bucket: Callable[[str], str]
) -> None:
    """What IAM cannot close: see docs/security.md. A key of a condition that does is worth a test.

    HeadObject of a missing key, which must be told from a refusal, is allowed by the same grant.
    """
    s3, landing = ingest_weather("s3"), bucket("Landing")
    cloud.client("s3").put_object(Bucket=landing, Key="payroll/2026/name.csv", Body=b"secret")

    listed = s3.list_objects_v2(Bucket=landing)
    assert "payroll/2026/name.csv" in [item["Key"] for item in listed["Contents"]]
    for refused in (
        lambda: s3.list_objects_v2(Bucket=landing, Prefix=""),
        lambda: s3.list_objects_v2(Bucket=landing, Prefix="payroll/"),
        lambda: s3.list_object_versions(Bucket=landing),
        lambda: s3.get_object(Bucket=landing, Key="payroll/2026/name.csv"),
        lambda: s3.head_object(Bucket=landing, Key="payroll/2026/name.csv"),
    ):
        with pytest.raises(ClientError, match=f"{DENIED}|403"):
            refused()


def test_a_job_of_many_sources_has_every_one_of_them_and_no_other(
    read_by_the_added: list[str],
) -> None:
    assert read_by_the_added == ["source-00", "source-20", "source-39"]


def test_a_job_reads_its_script_and_libraries(back: Step, ingest_weather: Clients) -> None:
    own, other = back.jobs[OTHER], back.jobs[JOB]

    def read(uri: str) -> bytes:
        bucket, _, key = uri.removeprefix("s3://").partition("/")
        return bytes(ingest_weather("s3").get_object(Bucket=bucket, Key=key)["Body"].read())

    assert b"def main()" in read(own["Command"]["ScriptLocation"])
    assert read(own["DefaultArguments"]["--extra-py-files"]).startswith(b"PK")
    with pytest.raises(ClientError, match=DENIED):
        read(other["Command"]["ScriptLocation"])


def test_the_buckets_refuse_requests_without_tls(
    administrator: Clients, bucket: Callable[[str], str]
) -> None:
    s3 = administrator("s3")
    wanted = {"Bucket": bucket("Landing"), "Key": "weather/c.json"}

    s3.put_object(**wanted, Body=b"")
    s3.meta.events.register("before-sign.s3", without_tls)
    with pytest.raises(ClientError, match=DENIED):
        s3.put_object(**wanted, Body=b"")


def without_tls(request: Any, **_: Any) -> None:
    request.headers["x-forwarded-proto"] = "http"


def test_a_job_may_not_change_itself(ingest_flights: Clients) -> None:
    for refused in (
        lambda: ingest_flights("glue").get_job(JobName=JOB),
        lambda: ingest_flights("iam").list_roles(),
        lambda: ingest_flights("cloudformation").describe_stacks(StackName=FLIGHTS),
        lambda: ingest_flights("cloudformation").delete_stack(StackName=STORAGE),
    ):
        with pytest.raises(ClientError, match=DENIED):
            refused()
