"""What holds for every resource of both stages, and what the four jobs of the sample are."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.synth

STATEFUL = {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Glue::Database", "AWS::KMS::Key"}
ACCESS_LOGS = "AccessLogs8B620ECA"
# What each job of the sample may touch, from the plan of the pipeline rather than from its
# declaration. Jobs that are added to the pipeline are none of the sample.
READS = {
    "ingest-flights": {"{Landing}/flights", "{Raw}/flights"},
    "ingest-weather": {"{Landing}/weather", "{Raw}/weather", "{Raw}/weather_staging"},
    "curate-flights": {"{Raw}/flights", "{Raw}/weather", "{Curated}/flights"},
    "publish-delays": {"{Curated}/flights", "{Mart}/route_delays"},
}
WRITES = {
    "ingest-flights": {"{Raw}/flights"},
    "ingest-weather": {"{Raw}/weather", "{Raw}/weather_staging"},
    "curate-flights": {"{Curated}/flights"},
    "publish-delays": {"{Mart}/route_delays"},
}
ARGUMENTS = {
    "ingest-flights": {
        "--source": "files",
        "--source_path": "s3://{Landing}/flights/",
        "--target_path": "s3://{Raw}/flights/",
        "--watermark_table": "{Watermarks}",
    },
    "ingest-weather": {
        "--source_path": "s3://{Landing}/weather/",
        "--target_path": "s3://{Raw}/weather/",
        "--TempDir": "s3://{Raw}/weather_staging/",
    },
    "curate-flights": {
        "--flights_path": "s3://{Raw}/flights/",
        "--weather_path": "s3://{Raw}/weather/",
        "--target_path": "s3://{Curated}/flights/",
    },
    "publish-delays": {
        "--source_path": "s3://{Curated}/flights/",
        "--target_path": "s3://{Mart}/route_delays/",
    },
}
BOOKMARKS = {
    "ingest-flights": "job-bookmark-disable",
    "ingest-weather": "job-bookmark-enable",
    "curate-flights": "job-bookmark-enable",
    "publish-delays": "job-bookmark-enable",
}


def triggers(assembly, type_):
    return {
        id_: trigger
        for id_, trigger in assembly.resources("AWS::Glue::Trigger").items()
        if trigger["Properties"]["Type"] == type_
    }


def sample_jobs(assembly):
    """Return the properties of the sample's jobs by name."""
    return {name: job for name, job in assembly.jobs().items() if name in BOOKMARKS}


def job_names(assembly, parts):
    by_id = {
        id_.split("/")[1]: job["Properties"]["Name"]
        for id_, job in assembly.resources("AWS::Glue::Job").items()
    }
    return [by_id[part["JobName"]["Ref"]] for part in parts]


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


def test_only_prod_refuses_to_delete_its_storage_stack(assembly, stage):
    manifest = json.loads((assembly.folder / "manifest.json").read_text())
    properties = manifest["artifacts"][f"tidemark-{stage}-storage"]["properties"]

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


def test_every_job_runs_glue_5_1_once_at_a_time_with_a_timeout(assembly, stage):
    for job in assembly.jobs().values():
        assert job["GlueVersion"] == "5.1"
        assert job["Command"]["Name"] == "glueetl"
        assert job["Command"]["PythonVersion"] == "3"
        assert job["Timeout"] >= 1
        assert job["MaxRetries"] == (1 if stage == "prod" else 0)
        assert job["ExecutionClass"] == ("STANDARD" if stage == "prod" else "FLEX")
        # FLEX in dev, retries in prod: AWS's own construct refuses a queue with either.
        assert job["JobRunQueuingEnabled"] is False
        assert job["ExecutionProperty"] == {"MaxConcurrentRuns": 1}


def test_every_job_has_a_role_of_its_own_that_only_glue_assumes(assembly):
    roles = {
        id_: role
        for id_, role in assembly.resources("AWS::IAM::Role").items()
        if "StartSchedule" not in id_
    }
    used = [job["Role"]["Fn::GetAtt"][0] for job in assembly.jobs().values()]

    assert sorted(used) == sorted(id_.split("/")[1] for id_ in roles)
    for role in roles.values():
        (trust,) = role["Properties"]["AssumeRolePolicyDocument"]["Statement"]
        assert trust["Principal"] == {"Service": "glue.amazonaws.com"}
        assert "ManagedPolicyArns" not in role["Properties"]


def test_every_job_gets_its_arguments_and_nothing_unasked(assembly, as_text, stage):
    assert sample_jobs(assembly).keys() == ARGUMENTS.keys()
    for name, job in sample_jobs(assembly).items():
        arguments = {key: as_text(value) for key, value in job["DefaultArguments"].items()}
        libs = arguments.pop("--extra-py-files")

        assert libs.endswith(".zip")
        assert arguments.pop("--job-language") == "python"
        assert arguments.pop("--job-bookmark-option") == BOOKMARKS[name]
        prefix = f"/aws-glue/jobs/tidemark-{stage}-flights"
        assert arguments.pop("--custom-logGroup-prefix") == prefix
        if stage == "prod":
            assert arguments.pop("--enable-auto-scaling") == "true"
            assert arguments.pop("--enable-metrics") == "true"
        assert arguments == ARGUMENTS[name]


def test_all_jobs_share_one_libs_zip(assembly, as_text):
    zips = {
        as_text(job["DefaultArguments"]["--extra-py-files"]) for job in assembly.jobs().values()
    }

    assert len(zips) == 1


