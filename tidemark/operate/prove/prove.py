"""Runs a job well once, then again in every way that goes wrong, and compares what is left."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice

from tidemark.errors import TidemarkError
from tidemark.glue_service.runs.lost_executors import why_no_executors
from tidemark.local_state.home import Home
from tidemark.local_state.operations import read_opened, read_operations
from tidemark.local_state.store.database import Store
from tidemark.model.messages import plural
from tidemark.operate.prove.bench import (
    Baseline,
    Bench,
    Outcome,
    before_increment,
    carry_out,
    run_well,
)
from tidemark.operate.prove.causes import cause_of
from tidemark.operate.prove.experiments import KINDS, Experiment, planned
from tidemark.operate.prove.findings import Finding, Proof, Wish
from tidemark.operate.prove.homes import unannounced
from tidemark.operate.prove.judge import judge
from tidemark.operate.prove.judged import TargetRows, worst
from tidemark.operate.prove.sources import sources_of
from tidemark.operate.prove.tables import dump_tables

AT_ONCE = 2
Say = Callable[[str, int, int], None]
"""Gets what is running, how many experiments are done, and how many there are."""


def prove(bench: Bench, wish: Wish, say: Say = lambda *_: None) -> Proof:
    """Return the verdict of every experiment.

    Raises:
        TidemarkError: the run fails without any experiment.
    """
    began = time.monotonic()
    say("running it twice, as it should go", 0, 0)
    with _threads(bench) as threads:
        futures = [
            threads.submit(_run_well, bench, bench.base, "baseline", is_recorded=True),
            threads.submit(_run_well, bench, bench.base, "control", is_recorded=False),
        ]
        outcome, control = [one.result() for one in futures]
    for one in (outcome, control):
        if one.failure:
            why = one.failure.replace(str(one.home.root), "(a copy of the home)")
            raise TidemarkError(f"it fails without any experiment: {why}")
    first = _baseline(bench.base, outcome)
    if not first.has_written:
        raise TidemarkError(
            "the run wrote no object and changed no table, so there is nothing to prove: let it "
            "read something; --lake DIR and --sample ROWS give it data"
        )
    say("running it for what comes later", 0, 0)
    increment = _increment(bench, first, wish)
    wanted = _wanted(bench, first, increment, wish)
    outcomes, left = _all_carried_out(bench, wanted, wish, began, say)
    say("comparing the rows", len(outcomes), len(outcomes))
    of_first = [(of, it) for of, it in outcomes if of is first]
    rows, by_time = judge(bench, outcome, control, _only(of_first), wish.key, {})
    judged = list(zip(of_first, rows, strict=True))
    if of_increment := [(of, it) for of, it in outcomes if of is not first]:
        well = of_increment[0][0].outcome
        rows, _ = judge(bench, well, None, _only(of_increment), wish.key, by_time)
        judged += zip(of_increment, rows, strict=True)
    findings = [_finding(of, it, rows_of, wish) for (of, it), rows_of in judged]
    findings += [Finding(one, "not tried", reason=one.not_tried) for one in left]
    findings.sort(key=_place)
    return Proof(first.operations, findings, by_time, time.monotonic() - began)


def _place(finding: Finding) -> tuple[int, bool, int]:
    """Return where a finding stands: by its kind, then in the order of what happens."""
    one = finding.experiment
    return KINDS.index(one.kind), one.is_in_increment, one.after


def _only(outcomes: Sequence[tuple[Baseline, Outcome]]) -> list[Outcome]:
    return [outcome for _, outcome in outcomes]


def _baseline(base: Home, outcome: Outcome) -> Baseline:
    with Store(outcome.home.database) as store:
        jobs = {run.run_id: run.job_name for run in store.all_job_runs()}
    sources = sources_of(base, outcome)
    opened = read_opened(outcome.home)
    return Baseline(base, outcome, read_operations(outcome.home), sources, jobs, opened)


def _increment(bench: Bench, first: Baseline, wish: Wish) -> Baseline | None:
    """Return a run that adds to what an earlier run has made; None if there can be none."""
    if len(first.sources) < 2 or (wish.only and "crash" not in wish.only):
        return None
    base = before_increment(bench, first.sources)
    if base is None:
        return None
    outcome = _run_well(bench, base, "increment", is_recorded=True)
    return None if outcome.failure else _baseline(base, outcome)


def _wanted(
    bench: Bench, first: Baseline, increment: Baseline | None, wish: Wish
) -> list[tuple[Baseline, Experiment]]:
    """Return the experiments that are asked for, each with the run that it changes."""
    subject = bench.subject
    impossible = {
        "together": subject.not_both,
        "executors": why_no_executors(),
        "versions": subject.not_newer,
    }
    for at, one in enumerate(filter(None, (first, increment))):
        folder = bench.folder(f"check-{at}")
        if others := unannounced(one.base, one.outcome.home, one.operations, folder):
            impossible["crash"] = (
                f"{plural(len(others), 'object')} were changed that no operation announced, such "
                f"as {others[0]}: write by Spark, DynamicFrames, boto3 or the library"
            )
    later = increment.operations if increment else ()
    plan = planned(first.operations, later, len(first.sources), impossible)
    return [
        (increment if one.is_in_increment and increment else first, one)
        for one in plan
        if not wish.only or one.kind in wish.only
    ]


@contextmanager
def _threads(bench: Bench) -> Iterator[ThreadPoolExecutor]:
    """Yield threads for runs; whatever ends the body stops their runs."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        try:
            yield threads
        except BaseException:
            bench.is_over.set()
            raise


