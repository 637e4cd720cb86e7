"""What the trigger that starts a job adds to it, and what it may not."""

import pytest

from tidemark.constructs import ActionOptions
from tidemark.errors import JobDefinitionError
from tidemark.model.plain_secrets import NotSecret

pytestmark = pytest.mark.synth


@pytest.fixture
def pipeline(cdk, tmp_path):
    """Return an empty pipeline over a project with one script."""
    from aws_cdk import aws_kms as kms

    from tidemark.constructs import JobRuntime, Pipeline, StageConfig

    (tmp_path / "job.py").write_text("print('hello')\n")
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "stack")
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:123456789012:key/k")
    runtime = JobRuntime("G.2X", 3, timeout_minutes=30)
    stage = StageConfig("dev", None, None, None, runtime)
    return Pipeline(
        stack, "Orders", name="orders", root=tmp_path, stage=stage, watermarks=None, key=key
    )


@pytest.fixture
def add(pipeline):
    """Return a function that adds a job with what its trigger adds."""
    from tidemark.constructs import BookmarkOption

    def add(name="one", started=None, **declared):
        return pipeline.add_job(
            name, script="job.py", bookmark=BookmarkOption.DISABLE, started=started, **declared
        )

    return add


def actions(pipeline):
    from aws_cdk.assertions import Template

    triggers = Template.from_stack(pipeline.node.scope).find_resources("AWS::Glue::Trigger")
    return [action for t in triggers.values() for action in t["Properties"]["Actions"]]


def test_the_trigger_adds_arguments_a_timeout_and_a_notification(pipeline, add):
    added = {"day": "1", "token": NotSecret("none", reason="it is a word")}
    add(arguments={"day": "0"}, started=ActionOptions(added, 20, 19))

    (action,) = actions(pipeline)
    assert action["Arguments"] == {"--day": "1", "--token": "none"}
    assert action["Timeout"] == 20
    assert action["NotificationProperty"] == {"NotifyDelayAfter": 19}


def test_an_argument_may_be_data_that_the_job_declares(cdk, pipeline, add):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset

    bucket = s3.Bucket.from_bucket_name(pipeline, "Bucket", "lake")
    data, other = Dataset(bucket, "in/", delivered=True), Dataset(bucket, "other/")
    add(reads=[data], started=ActionOptions({"path": data}))

    assert actions(pipeline)[0]["Arguments"] == {"--path": "s3://lake/in/"}
    with pytest.raises(JobDefinitionError, match="'other/'"):
        add("two", reads=[data], started=ActionOptions({"path": other}))


@pytest.mark.parametrize(
    ("arguments", "fact"),
    [
        ({"job-bookmark-option": "x"}, "job-bookmark-option"),
        ({"JOB_NAME": "x"}, "JOB_NAME"),
        ({"TempDir": "x"}, "TempDir"),
        ({"day": ""}, "''"),
        ({"day": "--x"}, "--x"),
        ({"password": "hunter2"}, "'password'"),
    ],
)
def test_its_arguments_are_checked_as_those_of_the_job(add, arguments, fact):
    with pytest.raises(JobDefinitionError) as refused:
        add(started=ActionOptions(arguments))

    assert fact in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_another_job_writes_is_an_argument_of_jobs_that_wait_for_it_only(add):
    first = add("first")

    with pytest.raises(JobDefinitionError, match="'first', but does not wait for it"):
        add("second", started=ActionOptions({"path": first}))


@pytest.mark.parametrize(
    "said",
    [
        {},
        {"arguments": None},
        {"arguments": ["a"]},
        {"timeout_minutes": 0},
        {"timeout_minutes": 10_081},
        {"timeout_minutes": True},
        {"timeout_minutes": "20"},
        {"timeout_minutes": 1.5},
        {"notify_after_minutes": 0},
        {"notify_after_minutes": -1},
    ],
)
def test_what_glue_would_refuse_or_what_says_nothing_is_refused(said):
    with pytest.raises(JobDefinitionError, match="allowed: "):
        ActionOptions(**said)


@pytest.mark.parametrize(
    "said", [{"notify_after_minutes": 30}, {"timeout_minutes": 5, "notify_after_minutes": 5}]
)
def test_a_notification_after_the_end_of_a_run_is_refused(add, said):
    with pytest.raises(JobDefinitionError, match="times out after"):
        add(started=ActionOptions(**said))
