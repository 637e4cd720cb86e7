"""The server is killed at any moment of a workflow run: it goes on, and starts nothing twice."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.glue_service.test_restart import SERVE
from tests.tidemark.glue_service.workflows.test_triggers import watch
from tests.waiting import BOUND_S
from tidemark.local_state.home import Home

AFTER = {"j2": ["j0"], "j3": ["j0"], "j4": ["j1", "j2"], "j5": ["j3", "j4"]}
JOBS = ["j0", "j1", *AFTER]
MAX_KILLS = 6


def start_server(home):
    server = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(home.root)], stdout=subprocess.PIPE, text=True
    )
    return server, Port(home, server.stdout.readline().strip(), None)


def kill(server):
    server.send_signal(signal.SIGKILL)
    server.communicate()


def define(port, log):
    script = f"""
import os, time
with open({str(log)!r}, "a") as file:
    file.write(os.environ["TIDEMARK_JOB_RUN_ID"] + "\\n")
time.sleep(0.15)
"""
    for job in JOBS:
        port.job(job, script, MaxRetries=10)
    port.glue.create_workflow(Name="w")
    first = [{"JobName": "j0"}, {"JobName": "j1"}]
    port.glue.create_trigger(Name="s", Type="ON_DEMAND", WorkflowName="w", Actions=first)
    for job, watched in AFTER.items():
        port.glue.create_trigger(
            Name=f"to-{job}",
            Type="CONDITIONAL",
            WorkflowName="w",
            StartOnCreation=True,
            Predicate={"Logical": "AND", "Conditions": [watch(one) for one in watched]},
            Actions=[{"JobName": job}],
        )


@pytest.mark.nightly
@pytest.mark.stress
@pytest.mark.parametrize("seed", range(5))
def test_each_job_succeeds_once_and_no_run_starts_twice_however_often_it_is_killed(tmp_path, seed):
    chance = random.Random(seed)  # noqa: S311 (the moments of kills)
    home, log = Home.open(tmp_path / "home"), tmp_path / "started"
    server, port = start_server(home)
    try:
        define(port, log)
        run_id = port.glue.start_workflow_run(Name="w")["RunId"]
        kills, deadline = 0, time.monotonic() + BOUND_S
        while True:
            time.sleep(chance.uniform(0.05, 1.0))
            run = port.glue.get_workflow_run(Name="w", RunId=run_id)["Run"]
            if run["Status"] != "RUNNING":
                break
            assert time.monotonic() < deadline
            if kills < MAX_KILLS:
                kills += 1
                kill(server)
                server, port = start_server(home)
        succeeded = {job: port.states(job).count("SUCCEEDED") for job in JOBS}
    finally:
        kill(server)

    started = log.read_text().split()
    assert kills
    assert run["Status"] == "COMPLETED"
    assert succeeded == dict.fromkeys(JOBS, 1)
    assert len(started) == len(set(started))
