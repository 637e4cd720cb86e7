"""Lakes whose parts are there already, in whole or in part."""

import json

import pytest

from tests.fixtures.pipelines import ACCOUNT, REGION, Declared, stage_of
from tidemark import constructs
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth
KEY = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/theirs"
OTHER = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/of-the-bucket"


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def bucket(declared, name, **attributes):
    from aws_cdk import aws_s3 as s3

    return s3.Bucket.from_bucket_attributes(
        declared.stack, name, bucket_name=f"acme-{name}", **attributes
    )


def key(declared, id_, arn):
    from aws_cdk import aws_kms as kms

    return kms.Key.from_key_arn(declared.stack, id_, arn)


def lake_of(declared, **given):
    return constructs.Lake(declared.stack, "Lake", stage=stage_of(), **given)


def kinds(declared):
    from aws_cdk.assertions import Template

    found = [
        r["Type"]
        for r in Template.from_stack(declared.stack).to_json().get("Resources", {}).values()
    ]
    return {kind: found.count(kind) for kind in set(found)}


def test_a_lake_that_is_there_in_whole_makes_nothing(declared):
    names = ("landing", "raw", "curated", "mart")
    given = {name: bucket(declared, name) for name in names}
    lake = lake_of(
        declared,
        key=key(declared, "Theirs", KEY),
        buckets=constructs.ExistingBuckets(**given),
        watermarks=constructs.WatermarkTable.from_table_name(declared.stack, "Table", "theirs"),
        database="sales",
    )

    assert kinds(declared) == {}
    assert [found.bucket_name for found in lake.buckets.values()] == [f"acme-{n}" for n in names]
    assert (lake.database_name, lake.database) == ("sales", None)


def test_a_lake_that_is_there_in_part_makes_the_rest_with_the_key(declared):
    lake_of(
        declared,
        key=key(declared, "Theirs", KEY),
        buckets=constructs.ExistingBuckets(landing=bucket(declared, "landing")),
    )

    made = kinds(declared)
    assert made["AWS::S3::Bucket"] == 4  # three for data, and one for the logs of who read it
    assert made["AWS::DynamoDB::Table"] == made["AWS::Glue::Database"] == 1
    assert "AWS::KMS::Key" not in made
    encrypted = [b for b in declared.resources("AWS::S3::Bucket") if KEY in json.dumps(b)]
    assert len(encrypted) == 3


def test_a_job_may_use_the_key_of_an_imported_bucket_only_as_far_as_it_uses_the_data(declared):
    of_bucket = key(declared, "OfTheBucket", OTHER)
    pipeline = declared.pipeline()
    landing = bucket(declared, "landing", encryption_key=of_bucket)
    data = {"reads": [constructs.Dataset(landing, "in/", delivered=True)]}
    declared.add(pipeline, "reader", **data)
    target = constructs.Dataset(landing, "out/", published=True)
    declared.add(pipeline, "writer", writes=[target])

    allowed = {}
    for role in declared.resources("AWS::IAM::Role"):
        name = role["Description"].split()[4]
        allowed[name] = {
            action
            for statement in role["Policies"][0]["PolicyDocument"]["Statement"]
            if OTHER in json.dumps(statement["Resource"])
            for action in ([statement["Action"]], statement["Action"])[
                isinstance(statement["Action"], list)
            ]
        }
    assert allowed == {
        "reader": {"kms:Decrypt"},
        "writer": {"kms:Decrypt", "kms:GenerateDataKey"},
    }


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"database": "Sales"}, "database 'Sales'; allowed: None, a Database or a CfnDatabase"),
        ({"database": ""}, "database ''; allowed"),
    ],
)
def test_what_a_lake_cannot_be_made_of_is_refused(declared, wrong, text):
    with pytest.raises(JobDefinitionError) as error:
        lake_of(declared, **wrong)
    assert text in str(error.value)
    assert "\n" not in str(error.value)


def test_a_lake_needs_no_feature_flag_and_a_bucket_of_its_own_names_the_one(cdk):
    from aws_cdk.assertions import Template

    app = cdk.App(analytics_reporting=False)
    stack = cdk.Stack(app, "stack")

    lake = constructs.Lake(stack, "Lake", stage=stage_of())

    assert len(Template.from_stack(stack).find_resources("AWS::S3::Bucket")) == 5
    with pytest.raises(JobDefinitionError, match="serverAccessLogsUseBucketPolicy; allowed: true"):
        constructs.LakeBucket(cdk.Stack(app, "other"), "B", key=lake.key, access_logs=lake.raw)
