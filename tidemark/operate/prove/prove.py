"""Runs a job well once, then again in every way that goes wrong, and compares what is left."""

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime

from tidemark.errors import NotProvedError
from tidemark.glue_service.runs.run_variables import no_executors_reason
from tidemark.local_state.outside import is_within, read_outside
from tidemark.local_state.store.database import Store
from tidemark.model.drift import DRIFTS
from tidemark.model.messages import plural
from tidemark.operate.prove.anew import at_another_second, start_anew
from tidemark.operate.prove.baselines import (
    ELSEWHERE,
    Baseline,
    Wanted,
    nothing_written_reason,
    run_in_parts,
    run_well,
)
from tidemark.operate.prove.bench import Bench, Outcome, OutOfTimeError
from tidemark.operate.prove.changes import messages_taken, named_after_day, unjudged
from tidemark.operate.prove.comparison import compared
from tidemark.operate.prove.contents import Contents
from tidemark.operate.prove.crash_points import CRASH
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.explore import after_repairs, not_reached, of_changes
from tidemark.operate.prove.findings import ANOTHER_DAY, Finding, Proof, Wish
from tidemark.operate.prove.halves import home_of_halves
from tidemark.operate.prove.homes import without_scratch
from tidemark.operate.prove.kinds.arrivals import InParts
from tidemark.operate.prove.kinds.drift import OtherColumns, drifts
from tidemark.operate.prove.kinds.every import BY_NAME, KINDS, at_once, kind_of, not_tried
from tidemark.operate.prove.kinds.kind import FirstRun
from tidemark.operate.prove.kinds.machines import drawn_moments
from tidemark.operate.prove.next_runs import NextRuns
from tidemark.operate.prove.places import hidden_marks
from tidemark.operate.prove.replays import keep
from tidemark.operate.prove.schedule import Planned, Queue, Say
from tidemark.operate.prove.states import MAX_DEATHS, States
from tidemark.operate.prove.taken import taken_away
from tidemark.operate.prove.views import Views
from tidemark.operate.versions.trial import threads_until

MIN_PATIENCE_S, PATIENCE = (
    90.0,
    10.0,
)  # the least, and how many times as long as a run that goes well
FOR_COMPARISON = 0.15  # of the budget
OF_PARTS = [name for name, kind in BY_NAME.items() if kind.needs_parts]
OF_TWO_FILES = [name for name, kind in BY_NAME.items() if kind.needed_files > 1 or kind.needs_parts]


def prove(bench: Bench, wish: Wish, say: Say = lambda *_: None) -> Proof:
    """Return the verdict of every experiment."""
    began, since = time.monotonic(), time.time()
    if wish.deadline is not None:
        reserve = FOR_COMPARISON * (wish.deadline - began)
        bench = replace(bench, deadline=wish.deadline, reserve=reserve)
    draws = random.Random(wish.seed)  # noqa: S311 (not a secret)
    say("running it twice, as it should go", 0, 0)
    with threads_until(bench.is_over) as threads:
        first, control, is_anew = _two_runs(bench, threads)
        before = bench
        bench, first, control = _with_two_files(bench, wish, threads, first, control)
        split = "" if bench is before else first.sources[0]
        slowest = max(first.outcome.seconds, control.seconds)
        bench = replace(bench, patience_s=max(MIN_PATIENCE_S, PATIENCE * slowest))
        if place := messages_taken(first.operations):
            raise NotProvedError(
                f"{place} takes messages from a queue, and the SQS of this machine keeps none "
                "between runs: the messages that a dead run leaves are not known; prove the job "
                "with the list of its work in a file or a table instead"
            )
        views = Views.of(first) if first.has_several_jobs else None
        readers = views.readers() if views else None
        contents = Contents(bench.base, first.sources, since, readers)
        control = at_another_second(bench, contents, since, first, control)
        states = States.between(contents, since, first, control.home, views)
        next_runs = NextRuns(lambda home: states.of(home).identity)
        queue = Queue(bench, threads, began, say, next_runs)
        moments = drawn_moments(first.operations, draws, wish.moments)
        known = FirstRun(len(first.sources), first.looks, _impossible(bench, first), moments)
        early = [experiment for experiment in at_once(known) if wish.wants(experiment.kind)]
        if bench.deadline is None:  # what takes longest goes on beside all the others
            early.sort(key=lambda experiment: not kind_of(experiment).has_own_jvms)
        queue.add(
            [
                Wanted(first, experiment)
                for experiment in early
                if not kind_of(experiment).needs_parts or experiment.not_tried
            ]
        )
        has_parts = len(first.sources) > 1
        queue.run(
            lambda: _planned(bench, wish, first, states, next_runs, draws, has_parts=has_parts)
        )
        findings, by_time, left = _explored(bench, wish, first, control, states, queue)
    findings += [
        Finding(experiment, "not tried", reason=experiment.not_tried)
        for experiment in (*queue.not_tried, *left)
    ]
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
        [*unjudged(first.operations), *_outside(first, wish), *_of_another_day(first, wish, since)],
        [*hidden_marks(first.outcome.home), *states.folders.places],
        sorted(states.equality.noisy),
        bench.subject.scripts,
        len(states.known),
        states.deaths,
        taken_away(bench, first, by_time),
        split,
    )


def _with_two_files(
    bench: Bench, wish: Wish, threads: ThreadPoolExecutor, first: Baseline, control: Outcome
) -> tuple[Bench, Baseline, Outcome]:
    """Return the bench and its runs with the only new file split in two, where that can be."""
    if not any(map(wish.wants, OF_TWO_FILES)):
        return bench, first, control
    halves = home_of_halves(bench, first)
    if halves is None:
        return bench, first, control
    split = replace(bench, base=halves)
    try:
        runs = _run_twice(split, threads, ("baseline-halves", "control-halves"))
    except NotProvedError:  # the job expects one file
        return bench, first, control
    if len(runs[0].sources) != 2:
        return bench, first, control
    return split, runs[0], runs[1].outcome


