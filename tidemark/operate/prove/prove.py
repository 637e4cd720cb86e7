"""Runs a job well once, then again in every way that goes wrong, and compares what is left."""

import random
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tidemark.errors import NotProvedError
from tidemark.glue_service.runs.lost_executors import no_executors_reason
from tidemark.local_state.store.database import Store
from tidemark.model.messages import plural
from tidemark.operate.prove.anew import start_anew
from tidemark.operate.prove.baselines import (
    ELSEWHERE,
    Baseline,
    Parts,
    nothing_written_reason,
    run_in_parts,
    run_well,
)
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.changes import is_write, messages_taken, unjudged
from tidemark.operate.prove.comparison import compared
from tidemark.operate.prove.experiments import (
    CHANGE_KINDS,
    KINDS,
    MAX_FIRST_CRASHES,
    TITLES,
    Experiment,
    at_once,
    drawn_moments,
    of_changes,
)
from tidemark.operate.prove.findings import Finding, Proof, Wish
from tidemark.operate.prove.homes import unannounced, without_scratch
from tidemark.operate.prove.refusals import refusals
from tidemark.operate.prove.schedule import Planned, Queue, Say, threads_of
from tidemark.operate.prove.trials import Wanted

FOR_COMPARISON = 0.15  # of the budget
OWN_JVM_KINDS = ("executors", "versions")  # they have JVMs of their own
NO_WRITE = "the run writes no object, and no rows to an embedded database"
ENDS = "an error ends the run wherever it writes or reads, which leaves what a crash there leaves"
FROM_PARTS = ("parts", *CHANGE_KINDS)  # kinds that need runs over the files in parts


def prove(bench: Bench, wish: Wish, say: Say = lambda *_: None) -> Proof:
    """Return the verdict of every experiment."""
    began = time.monotonic()
    if wish.budget_s is not None:
        bench = replace(bench, deadline=began + wish.budget_s)
    draws = random.Random(wish.seed)  # noqa: S311 (not a secret)
    say("running it twice, as it should go", 0, 0)
    with threads_of(bench) as threads:
        first, control, is_anew = _two_runs(bench, threads)
        if place := messages_taken(first.operations):
            raise NotProvedError(
                f"{place} takes messages from a queue, and the SQS of this machine keeps none "
                "between runs: the messages that a dead run leaves are not known; prove the job "
                "with the list of its work in a file or a table instead"
            )
        if wish.budget_s is not None:
            bench = replace(bench, reserve=FOR_COMPARISON * wish.budget_s)
        queue = Queue(bench, threads, began, say)
        moments = drawn_moments(first.operations, draws, wish.moments)
        early = at_once(len(first.sources), _impossible(bench, first), moments, first.looks)
        early = [one for one in early if wish.wants(one.kind)]
        if bench.deadline is None:  # what takes longest goes on beside all the others
            early.sort(key=lambda one: one.kind not in OWN_JVM_KINDS)
        queue.add([Wanted(first, one) for one in early if one.kind != "parts" or one.not_tried])
        has_parts = len(first.sources) > 1
        queue.run(lambda: _planned(bench, wish, first, draws, has_parts=has_parts))
    say("comparing the rows", len(queue.done), len(queue.done))
    done = queue.done  # none: nothing to compare, which would take a Spark to say
    findings, by_time = compared(bench, wish, first, control, done) if done else ([], {})
    findings += [Finding(one, "not tried", reason=one.not_tried) for one in queue.not_tried]
    findings = with_numbers(sorted(findings, key=_place))
    seconds = time.monotonic() - began
    return Proof(
        first.operations,
        findings,
        by_time,
        seconds,
        wish.seed,
        first.withheld,
        wish.clocks,
        is_anew,
        unjudged(first.operations),
    )


def _place(finding: Finding) -> tuple[int, bool, bool, int]:
    """Return where a finding stands: by its kind, then in the order of what happens."""
    one = finding.experiment
    return KINDS.index(one.kind), one.is_in_increment, one.is_late, one.after


