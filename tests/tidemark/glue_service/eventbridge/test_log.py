"""What is told of job runs that end."""

from __future__ import annotations

import json
import sys

import pytest

from tests.tidemark.glue_service.conftest import Port
from tidemark.errors import UsageError
from tidemark.glue_service.eventbridge.documents import Origin, state_change
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun

RUN = JobRun("jr_1", "load", None, None, 0, "SUCCEEDED", 1, "x", "job-bookmark-disable", 5_000)


@pytest.mark.rule("The API on a port", source="EVT")
def test_an_event_has_the_form_of_eventbridge(tmp_path):
    home = Home.open(tmp_path / "home")
    code = "import sys; open('seen', 'a').write(sys.stdin.read() + chr(10))"
    command = f'{sys.executable} -c "import os; os.chdir({str(tmp_path)!r}); {code}"'
    with serving(home, Options(on_event=command)) as (url, engine):
        port = Port(home, url, engine)
        port.job("good")
        port.job("bad", "raise ValueError('no')")
        for name in ("good", "bad"):
            port.ended(name, port.start(name))

    logged = [json.loads(line) for line in (home.root / "events.jsonl").read_text().splitlines()]
    seen = [json.loads(line) for line in (tmp_path / "seen").read_text().splitlines()]
    assert seen == logged
    assert [event["detail"]["jobName"] for event in logged] == ["good", "bad"]
    assert [event["detail"]["severity"] for event in logged] == ["INFO", "ERROR"]
    assert logged[1]["detail"]["message"] == "ValueError: no (bad.py, line 1)"


def test_the_document_of_a_run():
    event = state_change(RUN, Origin("000000000000", "eu-west-2"))

    assert event is not None
    assert len(event.pop("id")) == 36
    assert event == {
        "version": "0",
        "detail-type": "Glue Job State Change",
        "source": "aws.glue",
        "account": "000000000000",
        "time": "1970-01-01T00:00:05Z",
        "region": "eu-west-2",
        "resources": [],
        "detail": {
            "jobName": "load",
            "severity": "INFO",
            "state": "SUCCEEDED",
            "jobRunId": "jr_1",
            "message": "Job run succeeded",
        },
    }


def test_a_command_that_fails_is_told_and_stops_nothing(tmp_path):
    said: list[str] = []
    options = Options(on_event="false", say=said.append)
    with serving(Home.open(tmp_path / "home"), options) as (url, engine):
        port = Port(Home.open(tmp_path / "home"), url, engine)
        port.job("good")
        assert port.ended("good", port.start("good"))["JobRunState"] == "SUCCEEDED"

    assert said == ["false ended with 1 on an event"]


@pytest.mark.parametrize("command", ["", "'open"])
def test_a_command_that_is_none_is_refused(tmp_path, command):
    options = Options(on_event=command)
    with pytest.raises(UsageError, match="--on-event"), serving(Home.open(tmp_path / "h"), options):
        pass
