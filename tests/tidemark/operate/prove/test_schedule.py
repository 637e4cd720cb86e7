"""How experiments are carried out until they are interrupted; nothing runs here."""

import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock, sentinel

from tests.waiting import BOUND_S
from tidemark.local_state.home import Home
from tidemark.operate.prove import prove, schedule
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import Finding, Wish
from tidemark.operate.prove.identity import Equality
from tidemark.operate.prove.next_runs import NextRuns
from tidemark.operate.prove.schedule import Queue
from tidemark.operate.prove.states import States


def test_what_was_tried_before_an_interruption_counts(tmp_path, monkeypatch):
    bench = Bench(sentinel.subject, sentinel.jvms, tmp_path, Home(tmp_path / "base"))

    def carry_out(bench: Bench, wanted: Wanted, _: NextRuns, number: int) -> Outcome:
        one = wanted.experiment
        if one.title == "is interrupted":
            bench.is_interrupted.set()
        end = time.monotonic() + BOUND_S
        while one.title != "ends" and time.monotonic() < end:
            try:
                bench.observe_run()
            except OutOfTimeError as error:
                one = Experiment(one.kind, one.title, not_tried=str(error))
                break
            time.sleep(0.01)
        return Outcome(one, Home(tmp_path / f"{number}"))

    monkeypatch.setattr(schedule, "carry_out", carry_out)
    titles = ("runs", "ends", "is interrupted", "waits", "waits too")
    with ThreadPoolExecutor(schedule.AT_ONCE) as threads:
        queue = Queue(bench, threads, time.monotonic(), lambda *_: None, sentinel.next_runs)
        queue.add([Wanted(sentinel.baseline, Experiment("again", title)) for title in titles])

        queue.run()

    assert [one.experiment.title for one, _ in queue.done] == ["ends"]
    assert {one.title: one.not_tried for one in queue.not_tried} == {
        "runs": "the proof was interrupted while it ran, and it was stopped",
        "is interrupted": "the proof was interrupted while it ran, and it was stopped",
        "waits": "interrupted",
        "waits too": "interrupted",
    }


def test_a_budget_that_ends_while_more_is_planned_leaves_that_open(tmp_path, monkeypatch):
    home, crash = Home(tmp_path / "1"), Experiment("crash", "crash")
    findings_by_home = {str(home.root): Finding(crash, "equal")}
    bench = Bench(sentinel.subject, sentinel.jvms, tmp_path, Home(tmp_path / "base"))
    queue = Queue(bench, sentinel.threads, 0, lambda *_: None, sentinel.next_runs)
    queue.done = [(Wanted(Mock(), crash), Outcome(crash, home))]

    def after_repairs(*_: object) -> None:
        raise OutOfTimeError("the budget ended")

    monkeypatch.setattr(prove, "compared", lambda *_: (findings_by_home, {}))
    monkeypatch.setattr(prove, "after_repairs", after_repairs)
    states = States(Contents(Home.open(tmp_path / "base"), (), 0), Equality(0))

    findings, _, (left,) = prove._explored(
        bench, Wish(), sentinel.first, sentinel.control, states, queue
    )

    assert findings == [*findings_by_home.values()]
    assert left.is_open
    assert left.not_tried == "the budget ended"


def test_a_budget_that_ends_while_the_crashes_are_planned_keeps_what_was_tried(
    tmp_path, monkeypatch
):
    bench = Bench(sentinel.subject, sentinel.jvms, tmp_path, Home(tmp_path / "base"))

    def of_changes(*_: object) -> None:
        raise OutOfTimeError("the budget ended")

    monkeypatch.setattr(prove, "run_in_parts", lambda *_: Mock())
    monkeypatch.setattr(prove, "of_changes", of_changes)
    asked = bench, Wish(["crash", "parts"]), Mock(), sentinel.states, sentinel.runs, sentinel.draws

    planned = prove._planned(*asked, has_parts=True)

    assert [wanted.experiment.kind for wanted, _ in planned.done] == ["parts"]
    (left,) = [wanted.experiment for wanted in planned.wanted]
    assert (left.kind, left.not_tried, left.is_open) == ("crash", "the budget ended", True)
