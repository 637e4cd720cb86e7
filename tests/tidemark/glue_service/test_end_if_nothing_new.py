"""`end_if_nothing_new` as a script on Glue calls it: S3 and Glue of a port, a real DynamoDB."""

from __future__ import annotations

import itertools

import boto3
import pytest
from botocore.config import Config

from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark, reset_bookmark
from tidemark.local_state.dynamodb import dynamodb_client
from tidemark.local_state.store.database import JobRun, Store
from watermarks import create_table_request, end_if_nothing_new
from watermarks.nothing_new import own_words

ENABLE = "job-bookmark-enable"


class Script:
    """The runs of one job, each of which asks first."""

    def __init__(self, port, dynamodb, name, capsys, monkeypatch) -> None:
        self.port, self.name, self._dynamodb = port, name, dynamodb
        self._capsys, self._patch = capsys, monkeypatch
        self._count = 0
        self.s3 = port.client("s3", s3={"addressing_style": "path"})
        self.bucket = f"raw-{name}"
        self.s3.create_bucket(Bucket=self.bucket)
        self.put("flights/a", "1")
        port.job(name)

    def put(self, key: str, body: str) -> None:
        self.s3.put_object(Bucket=self.bucket, Key=key, Body=body.encode())

    def run(self, *words: str, commits: bool = True, state: str = "SUCCEEDED", **args: str) -> str:
        """Run the job; return what it printed, or "ended"."""
        self._count += 1
        run_id = f"jr_{self._count:064x}"
        own = ["--JOB_NAME", self.name, "--JOB_RUN_ID", run_id, f"--WORKFLOW_RUN_ID=wr_{run_id}"]
        self._patch.setattr("sys.argv", ["job.py", *own, *words])
        options = {
            "JOB_NAME": self.name,
            "JOB_RUN_ID": run_id,
            "job_bookmark_option": ENABLE,
            "skip_if_nothing_new": f"s3://{self.bucket}/flights/,s3://{self.bucket}/airports/",
            "nothing_new_table": "marks",
            **args,
        }
        clients = {
            "dynamodb_client": self._dynamodb,
            "glue_client": self.port.glue,
            "s3_client": self.s3,
        }
        try:
            end_if_nothing_new(options, **clients)
        except SystemExit as ended:
            shown = self._capsys.readouterr().out
            return "ended" if (ended.code, shown[:12]) == (0, "nothing new:") else shown
        with Store(self.port.home.database) as store:
            log = str(self.port.home.runs / run_id / "stderr.log")
            store.put_job_run(
                JobRun(run_id, self.name, None, None, 0, state, self._count, log, ENABLE)
            )
            if commits:
                bookmark = latest_bookmark(store, self.name)
                version = bookmark.version if bookmark else 0
                commit_bookmark(store, self.name, run_id, {"a": {"n": self._count}}, version, 1)
        return self._capsys.readouterr().out.removeprefix("the run continues: ").strip()


NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def dynamodb(port):
    """Return a client of a DynamoDB with the table of watermarks."""
    endpoint = port.engine.ask(lambda glue: glue.machine.dynamodb_endpoint)
    with dynamodb_client(endpoint, "us-east-1") as client:
        client.create_table(**create_table_request("marks"))
        yield client


@pytest.fixture
def script(port, dynamodb, capsys, monkeypatch):
    """Return the script of a job that has read all that there is."""
    script = Script(port, dynamodb, f"job-{next(NUMBERS)}", capsys, monkeypatch)
    assert script.run() == "the findings of the last run are not known"
    return script


def test_a_run_ends_until_something_is_new(script):
    assert [script.run(), script.run()] == ["ended", "ended"]

    script.put("flights/b", "2")

    assert script.run() == "inputs, arguments or code are not those of the last run"
    assert script.run() == "ended"


@pytest.mark.parametrize(
    "change",
    [
        lambda script: script.put("flights/a", "other"),
        lambda script: script.put("airports/x", "1"),
        lambda script: script.s3.delete_object(Bucket=script.bucket, Key="flights/a"),
    ],
    ids=["replaced", "other input", "deleted"],
)
def test_any_change_of_a_declared_input_lets_it_go_on(script, change):
    change(script)

    assert script.run() == "inputs, arguments or code are not those of the last run"


def test_another_argument_lets_it_go_on(script):
    assert script.run("--mode", "full").startswith("inputs, arguments or code")
    assert script.run("--mode=full") == "ended"


def test_a_run_that_committed_nothing_does_not_count(script):
    script.put("flights/b", "2")
    script.run(commits=False)

    assert script.run().startswith("the bookmark in force is not the one that jr_")


def test_a_job_that_never_committed_goes_on_and_notes_what_it_finds(
    port, dynamodb, capsys, monkeypatch
):
    script = Script(port, dynamodb, f"job-{next(NUMBERS)}", capsys, monkeypatch)
    script.run(commits=False, state="FAILED")

    assert script.run() == "no run has committed a bookmark"
    assert script.run() == "ended"


def test_a_run_that_failed_after_its_commit_does_not_count(script):
    script.put("flights/b", "2")
    script.run(state="FAILED")

    assert script.run().endswith("is FAILED")


def test_after_a_reset_of_the_bookmark_it_goes_on(script):
    with Store(script.port.home.database) as store:
        reset_bookmark(store, script.name, 2)

    assert script.run().startswith("the bookmark in force is not the one")


def test_off_and_a_paused_bookmark_let_it_go_on_and_note_nothing(script):
    assert script.run(skip_if_nothing_new="off", commits=False) == "skip_if_nothing_new is off"
    paused = script.run(job_bookmark_option="job-bookmark-pause", commits=False)

    assert paused.startswith("the job-bookmark-option is job-bookmark-pause")
    assert script.run() == "ended"


def test_what_cannot_be_asked_lets_it_go_on(script):
    assert script.run(nothing_new_table="nowhere").startswith("the check failed: Watermark")
    gone = script.run(skip_if_nothing_new="s3://no-such-bucket-here/x/")
    assert gone.startswith("the check failed: NoSuchBucket")


def test_a_dead_service_lets_it_go_on(script):
    script.s3 = boto3.client(
        "s3",
        endpoint_url="http://127.0.0.1:9",
        region_name="us-east-1",
        aws_access_key_id="a",
        aws_secret_access_key="b",  # noqa: S106 (not a secret)
        config=Config(retries={"total_max_attempts": 1}),
    )

    assert script.run().startswith("the check failed: EndpointConnectionError")


@pytest.mark.parametrize("missing", ["skip_if_nothing_new", "nothing_new_table", "JOB_RUN_ID"])
def test_a_missing_argument_is_named(script, missing):
    with pytest.raises(ValueError, match=f"args has no {missing}: name it in getResolvedOptions"):
        script.run(**{missing: ""})


def test_words_that_every_run_has_of_its_own_do_not_count():
    argv = ["--JOB_ID", "j_1", "--x", "1", "--JOB_RUN_ID=jr", "--y=2=3", "--WORKFLOW_NAME", "w"]

    assert own_words(argv) == ["--x=1", "--y=2=3"]
