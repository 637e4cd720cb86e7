"""How experiments are carried out until they are interrupted; nothing runs here."""

import time
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import sentinel

from tests.waiting import BOUND_S
from tidemark.local_state.home import Home
from tidemark.operate.prove import schedule
from tidemark.operate.prove.baselines import Wanted
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.next_runs import NextRuns
from tidemark.operate.prove.schedule import Queue


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
