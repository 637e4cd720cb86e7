"""Turns what the experiments have left into findings: rows, verdicts and causes."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Self, TypeAlias

from tidemark.local_state.operations import Operation, read_operations
from tidemark.local_state.reads import listed_first, read_first
from tidemark.operate.prove.baselines import Baseline, Wanted, jobs_of_runs
from tidemark.operate.prove.bench import Bench, Outcome, is_endless
from tidemark.operate.prove.causes import Cause, Fault, as_note, of_types, or_no_data
from tidemark.operate.prove.changes import (
    SENT,
    is_below,
    is_of,
    is_state,
    is_write,
    micro_batches,
    places_within,
    with_short_calls,
)
from tidemark.operate.prove.crash_points import CRASH
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.findings import BAD, Finding, Wish
from tidemark.operate.prove.hidden_marks import changed_marks, steady_marks
from tidemark.operate.prove.homes import without_scratch
from tidemark.operate.prove.judge import judge
from tidemark.operate.prove.judged import WORST, TargetRows, Verdict, worst
from tidemark.operate.prove.kinds.arrivals import (
    ArrivesWithEarlierTime,
    InParts,
    ReverseOrder,
)
from tidemark.operate.prove.kinds.every import cause_of, kind_of
from tidemark.operate.prove.kinds.machines import NewestVersion
from tidemark.operate.prove.kinds.reruns import NothingNew
from tidemark.operate.prove.pointers import RunFolders
from tidemark.operate.prove.refusals import ERROR, done_before_failure

Done: TypeAlias = Sequence[tuple[Wanted, Outcome]]


@dataclass(frozen=True)
class Marks:
    """Objects and tables that runs read before they write them, which may tell what is done.

    Attributes:
        read: those that a run has opened, or has looked for.
        listed: those that a script has listed, or would have.
        pointers: objects that name what counts of a target.
        hidden: objects of hidden names that are the same after two equal runs, with their digests.
    """

    read: set[str]
    listed: set[str]
    pointers: set[str]
    hidden: Mapping[str, str]

    @classmethod
    def of(
        cls, first: Outcome, control: Outcome, others: Iterable[Outcome], folders: RunFolders
    ) -> Self:
        """Return those of the first run and of others, which find what it has written."""
        homes = {other.home.root: other.home for other in others}.values()
        read, listed = read_first(first.home), listed_first(first.home)
        for home in homes:
            read |= read_first(home, is_written=True)
            listed |= listed_first(home)
        return cls(read, listed, set(folders.places), steady_marks(first.home, control.home))

    def has(self, run: Baseline, target: str) -> bool:
        """Return whether all that a run has written of a target may tell what is done."""
        written = {place for change in run.operations for place in places_within(change, target)}
        return bool(written) and written <= self.read | self.listed


def compared(
    bench: Bench, wish: Wish, first: Baseline, control: Outcome, done: Done, folders: RunFolders
) -> tuple[dict[str, Finding], dict[str, list[str]]]:
    """Return the findings by the folders of their homes, and the columns that differ by time.

    A file that arrives after a crash may be read with the others, or by a run of its own: rows are
    right if they are those of either.
    """
    by_promise = [pair for pair in done if kind_of(pair[0].experiment).goes_by_promises]
    done = [pair for pair in done if pair not in by_promise]
    of_first = [
        (wanted, outcome)
        for wanted, outcome in done
        if wanted.well is None or wanted.experiment.is_late
    ]
    ask = partial(judge, bench, folders=folders, batches=micro_batches(first.operations))
    rows, by_time = ask(first.outcome, control, _outcomes(of_first), wish, {})
    runs = (wanted.of.outcome for wanted, _ in done)
    marks = Marks.of(first.outcome, control, (*runs, *_outcomes(done)), folders)
    findings = _findings(bench, wish, of_first, rows, marks)
    others = [(wanted, outcome) for wanted, outcome in done if wanted.well is not None]
    if well := next((wanted.well for wanted, _ in others if wanted.well), None):
        unlike = {target.target: target for targets in rows for target in targets if target.problem}
        rows, _ = ask(well, None, _outcomes(others), wish, by_time)
        rows = [[unlike.get(target.target, target) for target in targets] for targets in rows]
        again = _findings(bench, wish, others, rows, marks)
        for name in findings.keys() & again.keys():  # two of one experiment: the better one
            pair = (again[name], findings[name])
            again[name] = max(pair, key=lambda finding: WORST.index(finding.verdict))
        findings |= again
    for wanted, outcome in by_promise:  # each alone: one may be what nobody reads
        well = wanted.well or first.outcome
        rows, _ = ask(well, None, [outcome], wish, by_time)
        findings |= _findings(bench, wish, [(wanted, outcome)], rows, marks)
    caused = with_first_causes(with_own_causes(list(findings.values()), first.operations))
    judged = [_accepted(finding, wish) for finding in with_plain_causes(caused)]
    return dict(zip(findings, judged, strict=True)), by_time


def with_own_causes(findings: Sequence[Finding], operations: Sequence[Operation]) -> list[Finding]:
    """Return the findings; what crashes double or change has the cause at the target's own write.

    Which other change a crash stood before or after differs from crash to crash.
    """
    of_targets: dict[str, Counter[Cause]] = {}
    crashes = [finding for finding in findings if finding.experiment.kind == CRASH]
    of_one_death = [crash for crash in crashes if crash.experiment.deaths == 1]
    for target, cause in (pair for crash in of_one_death for pair in crash.causes.items()):
        writes = [change for change in operations if is_write(change) and is_of(change, target)]
        if (cause.script, cause.line) in {(write.script, write.line) for write in writes}:
            of_targets.setdefault(target, Counter())[cause] += 1
    best = {target: causes.most_common(1)[0][0] for target, causes in of_targets.items()}
    return [
        replace(finding, causes=_own_causes(finding, best)) if finding in crashes else finding
        for finding in findings
    ]


def with_first_causes(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, of what goes wrong after several deaths the cause after one of them."""
    of_one: dict[tuple[Verdict, str], Cause] = {
        ("doubled" if finding.verdict == "accepted" else finding.verdict, target): cause
        for finding in findings
        if finding.experiment.deaths == 1
        for target, cause in finding.causes.items()
    }
    return [
        _with_known(finding, next(iter(finding.causes), ""), of_one)
        if finding.experiment.deaths > 1
        else finding
        for finding in findings
    ]


