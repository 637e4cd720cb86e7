"""`backfill`, `resume` and `trigger` run the code on disk, or stop and say what has changed."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.cli.code_on_disk import OldCode
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home
from tidemark.model.assembly.synthesis import synthesize

pytestmark = pytest.mark.stress  # starts many processes

# An app as the CDK has it: content-addressed assets, a manifest, context from its caller.
APP = """
import hashlib, json, os, pathlib, zipfile
out = pathlib.Path(os.environ["CDK_OUTDIR"])
out.mkdir(exist_ok=True)
stage = json.loads(os.environ["CDK_CONTEXT_JSON"]).get("stage", "dev")
files = {}

def asset(source):
    content = pathlib.Path(source).read_bytes()
    key = hashlib.sha256(content).hexdigest() + ".py"
    (out / f"asset.{key}").write_bytes(content)
    files[key] = {"source": {"path": f"asset.{key}", "packaging": "file"},
                  "destinations": {"here": {"bucketName": "assets", "objectKey": key}}}
    return f"s3://assets/{key}"

RANGE = {"--backfill_from": "none", "--backfill_to": "none", "--stage": stage,
         "--job-bookmark-option": "job-bookmark-enable",
         "--extra-py-files": asset("libs/words.py")}
command = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": asset("jobs/load.py")}
resources = {
    "Flow": {"Type": "AWS::Glue::Workflow", "Properties": {"Name": "flow"}},
    "Load": {"Type": "AWS::Glue::Job", "Properties": {
        "Name": "load", "Command": command, "DefaultArguments": RANGE}},
    "Start": {"Type": "AWS::Glue::Trigger", "Properties": {
        "Name": "start", "Type": "ON_DEMAND", "WorkflowName": "flow",
        "Actions": [{"JobName": "load"}]}},
}
artifacts = {
    "assets": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}},
    "stack": {"type": "aws:cloudformation:stack",
              "environment": "aws://unknown-account/unknown-region",
              "properties": {"templateFile": "template.json", "stackName": "shop"}},
}
for name, document in {"template.json": {"Resources": resources}, "assets.json": {"files": files},
                       "manifest.json": {"version": "1", "artifacts": artifacts}}.items():
    (out / name).write_text(json.dumps(document))
"""
LOAD = """
import pathlib, sys
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
with (pathlib.Path({told!r})).open("a") as file:
    print("{version}", given["--stage"], file=file)
{end}
"""
DAY = ("--from", "2013-01-01", "--to", "2013-01-01", "--yes")
STARTS = {
    "backfill": ("backfill", "load", *DAY),
    "resume": ("resume", "--from", "load"),
    "trigger": ("trigger", "start"),
}


class Shop:
    """A project of one job, which notes which version of it runs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._told = folder.parent / "told"
        for name in ("jobs", "libs"):
            (folder / name).mkdir(parents=True)
        (folder / "cdk.json").write_text('{"app": "python app.py"}', encoding="utf-8")
        (folder / "app.py").write_text(APP, encoding="utf-8")
        (folder / "libs/words.py").write_text("", encoding="utf-8")
        self.write("old")

    def write(self, version: str, end: str = "") -> None:
        text = LOAD.format(told=str(self._told), version=version, end=end)
        (self.folder / "jobs/load.py").write_text(text, encoding="utf-8")

    @property
    def told(self) -> list[str]:
        """The versions and stages that have run."""
        return self._told.read_text(encoding="utf-8").splitlines()


@pytest.fixture
def shop(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Shop:
    made = Shop(tmp_path / "shop")
    monkeypatch.chdir(made.folder)
    return made


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=name, marks=pytest.mark.nightly if name == "resume" else ())
        for name, words in STARTS.items()
    ],
)
def test_what_starts_runs_runs_the_code_on_disk_of_the_same_stage(shop, words):
    first = tidemark("run", "--context", "stage=test")
    assert first.exit_code == 0, first.output
    shop.write("new")

    result = tidemark(*words)

    assert result.exit_code == 0, result.output
    assert shop.told == ["old test", "new test"]
    assert "jobs/load.py" in result.stderr