def _outside(run: Baseline, wish: Wish) -> list[str]:
    """Return what a run has reached outside its home, with the lines and how often."""
    counts = Counter(read_outside(run.outcome.home))
    return [
        f"{what}, {plural(count, 'time')}"
        for what, count in counts.items()
        if not is_within(what.rpartition(" (")[0], wish.ignored)
    ]


def _of_another_day(run: Baseline, wish: Wish, since: float) -> list[str]:
    """Return what a script that reads the clock names after the day: a retry may have another."""
    days = {datetime.fromtimestamp(since, zone).date() for zone in (UTC, None)}
    named = dict.fromkeys(named_after_day(run.operations, day) for day in days if wish.clocks)
    return [
        f"{ANOTHER_DAY}: the run names {place} after its own; give the day as an argument"
        for place in named
        if place and not wish.ignores(ANOTHER_DAY)
    ]


def _explored(
    bench: Bench, wish: Wish, first: Baseline, control: Outcome, states: States, queue: Queue
) -> tuple[list[Finding], dict[str, list[str]], list[Experiment]]:
    """Compare the rows, and crash in the runs that were right until no new state appears.

    Return the findings, the columns that differ by time, and crashes that were not tried.
    """
    tried, findings, by_time = queue.done, dict[str, Finding](), dict[str, list[str]]()
    while tried:
        queue.say("comparing the rows", len(queue.done), len(queue.done))
        findings, by_time = compared(bench, wish, first, control, queue.done, states.folders)
        try:
            wanted = after_repairs(bench, states, tried, findings) if wish.wants(CRASH) else []
        except OutOfTimeError as error:
            more = not_tried(CRASH, str(error), is_open=True)
            return _kept(bench, findings, queue), by_time, [more]
        if wanted and states.deaths == MAX_DEATHS:
            return _kept(bench, findings, queue), by_time, [not_reached(crash) for crash in wanted]
        states.deaths += bool(wanted)
        known = len(queue.done)
        queue.add(wanted)
        queue.run()
        tried = queue.done[known:]
    return _kept(bench, findings, queue), by_time, []


def _kept(bench: Bench, findings: Mapping[str, Finding], queue: Queue) -> list[Finding]:
    """Return the findings, of which the home keeps the states that go wrong."""
    outcomes = {
        str(outcome.home.root): (outcome, wanted.of.job_of(wanted.experiment))
        for wanted, outcome in queue.done
    }
    if bench.home is None:
        return list(findings.values())
    return keep(bench.home, bench.command, findings, outcomes)


def _place(finding: Finding) -> tuple[int, bool, bool, int, tuple[str, ...], int]:
    """Return where a finding stands: by its kind, then in the order of what happens."""
    experiment = finding.experiment
    kind = KINDS.index(experiment.kind)
    of_files = experiment.files[-1:], DRIFTS.index(experiment.drift)
    return (kind, experiment.is_in_increment, experiment.is_late, experiment.after, *of_files)


def with_numbers(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, those whose titles are the same with a number: a line that loops."""
    totals = Counter(finding.experiment.title for finding in findings)
    numbered, numbers = list[Finding](), Counter[str]()
    for finding in findings:
        title = finding.experiment.title
        numbers[title] += 1
        if totals[title] > 1:
            title = f"{title}, {numbers[title]} of {totals[title]}"
        named = replace(finding.experiment, title=title)
        numbered.append(replace(finding, experiment=named))
    return numbered


def _two_runs(bench: Bench, threads: ThreadPoolExecutor) -> tuple[Baseline, Outcome, bool]:
    """Return the first run, a second one like it, and whether their jobs had to begin anew."""
    first, control = _run_twice(bench, threads, ("baseline", "control"))
    if first.has_written:
        return first, control.outcome, False
    if not first.withheld:
        with Store(bench.base.database) as store:
            earlier = {run.run_id for run in store.all_job_runs()}  # of the home
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
        first, control = [future.result() for future in futures]
    except OutOfTimeError:
        if bench.is_interrupted.is_set():
            raise KeyboardInterrupt from None
        raise NotProvedError(
            "the budget ended before the first run did, so nothing was tried; give more seconds"
        ) from None
    for outcome in (first.outcome, control.outcome):
        if outcome.failure:
            why = without_scratch(outcome.failure, bench.scratch)
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
    bench: Bench,
    wish: Wish,
    first: Baseline,
    states: States,
    next_runs: NextRuns,
    draws: random.Random,
    *,
    has_parts: bool,
) -> Planned:
    """Run over the files in parts; return that experiment, and the crashes and errors."""
    if not any(map(wish.wants, OF_PARTS)):
        return Planned()
    done = list[tuple[Wanted, Outcome]]()
    try:
        parts = run_in_parts(bench, first.sources) if has_parts else None
        if parts and wish.wants(InParts.name):
            experiment = Experiment(InParts.name, InParts.title)
            done = [(Wanted(first, experiment), parts.outcome(experiment))]
        wanted = of_changes(bench, wish, first, parts, states, next_runs, draws)
    except OutOfTimeError as error:
        tried = {wanted.experiment.kind for wanted, _ in done}
        kinds = [kind for kind in OF_PARTS if wish.wants(kind) and kind not in tried]
        left = [Wanted(first, not_tried(kind, str(error), is_open=True)) for kind in kinds]
        return Planned(left, done)
    if first.sources and wish.wants(OtherColumns.name):
        wanted += drifts(first, parts)
    return Planned(wanted, done)
