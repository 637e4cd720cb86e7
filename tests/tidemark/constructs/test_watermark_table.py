"""A table of watermarks under another name, and one that others made."""

import pytest

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


@pytest.mark.parametrize("name", ["ab", "a b", "x" * 256, None])
def test_a_name_that_dynamodb_does_not_take_is_refused(stack, name):
    with pytest.raises(JobDefinitionError, match="allowed: 3 to 255 letters"):
        constructs.WatermarkTable.from_table_name(stack, "Watermarks", name)


def test_everything_that_the_package_exports_is_there(cdk):
    found = {name: getattr(constructs, name) for name in constructs.__all__}

    assert all(found.values())
    assert found.keys() == constructs._MODULES.keys()
    with pytest.raises(AttributeError, match="Pipelines"):
        _ = constructs.Pipelines
