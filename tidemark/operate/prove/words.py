"""A proof as lines for people, and as JSON."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeAlias

from tidemark.model.messages import plural
from tidemark.operate.prove.baselines import ELSEWHERE
from tidemark.operate.prove.causes import Cause
from tidemark.operate.prove.crash_points import CRASH
from tidemark.operate.prove.findings import Finding, Proof
from tidemark.operate.prove.judged import WORST, TargetRows, Verdict
from tidemark.operate.prove.kinds.every import kind_of
from tidemark.operate.prove.refusals import ERROR

MARKS = {
    "equal": "✓",
    "accepted": "~",
    "told": "·",
    "changed": "≠",
    "doubled": "✗",
    "lost": "✗",
    "fails": "✗",
    "not tried": "-",
}
ANEW = (
    "There was nothing new to read, so the proof started over: on a copy without the bookmark, the "
    "watermarks and the output of the jobs."
)
OfCause: TypeAlias = tuple[Finding, Sequence[TargetRows]]
"""A finding, and those of its targets that are wrong by one cause."""
DOES: Mapping[Verdict, str] = {
    "lost": "loses rows of",
    "doubled": "doubles rows of",
    "changed": "changes rows of",
    "fails": "stops the job that writes",
}
WHY_LEFT_OUT = "two equal runs differ there, or they number micro-batches"
OWN_MARKS = "marks of the job's own, which it reads and writes, or that name what counts"
EQUAL_RUNS = "so do equal runs"
NOT_KNOWN = "NOT KNOWN: nothing bad was found, and not everything was tried"
MAX_EXAMPLES = 2
MAX_SINGLE = 3  # experiments that are not tried for one reason, each in a line


def lines_of(proof: Proof) -> Iterator[str]:
    """Yield a proof as lines for people: the verdict, what is wrong and why, and the coverage."""
    yield from _verdict(proof)
    yield ""
    if proof.is_anew:
        yield ANEW
        yield ""
    if proof.split:
        yield f"Its only new file, {proof.split}, was split in two, so that one is late."
        yield ""
    for finding in proof.findings:
        if finding.verdict != "equal" and finding.reason not in _reasons_of_many(proof):
            reason = f": {finding.reason}" if finding.reason else ""
            again = f" [{finding.replay}]" if finding.replay else ""
            title = finding.experiment.title
            yield f"{MARKS[finding.verdict]} {finding.verdict:9} {title}{again}{reason}"
    for reason, count in _reasons_of_many(proof).items():
        kinds = Counter(
            finding.experiment.kind for finding in proof.findings if finding.reason == reason
        )
        told = ", ".join(f"{kind} {number}" for kind, number in kinds.items())
        yield f"{MARKS['not tried']} not tried {plural(count, 'experiment')} ({told}): {reason}"
    withheld = [f"the rows of {place}: {ELSEWHERE}" for place in proof.withheld]
    clocks = [f"another day: {place} reads the clock" for place in proof.clocks]
    yield from (f"{MARKS['not tried']} not tried {text}" for text in (*withheld, *clocks))
    yield from _equal(proof)
    for cause, group in by_cause(proof.findings).items():
        yield ""
        yield from _lines_of_cause(cause, group)
    yield ""
    yield from _left_out(proof)
    counts = [
        (verdict, sum(finding.verdict == verdict for finding in proof.findings))
        for verdict in MARKS
    ]
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    yield f"{plural(len(proof.findings), 'experiment')}: {told} ({proof.seconds:.0f} s)"
    yield _coverage(proof)


def _left_out(proof: Proof) -> Iterator[str]:
    """Yield what was not compared, or taken for equal."""
    yield from (f"the run that goes well takes away {rows}" for rows in proof.taken)
    for target, columns in proof.by_time.items():
        yield f"{target}: left out: {', '.join(columns)} ({WHY_LEFT_OUT})"
    compared = {rows.target for finding in proof.findings for rows in finding.targets}
    if marks := [mark for mark in proof.marks if mark not in compared]:
        yield f"left out: {', '.join(marks)} ({OWN_MARKS})"
    if proof.by_chance:
        more = " and others" if len(proof.by_chance) > MAX_SINGLE else ""
        shown = f"{', '.join(proof.by_chance[:MAX_SINGLE])}{more}"
        yield f"two deaths in a row: states that differ only in {shown} are one ({EQUAL_RUNS})"


def _verdict(proof: Proof) -> Iterator[str]:
    """Yield the verdict, and of what is wrong the line of the script to look at first."""
    causes = by_cause(proof.findings)
    if not causes:
        told = sum(finding.verdict == "told" for finding in proof.findings)
        tried = plural(proof.tried - told, "experiment")
        is_safe = proof.exit_code == 0
        yield f"SAFE: {tried}, and each leaves the rows of the first run" if is_safe else NOT_KNOWN
        return
    (verdict, cause), group = min(causes.items(), key=lambda item: WORST.index(item[0][0]))
    finding, targets = group[0]
    where = f": fix {cause.script} line {cause.line}" if cause.line else ""
    target = next((rows.target for rows in targets), "the output")
    yield f"NOT SAFE: {kind_of(finding.experiment).subject} {DOES[verdict]} {target}{where}"
    if source := proof.source_of(cause.script, cause.line):
        yield f"  {cause.line} | {source}"


def _equal(proof: Proof) -> Iterator[str]:
    """Yield what is equal, by kind and number."""
    equal = (finding for finding in proof.findings if finding.verdict == "equal")
    counts = Counter(finding.experiment.kind for finding in equal)
    if counts:
        told = (f"{kind} {number}" if number > 1 else kind for kind, number in counts.items())
        yield f"{MARKS['equal']} equal     {', '.join(told)}"


def _coverage(proof: Proof) -> str:
    """Return how much was tried, of what could be."""
    parts = []
    for kind, noun in ((CRASH, "crash"), (ERROR, "failing request")):
        of_kind = [finding for finding in proof.findings if finding.experiment.kind == kind]
        # What cannot be tried is not missing.
        known = [
            finding
            for finding in of_kind
            if finding.verdict != "not tried" or finding in proof.open_findings
        ]
        tried = sum(finding.verdict != "not tried" for finding in known)
        if known:
            parts.append(f"{tried} of {plural(len(known), noun)}")
    not_reached = sum(finding.experiment.kind == CRASH for finding in proof.open_findings)
    if proof.states:
        deep = "" if proof.deaths < 2 else f", {proof.deaths} deaths in a row deep"
        is_open = f"open: {plural(not_reached, 'state')} not reached, of "
        states = plural(proof.states, "state")
        parts.append(f"{is_open if not_reached else 'closed: '}{states}{deep}")
    others = len(
        [
            finding
            for finding in proof.open_findings
            if not kind_of(finding.experiment).is_of_changes
        ]
    )
    parts += [f"{others} other experiments not"] if others else []
    parts = parts or [plural(proof.tried, "experiment")]
    left = proof.open_findings or proof.unjudged
    judged = f"; not judged: {', '.join(proof.unjudged)}" if proof.unjudged else ""
    return f"tried: {', '.join(parts)}{judged}{': what they do is not known' if left else ''}"


def _reasons_of_many(proof: Proof) -> dict[str, int]:
    """Return the reasons why several experiments were not tried, and how many."""
    counts = Counter(finding.reason for finding in proof.findings if finding.verdict == "not tried")
    return {reason: count for reason, count in counts.items() if count > MAX_SINGLE}


def by_cause(findings: Iterable[Finding]) -> dict[tuple[Verdict, Cause], list[OfCause]]:
    """Return the findings by their verdicts and causes, each with the targets that are wrong."""
    by_key: dict[tuple[Verdict, Cause], list[OfCause]] = {}
    for finding in findings:
        for wrong in finding.wrongs:
            by_key.setdefault((wrong.verdict, wrong.cause), []).append((finding, wrong.targets))
    return by_key


def worst_targets(group: Sequence[OfCause]) -> Sequence[TargetRows]:
    """Return the targets of the finding with most rows."""
    return max(
        (targets for _, targets in group),
        key=lambda targets: sum(rows.differing for rows in targets),
    )


def _lines_of_cause(key: tuple[Verdict, Cause], group: Sequence[OfCause]) -> Iterator[str]:
    verdict, cause = key
    experiments = [finding.experiment for finding, _ in group]
    crashes = sum(experiment.kind == CRASH for experiment in experiments)
    named = [experiment for experiment in experiments if experiment.kind != CRASH or crashes == 1]
    titles = list(dict.fromkeys(experiment.title for experiment in named))
    where = [*([f"{crashes} of the crashes"] if crashes > 1 else ()), *titles]
    yield f"{verdict}: {'; '.join(where)}"
    for target in worst_targets(group):
        yield f"  {_one_line(target)}"
        for kind, rows in target.examples.items():
            yield from (f"    {kind}: {row}" for row in rows[:MAX_EXAMPLES])
    yield f"  why: {cause.text}"
    yield f"  what to do: {cause.remedy}"
    if replay := next((finding.replay for finding, _ in group if finding.replay), ""):
        yield f"  to look at it: tidemark prove --replay {replay}"


def _one_line(target: TargetRows) -> str:
    parts = [
        f"{count:,} {name}"
        for name, count in (
            ("lost", target.lost),
            ("doubled", target.doubled),
            ("not in the first run", target.added),
        )
        if count
    ]
    parts += [
        f"{name} is {there or 'missing'}, in the first run {before}"
        for name, (before, there) in target.types.items()
    ]
    key = f"; key {', '.join(target.key)}" if target.key else ""
    return f"{target.target}: {', '.join(parts)}, of {target.expected or 0:,} rows{key}"


def to_json(proof: Proof) -> dict[str, Any]:
    """Return a proof as plain JSON values."""
    return {
        "verdict": proof.verdict,
        "seconds": round(proof.seconds, 1),
        "seed": proof.seed,
        "differs_by_time": proof.by_time,
        "withheld": list(proof.withheld),
        "clocks": list(proof.clocks),
        "is_anew": proof.is_anew,
        "not_judged": list(proof.unjudged),
        "not_tried": len(proof.open_findings),
        "taken_away": list(proof.taken),
        "split": proof.split or None,
        "operations": [asdict(operation) for operation in proof.operations],
        "experiments": [
            {
                "kind": finding.experiment.kind,
                "title": finding.experiment.title,
                "after": finding.experiment.after or None,
                "files": list(finding.experiment.files),
                "verdict": finding.verdict,
                "reason": finding.reason or None,
                "targets": [
                    {**asdict(target), "verdict": target.verdict} for target in finding.targets
                ],
                "cause": asdict(finding.cause) if finding.cause else None,
                "causes": {target: asdict(cause) for target, cause in finding.causes.items()},
                "seconds": round(finding.seconds, 1),
            }
            for finding in proof.findings
        ],
    }
