"""What holds for every resource of both stages."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sampled import at_night

pytestmark = pytest.mark.synth

STATEFUL = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Glue::Database", "AWS::KMS::Key"}
ACCESS_LOGS = "AccessLogs8B620ECA"


def test_a_stage_has_two_stacks_named_after_it(sample, stage):
    assert sample.stacks() == [f"tidemark-{stage}-flights", f"tidemark-{stage}-storage"]


def test_everything_with_state_stays_when_it_leaves_the_template(assembly):
    stateful = [r for r in assembly.resources().values() if r["Type"] in STATEFUL]

    assert len(stateful) == 8
    assert {r["DeletionPolicy"] for r in stateful} == {"Retain"}
    assert {r["UpdateReplacePolicy"] for r in stateful} == {"Retain"}


def test_state_lives_in_the_storage_stack_only(assembly, stage):
    stacks = {id_.split("/")[0] for id_, r in assembly.resources().items() if r["Type"] in STATEFUL}

    assert stacks == {f"tidemark-{stage}-storage"}


def test_only_prod_refuses_to_delete_its_stacks_with_data_and_bookmarks(assembly, stage):
    manifest = json.loads((assembly.folder / "manifest.json").read_text())

    for name in (f"tidemark-{stage}-storage", f"tidemark-{stage}-flights"):
        properties = manifest["artifacts"][name]["properties"]
        assert properties.get("terminationProtection", False) is (stage == "prod")


def test_the_watermark_table_has_the_name_and_keys_that_jobs_know(assembly, stage):
    (table,) = assembly.resources("AWS::DynamoDB::Table").values()

    assert table["Properties"] == {
        "TableName": "glue-watermarks",
        "AttributeDefinitions": [
            {"AttributeName": "jobName", "AttributeType": "S"},
            {"AttributeName": "runId", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "jobName", "KeyType": "HASH"},
            {"AttributeName": "runId", "KeyType": "RANGE"},
        ],
        "BillingMode": "PAY_PER_REQUEST",
        "PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True},
        "TimeToLiveSpecification": {"AttributeName": "expiresAt", "Enabled": True},
        "DeletionProtectionEnabled": True,
        "Tags": [{"Key": "tidemark:stage", "Value": stage}],
    }


def test_every_bucket_is_encrypted_private_and_logged(assembly, as_text):
    for id_, bucket in assembly.resources("AWS::S3::Bucket").items():
        properties = bucket["Properties"]
        (rule,) = properties["BucketEncryption"]["ServerSideEncryptionConfiguration"]
        encryption = rule["ServerSideEncryptionByDefault"]

        if id_.endswith(ACCESS_LOGS):
            assert encryption == {"SSEAlgorithm": "AES256"}
        else:
            assert encryption["SSEAlgorithm"] == "aws:kms"
            assert rule["BucketKeyEnabled"] is True
            logged = properties["LoggingConfiguration"]["DestinationBucketName"]
            assert logged == {"Ref": ACCESS_LOGS}
        assert set(properties["PublicAccessBlockConfiguration"].values()) == {True}
        assert "BucketName" not in properties


def test_a_delivery_that_was_replaced_or_deleted_can_be_had_back(assembly):
    versioned = {
        id_.split("/")[1]: bucket["Properties"]
        for id_, bucket in assembly.resources("AWS::S3::Bucket").items()
        if "VersioningConfiguration" in bucket["Properties"]
    }

    ((id_, landing),) = versioned.items()
    assert id_.startswith("Landing")
    assert landing["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = landing["LifecycleConfiguration"]["Rules"]
    assert rule["NoncurrentVersionExpiration"] == {"NoncurrentDays": 90}


def test_no_check_of_an_unversioned_bucket_is_skipped_for_a_reason_of_another(assembly):
    reasons = {
        id_.split("/")[1]: skip["comment"]
        for id_, bucket in assembly.resources("AWS::S3::Bucket").items()
        for skip in bucket.get("Metadata", {}).get("checkov", {}).get("skip", [])
        if skip["id"] == "CKV_AWS_21"
    }

    assert not any(id_.startswith("Landing") for id_ in reasons)
    assert reasons.pop(ACCESS_LOGS).startswith("S3 only adds to it")
    assert all(text.startswith("jobs replace what they wrote") for text in reasons.values())


def test_every_bucket_refuses_requests_without_tls(assembly):
    buckets = {id_.split("/")[1] for id_ in assembly.resources("AWS::S3::Bucket")}
    policies = assembly.resources("AWS::S3::BucketPolicy").values()

    assert {policy["Properties"]["Bucket"]["Ref"] for policy in policies} == buckets
    for policy in policies:
        statements = policy["Properties"]["PolicyDocument"]["Statement"]
        (statement,) = (s for s in statements if s["Effect"] == "Deny")
        assert statement["Action"] == "s3:*"
        assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_the_outputs_have_stable_names(sample, stage):
    outputs = {
        name
        for stack in sample.stacks()
        for name in json.loads(sample.text(stack))["Outputs"]
        if not name.startswith("ExportsOutput")
    }

    assert outputs == {
        "LandingBucketName",
        "RawBucketName",
        "CuratedBucketName",
        "MartBucketName",
        "WatermarkTableName",
        "DatabaseName",
        "WorkflowName",
    }


@pytest.mark.parametrize("stage", ["prod", *at_night("dev")])  # prod has all that dev has
def test_cfn_lint_finds_nothing(synth, stage):
    templates = [str(path) for path in synth(stage=stage).folder.glob("*.template.json")]

    done = subprocess.run(
        [str(Path(sys.executable).with_name("cfn-lint")), "--", *templates],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_stages_differ_in_what_their_configuration_says_only(synth):
    size = ("NumberOfWorkers", "Timeout", "MaxRetries", "ExecutionClass", "NotificationProperty")
    other = ("Description", "RetentionInDays", "DashboardBody")

    text = {}
    for stage in ("dev", "prod"):
        resources = {}
        for id_, resource in synth(stage=stage).sample().resources().items():
            # prod has metrics, and a schedule
            if resource["Type"] == "AWS::CloudWatch::Alarm" or "/FlightsStartSchedule" in id_:
                continue
            properties = resource["Properties"]
            for key in (*size, *other):
                properties.pop(key, None)
            if resource["Type"] == "AWS::Glue::Job":
                for key in ("--enable-metrics", "--enable-auto-scaling"):
                    properties["DefaultArguments"].pop(key, None)
            if resource["Type"] == "AWS::IAM::Role":
                document = properties["Policies"][0]["PolicyDocument"]
                document["Statement"] = [
                    s for s in document["Statement"] if s["Action"] != "cloudwatch:PutMetricData"
                ]
            resources[id_] = resource
        plain = json.dumps(resources).replace(f'"{stage}"', '"STAGE"')
        text[stage] = re.sub(rf"(?<=[Tt]idemark[-_ ]){stage}", "STAGE", plain)

    assert json.loads(text["dev"]) == json.loads(text["prod"])
