"""The jobs of both stages: what they run on, their roles, their data and arguments."""

import pytest

from tests.infra.sample_pipeline import ARGUMENTS, BOOKMARKS, READS, WRITES, sample_jobs

pytestmark = pytest.mark.synth


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
        contract = arguments.pop("--schema_of_target_path", "")
        assert ("report_id BIGINT" in contract) is (name == "ingest-weather")
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
