"""Runs that are in one state for long are told of (NotifyDelayAfter)."""

from __future__ import annotations

import json
import time

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until
from tidemark.glue_service.eventbridge.documents import Origin, run_status
from tidemark.glue_service.http.serving import Options, serving
from tidemark.glue_service.runs.active import delay_of
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun

STUBBORN = """
import signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open("began", "w").close()
time.sleep(60)
"""


@pytest.mark.rule("The API on a port", source="EVT")
def test_a_run_is_reported_once_per_state_that_exceeds_its_delay(tmp_path):
    now = [1_700_000_000.0]
    home = Home.open(tmp_path / "home")
    options = Options(clock=lambda: int(now[0] * 1000), max_parallel=1)
    log = home.root / "events.jsonl"

    def told():
        lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
        details = [json.loads(line)["detail"] for line in lines]
        return [(one["jobName"], one["state"]) for one in details if "startedOn" in one]

    def turn(seconds):
        now[0] += seconds
        time.sleep(0.3)

    with serving(home, options) as (url, engine):
        port = Port(home, url, engine)
        port.job("late", STUBBORN, NotificationProperty={"NotifyDelayAfter": 2})
        port.job("silent", STUBBORN)
        port.job("next", NotificationProperty={"NotifyDelayAfter": 9})
        run_id = port.start("late")
        port.start("silent")
        port.start("next", NotificationProperty={"NotifyDelayAfter": 1})
        wait_until(lambda: (home.runs / run_id / "began").exists())
        turn(61)
        one_minute = told()
        turn(60)
        turn(300)
        seven_minutes = told()
        port.glue.batch_stop_job_run(JobName="late", JobRunIds=[run_id])
        time.sleep(0.3)
        turn(121)
        wait_until(lambda: len(told()) > len(seven_minutes))

    assert one_minute == [("next", "STARTING")]
    assert seven_minutes == [("next", "STARTING"), ("late", "RUNNING")]
    assert told()[2] == ("late", "STOPPING")


def test_the_document_of_a_late_run():
    run = JobRun("jr_1", "load", None, None, 0, "RUNNING", 1_500, "x", "job-bookmark-disable")

    event = run_status(run, 1, 65_000, Origin("000000000000", "eu-west-2"))

    assert (event["detail-type"], event["source"]) == ("Glue Job Run Status", "aws.glue")
    assert (event["time"], event["resources"]) == ("1970-01-01T00:01:05Z", [])
    assert event["detail"] == {
        "jobName": "load",
        "severity": "INFO",
        "notificationCondition": {"NotifyDelayAfter": 1.0},
        "state": "RUNNING",
        "jobRunId": "jr_1",
        "message": "Job is in RUNNING state",
        "startedOn": "1970-01-01T00:00:01.500Z",
    }


def test_the_delay_of_a_run_wins_over_that_of_its_job():
    of = lambda minutes: {"NotificationProperty": {"NotifyDelayAfter": minutes}}  # noqa: E731

    assert [delay_of(of(5), of(1)), delay_of(of(5), {}), delay_of({}, {})] == [1, 5, None]
