"""`tidemark state check|write|carry-over` on small assemblies, with a real store and DynamoDB."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from tidemark.cli.main import main
from tidemark.glue_service.commands import load_app
from tidemark.local_state.bookmarks.versions import commit_bookmark, latest_bookmark
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from watermarks import Watermarks

SCRIPT = """
context.create_dynamic_frame.from_options(
    connection_type="s3",
    connection_options={"paths": ["s3://landing/PLACE/"]},
    transformation_ctx="CTX",
)
"""
TABLE = {
    "Type": "AWS::DynamoDB::Table",
    "DeletionPolicy": "Retain",
    "UpdateReplacePolicy": "Retain",
    "Properties": {
        "TableName": "glue-watermarks",
        "BillingMode": "PAY_PER_REQUEST",
        "KeySchema": [
            {"AttributeName": "jobName", "KeyType": "HASH"},
            {"AttributeName": "runId", "KeyType": "RANGE"},
        ],
        "AttributeDefinitions": [
            {"AttributeName": "jobName", "AttributeType": "S"},
            {"AttributeName": "runId", "AttributeType": "S"},
        ],
    },
}
RENAME = {"rename_job": {"from": "ingest", "to": "load", "bookmark_on_aws": "reread"}}


def tidemark(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["state", *arguments], env={"COLUMNS": "250"})


@pytest.fixture
def project(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the app, which is the current one."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def app(write_assembly) -> Callable[..., str]:
    """Return a writer of an app whose one job has a bookmark and watermarks."""

    def write(*names: str, ctx: str = "landed", place: str = "in") -> str:
        script = SCRIPT.replace("CTX", ctx).replace("PLACE", place)
        folder = write_assembly(dict.fromkeys(names, script), None, {"Table": TABLE})
        path = folder / "template.json"
        template = json.loads(path.read_text(encoding="utf-8"))
        for name in names:
            template["Resources"][name]["Properties"]["DefaultArguments"] = {
                "--job-bookmark-option": "job-bookmark-enable",
                "--watermark_table": {"Ref": "Table"},
            }
        path.write_text(json.dumps(template), encoding="utf-8")
        return str(folder)

    return write


def plan(project: Path, *entries: object) -> None:
    (project / "state-carry-over.json").write_text(json.dumps(entries), encoding="utf-8")


@contextmanager
def watermarks_of(home: Path, app: str):
    opened = Home.open(home)
    with (
        dynamodb_endpoint(opened) as endpoint,
        dynamodb_client(endpoint, "us-east-1") as client,
    ):
        create_tables(client, load_app(Path(app)).deployment.tables)
        yield Watermarks("glue-watermarks", client)


def window(watermarks: Watermarks, job: str, run_id: str, high: int) -> list[tuple[object, object]]:
    request = {"job_id": job, "run_id": run_id, "cursor": "id", "high": high}
    return [(w.low, w.high) for w in watermarks.windows(**request)]


def test_check_looks_at_the_assembly_that_the_cdk_deploys(project, app, monkeypatch):
    assert tidemark("write", "--app", app("ingest")).exit_code == 0
    monkeypatch.setenv("CDK_APP", app("load"))

    result = tidemark("check", "-c", "stage=dev")

    assert result.exit_code == 1
    assert "ingest" in result.output
    assert "CDK_APP" in result.stderr
    assert "--context" in result.stderr  # which it leaves out of account


def test_app_that_was_recorded_is_up_to_date(project, app):
    folder = app("ingest")

    assert tidemark("write", "--app", folder).output == (
        "state-manifest.json is written: 1 job; review and commit it\n"
    )
    result = tidemark("check", "--app", folder)
    assert (result.exit_code, result.output) == (
        0,
        "state-manifest.json is up to date: nothing is lost\n",
    )
    assert tidemark("write", "--app", folder).output == "state-manifest.json is up to date\n"


def test_app_without_a_manifest_is_told_to_begin_one(project, app):
    result = tidemark("check", "--app", app("ingest"))

    assert result.exit_code == 1
    assert "there is no state-manifest.json" in result.stderr
    assert "run `tidemark state write` and commit the file" in result.stderr


def test_new_job_that_is_not_recorded_fails_with_the_remedy(project, app):
    tidemark("write", "--app", app("ingest"))

    result = tidemark("check", "--app", app("ingest", "new"))

    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "~ job new: added",
        "state-manifest.json is out of date, and nothing is lost: run `tidemark state write` and "
        "commit it",
    ]
    assert tidemark("write", "--app", app("ingest", "new")).exit_code == 0
    assert tidemark("check", "--app", app("ingest", "new")).exit_code == 0


def test_renamed_job_fails_the_check_and_is_not_written(project, app):
    tidemark("write", "--app", app("ingest"))
    before = (project / "state-manifest.json").read_text()

    checked = tidemark("check", "--app", app("load"))
    written = tidemark("write", "--app", app("load"))

    assert checked.exit_code == 1
    assert "✗ ingest: watermark gone" in checked.output
    assert "✗ ingest: bookmark gone" in checked.output
    assert json.dumps(RENAME) in checked.output
    assert written.exit_code == 1
    assert "is not changed: losses that no one acknowledged: 2" in written.stderr
    assert (project / "state-manifest.json").read_text() == before


def test_check_prints_json_for_programs(project, app):
    tidemark("write", "--app", app("ingest"))
    plan(project, {"discard": {"job": "other", "reason": "x"}})

    result = tidemark("check", "--app", app("ingest", ctx="renamed"), "--format", "json")

    found = json.loads(result.stdout)
    assert result.exit_code == 1
    assert (found["is_safe"], found["is_current"]) == (False, False)
    (loss,) = found["unacknowledged"]
    assert (loss["kind"], loss["subject"]) == ("transformation_ctx gone", "ingest")
    assert loss["transformation_ctx"] == "landed"
    assert found["unused"][0]["why"] == "nothing that it speaks of would be lost"


def test_renamed_job_goes_on_exactly_where_it_was(project, app, home):
    folder = app("ingest")
    tidemark("write", "--app", folder)
    with watermarks_of(home, folder) as watermarks:
        window(watermarks, "ingest", "jr_1", 10)
    with Store(Home.open(home).database) as store:
        commit_bookmark(store, "ingest", "jr_1", {"landed": {"kind": "s3"}}, 0, 1)
    plan(project, RENAME)
    folder = app("load")

    dry = tidemark("carry-over", "--app", folder, "--dry-run")
    with Store(Home.open(home).database) as store:
        assert latest_bookmark(store, "load") is None
    first = tidemark("carry-over", "--app", folder)
    again = tidemark("carry-over", "--app", folder)

    assert dry.output.splitlines() == [
        "carry watermarks: the watermarks of ingest in glue-watermarks become those of load",
        "carry bookmark: the bookmark of ingest becomes that of load",
    ]
    assert first.exit_code == again.exit_code == 0, first.output + again.output
    assert "become those of load: carried over: version 1, id=10" in first.output
    assert "becomes that of load: carried over up to version 1" in first.output
    assert "becomes that of load: done before" in again.output
    with watermarks_of(home, folder) as watermarks:
        assert window(watermarks, "load", "jr_2", 20) == [(10, 20)]
    with Store(Home.open(home).database) as store:
        assert latest_bookmark(store, "load").states == {"landed": {"kind": "s3"}}


def test_plan_stays_after_it_was_recorded_and_can_be_carried_out_in_the_next_stage(project, app):
    tidemark("write", "--app", app("ingest"))
    plan(project, RENAME)

    assert tidemark("check", "--app", app("load")).exit_code == 1  # not recorded yet
    assert tidemark("write", "--app", app("load")).exit_code == 0
    assert tidemark("check", "--app", app("load")).exit_code == 0
    assert tidemark("carry-over", "--app", app("load")).exit_code == 0
    (project / "state-carry-over.json").unlink()
    assert tidemark("write", "--app", app("load")).exit_code == 0
    assert json.loads((project / "state-manifest.json").read_text())["carry_over"] == []


def test_ctx_that_was_renamed_and_place_that_was_moved_are_carried_out(project, app, home):
    tidemark("write", "--app", app("ingest"))
    states = {"landed": {"kind": "s3", "paths": ["s3://landing/in/"]}}
    with Store(Home.open(home).database) as store:
        commit_bookmark(store, "ingest", "jr_1", states, 0, 1)
    ctx = {"job": "ingest", "from": "landed", "to": "rain", "bookmark_on_aws": "reread"}
    moved = {"job": "ingest", "ctx": "rain", "reason": "the new place has older files"}
    plan(project, {"rename_ctx": ctx}, {"reread": moved})
    folder = app("ingest", ctx="rain", place="new")

    result = tidemark("carry-over", "--app", folder)

    assert result.exit_code == 0, result.output
    assert result.output.splitlines() == [
        "rename transformation_ctx: the position of landed of ingest continues under rain: carried "
        "over as version 2",
        "forget transformation_ctx: the position of rain of ingest at another place is forgotten: "
        "forgotten as version 3",
    ]
    with Store(Home.open(home).database) as store:
        assert latest_bookmark(store, "ingest").states == {}


def test_what_aws_cannot_do_is_said_before_anything_is_done(project, app):
    tidemark("write", "--app", app("ingest"))
    plan(project, RENAME)

    result = tidemark("carry-over", "--app", app("load"), "--deployed", "dev", "--dry-run")

    assert result.output.splitlines() == [
        "carry watermarks: the watermarks of ingest in glue-watermarks become those of load",
        "nothing: AWS has no API that writes a bookmark: load reads everything again, unless its "
        "bookmark is built by a run that writes elsewhere; see docs/state.md",
    ]


def test_watermarks_are_carried_over_in_an_account(project, app, home, monkeypatch):
    folder = app("ingest")
    tidemark("write", "--app", folder)
    plan(project, RENAME)
    folder = app("load")
    with watermarks_of(home, folder) as watermarks:
        window(watermarks, "ingest", "jr_1", 10)
        for name, value in {
            "AWS_ENDPOINT_URL_DYNAMODB": watermarks.dynamodb_client.meta.endpoint_url,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)

        result = tidemark("carry-over", "--app", folder, "--deployed", "dev")

        assert result.exit_code == 0, result.output
        assert "carried over: version 1, id=10" in result.output
        assert window(watermarks, "load", "jr_2", 20) == [(10, 20)]


def test_account_without_credentials_is_one_clear_error(project, app, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "AWS_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nowhere")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    tidemark("write", "--app", app("ingest"))
    plan(project, RENAME)

    result = tidemark("carry-over", "--app", app("load"), "--deployed", "dev")

    assert result.exit_code == 1
    assert result.stderr.startswith("error: AWS refuses: ")
    assert "use credentials and a region" in result.stderr


def test_account_without_the_table_is_an_error_and_not_a_success(project, app, home, monkeypatch):
    tidemark("write", "--app", app("ingest"))
    plan(project, RENAME)
    with dynamodb_endpoint(Home.open(home)) as endpoint:
        for name, value in {
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": "eu-west-1",
        }.items():
            monkeypatch.setenv(name, value)

        result = tidemark("carry-over", "--app", app("load"), "--deployed", "dev")

    assert result.exit_code == 1
    assert "there is no table glue-watermarks in eu-west-1 of this account" in result.stderr


def test_job_that_ran_under_its_new_name_too_early_is_not_overwritten(project, app, home):
    folder = app("ingest")
    tidemark("write", "--app", folder)
    plan(project, RENAME)
    folder = app("load")
    with watermarks_of(home, folder) as watermarks:
        window(watermarks, "ingest", "jr_1", 10)
        window(watermarks, "load", "jr_2", 5)

    result = tidemark("carry-over", "--app", folder)

    assert result.exit_code == 1
    assert "job 'load' has its own watermarks, version 1, {'id': 5}" in result.stderr
    assert "Traceback" not in result.output


def test_plan_that_does_not_fit_the_app_is_not_begun(project, app):
    tidemark("write", "--app", app("ingest"))
    plan(project, {"rename_job": {"from": "ingest", "to": "load"}})

    result = tidemark("carry-over", "--app", app("ingest"))

    assert result.exit_code == 2
    assert "cannot be carried out: the app has a job 'ingest'" in result.stderr


def test_table_that_aws_names_is_refused_for_an_account(project, app):
    tidemark("write", "--app", app("ingest"))
    folder = Path(app("load"))
    template = json.loads((folder / "template.json").read_text())
    del template["Resources"]["Table"]["Properties"]["TableName"]
    (folder / "template.json").write_text(json.dumps(template))
    plan(
        project,
        RENAME,
        {"discard": {"job": "load", "reason": "another table"}},
        {"discard": {"resource": "stack/Table", "reason": "made again"}},
    )

    result = tidemark("carry-over", "--app", str(folder), "--deployed", "dev", "--dry-run")

    assert result.exit_code == 2
    assert "set its TableName" in result.stderr


def git(project: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
    subprocess.run(["git", *who, *words], cwd=project, check=True, capture_output=True)


@pytest.fixture
def recorded(project, app):
    """Return the project, with the manifest of the job `ingest` in its first commit."""
    tidemark("write", "--app", app("ingest"))
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "Begin")
    return project


def test_manifest_that_was_made_anew_hides_no_loss_since_a_commit(recorded, app):
    (recorded / "state-manifest.json").unlink()
    assert tidemark("write", "--app", app("load")).exit_code == 0
    assert tidemark("check", "--app", app("load")).exit_code == 0

    result = tidemark("check", "--app", app("load"), "--since", "HEAD")
    document = tidemark("check", "--app", app("load"), "--since", "HEAD", "--format", "json")

    assert result.exit_code == document.exit_code == 1
    assert "✗ ingest: bookmark gone" in result.output
    assert "`git checkout HEAD -- state-manifest.json`, decide in" in result.output
    assert json.loads(document.stdout)["is_safe"]
    assert not json.loads(document.stdout)["since"]["is_safe"]


def test_what_the_plan_says_is_no_loss_since_a_commit(recorded, app):
    plan(recorded, RENAME)
    assert tidemark("write", "--app", app("load")).exit_code == 0

    result = tidemark("check", "--app", app("load"), "--since", "HEAD")

    assert result.exit_code == 0, result.output
    assert result.output.endswith("\nnothing is lost since HEAD\n")
    git(recorded, "add", ".")
    git(recorded, "commit", "-qm", "Rename")
    assert tidemark("check", "--app", app("load"), "--since", "HEAD").exit_code == 0


def test_commit_without_a_manifest_had_nothing_to_lose(project, app):
    git(project, "init", "-q")
    git(project, "commit", "-qm", "Begin", "--allow-empty")
    tidemark("write", "--app", app("ingest"))

    assert tidemark("check", "--app", app("ingest"), "--since", "HEAD").exit_code == 0


def test_revision_that_git_does_not_know_is_refused(recorded, app):
    result = tidemark("check", "--app", app("ingest"), "--since", "nowhere")

    assert result.exit_code == 2
    assert "--since 'nowhere' is not a commit that Git knows" in result.stderr


def test_without_a_plan_there_is_nothing_to_do(project, app):
    tidemark("write", "--app", app("ingest"))

    result = tidemark("carry-over", "--app", app("ingest"))

    assert (result.exit_code, result.output) == (
        0,
        "nothing to do: there is no entry in state-carry-over.json\n",
    )


@pytest.mark.parametrize("command", ["check", "write", "carry-over"])
def test_commands_have_help(command):
    result = tidemark(command, "--help")

    assert result.exit_code == 0
    assert "--app DIR" in result.output


RUNNABLE = """
import sys
from pathlib import Path
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from tidemark.glue_job.process.bookmark_session import files_to_read
from tidemark.local_state.bookmarks.sources import S3Source

