"""A streaming job is adopted with its checkpoint, and continues where the old one ended."""

from __future__ import annotations

from tidemark.adopt.adoption import adopt
from tidemark.adopt.model import Adoption, Existing, Folder
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.migration import steps_of
from tidemark.adopt.plan.report import as_markdown

STREAM = "arn:aws:kinesis:eu-west-1:111122223333:stream/clicks"
BATCH = {"Name": "orders", "Command": {"Name": "glueetl"}}
STUDIO = """
glueContext.forEachBatch(frame=f, batch_function=b, options={
    "windowSize": "100 seconds",
    "checkpointLocation": args["TempDir"] + "/" + args["JOB_NAME"] + "/checkpoint/",
})
"""


def clicks(**arguments: str) -> dict[str, object]:
    return {
        "Name": "Clicks",
        "Command": {"Name": "gluestreaming", "PythonVersion": "3"},
        "GlueVersion": "5.1",
        "WorkerType": "G.025X",
        "NumberOfWorkers": 2,
        "MaintenanceWindow": "Sun:3",
        "DefaultArguments": {f"--{name}": text for name, text in arguments.items()},
    }


def adopted(job: dict[str, object], script: str | None = None) -> tuple[Adoption, Existing]:
    start = {"Name": "s", "Type": "ON_DEMAND", "Actions": [{"JobName": "orders"}]}
    jobs = {"orders": BATCH, "Clicks": job}
    existing = Existing("", jobs, {"s": start}, scripts={"Clicks": script} if script else {})
    return adopt(existing), existing


def test_an_argument_names_the_checkpoint_and_the_new_job_continues_from_it():
    job = clicks(checkpoint_dir="s3://lake/state/clicks/", stream=STREAM, target="s3://lake/raw/c/")

    adoption, found = adopted(job)

    (streaming,) = adoption.streaming_jobs
    assert streaming.checkpoint == streaming.old_checkpoint == Folder("lake", "state/clicks/")
    assert streaming.streams == (STREAM,)
    assert [place.uri for _, place in streaming.writes] == ["s3://lake/raw/c/"]
    assert streaming.reads == ()  # the checkpoint is no data
    stack = stack_of(adoption, "plan.md", {})
    assert f'sources=[KinesisStream("{STREAM}")]' in stack
    assert 'maintenance_window="Sun:3"' in stack
    (step,) = [one for one in steps_of(adoption, found, "x.py") if "continue" in one.title]
    assert step.commands[0].startswith("aws glue batch-stop-job-run --job-name Clicks ")
    assert step.commands[1:] == (f"aws glue start-job-run --job-name {streaming.name}",)


def test_a_checkpoint_by_the_name_of_the_job_is_copied_to_that_of_the_new_one():
    adoption, found = adopted(clicks(TempDir="s3://lake/temp/"), STUDIO)

    (streaming,) = adoption.streaming_jobs
    new = f"s3://lake/temp/{streaming.name}/checkpoint/"
    assert streaming.checkpoint == Folder("lake", new.removeprefix("s3://lake/"))
    (step,) = [one for one in steps_of(adoption, found, "x.py") if "continue" in one.title]
    assert f"aws s3 sync s3://lake/temp/Clicks/checkpoint/ {new}" in step.commands
    assert f"aws s3 sync --delete {new} s3://lake/temp/Clicks/checkpoint/" in step.rollback


def test_an_argument_that_is_called_checkpoint_is_the_constructs_own():
    adoption, _ = adopted(clicks(checkpoint="s3://lake/state/clicks/"))

    assert adoption.streaming_jobs[0].arguments == {}


def test_a_streaming_job_whose_checkpoint_nothing_names_is_left_out():
    adoption, _ = adopted(clicks(target="s3://lake/raw/c/"), "x = 1\n")

    assert adoption.streaming_jobs == ()
    (left,) = adoption.left_out
    assert "checkpoint" in left.why


def test_what_waits_for_a_streaming_job_is_left_out_and_no_trigger_starts_it():
    condition = {"JobName": "Clicks", "State": "SUCCEEDED"}
    triggers = {
        "s": {
            "Name": "s",
            "Type": "ON_DEMAND",
            "Actions": [{"JobName": "orders"}, {"JobName": "Clicks"}],
        },
        "c": {
            "Name": "c",
            "Type": "CONDITIONAL",
            "Predicate": {"Conditions": [condition]},
            "Actions": [{"JobName": "after"}],
        },
    }
    job = clicks(checkpoint="s3://lake/state/clicks/")
    jobs = {"orders": BATCH, "Clicks": job, "after": BATCH | {"Name": "after"}}

    adoption = adopt(Existing("", jobs, triggers))

    assert [one.old for one in adoption.started_jobs] == ["orders"]
    assert [(one.job, "do not end" in one.why) for one in adoption.left_out] == [("after", True)]
    assert any("no trigger of a pipeline starts" in one.why for one in adoption.differences)


def test_streaming_jobs_alone_are_a_pipeline_whose_steps_start_nothing_else():
    existing = Existing("", {"Clicks": clicks(checkpoint="s3://lake/state/clicks/")})
    adoption = adopt(existing)

    assert [one.old for one in adoption.streaming_jobs] == ["Clicks"]
    titles = [step.title for step in steps_of(adoption, existing, "x.py")]
    assert [title for title in titles if "continue the stream" in title]
    assert "Start the new pipeline" not in titles
    assert "Let the old jobs run a last time" not in titles
    assert "a checkpoint: the new job continues from it" in as_markdown(adoption, existing, [])


def test_a_trigger_that_starts_a_streaming_job_again_is_stopped_and_is_no_start_of_the_pipeline():
    """Or the old job would run again beside the new one, and both write one checkpoint."""
    again = {
        "Name": "again",
        "Type": "SCHEDULED",
        "Schedule": "cron(0 * * * ? *)",
        "Actions": [{"JobName": "Clicks"}],
    }
    start = {"Name": "s", "Type": "ON_DEMAND", "Actions": [{"JobName": "orders"}]}
    jobs = {"orders": BATCH, "Clicks": clicks(checkpoint="s3://lake/state/clicks/")}
    existing = Existing("", jobs, {"s": start, "again": again})

    adoption = adopt(existing)

    assert adoption.schedules == ()
    assert any(
        one.path == ("Schedule",) and one.of == "trigger again" for one in adoption.differences
    )
    (stop,) = [
        one for one in steps_of(adoption, existing, "x.py") if "Stop everything" in one.title
    ]
    assert "aws glue stop-trigger --name again" in stop.commands


def test_a_stream_that_is_to_end_tells_of_no_long_run():
    job = clicks(checkpoint="s3://lake/state/clicks/") | {
        "MaintenanceWindow": None,
        "Timeout": 90,
        "NotificationProperty": {"NotifyDelayAfter": 30},
    }

    adoption, _ = adopted(job)

    assert adoption.streaming_jobs[0].options == {}
    assert any(one.path == ("NotificationProperty",) for one in adoption.differences)
