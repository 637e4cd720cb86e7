"""A table of watermarks under another name, and one that others made."""

import json

import pytest

from tests.fixtures.pipelines import ACCOUNT, Declared
from tests.fixtures.synthesis import as_list
from tidemark import constructs
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth
KEY = "arn:aws:kms:eu-west-1:123456789012:key/theirs"


@pytest.fixture
def stack(cdk):
    return cdk.Stack(cdk.App(analytics_reporting=False), "stack")


def synthesized(cdk, stack, tmp_path, watermarks):
    """Return the resources of a stack with one watermark job, by type."""
    from aws_cdk import aws_kms as kms
    from aws_cdk.assertions import Template

    (tmp_path / "job.py").write_text("print('hello')\n")
    pipeline = constructs.Pipeline(
        stack,
        "Orders",
        name="orders",
        root=tmp_path,
        stage=constructs.StageConfig("dev", None, None, None, constructs.JobRuntime()),
        watermarks=watermarks,
        key=kms.Key(stack, "Key"),
    )
    pipeline.add_job(
        "one", script="job.py", bookmark=constructs.BookmarkOption.DISABLE, watermark=True
    )
    found = {}
    for resource in Template.from_stack(stack).to_json()["Resources"].values():
        found.setdefault(resource["Type"], []).append(resource["Properties"])
    return found


def statements(found):
    (role,) = found["AWS::IAM::Role"]
    return role["Policies"][0]["PolicyDocument"]["Statement"]


def test_a_table_of_another_name_is_made_with_it(cdk, stack, tmp_path):
    table = constructs.WatermarkTable(stack, "Watermarks", table_name="acme-watermarks")

    found = synthesized(cdk, stack, tmp_path, table)

    assert [table["TableName"] for table in found["AWS::DynamoDB::Table"]] == ["acme-watermarks"]


def test_a_table_that_others_made_is_used_and_not_made(cdk, stack, tmp_path):
    table = constructs.WatermarkTable.from_table_name(stack, "Watermarks", "theirs")

    found = synthesized(cdk, stack, tmp_path, table)

    assert "AWS::DynamoDB::Table" not in found
    (job,) = found["AWS::Glue::Job"]
    assert job["DefaultArguments"]["--watermark_table"] == "theirs"
    on_table = [s for s in statements(found) if "dynamodb:Query" in s["Action"]]
    assert [str(s["Resource"]).count(":table/theirs") for s in on_table] == [1]
    leading = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["one"]}}
    assert [s["Condition"] for s in on_table] == [leading]
    assert KEY not in str(statements(found))


def test_a_job_may_use_the_key_of_a_table_that_others_encrypt(cdk, stack, tmp_path):
    from aws_cdk import aws_kms as kms

    key = kms.Key.from_key_arn(stack, "Theirs", KEY)
    table = constructs.WatermarkTable.from_table_name(stack, "Watermarks", "theirs", key=key)

    found = synthesized(cdk, stack, tmp_path, table)

    allowed = {a for s in statements(found) if KEY in str(s["Resource"]) for a in s["Action"]}
    assert allowed == {"kms:Decrypt", "kms:Encrypt", "kms:GenerateDataKey"}


@pytest.mark.parametrize("name", ["ab", "a b", "x" * 256])
def test_a_name_that_dynamodb_does_not_take_is_refused(stack, name):
    with pytest.raises(JobDefinitionError, match="allowed: 3 to 255 letters"):
        constructs.WatermarkTable.from_table_name(stack, "Watermarks", name)


ARN = "arn:aws:dynamodb:eu-west-1:999999999999:table/theirs"