@pytest.mark.nightly
@pytest.mark.parametrize(
    "words",
    [
        pytest.param(words, id=name, marks=() if name == "resume" else pytest.mark.nightly)
        for name, words in STARTS.items()
    ],
)
def test_as_deployed_runs_the_old_code_and_says_what_has_changed(shop, words):
    assert tidemark("run").exit_code == 0
    shop.write("new")

    result = tidemark(*words, "--as-deployed")

    assert result.exit_code == 0, result.output
    assert shop.told == ["old dev", "old dev"]
    assert "jobs/load.py" in result.stderr


def test_resume_says_that_nothing_is_left_before_it_synthesizes(shop):
    assert tidemark("run").exit_code == 0
    (shop.folder / "app.py").write_text("an error of syntax", encoding="utf-8")

    resumed = tidemark("resume")

    assert resumed.exit_code == 2
    assert "nothing to resume" in " ".join(resumed.stderr.split())
    assert "Synthesizing" not in resumed.output


@pytest.mark.nightly
def test_a_repaired_script_is_resumed(shop):
    shop.write("broken", end="raise ValueError('statuss')")
    assert tidemark("run").exit_code == 1
    shop.write("repaired")

    resumed = tidemark("resume")

    assert resumed.exit_code == 0, resumed.output
    assert shop.told == ["broken dev", "repaired dev"]


@pytest.mark.nightly
def test_another_assembly_can_be_named(shop, tmp_path):
    assert tidemark("run").exit_code == 0
    shop.write("other")
    assert tidemark("run", "--context", "stage=other").exit_code == 0
    shop.write("newest")

    named = tidemark("backfill", "load", *DAY, "--app", str(shop.folder / "cdk.out"))
    by_context = tidemark("backfill", "load", *DAY, "--context", "stage=third")

    assert (named.exit_code, by_context.exit_code) == (0, 0), named.output + by_context.output
    assert shop.told == ["old dev", "other other", "other other", "newest third"]


@pytest.mark.nightly
@pytest.mark.parametrize(
    "file",
    [
        "jobs/load.py",
        *(
            pytest.param(file, marks=pytest.mark.nightly)
            for file in ("libs/words.py", "app.py", "cdk.json")
        ),
    ],
)
def test_an_assembly_of_another_program_is_not_run_after_its_sources_changed(shop, file):
    assert tidemark("run").exit_code == 0
    (shop.folder / "cdk.out/tidemark-synthesis.json").unlink()  # as after `cdk synth`
    assert tidemark("run", "--app", "cdk.out").exit_code == 0
    same = tidemark("trigger", "start")
    with (shop.folder / file).open("a") as changed:
        changed.write("\n")

    result = tidemark("trigger", "start")

    assert same.exit_code == 0, same.output
    assert_one_clear_line(result, 2, file, "--app", "--as-deployed")
    assert len(shop.told) == 3


@pytest.mark.nightly
def test_an_assembly_that_was_synthesized_again_is_deployed(shop):
    record = shop.folder / "cdk.out/tidemark-synthesis.json"
    assert tidemark("run").exit_code == 0
    record.unlink()
    assert tidemark("run", "--app", "cdk.out").exit_code == 0
    shop.write("new")
    earlier = time.time() - 60
    os.utime(shop.folder / "jobs/load.py", (earlier, earlier))
    for folder in (shop.folder, shop.folder / "jobs"):
        os.utime(folder, (earlier, earlier))
    synthesize(shop.folder, {})
    record.unlink()

    result = tidemark("trigger", "start")

    assert result.exit_code == 0, result.output
    assert shop.told[-1] == "new dev"


@pytest.mark.nightly
def test_an_app_that_fails_starts_nothing_and_the_old_code_can_be_asked_for(shop):
    assert tidemark("run").exit_code == 0
    (shop.folder / "app.py").write_text("raise SystemExit('no such table')", encoding="utf-8")

    failed = tidemark("resume", "--from", "load")

    assert failed.exit_code == 1
    assert "no such table" in failed.stderr
    assert "--as-deployed" in failed.stderr
    assert tidemark("resume", "--from", "load", "--as-deployed").exit_code == 0
    assert shop.told == ["old dev", "old dev"]


