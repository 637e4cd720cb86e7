"""`tidemark report` of a home in which runs are recorded: nothing runs, and nothing is changed."""

from __future__ import annotations

import json
import time
import webbrowser
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import keep_warnings, unseen_warnings


@pytest.fixture
def app(write_assembly, home: Path) -> Path:
    """An app of two jobs, of which one has failed with a warning."""
    now_ms = time.time_ns() // 1_000_000
    with Store(Home.open(home).database) as store:
        for name, state in (("load", "SUCCEEDED"), ("report", "FAILED"), ("submitted", "FAILED")):
            run = JobRun(f"jr_{name}", name, None, None, 0, state, now_ms - 9000, "log", "enable")
            store.put_job_run(run)
        keep_warnings(store, "jr_report", ["mind the gap"])
    return write_assembly({"load": "", "report": ""}, {"report": ["load"]})


def test_the_page_is_in_the_home_and_tells_of_the_jobs_of_the_app(app, home) -> None:
    result = tidemark("report", "--app", str(app))
    page = (home / "report.html").read_text(encoding="utf-8")

    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote {home / 'report.html'}\n"
    assert "jr_report" in page
    assert "submitted" not in page


@pytest.mark.nightly
def test_a_warning_on_the_page_is_still_not_seen(app, home) -> None:
    tidemark("report", "--app", str(app))

    assert "mind the gap" in (home / "report.html").read_text(encoding="utf-8")
    with Store(Home.open(home).database) as store:
        assert len(unseen_warnings(store)) == 1


def test_it_is_written_where_it_is_asked_for_and_opened(app, tmp_path, monkeypatch) -> None:
    file, opened = tmp_path / "a page ü.html", []
    monkeypatch.setattr(webbrowser, "open", lambda url: bool(opened.append(url)) or True)

    result = tidemark("report", "--app", str(app), "--output", str(file), "--open", "--limit", "1")

    assert (result.exit_code, result.stderr) == (0, "")
    assert opened == [file.as_uri()]
    assert file.is_file()


@pytest.mark.nightly
def test_without_a_browser_a_line_says_so(app, monkeypatch) -> None:
    monkeypatch.setattr(webbrowser, "open", lambda url: False)

    assert "no browser could be opened" in tidemark("report", "--app", str(app), "--open").stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--output", "nowhere/page.html"), "there is no folder"),
        (("--output", "."), "is a folder"),
        (("--context", "a=b"), "--context goes with --deployed STAGE"),
        (("--deployed", ""), "is not a stage"),
        (("--app", "nowhere"), "not a CDK cloud assembly"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(words, told, app, home) -> None:
    given = words if "--app" in words else ("--app", str(app), *words)

    assert_one_clear_line(tidemark("report", *given), 2, told)
    assert not (home / "report.html").exists()


def test_its_facts_are_printed_as_json(app, home) -> None:
    result = tidemark("report", "--format", "json", "--app", str(app))

    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert [run["run_id"] for run in found["runs"]] == ["jr_load", "jr_report"]
    assert {run["started_at"][-6:] for run in found["runs"]} == {"+00:00"}
    assert [one["text"] for one in found["warnings"]] == ["mind the gap"]
    assert {job["name"]: job["after"] for job in found["jobs"]} == {"load": [], "report": ["load"]}
    assert not (home / "report.html").exists()


def test_json_writes_no_file(app, tmp_path) -> None:
    result = tidemark("report", "--format", "json", "--output", str(tmp_path / "a.json"))

    assert_one_clear_line(result, 2)
