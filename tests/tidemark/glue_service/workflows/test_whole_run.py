"""Whole workflow runs with real processes, whose scripts import no Spark."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.waiting import wait_until
from tidemark.cli.progress import print_outcome
from tidemark.errors import EntityNotFoundError, TidemarkError, UnsupportedError
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.entities import Entity, EntityKind, put_entity
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.runs.job_runs import start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.workflows.due import Schedules
from tidemark.glue_service.workflows.flows import Flows
from tidemark.glue_service.workflows.whole_run import Watch, run_to_its_end
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import (
    Action,
    Deployment,
    JobDefinition,
    TriggerCondition,
    TriggerDefinition,
)
from tidemark.model.clock import now_ms

pytestmark = pytest.mark.stress  # starts many processes

FAIL = "raise ValueError('no')"
SLEEP = "import time; time.sleep(60)"
WITH_CHILD = """
import json, os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open("unfinished", "w") as file:
    json.dump([os.getpid(), child.pid], file)
os.replace("unfinished", "pids")
time.sleep(60)
"""
FAIL_ONCE = """
import pathlib, sys
mark = pathlib.Path("..") / "was-here"
if not mark.exists():
    mark.touch()
    sys.exit("first attempt")
"""
START = TriggerDefinition("start", "ON_DEMAND", (Action("one"),), "flow")


def after(condition_state="SUCCEEDED", watched="one", started="two", name=None, **changes):
    return TriggerDefinition(
        name=name or f"{watched}-{condition_state}",
        type="CONDITIONAL",
        actions=(Action(started),),
        workflow_name="flow",
        conditions=(TriggerCondition(watched, condition_state),),
        **changes,
    )


@pytest.fixture
def home(tmp_path):
    home = Home.open(tmp_path / "home")
    (home.lake / "scripts").mkdir()
    return home


@pytest.fixture
def store(home):
    with Store(home.database) as store:
        yield store


class Run:
    """A workflow run that is still to be made, in an engine without a port."""

    def __init__(self, home, deployment, observe):
        self.home, self.deployment, self.watch = home, deployment, Watch(observe)

    def execute(self, *, skips_crawlers=False):
        with Engine(self._open, self.watch.deaths.append) as engine:
            self.engine = engine
            skip = {"skips_crawlers": skips_crawlers}
            return run_to_its_end(engine, self.deployment, "flow", self.watch, **skip)

    @contextlib.contextmanager
    def _open(self):
        machine = Machine(self.home, Path("java"), "http://127.0.0.1:9", "eu-west-2")
        with Store(self.home.database) as store:
            flows, tell = Flows(store, now_ms), self.watch.changes.put
            runner = Runner(machine, store, flows.follow, tell, on_start=tell)
            glue = GlueState(machine, store, runner, flows, Schedules(), now_ms, print)
            for job in self.deployment.jobs.values():
                put_entity(store, Entity(EntityKind.JOB, job.name, definition_of(job), {}, 0, 0))
            try:
                yield glue
            finally:
                runner.close()


def definition_of(job):
    return {
        "Command": {
            "Name": job.command,
            "PythonVersion": "3.9",
            "ScriptLocation": job.script_location,
        },
        "GlueVersion": job.glue_version,
        "DefaultArguments": job.default_arguments,
        "Timeout": job.timeout_minutes,
        "MaxRetries": job.max_retries,
    }


@pytest.fixture
def workflow(home):
    """Return a maker of workflow runs over scripts by job name."""

    def make(scripts, *triggers, observe=lambda run: None, **changes):
        jobs = {}
        for name, script in scripts.items():
            (home.lake / "scripts" / f"{name}.py").write_text(script, encoding="utf-8")
            jobs[name] = JobDefinition(name, f"s3://scripts/{name}.py", "5.1", **changes)
        deployment = Deployment(jobs, triggers, ("flow",), (), ("scripts",), {}, "eu-west-2")
        return Run(home, deployment, observe)

    return make


def outcome(result):
    return [(run.job_name, run.state) for run in result.job_runs]


def workflow_statuses(home):
    with closing(sqlite3.connect(home.database)) as connection:
        rows = connection.execute("SELECT status FROM workflow_run ORDER BY started_at_ms")
        return [row[0] for row in rows]


def is_alive(pid):
    """Tell a running process from one that ended and no one has waited for."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        return stat.rpartition(")")[2].split()[0] not in "ZX"
    return False


