"""Runs a job well once, then again in every way that goes wrong, and compares what is left."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

from tidemark.errors import TidemarkError
from tidemark.glue_service.runs.lost_executors import why_no_executors
from tidemark.local_state.operations import read_opened, read_operations
from tidemark.local_state.store.database import Store
from tidemark.operate.prove.bench import Baseline, Bench, Outcome, carry_out, run_baseline
from tidemark.operate.prove.causes import cause_of
from tidemark.operate.prove.experiments import KINDS, Experiment, planned
from tidemark.operate.prove.findings import Finding, Proof, Wish
from tidemark.operate.prove.judge import judge
from tidemark.operate.prove.judged import TargetRows, worst
from tidemark.operate.prove.sources import sources_of
from tidemark.operate.prove.tables import dump_tables

AT_ONCE = 2
Say = Callable[[str, int, int], None]
"""Gets what goes on, how many experiments are done, and how many there are."""


def prove(bench: Bench, wish: Wish, say: Say = lambda *_: None) -> Proof:
    """Return the verdict of every experiment.

    Raises:
        TidemarkError: the run fails without any experiment.
    """
    began = time.monotonic()
    say("running it twice, as it should go", 0, 0)
    with _threads(bench) as threads:
        futures = [
            threads.submit(_run_well, bench, "baseline", is_recorded=True),
            threads.submit(_run_well, bench, "control", is_recorded=False),
        ]
        outcome, control = [one.result() for one in futures]
    for one in (outcome, control):
        if one.failure:
            raise TidemarkError(f"it fails without any experiment: {one.failure}")
    baseline = _baseline(bench, outcome)
    subject = bench.subject
    impossible = {
        "together": subject.not_both,
        "executors": why_no_executors(),
        "versions": subject.not_newer,
    }
    plan = planned(baseline.operations, len(baseline.sources), impossible)
    wanted = [one for one in plan if not wish.only or one.kind in wish.only]
    outcomes, left = _all_carried_out(bench, baseline, wanted, wish, began, say)
    say("comparing the rows", len(outcomes), len(outcomes))
    judged, by_time = judge(bench, outcome, control, outcomes, wish.key)
    pairs = zip(outcomes, judged, strict=True)
    findings = [_finding(baseline, one, rows, wish) for one, rows in pairs]
    findings += [Finding(one, "not tried", reason=one.not_tried) for one in left]
    findings.sort(key=lambda one: (KINDS.index(one.experiment.kind), one.experiment.after))
    return Proof(baseline.operations, findings, by_time, time.monotonic() - began)


def _baseline(bench: Bench, outcome: Outcome) -> Baseline:
    with Store(outcome.home.database) as store:
        jobs = {run.run_id: run.job_name for run in store.all_job_runs()}
    sources = sources_of(bench.base, outcome)
    opened = read_opened(outcome.home)
    return Baseline(outcome, read_operations(outcome.home), sources, jobs, opened)


@contextmanager
def _threads(bench: Bench) -> Iterator[ThreadPoolExecutor]:
    """Yield threads for runs; whatever ends the body stops their runs."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            yield threads
        except BaseException:
            bench.is_over.set()
            raise


def _run_well(bench: Bench, name: str, *, is_recorded: bool) -> Outcome:
    outcome = run_baseline(bench, name, is_recorded=is_recorded)
    dump_tables(bench, outcome.home)
    return outcome


def _try(bench: Bench, baseline: Baseline, experiment: Experiment, number: int) -> Outcome:
    outcome = carry_out(bench, baseline, experiment, number)
    dump_tables(bench, outcome.home)
    return outcome


def _all_carried_out(
    bench: Bench,
    baseline: Baseline,
    wanted: Sequence[Experiment],
    wish: Wish,
    began: float,
    say: Say,
) -> tuple[list[Outcome], list[Experiment]]:
    """Carry experiments out, two at once; return those that were, and those that were not."""
    left = [one for one in wanted if one.not_tried]
    queue = iter([one for one in wanted if not one.not_tried])
    total, outcomes = len(wanted) - len(left), list[Outcome]()
    numbers = iter(range(1, total + 1))
    with _threads(bench) as threads:
        running: set[Future[Outcome]] = set()
        while True:
            if not _is_over(wish, began):
                for one in islice(queue, AT_ONCE - len(running)):
                    running.add(threads.submit(_try, bench, baseline, one, next(numbers)))
            if not running:
                break
            done, running = wait(running, return_when="FIRST_COMPLETED")
            outcomes += [one.result() for one in done]
            say("trying", len(outcomes), total)
    left += [one.experiment for one in outcomes if one.experiment.not_tried]
    tried = [one for one in outcomes if not one.experiment.not_tried]
    return tried, [*left, *_out_of_time(queue, wish)]


def _is_over(wish: Wish, began: float) -> bool:
    """Return whether the budget leaves no time for one more; the comparison needs some, too."""
    return wish.budget_s is not None and time.monotonic() - began > 0.8 * wish.budget_s


def _out_of_time(queue: Iterator[Experiment], wish: Wish) -> Iterator[Experiment]:
    for one in queue:
        yield replace(one, not_tried=f"the budget was {wish.budget_s:g} s")


def _finding(
    baseline: Baseline, outcome: Outcome, rows: Sequence[TargetRows], wish: Wish
) -> Finding:
    if job := baseline.job_of(outcome.experiment):  # the other jobs of a workflow did not run
        written = baseline.written_by(job)
        counting = [one for one in rows if any(place.startswith(one.target) for place in written)]
    else:  # what a later job of a workflow reads, shows in what that job writes
        counting = [one for one in rows if not baseline.is_read_on(one.target)] or list(rows)
    verdict = worst([one.verdict for one in counting])
    reason = outcome.failure or next((one.problem for one in counting if one.problem), "") or ""
    cause = None
    if outcome.failure and verdict == "equal":
        verdict = "fails"
    if verdict not in ("equal", "not tried", "fails"):
        target = next(one.target for one in counting if one.verdict == verdict)
        cause = cause_of(outcome.experiment, verdict, baseline.around(outcome.experiment, target))
    if verdict == "doubled" and cause and (cause.script, cause.line) in wish.accepted:
        verdict, reason = "accepted", wish.accepted[cause.script, cause.line or 0]
    return Finding(outcome.experiment, verdict, counting, reason, cause, outcome.seconds)
