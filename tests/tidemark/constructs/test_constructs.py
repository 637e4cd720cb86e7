"""The constructs beyond the sample pipeline: what else a job may declare, and what it may not."""

import json
from pathlib import Path

import pytest

import app
from tests.fixtures.pipelines import small_library
from tests.tidemark.constructs.monitoring.watched import STAGE
from tidemark.app import read_context

pytestmark = pytest.mark.synth


@pytest.fixture
def stack(cdk):
    return cdk.Stack(cdk.App(analytics_reporting=False), "stack")


@pytest.fixture
def pipeline(add_pipeline):
    """Return an empty pipeline over a project with one script."""
    return add_pipeline()


@pytest.fixture
def add_pipeline(stack, tmp_path):
    """Return a function that adds an empty pipeline with a changed stage to the stack."""
    from aws_cdk import aws_kms as kms

    from tidemark.constructs.pipeline import Pipeline
    from tidemark.constructs.watermark_table import WatermarkTable
    from tidemark.model.stage.config import StageConfig
    from tidemark.model.stage.runtime import JobRuntime

    small_library(tmp_path)
    (tmp_path / "job.py").write_text("print('hello')\n")
    runtime = JobRuntime("G.2X", 3, timeout_minutes=30)
    watermarks = WatermarkTable(stack, "Watermarks")
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:123456789012:key/k")

    def add(name="orders", scope=stack, run_properties=None, key=key, schedule=None, **stage):
        return Pipeline(
            scope,
            name.capitalize(),
            run_properties=run_properties,
            name=name,
            root=str(tmp_path),
            stage=StageConfig("dev", None, None, schedule, runtime, **stage),
            watermarks=watermarks,
            key=key,
        )

    return add


@pytest.fixture
def enable():
    from tidemark.constructs.jobs.job_props import BookmarkOption

    return BookmarkOption.ENABLE


def resources(cdk, stack, type_):
    from aws_cdk.assertions import Template

    return list(Template.from_stack(stack).find_resources(type_).values())


def test_a_job_has_the_size_and_timeout_of_its_stage(cdk, stack, pipeline, enable):
    pipeline.add_job("one", script="job.py", bookmark=enable)

    (job,) = resources(cdk, stack, "AWS::Glue::Job")
    assert job["Properties"]["WorkerType"] == "G.2X"
    assert job["Properties"]["NumberOfWorkers"] == 3
    assert job["Properties"]["Timeout"] == 30


def test_a_job_that_is_skipped_by_its_inputs_names_them_in_the_template(
    cdk, stack, pipeline, enable
):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset
    from tidemark.glue_service.workflows.nothing_new import ARGUMENT
    from watermarks import nothing_new

    bucket = s3.Bucket.from_bucket_name(stack, "Lake", "lake")
    raw, curated = Dataset(bucket, "raw/"), Dataset(bucket, "curated/")
    first = pipeline.add_job("first", script="job.py", bookmark=enable, writes=[raw])
    pipeline.add_job(
        "second",
        script="job.py",
        bookmark=enable,
        after=[first],
        reads=[Dataset(bucket, "more/")],
        writes=[curated],
        arguments={"source": first, "target": curated},
        skip_if_nothing_new=True,
    )

    by_name = {
        job["Properties"]["Name"]: job["Properties"]["DefaultArguments"]
        for job in resources(cdk, stack, "AWS::Glue::Job")
    }
    assert by_name["second"][ARGUMENT] == "s3://lake/more/,s3://lake/raw/"
    assert ARGUMENT not in by_name["first"]
    assert f"--{nothing_new.ARGUMENT}" == ARGUMENT
    assert f"--{nothing_new.TABLE_ARGUMENT}" in by_name["second"]


def test_the_policy_of_a_key_of_the_app_is_completed_once(cdk, stack, add_pipeline, enable):
    from aws_cdk import aws_kms as kms

    own = kms.Key(stack, "Own")
    for name in ("orders", "returns"):
        add_pipeline(name, key=own).add_job(f"{name}-one", script="job.py", bookmark=enable)

    (key,) = resources(cdk, stack, "AWS::KMS::Key")
    services = [
        json.dumps(s["Principal"]["Service"])
        for s in key["Properties"]["KeyPolicy"]["Statement"]
        if "Service" in s["Principal"]
    ]
    assert len(services) == 3
    assert ["logs." in services[0], "cloudwatch" in services[1], "events" in services[2]] == [
        True
    ] * 3