def test_success_fires_the_next_jobs_until_the_end_of_the_chain(home, workflow):
    result = workflow(
        {"one": "", "two": "", "three": ""}, START, after(), after(watched="two", started="three")
    ).execute()

    assert outcome(result) == [("one", "SUCCEEDED"), ("two", "SUCCEEDED"), ("three", "SUCCEEDED")]
    assert [run.trigger_name for run in result.job_runs] == [
        "start",
        "one-SUCCEEDED",
        "two-SUCCEEDED",
    ]
    assert result.is_success
    assert result.run_id.startswith("wr_")
    assert {run.workflow_run_id for run in result.job_runs} == {result.run_id}
    assert workflow_statuses(home) == ["COMPLETED"]


def test_a_python_shell_job_runs_without_spark_and_is_told_its_arguments_only(home, workflow):
    script = """
import os, sys
from awsglue.utils import getResolvedOptions
print(sorted(sys.argv[1::2]), getResolvedOptions(sys.argv, ["WORKFLOW_NAME", "url"])["url"])
print("SPARK_HOME" in os.environ, "JAVA_HOME" in os.environ)
try:
    import pyspark
except ImportError:
    print("no pyspark")
"""
    arguments = {"--url": "https://x", "library-set": "analytics"}
    start = replace(START, actions=(Action("one", arguments),))

    result = workflow({"one": script}, start, command="pythonshell").execute()

    assert outcome(result) == [("one", "SUCCEEDED")]
    (run,) = result.job_runs
    folder = Path(run.log_path).parent
    printed = (folder / "stdout.log").read_text().splitlines()
    told = "['--WORKFLOW_NAME', '--WORKFLOW_RUN_ID', '--url'] https://x"
    assert printed == [told, f"False {'JAVA_HOME' in os.environ}", "no pyspark"]
    assert not (folder / "spark.conf").exists()
    assert run.jvm is None


@pytest.mark.nightly
def test_a_python_shell_job_is_retried_and_fails_as_others(workflow):
    again = workflow({"one": FAIL_ONCE}, START, command="pythonshell", max_retries=1).execute()
    never = workflow({"one": FAIL}, START, command="pythonshell").execute()

    assert outcome(again) == [("one", "FAILED"), ("one", "SUCCEEDED")]
    assert outcome(never) == [("one", "FAILED")]
    assert never.job_runs[0].error_message == "ValueError: no (one.py, line 1)"


def test_a_python_shell_job_that_takes_too_long_times_out(workflow):
    result = workflow({"one": SLEEP}, START, command="pythonshell", timeout_minutes=0).execute()

    assert outcome(result) == [("one", "TIMEOUT")]


def test_a_skipped_crawler_counts_as_succeeded_and_what_waits_for_it_runs(workflow):
    crawl = after(started="crawler landing")
    succeeded = after(watched="crawler landing", started="two")
    failed = after("FAILED", watched="crawler landing", started="three")

    result = workflow({"one": "", "two": "", "three": ""}, START, crawl, succeeded, failed).execute(
        skips_crawlers=True
    )

    assert outcome(result) == [("one", "SUCCEEDED"), ("two", "SUCCEEDED")]
    assert list(result.blocked) == ["three"]


def test_skipped_crawlers_in_a_row_are_passed_and_each_trigger_fires_once(workflow):
    start = replace(START, actions=(Action("crawler a"), Action("crawler b")))
    both = replace(
        after(watched="crawler a", started="one"),
        conditions=(
            TriggerCondition("crawler a", "SUCCEEDED"),
            TriggerCondition("crawler c", "SUCCEEDED"),
        ),
    )
    third = after(watched="crawler b", started="crawler c")

    result = workflow({"one": ""}, start, both, third).execute(skips_crawlers=True)

    assert outcome(result) == [("one", "SUCCEEDED")]


