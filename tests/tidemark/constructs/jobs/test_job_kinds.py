"""Python shell and streaming jobs: what they are deployed as, what they may do, what is refused."""

import json
from dataclasses import replace

import pytest

from tests.fixtures.pipelines import Declared, stage_of
from tidemark.errors import JobDefinitionError
from tidemark.model.stage.runtime import JobRuntime

pytestmark = pytest.mark.synth

STREAM = "arn:aws:kinesis:eu-west-1:123456789012:stream/clicks"
CLUSTER = "arn:aws:kafka:eu-west-1:123456789012:cluster/shop/1f2e"


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


@pytest.fixture
def pipeline(declared):
    return declared.pipeline()


@pytest.fixture
def data(declared):
    """Return a function that makes a dataset of one bucket."""
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset

    bucket = s3.Bucket.from_bucket_name(declared.stack, "Bucket", "lake")
    return lambda prefix, **flags: Dataset(bucket, prefix, **flags)


def one(declared, kind="AWS::Glue::Job"):
    (found,) = declared.resources(kind)
    return found


def allowed(declared):
    """Return action to the resources it is allowed on, as text, over all roles."""
    found = {}
    for role in declared.resources("AWS::IAM::Role"):
        for policy in role["Policies"]:
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = statement["Action"]
                for action in [actions] if isinstance(actions, str) else actions:
                    found.setdefault(action, []).append(json.dumps(statement["Resource"]))
    return {action: " ".join(texts) for action, texts in found.items()}


def test_a_python_shell_job_is_what_glue_takes_for_one(declared, pipeline):
    pipeline.add_shell_job("fetch", script="job.py", python_modules=["requests==2.32.0"])

    job = one(declared)
    assert (job["Command"]["Name"], job["Command"]["PythonVersion"]) == ("pythonshell", "3.9")
    assert (job["GlueVersion"], job["MaxCapacity"], job["Timeout"]) == ("3.0", 0.0625, 60)
    assert {"WorkerType", "NumberOfWorkers", "ExecutionClass"}.isdisjoint(job)
    assert job["DefaultArguments"] == {
        "--job-language": "python",
        "library-set": "analytics",
        "--additional-python-modules": "requests==2.32.0",
    }


def test_the_limits_of_a_python_shell_job_are_those_of_the_stage_or_its_own(declared):
    from tidemark.constructs import ShellCapacity, ShellRuntime

    pipeline = declared.pipeline(
        stage=stage_of(runtime=JobRuntime(timeout_minutes=90, max_retries=2))
    )
    own = ShellRuntime(ShellCapacity.LARGE, timeout_minutes=5, analytics_libraries=False)
    pipeline.add_shell_job("fetch", script="job.py")
    pipeline.add_shell_job("load", script="job.py", runtime=own)

    by_name = {job["Name"]: job for job in declared.resources("AWS::Glue::Job")}
    limits = {
        name: (job["Timeout"], job["MaxRetries"], job["MaxCapacity"], job["JobRunQueuingEnabled"])
        for name, job in by_name.items()
    }
    assert limits == {"fetch": (90, 2, 0.0625, False), "load": (5, 0, 1, True)}
    assert by_name["load"]["DefaultArguments"]["library-set"] == "none"


def test_a_python_shell_job_reads_its_script_and_no_libraries_and_writes_its_own_logs(
    declared, pipeline, data
):
    job = pipeline.add_shell_job("fetch", script="job.py", writes=[data("raw/")], secrets=["api"])

    may = allowed(declared)
    assert ".zip" not in may["s3:GetObject"]
    assert "/raw/*" in may["s3:PutObject"]
    assert "secret:api-??????" in may["secretsmanager:GetSecretValue"]
    assert may["logs:PutLogEvents"].count("log-group:") == 1
    assert "log-group:/aws-glue/python-jobs/tidemark-dev-orders-role/*" in may["logs:PutLogEvents"]
    names = [
        json.dumps(group["LogGroupName"]) for group in declared.resources("AWS::Logs::LogGroup")
    ]
    assert all("/aws-glue/python-jobs/tidemark-dev-orders-role/" in name for name in names)
    assert len(names) == 2
    assert job.output == data("raw/")


def test_python_shell_jobs_stand_in_the_graph_as_others(declared, pipeline, data):
    from tidemark.constructs import JobState

    fetch = pipeline.add_shell_job("fetch", script="job.py", writes=[data("raw/")])
    declared.add(pipeline, "clean", after=[fetch], arguments={"source": fetch})
    pipeline.add_shell_job("tell", script="job.py", after=[fetch.on(JobState.FAILED)])

    watched = [
        (condition["State"], trigger["Actions"][0]["JobName"]["Ref"])
        for trigger in declared.resources("AWS::Glue::Trigger")
        for condition in trigger.get("Predicate", {}).get("Conditions", [])
    ]
    assert [state for state, _ in watched] == ["SUCCEEDED", "FAILED"]
    declared.app.synth()