def with_numbers(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, those whose titles are the same with a number: a line that loops."""
    totals = Counter(one.experiment.title for one in findings)
    found, numbers = list[Finding](), Counter[str]()
    for one in findings:
        title = one.experiment.title
        numbers[title] += 1
        if totals[title] > 1:
            title = f"{title}, {numbers[title]} of {totals[title]}"
        found.append(replace(one, experiment=replace(one.experiment, title=title)))
    return found


def _two_runs(bench: Bench, threads: ThreadPoolExecutor) -> tuple[Baseline, Outcome, bool]:
    """Return the first run, a second one like it, and whether their jobs had to begin anew."""
    first, control = _run_twice(bench, threads, ("baseline", "control"))
    if first.has_written:
        return first, control.outcome, False
    if not first.withheld:
        with Store(bench.base.database) as store:
            earlier = {one.run_id for one in store.all_job_runs()}  # of the home
        jobs = {job for run_id, job in first.jobs.items() if run_id not in earlier}
        if start_anew(bench.base, jobs):
            first, control = _run_twice(bench, threads, ("baseline-anew", "control-anew"))
    if not first.has_written:
        raise NotProvedError(nothing_written_reason(first))
    return first, control.outcome, True


def _run_twice(
    bench: Bench, threads: ThreadPoolExecutor, names: tuple[str, str]
) -> tuple[Baseline, Baseline]:
    futures = [
        threads.submit(run_well, bench, bench.base, name, turn) for turn, name in enumerate(names)
    ]
    try:
        first, control = [one.result() for one in futures]
    except OutOfTimeError:
        if bench.is_interrupted.is_set():
            raise KeyboardInterrupt from None
        raise NotProvedError(
            "the budget ended before the first run did, so nothing was tried; give more seconds"
        ) from None
    for one in (first.outcome, control.outcome):
        if one.failure:
            why = without_scratch(one.failure, bench.scratch)
            raise NotProvedError(f"it fails without any experiment: {why}{_not_made(first)}")
    return first, control


def _not_made(run: Baseline) -> str:
    """Return which changes a run that failed may have missed; empty if it made all of them."""
    if not run.withheld:
        return ""
    return f"; it changed nothing in {', '.join(run.withheld)}, which it may expect: {ELSEWHERE}"


def _impossible(bench: Bench, first: Baseline) -> dict[str, str]:
    """Return the kinds that cannot be tried, with the reason."""
    return {
        "together": bench.subject.not_both,
        "executors": no_executors_reason(),
        "versions": bench.subject.not_newer,
        **first.not_rewound,
    }


def _planned(
    bench: Bench, wish: Wish, first: Baseline, draws: random.Random, *, has_parts: bool
) -> Planned:
    """Run over the files in parts; return that experiment, and the crashes and errors."""
    if not any(map(wish.wants, FROM_PARTS)):
        return Planned()
    try:
        parts = run_in_parts(bench, first.sources) if has_parts else None
    except OutOfTimeError as error:
        kinds = [kind for kind in FROM_PARTS if wish.wants(kind)]
        left = [Wanted(first, _not_tried(kind, str(error), is_open=True)) for kind in kinds]
        return Planned(left)
    done = [(Wanted(first, parts.outcome.experiment), parts.outcome)] if parts else []
    return Planned(_crashes(bench, wish, first, parts, draws), done if wish.wants("parts") else [])


def _crashes(
    bench: Bench, wish: Wish, first: Baseline, parts: Parts | None, draws: random.Random
) -> list[Wanted]:
    """Return the crashes and errors that are asked for, the most telling ones first."""
    increment, before = (parts.increment, parts.before) if parts else (None, None)
    kinds = [kind for kind in CHANGE_KINDS if wish.wants(kind)]
    if why := _unannounced(bench, [one for one in (first, before, increment) if one]):
        return [Wanted(first, _not_tried(kind, why, is_open=True)) for kind in kinds]
    crashes = of_changes(
        first.operations,
        increment.operations if increment else (),
        before.operations if before else (),
    )
    run = increment or first
    errors = refusals(
        run.operations,
        run.requests,
        draws,
        wish.moments,
        is_in_increment=increment is not None,
    )
    plan = [*crashes[:MAX_FIRST_CRASHES], *errors, *crashes[MAX_FIRST_CRASHES:]]
    found = []
    if "error" in kinds and not errors:
        has_written = any(map(is_write, run.operations))
        found.append(Wanted(first, _not_tried("error", ENDS if has_written else NO_WRITE)))
    for one in [one for one in plan if one.kind in kinds]:
        if one.is_late and before and increment and parts:
            found.append(Wanted(before, one, increment.outcome, parts.files[-1]))
        elif one.is_in_increment and increment:
            found.append(Wanted(increment, one, increment.outcome))
        else:
            found.append(Wanted(first, one))
    return found


def _unannounced(bench: Bench, runs: Sequence[Baseline]) -> str:
    """Return why states between two changes cannot be told; empty if they can."""
    for at, one in enumerate(runs):
        folder = bench.folder(f"check-{at}")
        if others := unannounced(one.base, one.outcome.home, one.operations, folder):
            return (
                f"{plural(len(others), 'object')} were changed that no operation announced, such "
                f"as {others[0]}: write by Spark, DynamicFrames, boto3 or the library"
            )
    return ""


def _not_tried(kind: str, why: str, *, is_open: bool = False) -> Experiment:
    title = {"crash": "crashes", "error": "requests that fail"}.get(kind) or TITLES["parts"]
    return Experiment(kind, title, not_tried=why, is_open=is_open)  # type: ignore[arg-type]