def test_a_project_that_is_gone_is_named(shop, tmp_path, monkeypatch):
    assert tidemark("run").exit_code == 0
    monkeypatch.chdir(tmp_path)
    shop.folder.rename(tmp_path / "moved")

    assert_one_clear_line(tidemark("trigger", "start"), 2, str(shop.folder), "--as-deployed")


def test_as_deployed_contradicts_what_names_other_code(home):
    for words in (("--app", "cdk.out"), ("--deployed", "prod"), ("--context", "stage=a")):
        result = tidemark("trigger", "start", "--as-deployed", *words)
        assert_one_clear_line(result, 2, "--as-deployed")


def test_the_port_that_serves_the_home_gets_the_code_on_disk_too(shop, home):
    folder = synthesize(shop.folder, {"stage": "test"})
    with serving(Home.open(home)) as (url, engine):
        engine.ask(lambda glue: deploy_on_port(glue, folder))
        port = Port(Home.open(home), url, engine)
        shop.write("new")

        result = tidemark("trigger", "start")
        wait_until(lambda: port.states("load") == ["SUCCEEDED"])

    assert result.exit_code == 0, result.output
    assert shop.told == ["new test"]


def test_an_event_starts_the_code_on_disk_too(shop, home):
    folder = synthesize(shop.folder, {})
    with serving(Home.open(home)) as (url, engine):
        engine.ask(lambda glue: deploy_on_port(glue, folder))
        shop.write("new")

        put = tidemark("event", "put", "--source", "acme", "--detail-type", "landed")
        port = Port(Home.open(home), url, engine)
        started = tidemark("trigger", "start", "--as-deployed")
        wait_until(lambda: port.states("load") == ["SUCCEEDED"])

    assert put.exit_code == 0, put.output
    assert "jobs/load.py" in put.stderr
    assert "jobs/load.py" not in started.stderr
    assert shop.told == ["new dev"]


def test_a_run_of_another_command_keeps_its_code(shop, home):
    folder = synthesize(shop.folder, {})
    with serving(Home.open(home), Options(is_of_command=True)) as (_, engine):
        engine.ask(lambda glue: deploy_on_port(glue, folder))
        same = tidemark("backfill", "load", *DAY)
        shop.write("new")
        changed = tidemark("backfill", "load", *DAY)
        as_deployed = tidemark("backfill", "load", *DAY, "--as-deployed")

    assert (same.exit_code, as_deployed.exit_code) == (0, 0), as_deployed.output
    assert changed.exit_code == 2
    assert "jobs/load.py" in changed.stderr
    assert "--as-deployed" in changed.stderr
    assert shop.told == ["old dev", "old dev"]


def test_a_server_says_that_a_run_it_started_has_old_code(shop, home, capsys):
    folder = synthesize(shop.folder, {})
    with serving(Home.open(home), Options(on_start=OldCode(Home.open(home)).report)) as (
        url,
        engine,
    ):
        engine.ask(lambda glue: deploy_on_port(glue, folder))
        port = Port(Home.open(home), url, engine)
        port.ended("load", port.start("load"))
        first = capsys.readouterr().out
        shop.write("new")
        port.ended("load", port.start("load"))
        second = capsys.readouterr().out
        port.ended("load", port.start("load"))

    assert "jobs/load.py" not in first
    assert "jobs/load.py" in second
    assert "jobs/load.py" not in capsys.readouterr().out


def test_jobs_that_clients_defined_have_no_code_on_disk(home):
    with serving(Home.open(home)) as (url, engine):
        port = Port(Home.open(home), url, engine)
        port.job("load", "print('loading')")
        port.glue.create_trigger(Name="start", Type="ON_DEMAND", Actions=[{"JobName": "load"}])

        result = tidemark("trigger", "start")

    assert result.stdout.startswith("trigger start has fired: load\n")
    assert result.exit_code == 0
