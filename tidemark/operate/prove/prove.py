"""Runs a job well once, then again in every way that goes wrong, and compares what is left."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice

from tidemark.errors import TidemarkError
from tidemark.local_state.operations import Operation, read_operations
from tidemark.operate.prove.bench import Baseline, Bench, Outcome, carry_out, run_baseline
from tidemark.operate.prove.causes import Cause, cause_of
from tidemark.operate.prove.experiments import Experiment, crashes, is_state
from tidemark.operate.prove.judge import judge
from tidemark.operate.prove.judged import TargetRows, Verdict, worst
from tidemark.operate.prove.sources import sources_of
from tidemark.operate.prove.tables import dump_tables

AT_ONCE = 2
MOST_TELLING = 8  # crashes that are tried before anything else
Say = Callable[[str, int, int], None]
"""Gets what goes on, how many experiments are done, and how many there are."""


@dataclass(frozen=True)
class Wish:
    """What a person asks for.

    Attributes:
        only: kinds of experiments; empty: all.
        budget_s: seconds for all of it; None: as long as it takes.
        key: columns that identify a row; empty: they are looked for.
        accepted: why rows may be doubled, by the name of a script and its line.
    """

    only: Sequence[str] = ()
    budget_s: float | None = None
    key: Sequence[str] = ()
    accepted: Mapping[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Finding:
    """The verdict of one experiment.

    Attributes:
        experiment: what was tried.
        verdict: the worst of its targets.
        targets: how the rows of each target differ.
        reason: why it was not tried, or why the last run failed; empty otherwise.
        cause: the line and the remedy; None if nothing went wrong.
        seconds: how long it took.
    """

    experiment: Experiment
    verdict: Verdict
    targets: Sequence[TargetRows] = ()
    reason: str = ""
    cause: Cause | None = None
    seconds: float = 0.0


@dataclass(frozen=True)
class Proof:
    """All findings, in the order of what happens in a run.

    Attributes:
        operations: what the run changed outside its processes.
        findings: one for each experiment.
        by_time: columns of each target that differ between two equal runs, which are left out.
        seconds: how long all of it took.
    """

    operations: Sequence[Operation]
    findings: Sequence[Finding]
    by_time: dict[str, list[str]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """The worst verdict."""
        return worst([one.verdict for one in self.findings])


def prove(bench: Bench, wish: Wish, say: Say = lambda *_: None) -> Proof:
    """Return the verdict of every experiment.

    Raises:
        TidemarkError: the run fails without any experiment.
    """
    began = time.monotonic()
    say("running it twice, as it should go", 0, 0)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        futures = [
            threads.submit(_run_well, bench, "baseline", is_recorded=True),
            threads.submit(_run_well, bench, "control", is_recorded=False),
        ]
        outcome, control = [one.result() for one in futures]
    for one in (outcome, control):
        if one.failure:
            raise TidemarkError(f"it fails without any experiment: {one.failure}")
    baseline = Baseline(outcome, read_operations(outcome.home), sources_of(bench.base, outcome))
    wanted = [one for one in planned(baseline) if not wish.only or one.kind in wish.only]
    outcomes, left = _all_carried_out(bench, baseline, wanted, wish, began, say)
    say("comparing the rows", len(outcomes), len(outcomes))
    judged, by_time = judge(bench, outcome, control, outcomes, wish.key)
    findings = [
        _finding(baseline, one, rows, wish) for one, rows in zip(outcomes, judged, strict=True)
    ]
    findings += [Finding(one, "not tried", reason=one.not_tried) for one in left]
    findings.sort(key=lambda one: (one.experiment.kind != "crash", one.experiment.after))
    return Proof(baseline.operations, findings, by_time, time.monotonic() - began)


def _run_well(bench: Bench, name: str, *, is_recorded: bool) -> Outcome:
    outcome = run_baseline(bench, name, is_recorded=is_recorded)
    dump_tables(bench, outcome.home)
    return outcome


def _try(bench: Bench, baseline: Baseline, experiment: Experiment, number: int) -> Outcome:
    outcome = carry_out(bench, baseline, experiment, number)
    dump_tables(bench, outcome.home)
    return outcome


def planned(baseline: Baseline) -> list[Experiment]:
    """Return the experiments for a run, the most telling ones first."""
    found = crashes(baseline.operations)
    no_state = (
        "" if any(map(is_state, baseline.operations)) else "it keeps no bookmark or watermark"
    )
    one_file = "" if len(baseline.sources) > 1 else "it needs two new files, and the run read fewer"
    no_file = "" if baseline.sources else "the run read no file as a new one"
    more = [
        Experiment("again", "a run with nothing new"),
        Experiment("parts", "new files in parts, a run for each", not_tried=one_file),
        Experiment("order", "new files in the reverse order", not_tried=one_file),
        Experiment("twice", "a file delivered twice", not_tried=no_file),
        Experiment("replaced", "a file overwritten with the same rows", not_tried=no_file),
        Experiment(
            "rewind",
            "rewound with --clear, and run again",
            not_tried="" if has_state else "it keeps no bookmark or watermark",
        ),
    ]
    return [*found[:MOST_TELLING], *more, *found[MOST_TELLING:]]


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
    with ThreadPoolExecutor(AT_ONCE) as threads:
        running: set[Future[Outcome]] = set()
        while True:
            if not _is_over(wish, began, len(outcomes)):
                for one in islice(queue, AT_ONCE - len(running)):
                    running.add(threads.submit(_try, bench, baseline, one, next(numbers)))
            if not running:
                break
            done, running = wait(running, return_when="FIRST_COMPLETED")
            outcomes += [one.result() for one in done]
            say("trying", len(outcomes), total)
    return outcomes, [*left, *_out_of_time(queue, wish)]


def _is_over(wish: Wish, began: float, done: int) -> bool:
    """Return whether the budget leaves no time for one more; the comparison needs some, too."""
    return wish.budget_s is not None and time.monotonic() - began > 0.8 * wish.budget_s


def _out_of_time(queue: Iterator[Experiment], wish: Wish) -> Iterator[Experiment]:
    for one in queue:
        yield Experiment(
            one.kind, one.title, one.after, one.operation, f"the budget was {wish.budget_s:g} s"
        )


def _finding(
    baseline: Baseline, outcome: Outcome, rows: Sequence[TargetRows], wish: Wish
) -> Finding:
    verdict = worst([one.verdict for one in rows])
    reason = outcome.failure or next((one.problem for one in rows if one.problem), "") or ""
    cause = None
    if outcome.failure and verdict == "equal":
        verdict = "fails"
    if verdict not in ("equal", "not tried", "fails"):
        cause = cause_of(outcome.experiment, verdict, baseline.operations, rows)
    if verdict == "doubled" and cause and (cause.script, cause.line) in wish.accepted:
        verdict, reason = "accepted", wish.accepted[cause.script, cause.line or 0]
    return Finding(outcome.experiment, verdict, rows, reason, cause, outcome.seconds)