@pytest.mark.parametrize(
    "text",
    ["match 1:\n    case 1: pass\n", "try:\n    pass\nexcept* OSError:\n    pass\n"],
)
def test_a_script_with_words_that_python_3_9_has_not_is_refused_for_python_shell_only(
    declared, pipeline, text
):
    from tidemark.constructs import BookmarkOption

    (declared.root / "new.py").write_text(text)

    with pytest.raises(JobDefinitionError, match=r"which is not Python 3\.9 \(in line"):
        pipeline.add_shell_job("fetch", script="new.py")
    pipeline.add_job("spark", script="new.py", bookmark=BookmarkOption.DISABLE)


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"capacity": 0.0625}, "capacity is 0.0625; allowed: ShellCapacity.SMALL, ShellCapacity"),
        ({"timeout_minutes": 0}, "timeout_minutes is 0; allowed: an integer from 1 to 10080"),
        ({"max_retries": 11}, "max_retries is 11; allowed: an integer from 0 to 10"),
        ({"analytics_libraries": 1}, "analytics_libraries is 1; allowed: True, False"),
    ],
)
def test_what_glue_gives_no_python_shell_job_is_refused(fields, text):
    from tidemark.constructs import ShellRuntime

    with pytest.raises(JobDefinitionError, match=text):
        ShellRuntime(**fields)


def test_a_runtime_of_another_kind_of_job_is_refused(pipeline, data):
    with pytest.raises(JobDefinitionError, match="allowed: a ShellRuntime"):
        pipeline.add_shell_job("fetch", script="job.py", runtime=JobRuntime())
    with pytest.raises(JobDefinitionError, match="allowed: a StreamingRuntime"):
        pipeline.add_streaming_job(
            "clicks", script="job.py", checkpoint=data("state/"), runtime=JobRuntime()
        )


@pytest.fixture
def stream(declared, pipeline, data):
    """Return a function that adds the streaming job `clicks`, beside one that a trigger starts."""

    def add(**changes):
        from tidemark.constructs import KinesisStream

        declared.add(pipeline, "batch")
        given = {"checkpoint": data("state/"), "sources": [KinesisStream(STREAM)], **changes}
        return pipeline.add_streaming_job("clicks", script="job.py", **given)

    return add


def clicks(declared):
    (found,) = [it for it in declared.resources("AWS::Glue::Job") if it["Name"] == "clicks"]
    return found


def test_a_streaming_job_is_what_glue_takes_for_one_and_no_trigger_starts_it(declared, stream):
    from tidemark.constructs import StreamingRuntime

    stream(runtime=StreamingRuntime(maintenance_window="Sun:10", number_of_workers=3))

    job = clicks(declared)
    assert job["Command"]["Name"] == "gluestreaming"
    assert (job["WorkerType"], job["NumberOfWorkers"]) == ("G.025X", 3)
    assert job["MaintenanceWindow"] == "Sun:10"
    assert {"Timeout", "ExecutionClass", "JobRunQueuingEnabled", "MaxCapacity"}.isdisjoint(job)
    assert job["DefaultArguments"]["--job-bookmark-option"] == "job-bookmark-disable"
    assert job["DefaultArguments"]["--checkpoint"] == "s3://lake/state/"
    assert len(one(declared, "AWS::Glue::Trigger")["Actions"]) == 1


def test_a_streaming_job_reads_its_streams_and_keeps_its_checkpoint(declared, stream):
    from tidemark.constructs import KinesisStream, MskTopics

    key = "arn:aws:kms:eu-west-1:123456789012:key/stream"
    stream(sources=[KinesisStream(STREAM, key), MskTopics(CLUSTER, ["orders"])])

    may = allowed(declared)
    assert STREAM in may["kinesis:GetRecords"]
    assert key in may["kms:Decrypt"]
    assert "topic/shop/1f2e/orders" in may["kafka-cluster:ReadData"]
    assert "group/shop/1f2e/spark-kafka-source-*" in may["kafka-cluster:AlterGroup"]
    assert "/state/*" in may["s3:DeleteObject"]
    assert not any(action.endswith("*") for action in may)


