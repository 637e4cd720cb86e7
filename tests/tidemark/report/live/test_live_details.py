"""What the live pages tell of runs, jobs and state machines, as facts; no browser is needed."""

from __future__ import annotations

import gzip
import http.client
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from tests.tidemark.cli.test_machines import MACHINE
from tests.tidemark.cli.test_run_show import CHECKPOINT
from tests.tidemark.report.live.many_runs import fill
from tests.tidemark.report.live.test_live_pages import HTML, Browser
from tests.waiting import wait_until
from tidemark.cli.live import live_pages
from tidemark.cli.target import open_target
from tidemark.cli.where import Where
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.http.serving import Options, serving
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.checkpoints.schemas import Column, Schema
from tidemark.operate.executions import find_machine, start_execution
from tidemark.report.page import BEGINNING

JOBS, RUNS = 6, 60
BEFORE = f"jr_{'f' * 64}"
SCHEMA = Schema(
    "read", "s3://raw/", "flights", "json", (Column("id", "int"), Column("price", "double"))
)
EXPRESS = {
    **MACHINE,
    "Properties": {
        **MACHINE["Properties"],
        "StateMachineName": "quick",
        "StateMachineType": "EXPRESS",
    },
}
CELL = re.compile(r'<a( class=bad)? href=/_tidemark/run\?name=(\w+) title="(\w+) ')


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Serve a home with runs of the past and a state machine."""
    folder = tmp_path_factory.mktemp("many")
    app = fill(folder, JOBS, RUNS, {"Machine": MACHINE, "Express": EXPRESS})
    with pytest.MonkeyPatch.context() as variables:
        variables.setenv("TIDEMARK_HOME", str(folder / "home"))
        home = Home.from_environment()
        with Store(home.database) as store:
            job = CHECKPOINT.job_name
            for run_id, at_ms in ((BEFORE, 1000), (CHECKPOINT.run_id, 2000)):
                store.put_job_run(
                    JobRun(run_id, job, None, None, 0, "SUCCEEDED", at_ms, "log", "enable", 3000)
                )
            put_checkpoint(store, replace(CHECKPOINT, schemas=(SCHEMA,)))
            older = replace(SCHEMA, columns=(Column("id", "int"), Column("gone", "date")))
            put_checkpoint(store, replace(CHECKPOINT, run_id=BEFORE, schemas=(older,)))
        with serving(home, Options(pages=live_pages(home, app))) as (url, engine):
            engine.ask(lambda glue: deploy_on_port(glue, app))
            yield Browser(url)


def test_failed_jobs_come_first_with_a_cell_for_each_run(browser: Browser) -> None:
    rows = re.findall(r'<tr data-key="([^"]+)" data-kind="(\w+)".*', browser.ask()[1])
    cells = CELL.findall(browser.ask()[1])

    assert [name for name, kind in rows if kind == "bad"] == [name for name, _ in rows[:2]]
    assert {name for name, _ in rows} >= {f"job-{number}" for number in range(JOBS)}
    assert len(cells) >= RUNS
    assert all((state == "FAILED") == bool(is_bad) for is_bad, _, state in cells)


def test_a_cell_leads_to_its_run_by_the_beginning_of_its_id(browser: Browser) -> None:
    is_bad, beginning, _ = next(cell for cell in CELL.findall(browser.ask()[1]) if cell[0])

    status, page = browser.ask(f"/_tidemark/run?name={beginning}")

    assert is_bad
    assert len(beginning) == BEGINNING
    assert status == 200
    assert "line 12: no column amount" in page


def test_attention_has_the_failed_runs_the_warning_and_the_next_steps(browser: Browser) -> None:
    page = browser.ask()[1]
    attention = page[page.index('id="attention"') : page.index('id="running"')]

    assert attention.count('<li class="card bad">') == 2
    assert attention.count("tidemark resume --workflow flow") == 2
    assert "late.json is in no row" in attention


def test_buttons_are_on_only_where_they_act(browser: Browser) -> None:
    page = browser.ask()[1]
    buttons = dict(re.findall(r'data-act="([^"]+)"( data-off)?', page))

    assert buttons["stop?name=flow"] == " data-off"
    assert buttons["start?name=flow"] == ""
    assert buttons["run?name=job-0"] == ""


def test_the_page_of_a_run_tells_reads_writes_moves_and_the_run_before(browser: Browser) -> None:
    page = browser.ask(f"/_tidemark/run?name={CHECKPOINT.run_id}")[1]

    for data in (*CHECKPOINT.read, *CHECKPOINT.written):
        assert data.dataset in page
    assert CHECKPOINT.bookmark is not None
    assert f"version {CHECKPOINT.bookmark.before} to {CHECKPOINT.bookmark.after}" in page
    for moved in CHECKPOINT.watermarks:
        assert all(f"to {value}" in page for value in moved.after.values())
    for name in CHECKPOINT.arguments:
        assert f'<th scope="row">{name}</th>' in page
    compared = page[page.index('id="before"') :]
    assert f"/_tidemark/run?name={BEFORE}" in compared
    assert ("price double" in compared, "gone date" in compared) == (True, True)
    assert "id int" not in compared


@pytest.mark.parametrize("query", ["to=beginning", "to=nonsense", "downstream=on", "to=previous"])
def test_the_form_of_a_rewind_changes_nothing_and_answers(browser: Browser, query: str) -> None:
    before = browser.ask("/_tidemark/alive?kind=job&name=job-1")[1]

    status, page = browser.ask(f"/_tidemark/job?name=job-1&{query}")

    assert status == 200
    assert '<select name="to">' in page
    assert browser.ask("/_tidemark/alive?kind=job&name=job-1")[1] == before


def test_runs_have_a_page_with_timeline_trends_and_cost(browser: Browser) -> None:
    status, page = browser.ask("/_tidemark/runs")

    assert status == 200
    assert re.findall(r'<section id="(\w+)"', page) == ["runs", "timeline", "trends", "cost"]
    assert page.count('<svg class="chart"') >= JOBS


def test_a_page_is_sent_small(browser: Browser) -> None:
    with closing(http.client.HTTPConnection(urlsplit(browser.url).netloc)) as connection:
        connection.request("GET", "/", headers={**HTML, "Accept-Encoding": "gzip"})
        with connection.getresponse() as answer:
            encoding, sent = answer.headers["Content-Encoding"], answer.read()

    assert encoding == "gzip"
    assert gzip.decompress(sent).startswith(b"<!DOCTYPE html>")
    assert len(sent) < 20_000


def test_executions_of_a_state_machine_are_shown_with_their_steps(browser: Browser) -> None:
    with open_target(Where(None)) as target:
        machine = find_machine(target.glue, "nightly")
        for given in ('{"ok": true}', '{"ok": false}'):
            start_execution(target.glue, machine, given)

    def page() -> str:
        return browser.ask("/_tidemark/machine?name=nightly")[1]

    wait_until(lambda: "SUCCEEDED" in page() and "FAILED" in page())
    assert "Check ✓ SUCCEEDED" in page()
    assert "Bad ✗ FAILED" in page()
    wait_until(lambda: "tidemark resume --machine nightly" in browser.ask()[1])
    assert browser.ask("/_tidemark/machine?name=none")[0] == 404


def test_a_machine_that_keeps_no_executions_has_no_page(browser: Browser) -> None:
    page = browser.ask()[1]

    assert "machine?name=nightly" in page
    assert "machine?name=quick" not in page
    assert browser.ask("/_tidemark/machine?name=quick")[0] == 404