job = Job(None)
job.init(getResolvedOptions(sys.argv, ["JOB_NAME"])["JOB_NAME"], getResolvedOptions(sys.argv, []))
files = files_to_read(S3Source(("s3://landing/in/",), "landed", "json")).files
with Path("READ").open("a") as read:
    print(*(file.path for file in files), file=read)
job.commit()
"""


def test_run_after_a_carry_over_reads_what_is_new_and_deletes_the_old_name(
    project, app, home, tmp_path
):
    landing = home / "lake" / "landing" / "in"
    landing.mkdir(parents=True)
    read = tmp_path / "read"

    def deploy(name: str) -> str:
        folder = app(name)
        text = RUNNABLE.replace("READ", str(read))
        (Path(folder) / f"{name}.py").write_text(text, encoding="utf-8")
        return folder

    def run(name: str) -> str:
        result = CliRunner().invoke(main, ["run", "--app", deploy(name)])
        assert result.exit_code == 0, result.output
        return read.read_text().splitlines()[-1]

    (landing / "a.json").write_text("{}")
    tidemark("write", "--app", deploy("ingest"))
    assert run("ingest") == "s3://landing/in/a.json"
    plan(project, RENAME)
    assert tidemark("carry-over", "--app", deploy("load")).exit_code == 0
    (landing / "b.json").write_text("{}")

    assert run("load") == "s3://landing/in/b.json"
    with Store(Home.open(home).database) as store:
        assert latest_bookmark(store, "ingest") is None
        assert latest_bookmark(store, "load").version == 2
    assert "nothing to do" in tidemark("carry-over", "--app", deploy("load")).output
