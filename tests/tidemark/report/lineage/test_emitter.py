"""Events of real runs on a served home; the jobs are Python shell jobs, which need no JVM."""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from jsonschema import Draft202012Validator

from tests.tidemark.glue_service.conftest import Port
from tests.tidemark.report.lineage.event_schema import OWN_SCHEMA, VALIDATOR
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home
from tidemark.report.lineage import emitter
from tidemark.report.lineage.emitter import lineage_to
from tidemark.report.lineage.openlineage_names import run_uuid


@pytest.fixture
def run_with_lineage(tmp_path):
    """Return what runs one job with events to a place; yields the run and what was said."""

    def run(option, script, stop=False):
        said = []
        home = Home.open(tmp_path / "home")
        with (
            lineage_to(option, home, said.append) as tell,
            serving(home, Options(lineage=tell)) as (url, engine),
        ):
            port = Port(home, url, engine)
            name = port.job("one", script)
            run_id = port.start(name)
            if stop:
                port.glue.batch_stop_job_run(JobName=name, JobRunIds=[run_id])
            return port.ended(name, run_id), said

    return run


def events_of(file):
    events = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    for event in events:
        VALIDATOR.validate(event)
    return events


def test_a_run_is_told_by_its_start_and_its_end(run_with_lineage, tmp_path):
    run, said = run_with_lineage(str(tmp_path / "events"), "print(1)")

    start, end = events_of(tmp_path / "events")
    assert said == []
    assert (start["eventType"], end["eventType"]) == ("START", "COMPLETE")
    assert start["run"]["runId"] == end["run"]["runId"] == run_uuid(run["Id"])
    assert end["job"]["name"] == "one"
    assert end["job"]["facets"]["sourceCodeLocation"]["url"] == "s3://scripts/one.py"
    assert end["run"]["facets"]["processing_engine"]["name"] == "Python"


def test_a_run_that_fails_is_told_with_its_error(run_with_lineage, tmp_path):
    run_with_lineage(str(tmp_path / "events"), "raise ValueError('odd')")

    *_, end = events_of(tmp_path / "events")
    assert end["eventType"] == "FAIL"
    assert "ValueError: odd" in end["run"]["facets"]["errorMessage"]["message"]


def test_a_run_that_is_stopped_before_it_began_has_a_start_and_an_abort(run_with_lineage, tmp_path):
    run, _ = run_with_lineage(
        str(tmp_path / "events"), "import time\nwhile True: time.sleep(9)", stop=True
    )

    assert run["JobRunState"] == "STOPPED"
    assert [e["eventType"] for e in events_of(tmp_path / "events")] == ["START", "ABORT"]


def test_events_go_to_a_server(run_with_lineage):
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, json.loads(body)["eventType"]))
            self.send_response(201)
            self.end_headers()

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        try:
            _, said = run_with_lineage(f"http://127.0.0.1:{server.server_port}", "")
        finally:
            server.shutdown()

    assert said == []
    assert got == [("/api/v1/lineage", "START"), ("/api/v1/lineage", "COMPLETE")]


def test_a_dead_endpoint_is_one_warning_and_the_run_succeeds(run_with_lineage):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        run, said = run_with_lineage(url, "")

    assert run["JobRunState"] == "SUCCEEDED"
    (sentence,) = said
    assert sentence.startswith(f"lineage events are missing: {url} did not take one (Connection")
    assert sentence.endswith("; the runs are not affected")


def test_an_endpoint_that_never_answers_is_waited_for_a_moment_only(run_with_lineage, monkeypatch):
    monkeypatch.setattr(emitter, "CLOSE_S", 0.1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        run, said = run_with_lineage(f"http://127.0.0.1:{silent.getsockname()[1]}", "")

    assert run["JobRunState"] == "SUCCEEDED"
    assert len(said) == 1
    assert "no answer within" in said[0]


def test_the_schema_of_the_own_facet_is_one():
    Draft202012Validator.check_schema(OWN_SCHEMA)