def test_of_an_imported_key_it_is_said_what_its_policy_must_allow(stack, add_pipeline, enable):
    add_pipeline().add_job("one", script="job.py", bookmark=enable)

    folder = Path(stack.node.root.synth().directory)
    told = "".join(
        path.read_text() for path in folder.glob("*.json") if "template" not in path.name
    )
    assert "must let CloudWatch Logs, CloudWatch and EventBridge use it" in told
    assert "[ack: tidemark:imported-key]" in told


@pytest.mark.parametrize("again", [False, True], ids=["by itself", "and by the app"])
def test_a_pipeline_bounds_its_roles_and_carries_its_tags_wherever_it_stands(
    cdk, stack, add_pipeline, enable, again
):
    from tidemark.constructs.governance import apply_to_all

    pipeline = add_pipeline(permissions_boundary="bounds", tags={"team": "x"})
    pipeline.add_job("one", script="job.py", bookmark=enable)
    if again:
        apply_to_all(stack, pipeline._stage)

    (role,) = resources(cdk, stack, "AWS::IAM::Role")
    assert "policy/bounds" in json.dumps(role["Properties"]["PermissionsBoundary"])
    tags = [(tag["Key"], tag["Value"]) for tag in role["Properties"]["Tags"]]
    expected = [("team", "x"), ("tidemark:pipeline", "orders"), ("tidemark:stage", "dev")]
    assert tags == expected
    (job,) = resources(cdk, stack, "AWS::Glue::Job")
    assert job["Properties"]["Tags"] == dict(expected)


def test_a_group_of_schedules_is_named_and_tagged_as_eventbridge_takes_it(
    cdk, stack, add_pipeline, enable
):
    from tidemark.constructs.starts.start_schedule import group_name

    names = {group_name("a" * 16 + "p" * 63 + last) for last in "pq"}
    pipeline = add_pipeline("p" * 64, schedule="rate(1 day)", tags={"empty": "", "team": "x"})
    pipeline.add_job("one", script="job.py", bookmark=enable)

    assert group_name("tidemark-dev-" + "p" * 51) == "tidemark-dev-" + "p" * 51
    assert [len(name) for name in names] == [64, 64]
    (group,) = resources(cdk, stack, "AWS::Scheduler::ScheduleGroup")
    assert group["Properties"]["Name"] == group_name("tidemark-dev-" + "p" * 64)
    assert "empty" not in {tag["Key"] for tag in group["Properties"]["Tags"]}
    (job,) = resources(cdk, stack, "AWS::Glue::Job")
    assert (job["Properties"]["Tags"]["empty"], job["Properties"]["Tags"]["team"]) == ("", "x")


def test_the_storage_of_an_app_of_ones_own_carries_the_tags_of_the_stage(cdk, add_pipeline):
    from infra.storage_stack import StorageStack

    stage = add_pipeline(tags={"team": "x"})._stage
    flags = {"@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy": True}
    own = cdk.App(analytics_reporting=False, context=flags)
    storage = StorageStack(own, "storage", stage=stage, env=cdk.Environment())

    tags = resources(cdk, storage, "AWS::KMS::Key")[0]["Properties"]["Tags"]
    assert [(tag["Key"], tag["Value"]) for tag in tags] == [
        ("team", "x"),
        ("tidemark:stage", "dev"),
    ]


def test_a_job_may_publish_metrics_in_the_namespace_of_glue_only(cdk, stack, add_pipeline, enable):
    pipeline = add_pipeline(metrics=True)
    pipeline.add_job("one", script="job.py", bookmark=enable)

    (job,) = resources(cdk, stack, "AWS::Glue::Job")
    (role,) = resources(cdk, stack, "AWS::IAM::Role")
    statements = role["Properties"]["Policies"][0]["PolicyDocument"]["Statement"]
    (metrics,) = (s for s in statements if s["Action"] == "cloudwatch:PutMetricData")
    assert job["Properties"]["DefaultArguments"]["--enable-metrics"] == "true"
    assert metrics["Condition"] == {"StringEquals": {"cloudwatch:namespace": "Glue"}}