def test_a_job_that_fails_blocks_the_crawler_behind_it(workflow):
    crawl = after(started="crawler landing")

    result = workflow({"one": FAIL}, START, crawl).execute(skips_crawlers=True)

    assert result.blocked == {"crawler landing": ("one SUCCEEDED (is FAILED)",)}
    assert not result.is_success


def test_job_after_two_waits_for_both(workflow):
    both = TriggerDefinition(
        "both",
        "CONDITIONAL",
        (Action("three"),),
        "flow",
        conditions=(TriggerCondition("one", "SUCCEEDED"), TriggerCondition("two", "SUCCEEDED")),
    )
    start = replace(START, actions=(Action("one"), Action("two")))

    result = workflow({"one": "", "two": "", "three": ""}, start, both).execute()

    assert outcome(result)[-1] == ("three", "SUCCEEDED")
    assert len(result.job_runs) == 3


def test_failed_job_blocks_its_dependents_which_name_the_conditions(workflow):
    result = workflow(
        {"one": FAIL, "two": "", "three": ""}, START, after(), after(watched="two", started="three")
    ).execute()

    assert outcome(result) == [("one", "FAILED")]
    assert result.job_runs[0].error_message == "ValueError: no (one.py, line 1)"
    assert result.blocked == {
        "two": ("one SUCCEEDED (is FAILED)",),
        "three": ("two SUCCEEDED (is not started)",),
    }
    assert not result.is_success


def test_failure_fires_its_watcher(workflow):
    result = workflow({"one": FAIL, "two": ""}, START, after("FAILED")).execute()

    assert outcome(result) == [("one", "FAILED"), ("two", "SUCCEEDED")]
    assert not result.is_success


@pytest.mark.rule("Triggers and workflows", source="TRG, TRA")
def test_inactive_trigger_never_fires(workflow):
    result = workflow({"one": "", "two": ""}, START, after(is_active=False)).execute()

    assert outcome(result) == [("one", "SUCCEEDED")]


@pytest.mark.nightly
@pytest.mark.rule(
    "Triggers and workflows",
    source="RUNS, MNT",
    choice="a retried failure fires nothing",
)
def test_retry_has_its_own_id_and_only_the_last_state_fires_triggers(workflow):
    result = workflow(
        {"one": FAIL_ONCE, "two": "", "three": ""},
        START,
        after(),
        after("FAILED", started="three"),
        max_retries=2,
    ).execute()

    first, retry, _ = result.job_runs
    assert outcome(result) == [("one", "FAILED"), ("one", "SUCCEEDED"), ("two", "SUCCEEDED")]
    assert retry.run_id == f"{first.run_id}_attempt_1"
    assert (first.attempt, retry.attempt) == (0, 1)
    assert first.error_message == "SystemExit: first attempt (one.py, line 6)"


@pytest.mark.nightly
@pytest.mark.rule("Triggers and workflows", source="ADD")
def test_job_that_keeps_failing_is_retried_up_to_its_limit(workflow):
    result = workflow({"one": FAIL, "two": ""}, START, after("FAILED"), max_retries=2).execute()

    one = result.job_runs[0].run_id
    assert [run.run_id for run in result.job_runs[:3]] == [
        one,
        f"{one}_attempt_1",
        f"{one}_attempt_2",
    ]
    assert outcome(result) == [("one", "FAILED")] * 3 + [("two", "SUCCEEDED")]


@pytest.mark.rule("Triggers and workflows", source="ADD, TRG")
def test_timeout_is_not_retried_and_fires_its_watcher(workflow):
    run = workflow({"one": SLEEP, "two": ""}, START, after("TIMEOUT"), max_retries=2)
    jobs = run.deployment.jobs
    jobs["one"] = replace(jobs["one"], timeout_minutes=0)

    assert outcome(run.execute()) == [("one", "TIMEOUT"), ("two", "SUCCEEDED")]