def test_streaming_jobs_alone_are_a_pipeline_that_nothing_starts(declared, data):
    stage = stage_of(schedule="cron(0 6 * * ? *)", alert_email="ops@example.com")
    clicks = declared.pipeline("clicks", stage=stage)
    clicks.add_streaming_job("clicks", script="job.py", checkpoint=data("state/"))

    assert declared.app.synth().stacks
    assert declared.resources("AWS::Glue::Workflow")
    assert declared.resources("AWS::Glue::Trigger") == []
    assert declared.resources("AWS::Scheduler::Schedule") == []
    alarms = [one["AlarmDescription"] for one in declared.resources("AWS::CloudWatch::Alarm")]
    assert any("clicks does not run" in alarm for alarm in alarms)


def test_somebody_is_told_while_a_streaming_job_does_not_run_and_when_it_fails(declared, stream):
    stream()

    (alarm,) = declared.resources("AWS::CloudWatch::Alarm")
    assert "clicks does not run" in alarm["AlarmDescription"]
    assert alarm["TreatMissingData"] == "breaching"
    (failed, *_) = declared.resources("AWS::Events::Rule")
    assert failed["EventPattern"]["detail"]["jobName"] == ["batch", "clicks"]
    assert clicks(declared)["DefaultArguments"]["--enable-metrics"] == "true"


def test_two_streaming_jobs_of_one_checkpoint_are_found(declared, pipeline, data, stream):
    stream()
    pipeline.add_streaming_job("views", script="job.py", checkpoint=data("state/"))

    with pytest.raises(RuntimeError, match="the jobs 'clicks' and 'views' can write s3://lake/st"):
        declared.app.synth()


def test_nothing_waits_for_a_streaming_job(declared, pipeline, stream):
    from tidemark.constructs import JobState

    clicks = stream()

    with pytest.raises(JobDefinitionError, match="job 'clicks' is a streaming job, which no"):
        clicks.on(JobState.SUCCEEDED)
    with pytest.raises(JobDefinitionError, match="waits for 'clicks', which no trigger"):
        declared.add(pipeline, "after-it", after=[clicks])


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"maintenance_window": "Sunday:10"}, "maintenance_window is 'Sunday:10'; allowed: a day"),
        ({"maintenance_window": "Sun:24"}, "maintenance_window is 'Sun:24'; allowed: a day"),
        ({"maintenance_window": 10}, "maintenance_window is 10; allowed: a day and an hour"),
        ({"timeout_minutes": 10_080}, "timeout_minutes is 10080; allowed: .* 1 to 10079"),
        ({"timeout_minutes": 60, "maintenance_window": "Sun:1"}, "leave one of the two out"),
        ({"worker_type": "G.05X"}, r"worker_type is 'G.05X'; allowed: G\.025X, G\.1X"),
        ({"number_of_workers": 1}, "number_of_workers is 1; allowed: an integer from 2 to 299"),
    ],
)
def test_what_glue_gives_no_streaming_job_is_refused(fields, text):
    from tidemark.constructs import StreamingRuntime

    with pytest.raises(JobDefinitionError, match=text):
        StreamingRuntime(**fields)


@pytest.mark.parametrize("window", ["Sun:0", "Mon:00", "Tue:9", "Wed:09", "Thu:19", "Sat:23"])
def test_every_hour_of_a_week_can_be_a_maintenance_window(window):
    from tidemark.constructs import StreamingRuntime

    assert StreamingRuntime(maintenance_window=window).maintenance_window == window


def test_a_worker_type_of_streaming_jobs_is_none_of_others():
    with pytest.raises(JobDefinitionError, match=r"worker_type is 'G\.025X'"):
        replace(JobRuntime(), worker_type="G.025X")


def test_sources_and_checkpoints_of_another_kind_are_refused(pipeline, data):
    from tidemark.constructs import JobOptions, KinesisStream, MskTopics

    with pytest.raises(JobDefinitionError, match="which two runs would both write"):
        pipeline.add_streaming_job(
            "clicks",
            script="job.py",
            checkpoint=data("state/"),
            options=JobOptions(max_concurrent_runs=2),
        )
    for make, text in (
        (lambda: KinesisStream("clicks"), "KinesisStream has arn 'clicks'"),
        (lambda: KinesisStream(STREAM + "*"), "allowed: a stream of Kinesis, or its ARN"),
        (lambda: KinesisStream(STREAM, "alias/x"), "KinesisStream has key_arn 'alias/x'"),
        (lambda: MskTopics(CLUSTER, []), "MskTopics has topics"),
        (lambda: MskTopics(CLUSTER, ["a*"]), r"the name 'a\*'"),
        (lambda: MskTopics("shop", ["a"]), "MskTopics has cluster_arn 'shop'"),
    ):
        with pytest.raises(JobDefinitionError, match=text):
            make()