def test_a_job_added_after_others_joins_the_start_trigger(cdk, stack, pipeline, enable):
    first = pipeline.add_job("first", script="job.py", bookmark=enable)
    pipeline.add_job("second", script="job.py", bookmark=enable, after=[first])
    pipeline.add_job("late", script="job.py", bookmark=enable)

    triggers = resources(cdk, stack, "AWS::Glue::Trigger")
    (start,) = (t for t in triggers if t["Properties"]["Type"] == "ON_DEMAND")
    assert len(start["Properties"]["Actions"]) == 2


@pytest.mark.parametrize(
    ("runtime", "queues"),
    [({}, True), ({"flex": True}, False), ({"max_retries": 1}, False)],
    ids=["standard", "flex", "retries"],
)
def test_a_standard_job_without_retries_queues_its_runs(
    cdk, stack, pipeline, enable, runtime, queues
):
    from tidemark.model.stage.runtime import JobRuntime

    pipeline.add_job("one", script="job.py", bookmark=enable, runtime=JobRuntime(**runtime))

    (job,) = resources(cdk, stack, "AWS::Glue::Job")
    assert job["Properties"]["JobRunQueuingEnabled"] is queues


@pytest.mark.parametrize(
    ("expression", "seconds"),
    [("cron(0 6 * * ? *)", 3_600), ("cron(0/15 * * * ? *)", 900), ("rate(5 minutes)", 300)],
)
def test_a_start_is_tried_again_for_an_hour_or_until_the_next_one(
    cdk, stack, add_pipeline, enable, expression, seconds
):
    pipeline = add_pipeline(schedule=expression, time_zone="Asia/Tokyo")
    pipeline.add_job("start-schedule", script="job.py", bookmark=enable)

    (schedule,) = resources(cdk, stack, "AWS::Scheduler::Schedule")
    properties = schedule["Properties"]
    assert properties["ScheduleExpression"] == expression
    assert properties["ScheduleExpressionTimezone"] == "Asia/Tokyo"
    assert properties["Target"]["RetryPolicy"]["MaximumEventAgeInSeconds"] == seconds


@pytest.mark.parametrize(
    "name",
    ["", "Ingest", "ingest_orders", "-a", "a-", "a--b", "1a", "ingest orders", "a" * 256],
)
def test_a_job_name_that_is_not_kebab_case_is_refused(pipeline, enable, name):
    with pytest.raises(ValueError, match="is not in kebab case; allowed: up to 255 lower case"):
        pipeline.add_job(name, script="job.py", bookmark=enable)


def test_a_job_name_that_is_taken_is_refused(pipeline, enable):
    pipeline.add_job("one", script="job.py", bookmark=enable)

    with pytest.raises(ValueError, match="job 'one' is in the pipeline already"):
        pipeline.add_job("one", script="job.py", bookmark=enable)


def test_a_script_that_is_not_there_is_refused(pipeline, enable):
    with pytest.raises(ValueError, match=r"no_job\.py', which is not a file; create it"):
        pipeline.add_job("one", script="no_job.py", bookmark=enable)


def test_waiting_for_a_job_of_another_pipeline_is_refused(add_pipeline, enable):
    other = add_pipeline(name="other").add_job("one", script="job.py", bookmark=enable)

    with pytest.raises(
        ValueError, match="waits for 'one', which no trigger of this pipeline starts"
    ):
        add_pipeline().add_job("two", script="job.py", bookmark=enable, after=[other])


@pytest.mark.parametrize("argument", ["extra-py-files", "--source", "", "a b"])
def test_an_argument_name_that_a_script_cannot_read_is_refused(pipeline, enable, argument):
    with pytest.raises(ValueError, match="allowed: letters, digits and _"):
        pipeline.add_job("one", script="job.py", bookmark=enable, arguments={argument: "x"})


def test_an_argument_that_would_hide_the_watermark_table_is_refused(pipeline, enable):
    with pytest.raises(ValueError, match="none of the arguments that Glue or the construct"):
        pipeline.add_job(
            "one",
            script="job.py",
            bookmark=enable,
            watermark=True,
            arguments={"watermark_table": "x"},
        )


@pytest.mark.parametrize("prefix", ["", "/", "orders", "/orders/", "or*/", "a//b/"])
def test_a_prefix_that_is_not_a_folder_is_refused(data, prefix):
    from dataclasses import replace

    with pytest.raises(ValueError, match="is not a folder; allowed: letters"):
        replace(data("in/"), prefix=prefix)