@pytest.mark.rule("Triggers and workflows", source="TRA")
def test_timeout_of_an_action_applies_to_its_run_only(workflow):
    start = replace(START, actions=(Action("one", timeout_minutes=0), Action("two")))

    result = workflow({"one": SLEEP, "two": ""}, start).execute()

    assert sorted(outcome(result)) == [("one", "TIMEOUT"), ("two", "SUCCEEDED")]


@pytest.mark.rule("Triggers and workflows", source="WF", choice="`tidemark run` fires no event")
def test_a_workflow_with_an_event_trigger_is_started_by_hand_with_a_message(workflow):
    result = workflow({"one": ""}, replace(START, type="EVENT", is_active=False)).execute()
    console = Console(file=io.StringIO())
    print_outcome(console, result)

    assert outcome(result) == [("one", "SUCCEEDED")]
    assert "started by hand" in console.file.getvalue()


@pytest.mark.rule("Triggers and workflows", source="STAT")
def test_start_beyond_max_concurrent_runs_is_shown_as_a_failed_run(workflow, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    start = replace(START, actions=(Action("one"), Action("one")))

    result = workflow({"one": "import time; time.sleep(0.3)"}, start).execute()

    assert sorted(outcome(result)) == [("one", "FAILED"), ("one", "SUCCEEDED")]
    (failed,) = [run for run in result.job_runs if run.state == "FAILED"]
    assert failed.error_message == "Concurrent runs exceeded for one"


@pytest.mark.rule("Triggers and workflows", source="SILENT", choice="one machine does all the work")
def test_as_many_jobs_run_at_once_as_there_are_cores(workflow, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    running, most = set(), []

    def observe(run):
        if run is not None:
            (running.add if run.state == "RUNNING" else running.discard)(run.run_id)
            most.append(len(running))

    start = replace(START, actions=(Action("one"), Action("two")))
    result = workflow({"one": "", "two": ""}, start, observe=observe).execute()

    assert outcome(result) == [("one", "SUCCEEDED"), ("two", "SUCCEEDED")]
    assert max(most) == 1


def test_missing_script_fails_the_job_with_its_place(home, workflow):
    run = workflow({"one": "", "two": ""}, START, after("FAILED"))
    (home.lake / "scripts" / "one.py").unlink()

    result = run.execute()

    assert outcome(result) == [("one", "FAILED"), ("two", "SUCCEEDED")]
    assert (
        "names s3://scripts/one.py, but there is no such file" in result.job_runs[0].error_message
    )


@pytest.mark.rule("Arguments", source="TRG, WFP")
def test_arguments_of_trigger_and_workflow_reach_the_job(home, workflow):
    start = replace(START, actions=(Action("one", {"--day": "7"}),))
    result = workflow(
        {"one": "import json, sys; print(json.dumps(sys.argv))"},
        start,
        default_arguments={"--day": "1", "--kept": "yes"},
    ).execute()

    log = home.runs / result.job_runs[0].run_id / "stdout.log"
    argv = json.loads(log.read_text(encoding="utf-8"))
    pairs = dict(zip(argv[1::2], argv[2::2], strict=True))
    assert (pairs["--day"], pairs["--kept"]) == ("7", "yes")
    assert pairs["--WORKFLOW_NAME"] == "flow"
    assert pairs["--WORKFLOW_RUN_ID"] == result.run_id


def test_observer_sees_each_change_after_it_was_stored(store, workflow):
    seen = []

    def observe(run):
        if run is not None:
            stored = store.latest_job_run("one")
            assert stored == run or run.state == "RUNNING"  # it has ended since
            seen.append(run.state)

    workflow({"one": ""}, START, observe=observe).execute()

    assert seen == ["RUNNING", "SUCCEEDED"]


def test_killed_job_fails_and_leaves_no_process_behind(home, workflow):
    pids = []

    def kill_the_script(run):
        for file in home.runs.glob("*/pids"):
            if not pids:
                pids.extend(json.loads(file.read_text(encoding="utf-8")))
                os.kill(pids[0], signal.SIGKILL)

    result = workflow({"one": WITH_CHILD}, START, observe=kill_the_script).execute()

    assert outcome(result) == [("one", "FAILED")]
    assert result.job_runs[0].error_message.startswith("the job process was killed by SIGKILL")
    wait_until(lambda: not any(map(is_alive, pids)))


def test_interrupt_stops_the_running_jobs_and_records_it(home, store, workflow, monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    pids = []

    def interrupt_once_both_run(run):
        files = list(home.runs.glob("*/pids"))
        if len(files) == 2 and not pids:
            pids.extend(p for file in files for p in json.loads(file.read_text(encoding="utf-8")))
            raise KeyboardInterrupt

    start = replace(START, actions=(Action("one"), Action("two")))
    run = workflow({"one": WITH_CHILD, "two": WITH_CHILD}, start, observe=interrupt_once_both_run)

    with pytest.raises(KeyboardInterrupt):
        run.execute()

    assert store.latest_job_run("one").state == store.latest_job_run("two").state == "STOPPED"
    assert store.unfinished_job_runs() == []
    assert workflow_statuses(home) == ["STOPPED"]
    wait_until(lambda: not any(map(is_alive, pids)))


@pytest.mark.rule("Triggers and workflows", source="BWR")
@pytest.mark.parametrize(
    ("triggers", "names"),
    [
        ((after(),), "none"),
        ((START, replace(START, name="again", type="SCHEDULED")), "start, again"),
    ],
    ids=["none", "two"],
)
def test_workflow_without_exactly_one_start_starts_nothing(home, workflow, triggers, names):
    with pytest.raises(TidemarkError, match=f"exactly one start trigger and has {names}$"):
        workflow({"one": "", "two": ""}, *triggers).execute()

    assert workflow_statuses(home) == []


def test_trigger_of_an_unknown_job_is_refused_before_anything_starts(home, workflow):
    with pytest.raises(EntityNotFoundError, match=r"the job 'gone', which .* it has one$"):
        workflow({"one": ""}, START, after(started="gone")).execute()

    assert list(home.runs.iterdir()) == []
    assert workflow_statuses(home) == []


def test_job_that_cannot_run_here_is_refused_before_anything_starts(home, workflow):
    last = after()
    last = replace(last, actions=(Action("two", {"--python-virtual-env": "s3://b/x.tar.gz"}),))

    with pytest.raises(UnsupportedError, match="job two has the argument --python-virtual-env"):
        workflow({"one": "", "two": ""}, START, last).execute()

    assert list(home.runs.iterdir()) == []


def test_an_end_that_cannot_be_recorded_ends_the_run_with_the_reason(store, workflow):
    store.query(
        "CREATE TRIGGER no_room BEFORE UPDATE ON job_run WHEN NEW.state = 'SUCCEEDED' "
        "BEGIN SELECT RAISE(ABORT, 'there is no room'); END"
    )

    with pytest.raises(TidemarkError, match="there is no room"):
        workflow({"one": ""}, START).execute()

    assert store.latest_job_run("one").state == "RUNNING"


def test_a_run_of_an_engine_that_dies_ends_with_the_reason(store, workflow):
    store.query(
        "CREATE TRIGGER no_room BEFORE UPDATE ON job_run WHEN NEW.state = 'RUNNING' "
        "BEGIN SELECT RAISE(ABORT, 'there is no room'); END"
    )

    with pytest.raises(TidemarkError, match="there is no room"):
        workflow({"one": ""}, START).execute()


def test_runs_that_a_script_starts_are_waited_for(store, workflow):
    begun = []

    def start_another(run):
        if run is not None and run.job_name == "one" and not begun:
            begun.append(started.engine.ask(lambda glue: start_job_run(glue, {"JobName": "two"})))

    started = workflow(
        {"one": "", "two": "import time; time.sleep(1)"}, START, observe=start_another
    )
    result = started.execute()

    assert outcome(result) == [("one", "SUCCEEDED")]
    assert store.latest_job_run("two").state == "SUCCEEDED"
