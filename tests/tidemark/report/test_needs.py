"""What needs a person: its order, its next step, and what is no need."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from tests.tidemark.report.made_up import HOUR_MS, NOW_MS, shop
from tidemark.operate.app_jobs import PipelineJob
from tidemark.operate.executions import ExecutionOfMachine, Step
from tidemark.report.commits import PipelineRun
from tidemark.report.content import content_of
from tidemark.report.model import Gap, OpenWindow, Report, Warned
from tidemark.report.needs import AUDIT, REFUSED, Need, needs_of_machines

LOAD = PipelineJob("load", workflow="shop", writes=("s3://b/mart/",))
NOW = datetime.fromtimestamp(NOW_MS / 1000, UTC)
ALONE = PipelineJob("my script")


def run(
    job: str, state: str, hours_ago: float = 1, message: str = "", flow: str = "wr_1"
) -> PipelineRun:
    start = NOW_MS - round(hours_ago * HOUR_MS)
    end = None if state == "RUNNING" else start + 1
    run_id = f"jr_{job}_{hours_ago}"
    return PipelineRun(job, run_id, state, start, end, message, workflow_run_id=flow)


def needs(*runs: PipelineRun, jobs: tuple[PipelineJob, ...] = (LOAD,), **more) -> list[Need]:
    by_time = tuple(sorted(runs, key=lambda run: run.started_at_ms))
    return list(content_of(Report("here", NOW_MS, jobs, by_time, **more)).needs)


def test_a_failed_run_comes_first_and_then_what_is_late_warned_open_and_missing() -> None:
    window = OpenWindow("load", "", "at", "1", "2", "jr_old")
    other = PipelineJob("other", workflow="shop", writes=("s3://b/old/",))
    more = {
        "windows": (window,),
        "warnings": (Warned("load", "jr_1", NOW_MS, "mind the gap"),),
        "gaps": (Gap("load", "2026-01-01", "2026-01-02", "missing"),),
    }
    needed = needs(run("load", "FAILED"), run("other", "SUCCEEDED", 30), jobs=(other, LOAD), **more)

    assert [(need.what, need.job) for need in needed] == [
        ("FAILED", "load"),
        ("late", "other"),
        ("warning", "load"),
        ("open window", "load"),
        ("gap", "load"),
    ]


def test_of_failed_jobs_the_newest_comes_first_and_stopped_ones_last() -> None:
    jobs = tuple(PipelineJob(name) for name in "abc")
    needed = needs(run("a", "STOPPED"), run("b", "FAILED", 5), run("c", "TIMEOUT", 2), jobs=jobs)

    assert [(need.what, need.job) for need in needed] == [
        ("TIMEOUT", "c"),
        ("FAILED", "b"),
        ("STOPPED", "a"),
    ]


@pytest.mark.parametrize(
    ("message", "what", "step"),
    [
        ("no column x", "FAILED", "tidemark resume --workflow shop"),
        (
            "SchemaContractError: refused; accept it by `tidemark schema accept load`, or mend it",
            REFUSED,
            "tidemark schema accept load --reason REASON",
        ),
        ("AuditFailedError: rows < 1", AUDIT, "tidemark resume --workflow shop"),
    ],
)
def test_the_next_step_is_what_the_message_names_or_to_resume(message, what, step) -> None:
    (need,) = needs(run("load", "FAILED", message=message))

    assert (need.what, need.step, need.button) == (what, step, ("resume", "shop"))
    assert need.text == message


def test_a_job_of_no_workflow_is_looked_at_and_run_alone() -> None:
    (need,) = needs(run("my script", "FAILED"), jobs=(ALONE,))

    assert need.step.startswith("tidemark run show jr_")
    assert need.button == ("run", "my script")


def test_a_run_that_was_started_alone_is_started_alone_again() -> None:
    (need,) = needs(run("load", "FAILED", flow=""))

    assert need.step == "tidemark run --workflow shop --only load"
    assert need.button == ("run", "load")


def test_of_an_earlier_workflow_run_the_command_names_it() -> None:
    other = PipelineJob("other", workflow="shop")
    failed, later = run("load", "FAILED", 5, flow="wr_old"), run("other", "SUCCEEDED", flow="wr_2")
    (need,) = needs(failed, later, jobs=(LOAD, other))

    assert need.step == "tidemark resume --workflow shop --run wr_old"
    assert need.button == ("", "")


def test_commands_name_the_stage_and_are_quoted() -> None:
    odd = replace(LOAD, workflow="the shop")
    (need,) = needs(run("load", "FAILED"), jobs=(odd,), option=" --deployed prod")

    assert need.step == "tidemark resume --workflow 'the shop' --deployed prod"


def test_a_job_whose_later_run_succeeded_needs_nobody() -> None:
    assert needs(run("load", "FAILED", 3), run("load", "SUCCEEDED")) == []


def test_a_window_of_a_run_that_goes_on_needs_nobody() -> None:
    active = run("load", "RUNNING", 0.1)
    window = OpenWindow("load", "", "at", "1", "2", active.run_id)

    assert needs(active, windows=(window,)) == []


def test_data_that_a_failed_job_holds_back_is_one_need() -> None:
    needed = content_of(shop())

    assert needed.late == 1
    assert [(need.what, need.job) for need in needed.needs] == [
        ("FAILED", "ingest-orders"),
        ("open window", "ingest-orders"),
    ]


def test_where_nothing_ran_nothing_is_late() -> None:
    assert needs() == []


def execution(status: str, *steps: Step) -> ExecutionOfMachine:
    return ExecutionOfMachine("arn", "e", status, NOW, NOW, steps, error="NotOk", cause="it is not")


def test_a_machine_needs_somebody_if_its_last_execution_failed() -> None:
    bad = execution("TIMED_OUT", Step("Load", "SUCCEEDED", NOW, NOW), Step("Ask", "FAILED", NOW))
    good = execution("SUCCEEDED")
    needed = list(needs_of_machines({"m": [bad, good], "n": [good, bad], "o": []}))

    assert [(need.what, need.kind, need.job, need.is_machine) for need in needed] == [
        ("TIMED_OUT", "bad", "m", True)
    ]
    assert "Ask" in needed[0].text
    assert "NotOk it is not" in needed[0].text
    assert needed[0].step == "tidemark resume --machine m"


def test_what_a_warning_says_is_not_late_a_second_time() -> None:
    warned = (Warned("load", "jr_1", NOW_MS, "late.json is in no row"),)
    needed = needs(run("load", "SUCCEEDED"), warnings=warned, left_out=frozenset({"load"}))

    assert [need.what for need in needed] == ["warning"]


@pytest.mark.parametrize(("state", "rows"), [("STOPPED", 0), ("TIMEOUT", 0), ("FAILED", 1)])
def test_a_session_that_ended_well_is_a_run_and_no_need(state: str, rows: int) -> None:
    jobs = (PipelineJob("session-1"),)
    content = content_of(Report("here", NOW_MS, jobs, (run("session-1", state, flow=""),)))

    assert (len(content.rows), len(content.needs), content.sessions) == (rows, rows, 1 - rows)
    assert [run.job for run in content.recent] == ["session-1"]
