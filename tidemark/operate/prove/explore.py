"""Plans the crashes and failing requests of runs, and of the runs that repair what these leave."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from tidemark.local_state.home import Home
from tidemark.model.messages import plural
from tidemark.operate.prove.baselines import Baseline, Parts, Wanted, run_after
from tidemark.operate.prove.bench import Bench, Outcome
from tidemark.operate.prove.changes import is_write
from tidemark.operate.prove.crash_points import CRASH, crashes, late_first, without_middles
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import RIGHT, Finding, Wish
from tidemark.operate.prove.kinds.every import CHANGE_KINDS, kind_of, not_tried
from tidemark.operate.prove.next_runs import NextRuns
from tidemark.operate.prove.refusals import ERROR, refusals
from tidemark.operate.prove.states import MAX_DEATHS, State, States

MAX_FIRST_CRASHES = 8  # that are tried before anything else
NO_WRITE = "the run writes no object, and no rows to an embedded database"
ENDS = "an error ends the run wherever it writes or reads, which leaves what a crash there leaves"


def of_changes(
    bench: Bench,
    wish: Wish,
    first: Baseline,
    parts: Parts | None,
    states: States,
    next_runs: NextRuns,
    draws: random.Random,
) -> list[Wanted]:
    """Return the crashes and errors that are asked for, the most telling ones first.

    A crash in an increment, a run that adds to an earlier one, tells more than in the first run;
    one in the run before it is followed by a late file.
    """
    kinds = [kind for kind in CHANGE_KINDS if wish.wants(kind)]
    increment, before = (parts.increment, parts.before) if parts else (None, None)
    run = increment or first
    left = dict[str, Mapping[int, State]]()
    for name, of in (("increment", increment), ("first", first), ("before", before)):
        if of is not None:
            left[name], others = states.along(bench, of, f"states-{name}")
            if others:
                why = _unannounced(others)
                return [Wanted(first, not_tried(kind, why, is_open=True)) for kind in kinds]
            next_runs.note_run(of, {number: state.identity for number, state in left[name].items()})
    of_increment, late, of_first = list[Wanted](), list[Wanted](), list[Wanted]()
    if increment:
        new = states.new(crashes(increment.operations, is_in_increment=True), left["increment"])
        of_increment = [Wanted(increment, crash, increment.outcome) for crash in new]
    if increment and before and parts:
        # Within a write of Spark, the crashes of the increment tell what the moments differ by.
        new = states.new(without_middles(late_first(before.operations)), left["before"])
        file = parts.files[-1]
        run_before = replace(
            before, other_stores=before.other_stores | increment.other_stores
        )  # what the late run changes is compared, too
        late = [Wanted(run_before, crash, increment.outcome, file) for crash in new]
    all_of_first = crashes(first.operations)
    some = without_middles(all_of_first) if increment else all_of_first
    of_first = [Wanted(first, crash) for crash in states.new(some, left["first"])]
    of_runs = of_increment, late, of_first
    told_first = [wanted for of_run in of_runs for wanted in of_run[:MAX_FIRST_CRASHES]]
    rest = [wanted for of_run in of_runs for wanted in of_run[MAX_FIRST_CRASHES:]]
    errors = refusals(
        run.operations, run.requests, draws, wish.moments, is_in_increment=increment is not None
    )
    well = increment.outcome if increment else None
    refused = [Wanted(run, error, well) for error in errors]
    if not errors:
        has_written = any(map(is_write, run.operations))
        refused = [Wanted(first, not_tried(ERROR, ENDS if has_written else NO_WRITE))]
    plan = [*told_first, *refused, *rest]
    return [wanted for wanted in plan if wanted.experiment.kind in kinds]


def after_repairs(
    bench: Bench,
    states: States,
    tried: Sequence[tuple[Wanted, Outcome]],
    findings: Mapping[str, Finding],
) -> list[Wanted]:
    """Return crashes in the runs that repaired what a crash had left, where that is a new state."""
    plan = list[Wanted]()
    right = [
        (wanted, outcome, findings[name])
        for wanted, outcome in tried
        if (name := str(outcome.home.root)) in findings and findings[name].verdict in RIGHT
    ]
    states.learn((outcome.home for _, outcome in tried), _repaired(right))
    for wanted, outcome, finding in right:
        # What is wrong after one crash is wrong after two; without repairs, it was made from an
        # equal state.
        is_repair = kind_of(wanted.experiment).is_of_changes and outcome.repairs
        if not is_repair or outcome.start is None:
            continue
        if finding.verdict == "accepted" and outcome.experiment.deaths > 1:
            continue  # who accepts what one more run doubles accepts it of each further one
        repair = run_after(wanted.of, outcome, outcome.start)
        possible = crashes(
            repair.operations,
            is_in_increment=wanted.experiment.is_in_increment,
            is_late=wanted.experiment.is_late,
            repairs=outcome.experiment,
        )
        if states.views:
            # Within a write of Spark, the first deaths tell what the moments differ by.
            possible = without_middles(possible)
        name, numbers = f"{outcome.home.root.name}-states", {crash.after for crash in possible}
        left, others = states.along(bench, repair, name, numbers)
        if not others:
            plan += [Wanted(repair, crash, wanted.well) for crash in states.new(possible, left)]
    return plan


def _repaired(right: Iterable[tuple[Wanted, Outcome, Finding]]) -> Iterator[tuple[Home, str]]:
    """Yield the states that crashes left, with the job that has led back from each."""
    for wanted, outcome, _ in right:
        is_crash = wanted.experiment.kind == CRASH and not wanted.late
        if is_crash and outcome.is_repaired and outcome.start is not None:
            yield outcome.start, wanted.of.job_of(wanted.experiment) or ""


def not_reached(wanted: Wanted) -> Experiment:
    """Return a crash that is one too many, as not tried."""
    reason = f"more than {MAX_DEATHS} runs would have to die in a row"
    return replace(wanted.experiment, not_tried=reason, is_open=True)


def _unannounced(objects: Sequence[str]) -> str:
    return (
        f"{plural(len(objects), 'object')} were changed that no operation announced, such as "
        f"{objects[0]}: write by Spark, DynamicFrames, boto3 or the library"
    )