def _run_well(bench: Bench, base: Home, name: str, *, is_recorded: bool) -> Outcome:
    outcome = run_well(bench, base, name, is_recorded=is_recorded)
    dump_tables(bench, outcome.home)
    return outcome


def _try(
    bench: Bench, baseline: Baseline, experiment: Experiment, number: int
) -> tuple[Baseline, Outcome]:
    outcome = carry_out(bench, baseline, experiment, number)
    dump_tables(bench, outcome.home)
    return baseline, outcome


def _all_carried_out(
    bench: Bench,
    wanted: Sequence[tuple[Baseline, Experiment]],
    wish: Wish,
    began: float,
    say: Say,
) -> tuple[list[tuple[Baseline, Outcome]], list[Experiment]]:
    """Carry experiments out, two at once; return those that were, and those that were not."""
    left = [one for _, one in wanted if one.not_tried]
    queue = iter([(of, one) for of, one in wanted if not one.not_tried])
    total, outcomes = len(wanted) - len(left), list[tuple[Baseline, Outcome]]()
    numbers = iter(range(1, total + 1))
    with _threads(bench) as threads:
        running: set[Future[tuple[Baseline, Outcome]]] = set()
        while True:
            if not _is_over(wish, began):
                for of, one in islice(queue, AT_ONCE - len(running)):
                    running.add(threads.submit(_try, bench, of, one, next(numbers)))
            if not running:
                break
            done, running = wait(running, return_when="FIRST_COMPLETED")
            outcomes += [one.result() for one in done]
            say("trying", len(outcomes), total)
    left += [one.experiment for _, one in outcomes if one.experiment.not_tried]
    tried = [(of, one) for of, one in outcomes if not one.experiment.not_tried]
    return tried, [*left, *_out_of_time(queue, wish)]


def _is_over(wish: Wish, began: float) -> bool:
    """Return whether the budget leaves no time for one more; the comparison needs some, too."""
    return wish.budget_s is not None and time.monotonic() - began > 0.8 * wish.budget_s


def _out_of_time(queue: Iterator[tuple[Baseline, Experiment]], wish: Wish) -> Iterator[Experiment]:
    for _, one in queue:
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
    if verdict not in ("equal", "not tried"):
        target = next((one.target for one in counting if one.verdict == verdict), "")
        cause = cause_of(outcome.experiment, verdict, baseline.around(outcome.experiment, target))
    only_adds = verdict == "doubled" or not any(one.lost for one in counting)
    if cause and only_adds and (cause.script, cause.line) in wish.accepted:
        verdict, reason = "accepted", wish.accepted[cause.script, cause.line or 0]
    return Finding(outcome.experiment, verdict, counting, reason, cause, outcome.seconds)