@pytest.mark.parametrize("name", ["", "Orders", "or ders", "or*", "a" * 65])
def test_a_pipeline_name_that_no_log_group_can_contain_is_refused(add_pipeline, name):
    with pytest.raises(ValueError, match=r"pipeline name .* allowed: up to 64 lower case"):
        add_pipeline(name)


def test_a_secret_in_a_run_property_is_refused_unless_it_is_none(cdk, stack, add_pipeline, enable):
    from tidemark.model.plain_secrets import NotSecret

    with pytest.raises(ValueError, match="pipeline 'orders' has the run property 'password'"):
        add_pipeline(run_properties={"password": "hunter2"})

    plain = {"password": NotSecret("none yet", reason="the word for no password")}
    add_pipeline("returns", run_properties=plain).add_job("one", script="job.py", bookmark=enable)
    (workflow,) = resources(cdk, stack, "AWS::Glue::Workflow")
    assert workflow["Properties"]["DefaultRunProperties"] == {"password": "none yet"}


def test_a_pipeline_in_a_nested_stack_is_refused(cdk, stack, add_pipeline):
    with pytest.raises(
        ValueError, match="nested stack 'stack/Inner', whose template no validation"
    ):
        add_pipeline(scope=cdk.NestedStack(stack, "Inner"))


def test_a_stage_that_code_makes_is_checked_like_one_of_the_context(add_pipeline):
    with pytest.raises(
        ValueError, match="stage 'dev' has dpuHoursPerDay, which is measured by met"
    ):
        add_pipeline(dpu_hours_per_day=1)


def test_a_pipeline_without_a_job_is_refused_at_synth(stack, pipeline):
    assert pipeline.jobs == {}
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        stack.node.root.synth()


def test_the_storage_stack_is_the_same_whoever_uses_it(cdk, synth):
    from aws_cdk.assertions import Template

    from infra.storage_stack import StorageStack
    from tidemark.constructs.governance import apply_to_all
    from tidemark.model.stage.config import StageConfig

    context = read_context(app.ROOT / "cdk.json", None)
    alone = StorageStack(
        cdk.App(analytics_reporting=False, context=context),
        "tidemark-dev-storage",
        stage=StageConfig.from_context(context, ("flightsSource",)),
        env=cdk.Environment(),
    )

    apply_to_all(alone, StageConfig.from_context(context, ("flightsSource",)))

    used = json.loads(synth(stage="dev").text("tidemark-dev-storage"))
    assert Template.from_stack(alone).to_json() == used


@pytest.fixture(scope="module")
def from_a_database(synth):
    """Return the sample of a stage with a database, which has all else that a stage may have."""
    return synth(stage="watched", **{"tidemark:stages": {"watched": STAGE}}).sample()


def test_a_stage_with_a_database_reads_flights_from_it(from_a_database, as_text):
    job = from_a_database.jobs()["ingest-flights"]
    arguments = {key: as_text(value) for key, value in job["DefaultArguments"].items()}

    assert job["Connections"] == {"Connections": ["air-network"]}
    assert arguments["--source"] == "jdbc"
    assert arguments["--jdbc_url"] == "jdbc:postgresql://db/air"
    assert arguments["--jdbc_table"] == "flights"
    assert arguments["--jdbc_driver"] == "org.postgresql.Driver"
    assert arguments["--jdbc_secret_id"] == "air/reader"  # noqa: S105 - a name
    assert "--source_path" not in arguments


def test_the_database_job_may_read_one_secret_and_use_one_connection(from_a_database):
    by_action = {
        action: statement["Resource"]
        for statement in from_a_database.statements("ingest-flights")
        for action in statement["Action"]
    }

    (secret,) = by_action["secretsmanager:GetSecretValue"]
    assert secret.endswith(":secret:air/reader-??????")
    assert {arn.split(":")[-1] for arn in by_action["glue:GetConnection"]} == {
        "catalog",
        "connection/air-network",
    }
    assert not any("{Landing}" in arn for arns in by_action.values() for arn in arns)


def test_only_the_network_description_of_a_connected_job_has_no_resource(from_a_database):
    unlimited = [
        statement["Action"]
        for job in from_a_database.jobs()
        for statement in from_a_database.statements(job)
        if statement["Resource"] == ["*"]
        and statement["Action"] != ["cloudwatch:PutMetricData"]  # of a stage with metrics
    ]

    assert all(action.startswith("ec2:Describe") for actions in unlimited for action in actions)
    assert len(unlimited) == 1