def _with_known(
    finding: Finding, first: str, known: Mapping[tuple[Verdict, str], Cause]
) -> Finding:
    """Return a finding with the causes that are known of its verdict, by targets."""
    by_target = {
        target: cause for (verdict, target), cause in known.items() if verdict == finding.verdict
    }
    causes = {target: by_target.get(target, cause) for target, cause in finding.causes.items()}
    return replace(finding, cause=by_target.get(first, finding.cause), causes=causes)


def _own_causes(finding: Finding, best: Mapping[str, Cause]) -> dict[str, Cause]:
    lost = {rows.target for rows in finding.targets if rows.verdict == "lost"}
    return {
        target: cause if target in lost else best.get(target, cause)
        for target, cause in finding.causes.items()
    }


def with_plain_causes(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, those of files that arrive late with a cause that has no late file."""
    # A run with nothing new, or over the files in parts, does not depend on when they arrive.
    plain = _causes_of(findings, InParts.name, NothingNew.name)
    # Nor does a mark of the rows themselves depend on the times of files.
    of_rows = _causes_of(findings, ReverseOrder.name) | plain
    earlier = ArrivesWithEarlierTime.name
    return [
        _with_known(finding, "", of_rows if finding.experiment.kind == earlier else plain)
        if kind_of(finding.experiment).has_late_file and finding.cause
        else finding
        for finding in findings
    ]


def _causes_of(findings: Sequence[Finding], *kinds: str) -> dict[tuple[Verdict, str], Cause]:
    """Return the causes of some kinds by their verdicts and targets, that of any target by ""."""
    return {
        (finding.verdict, target): cause
        for kind in kinds
        for finding in findings
        if finding.experiment.kind == kind and finding.cause
        for target, cause in {"": finding.cause, **finding.causes}.items()
    }


def _outcomes(done: Done) -> list[Outcome]:
    return [outcome for _, outcome in done]


def _findings(
    bench: Bench, wish: Wish, done: Done, rows: Sequence[Sequence[TargetRows]], marks: Marks
) -> dict[str, Finding]:
    """Return the findings by the folders of their homes."""
    return {
        str(outcome.home.root): _finding(bench, wanted, outcome, own_rows, wish, marks)
        for (wanted, outcome), own_rows in zip(done, rows, strict=True)
    }


def _finding(
    bench: Bench,
    wanted: Wanted,
    outcome: Outcome,
    rows: Sequence[TargetRows],
    wish: Wish,
    marks: Marks,
) -> Finding:
    baseline, experiment, kind = wanted.of, outcome.experiment, kind_of(outcome.experiment)
    counting = [
        TargetRows(target.target, target.rows, target.expected, key=target.key)
        if kind.is_noted(target) and marks.has(baseline, target.target)
        else target
        for target in rows
    ]
    if experiment.kind == CRASH and not wanted.late:
        counting += changed_marks(wanted, outcome, marks.hidden)
    if not kind.is_of_changes:
        # What a later job of a workflow reads, shows in what that job writes.
        unread = [target for target in counting if not baseline.is_read_on(target.target)]
        counting = unread or counting
    counting = [target for target in counting if not wish.ignores(target.target)]
    if not kind.is_of_changes:  # how often a job tells goes by how often it runs
        unsent = [target for target in counting if not target.target.startswith(SENT)]
        counting = unsent or counting
    if told := _told(wanted, outcome, counting, marks):
        return told
    kept = [target for target in counting if not kind.leaves_out(baseline, target.target)]
    counting = kept or counting
    verdict = worst([target.verdict for target in counting])
    problem = next((target.problem for target in counting if target.problem), "")
    reason = without_scratch(outcome.failure or problem or "", bench.scratch)
    if outcome.failure and (verdict == "equal" or experiment.kind == NewestVersion.name):
        verdict = "fails"
    elif problem and verdict == "equal":  # not of all targets
        verdict = "not tried"
    worst_rows = next((target for target in counting if target.verdict == verdict), TargetRows(""))
    is_right = verdict in ("equal", "not tried")
    cause = None if is_right else _cause(wanted, outcome, verdict, worst_rows, marks)
    causes = {
        target.target: cause
        if target is worst_rows and cause
        else _cause(wanted, outcome, target.verdict, target, marks)
        for target in counting
        if target.verdict in BAD
    }
    causes = _with_cause_before(causes, baseline, experiment)
    cause = causes.get(worst_rows.target, cause)
    finding = Finding(experiment, verdict, counting, reason, cause, outcome.seconds, causes)
    return _accepted(finding, wish)


def _told(
    wanted: Wanted, outcome: Outcome, rows: Sequence[TargetRows], marks: Marks
) -> Finding | None:
    """Return the finding of a kind that goes by promises; None of others."""
    files = (*wanted.of.sources, *wanted.experiment.files)  # arrived: no run has written them
    rows = [row for row in rows if not any(is_below(uri, row.target) for uri in files)]
    judged = kind_of(wanted.experiment).judged(wanted, outcome, rows)
    if judged is None:
        return None
    verdict, reason = judged
    worst_rows = min(rows, key=lambda target: WORST.index(target.verdict), default=TargetRows(""))
    cause = _cause(wanted, outcome, verdict, worst_rows, marks) if verdict in BAD else None
    return Finding(wanted.experiment, verdict, rows, reason, cause, outcome.seconds)


def _with_cause_before(
    causes: Mapping[str, Cause], baseline: Baseline, experiment: Experiment
) -> dict[str, Cause]:
    """Return the causes of targets; what a later job made of wrong rows has the cause of these."""
    dead = experiment.operation.run_id if experiment.operation else ""
    changed = [operation for operation in baseline.operations if operation.run_id == dead]
    own = [target for target in causes if any(is_of(operation, target) for operation in changed)]
    if not own:
        return dict(causes)
    return {target: cause if target in own else causes[own[0]] for target, cause in causes.items()}


def _accepted(finding: Finding, wish: Wish) -> Finding:
    """Return a finding as accepted, with the reason, if the lines that only add rows are."""
    only_adds = finding.verdict == "doubled" or not any(rows.lost for rows in finding.targets)
    places = {(cause.script, cause.line or 0) for cause in finding.causes.values()}
    if not (finding.cause and only_adds and places and places <= wish.accepted.keys()):
        return finding
    reason = wish.accepted[finding.cause.script, finding.cause.line or 0]
    return replace(finding, verdict="accepted", reason=reason)


def _failure_of_later_job(baseline: Baseline, outcome: Outcome) -> str:
    """Return how a job fails that follows the one which died; empty if none does."""
    dead = baseline.job_of(outcome.experiment)
    failed = outcome.failure.partition(": ")[0]
    return outcome.failure if dead and failed in baseline.jobs_from(dead)[1:] else ""


def _cause(
    wanted: Wanted, outcome: Outcome, verdict: Verdict, rows: TargetRows, marks: Marks
) -> Cause:
    """Return the cause of a verdict on the rows of one target."""
    baseline, experiment, target = wanted.of, outcome.experiment, rows.target
    around = baseline.around(experiment, target)
    recorded = with_short_calls(read_operations(outcome.home))
    of_target = [change for change in recorded if is_of(change, target)]
    # A run that finds a target may do what the first one did not: delete it, for example.
    if kind_of(experiment).writes_otherwise:
        around += of_target
    known = marks.read | marks.listed
    # A run whose request has failed may then have noted how far it had got.
    noted = None
    if recorded and experiment.kind == ERROR:
        until_then = jobs_of_runs(outcome.start) if outcome.start else {}
        of_failed = [change for change in recorded if change.run_id in until_then]
        later = of_failed[done_before_failure(baseline.operations, experiment) :]
        noted = next((note for note in later if is_state(as_note(note, target, known))), None)
    fault = Fault(
        experiment,
        verdict,
        around,
        target,
        has_ended=bool(outcome.trials and outcome.trials[0].failure),
        noted=noted,
        has_written=bool(of_target) or not target.startswith("s3://"),
        sources=baseline.sources,
        failure=outcome.failure
        if is_endless(outcome.failure)
        else _failure_of_later_job(baseline, outcome),
    )
    cause = cause_of(fault, known, marks.pointers)
    cause = of_types(cause, rows.retyped) if rows.retyped else cause
    written = {place for change in baseline.operations for place in places_within(change, target)}
    return cause if rows.retyped else or_no_data(cause, target, written, marks.read)