def test_a_table_of_another_account_is_named_by_its_arn(cdk, tmp_path):
    declared = Declared(cdk, tmp_path)
    table = constructs.WatermarkTable.from_table_arn(declared.stack, "Watermarks", ARN)
    declared.add(declared.pipeline(watermarks=table), watermark=True)

    (job,) = declared.resources("AWS::Glue::Job")
    assert job["DefaultArguments"]["--watermark_table"] == ARN
    (role,) = declared.resources("AWS::IAM::Role")
    on_table = [
        s for s in role["Policies"][0]["PolicyDocument"]["Statement"] if s["Resource"] == ARN
    ]
    actions = {a for s in on_table for a in as_list(s["Action"])}
    (warning,) = declared.warnings()
    text = warning.partition("must then hold ")[2].rpartition("; which rows")[0]
    asked = json.loads(text)
    assert set(asked["Action"]) == actions >= {"dynamodb:UpdateItem"}
    assert asked["Principal"] == {"AWS": f"arn:aws:iam::{ACCOUNT}:root"}
    assert asked["Resource"] == ARN


@pytest.mark.parametrize("kind", ["Table", "TableV2"])
def test_an_imported_table_of_another_account_is_named_by_its_arn_too(cdk, tmp_path, kind):
    from aws_cdk import aws_dynamodb as dynamodb

    declared = Declared(cdk, tmp_path)
    theirs = getattr(dynamodb, kind).from_table_arn(declared.stack, "Theirs", ARN)
    table = constructs.WatermarkTable.from_table(declared.stack, "Watermarks", theirs)
    declared.add(declared.pipeline(watermarks=table), watermark=True)

    (job,) = declared.resources("AWS::Glue::Job")
    assert job["DefaultArguments"]["--watermark_table"] == ARN
    assert len(declared.warnings()) == 1


def test_of_a_table_of_the_same_account_nothing_is_asked(cdk, tmp_path):
    declared = Declared(cdk, tmp_path)
    constructs.WatermarkTable.from_table_arn(
        declared.stack, "Watermarks", ARN.replace("999999999999", ACCOUNT)
    )

    assert declared.warnings() == []


@pytest.mark.parametrize(
    ("arn", "text"),
    [
        (
            ARN.replace("eu-west-1", "us-east-1"),
            "has its table in the region us-east-1; allowed: eu-west-1",
        ),
        ("theirs", "table_arn is 'theirs'; allowed: arn:aws:dynamodb"),
        (ARN[:-1] + "*", "no wildcards; pass another"),
        (f"{ARN}/index/x", "no wildcards; pass another"),
    ],
)
def test_an_arn_of_no_table_that_scripts_can_use_is_refused(cdk, tmp_path, arn, text):
    declared = Declared(cdk, tmp_path)

    with pytest.raises(JobDefinitionError) as error:
        constructs.WatermarkTable.from_table_arn(declared.stack, "Watermarks", arn)
    assert text in str(error.value)


def test_a_table_of_the_app_is_taken_with_its_key(cdk, stack, tmp_path):
    from aws_cdk import aws_dynamodb as dynamodb
    from aws_cdk import aws_kms as kms

    text = {"type": dynamodb.AttributeType.STRING}
    made = dynamodb.Table(
        stack,
        "Made",
        partition_key=dynamodb.Attribute(name="jobName", **text),
        sort_key=dynamodb.Attribute(name="runId", **text),
        encryption_key=kms.Key(stack, "TableKey"),
    )
    found = synthesized(
        cdk, stack, tmp_path, constructs.WatermarkTable.from_table(stack, "Watermarks", made)
    )

    (job,) = found["AWS::Glue::Job"]
    assert job["DefaultArguments"]["--watermark_table"]["Ref"].startswith("Made")
    assert "TableKey" in str(statements(found))


@pytest.mark.parametrize("wrong", ["theirs", None, 7])
def test_what_is_no_table_is_refused(stack, wrong):
    with pytest.raises(JobDefinitionError, match="allowed: a table of DynamoDB"):
        constructs.WatermarkTable.from_table(stack, "Watermarks", wrong)


def test_everything_that_the_package_exports_is_there(cdk):
    found = {name: getattr(constructs, name) for name in constructs.__all__}

    assert all(found.values())
    assert found.keys() == constructs._MODULES.keys()
    with pytest.raises(AttributeError, match="Pipelines"):
        _ = constructs.Pipelines
