"""Kill -9 of a running job, and of the whole command: the next run ends with the right mart."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from sample.land import land_delivery_locally
from sample.landing import plan_delivery
from sample.recompute import compare
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_service.commands import deploy, load_app
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store

pytestmark = [pytest.mark.spark, pytest.mark.synth]
Found = TypeVar("Found")


def job_is_running(home: Home, job_name: str) -> Callable[[], JobRun | None]:
    def look() -> JobRun | None:
        if not home.database.exists():
            return None
        with Store(home.database) as store:
            run = store.latest_job_run(job_name)
        return run if run and run.state == "RUNNING" else None

    return look


def processes_of(run: JobRun) -> list[int]:
    mark = f"TIDEMARK_JOB_RUN_ID={run.run_id}".encode()
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if mark in environ.read_bytes():
                found.append(int(environ.parent.name))
        except OSError:
            continue
    return sorted(found)


def start(home: Home, assembly: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tidemark", "run", "--workflow", "flights", "--app", str(assembly)],
        env={**os.environ, "TIDEMARK_HOME": str(home.root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


@pytest.mark.nightly  # of every change: the kills of tests/crash
@pytest.mark.skipif(sys.platform != "linux", reason="finds processes through /proc")
def test_after_kills_of_a_job_and_of_the_command_the_mart_equals_a_recomputation(
    assembly, tmp_path
) -> None:
    home = Home.open(tmp_path / "home")
    deployment = deploy(load_app(assembly), home)
    land_delivery_locally(plan_delivery("1..2", None, None), deployment, home)

    # A job is killed while it runs: its dependents do not start.
    command = start(home, assembly)
    run = wait_until(job_is_running(home, "curate-flights"))
    python = wait_until(lambda: processes_of(run) or None)[0]  # it is recorded before it is started
    os.kill(python, signal.SIGKILL)
    output, _ = command.communicate(timeout=BOUND_S)
    assert command.returncode == 1
    assert "curate-flights FAILED: the job process was killed by SIGKILL" in output
    assert "publish-delays was not started" in output
    assert processes_of(run) == []

    # The command itself is killed while both ingest jobs run: they end with it.
    land_delivery_locally(plan_delivery("3", None, "1"), deployment, home)
    command = start(home, assembly)
    runs = [wait_until(job_is_running(home, f"ingest-{name}")) for name in ("flights", "weather")]
    command.kill()
    command.communicate(timeout=BOUND_S)

    # The next run says so, and everything landed is in the mart exactly once.
    command = start(home, assembly)
    output, _ = command.communicate(timeout=BOUND_S)
    assert command.returncode == 0, output
    assert "The last run was killed" in output
    assert [processes_of(run) for run in runs] == [[], []]
    landing = home.lake / deployment.outputs["LandingBucketName"]
    result = compare(landing, home.lake / deployment.outputs["MartBucketName"] / "route_delays")
    assert result.is_equal, result
    assert result.mart_rows > 400