def test_a_job_reads_its_script_and_the_libs_and_no_other_asset(assembly, as_text):
    for name, job in assembly.jobs().items():
        wanted = {
            as_text(job["Command"]["ScriptLocation"]).removeprefix("s3://"),
            as_text(job["DefaultArguments"]["--extra-py-files"]).removeprefix("s3://"),
        }
        granted = {
            arn.split(":::")[1]
            for statement in assembly.statements(name)
            for arn in statement["Resource"]
            if "-assets-" in arn
        }

        assert granted == wanted


def test_a_job_reads_and_writes_only_the_data_it_declares(assembly):
    for name in sample_jobs(assembly):
        granted = {"s3:GetObject": set(), "s3:PutObject": set(), "s3:DeleteObject": set()}
        for statement in assembly.statements(name):
            for action in granted.keys() & set(statement["Action"]):
                granted[action] |= {
                    arn.removesuffix("/*") for arn in statement["Resource"] if arn.startswith("{")
                }

        assert granted["s3:GetObject"] == READS[name]
        assert granted["s3:PutObject"] == WRITES[name]
        assert granted["s3:DeleteObject"] == WRITES[name]


def test_a_job_lists_only_under_the_prefixes_it_declares(assembly):
    for name in sample_jobs(assembly):
        listed = {
            f"{bucket}/{prefix}"
            for statement in assembly.statements(name)
            if "s3:ListBucket" in statement["Action"]
            for bucket in statement["Resource"]
            for prefix in statement["Condition"]["StringLikeIfExists"]["s3:prefix"]
        }

        assert listed == {path for folder in READS[name] for path in (folder, f"{folder}/*")}


def test_only_watermark_jobs_touch_the_table_and_only_their_own_rows(assembly):
    for name, job in assembly.jobs().items():
        statements = [
            statement
            for statement in assembly.statements(name)
            if any(action.startswith("dynamodb:") for action in statement["Action"])
        ]
        if "--watermark_table" not in job["DefaultArguments"]:
            assert statements == []
            continue
        assert [statement["Resource"] for statement in statements] == [["{Watermarks}"]] * 2
        assert [statement["Action"] for statement in statements] == [
            ["dynamodb:DescribeTable"],
            [
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
            ],
        ]
        assert statements[1]["Condition"] == {
            "ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [name]}
        }


def test_a_wildcard_stands_only_below_declared_data_and_the_log_groups(assembly, stage):
    logs = f":/aws-glue/jobs/tidemark-{stage}-flights/*"
    for name in sample_jobs(assembly):
        data = {f"{folder}/*" for folder in READS[name] | WRITES[name]}
        for statement in assembly.statements(name):
            assert not any("*" in action for action in statement["Action"])
            if statement["Action"] == ["cloudwatch:PutMetricData"]:
                continue  # knows no resources
            for arn in statement["Resource"]:
                assert "*" not in arn or arn in data or arn.endswith(logs), arn


def test_the_workflow_runs_once_at_a_time_under_its_own_name(sample):
    (workflow,) = sample.resources("AWS::Glue::Workflow").values()

    assert workflow["Properties"]["Name"] == "flights"
    assert workflow["Properties"]["MaxConcurrentRuns"] == 1


def test_every_trigger_that_waits_is_active_after_deployment(assembly):
    waiting = triggers(assembly, "CONDITIONAL")

    assert waiting
    assert {t["Properties"].get("StartOnCreation") for t in waiting.values()} == {True}


def test_the_one_start_trigger_starts_every_job_that_waits_for_none(sample):
    assert triggers(sample, "SCHEDULED") == {}
    (start,) = triggers(sample, "ON_DEMAND").values()

    started = job_names(sample, start["Properties"]["Actions"])
    assert [name for name in started if name in BOOKMARKS] == ["ingest-flights", "ingest-weather"]
    assert not {"Schedule", "StartOnCreation"} & start["Properties"].keys()


def test_a_conditional_trigger_fires_when_all_the_jobs_it_watches_have_succeeded(assembly):
    graph = {}
    for trigger in triggers(assembly, "CONDITIONAL").values():
        predicate = trigger["Properties"]["Predicate"]
        assert predicate["Logical"] == "AND"
        assert {c["LogicalOperator"] for c in predicate["Conditions"]} == {"EQUALS"}
        assert {c["State"] for c in predicate["Conditions"]} == {"SUCCEEDED"}
        (started,) = job_names(assembly, trigger["Properties"]["Actions"])
        graph[started] = job_names(assembly, predicate["Conditions"])

    assert {name: watched for name, watched in graph.items() if name in BOOKMARKS} == {
        "curate-flights": ["ingest-flights", "ingest-weather"],
        "publish-delays": ["curate-flights"],
    }


def test_no_trigger_starts_a_job_that_it_watches(assembly):
    for trigger in triggers(assembly, "CONDITIONAL").values():
        watched = job_names(assembly, trigger["Properties"]["Predicate"]["Conditions"])
        started = job_names(assembly, trigger["Properties"]["Actions"])

        assert not set(watched) & set(started)


def test_triggers_are_created_one_after_the_other_and_the_start_last(sample):
    all_triggers = sample.resources("AWS::Glue::Trigger")
    follows = {
        id_.split("/")[1]: trigger.get("DependsOn", []) for id_, trigger in all_triggers.items()
    }
    (last,) = (id_ for id_ in follows if "Start" in id_)

    order = [last]
    while follows[order[-1]]:
        (before,) = follows[order[-1]]
        order.append(before)

    assert sorted(order) == sorted(follows)


def test_cfn_lint_finds_nothing(synth):
    templates = [
        str(path)
        for stage in ("dev", "prod")
        for path in synth(stage=stage).folder.glob("*.template.json")
    ]

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
