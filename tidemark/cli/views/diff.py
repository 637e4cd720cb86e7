"""What `tidemark diff` prints: a line or more for each target, bookmark and watermark."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.model.messages import plural
from tidemark.operate.diff.outcomes import Diff, TargetDiff
from tidemark.operate.versions.outcomes import StateOutcome

EQUAL, DIFFERS = "✓", "≠"
MARKS = {"equal": EQUAL, "differs": DIFFERS, "not compared": "?"}
THERE = "there"
MAX_TEXT = 120  # characters of a value
MAX_STATES = 10  # differences of one bookmark or watermark
MAX_COLUMNS = 100


def lines_of(diff: Diff) -> Iterator[str]:
    """Yield a difference as lines for people."""
    for label, run in diff.failures:
        yield f"✗ {run.job}: {run.state} with {label}: {(run.error or '').partition(chr(10))[0]}"
    for target in diff.targets:
        yield from target_lines(target, diff)
    for state in diff.states:
        yield from _state_lines(state)
    for note in diff.notes:
        yield f"- {note}"
    if not diff.targets:
        yield "no target was written, so no rows were compared"
    verdicts = Counter(target.verdict for target in diff.targets)
    counts = f"{plural(verdicts['differs'], 'target')} of {len(diff.targets)} differ"
    if verdicts["not compared"]:
        counts += f", {verdicts['not compared']} not compared"
    told = "equal" if diff.verdict == "equal" else counts
    yield f"{MARKS[diff.verdict]} {diff.old} and {diff.new}: {told}"


def target_lines(target: TargetDiff, diff: Diff) -> Iterator[str]:
    """Yield the lines of one target."""
    mark = MARKS[target.verdict]
    if target.problem:
        yield f"{mark} {target.target}: not compared: {target.problem}"
        return
    old, new = ("not there" if rows is None else plural(rows, "row") for rows in target.rows)
    counts = old if old == new else f"{old} -> {new}"
    sizes = f"{target.bytes[0]:,} -> {target.bytes[1]:,} bytes"
    by = f"by {', '.join(target.key)}" if target.key else "as whole rows, for no key is known"
    how = "" if None in target.rows else f", compared {by}"
    yield f"{mark} {target.target}: {counts}, {sizes}{how}"
    yield from difference_lines(target.schema, MAX_COLUMNS)
    if any(target.twice):
        example = _row(target.twice_example or {})
        yield (
            f"    several rows have one key: {target.twice[0]:,} and {target.twice[1]:,} keys, "
            f"such as {example}; their rows are compared as a whole"
        )
    for label, count in zip((diff.old, diff.new), target.only, strict=True):
        if count:
            yield f"    only in {label}: {plural(count, 'row')}"
    for side, sign in (("old", "-"), ("new", "+")):
        yield from (f"      {sign} {_row(row)}" for row in target.examples.get(side, ()))
    yield from _changed_lines(target)


def _changed_lines(target: TargetDiff) -> Iterator[str]:
    if target.changed:
        yield f"    other values: {plural(target.changed, 'row')}"
    for name, count in target.columns.items():
        yield f"      {name}: {count:,}"
        changed = target.examples.get("changed", ())
        shown = [example for example in changed if example["column"] == name]
        for example in shown:
            before, after = map(_short, example["values"])
            yield f"        {_row(example['key'])}: {before} -> {after}"


def difference_lines(
    of: Mapping[str, tuple[str | None, str | None]], most: int | None = None
) -> Iterator[str]:
    """Yield a line for each value that differs, at most so many."""
    for name, (before, after) in list(of.items())[:most]:
        yield f"    {name}: {before or 'not there'} -> {after or 'not there'}"
    if most is not None and len(of) > most:
        yield f"    and {len(of) - most} more: --format json"


def summaries(state: StateOutcome) -> list[str]:
    """Return a bookmark, watermark or table of both sides in words."""
    return ["not there" if text is None else text or THERE for text in state.summary]


def _state_lines(state: StateOutcome) -> Iterator[str]:
    old, new = summaries(state)
    values = old if old == new else f"{old} -> {new}"
    yield f"{EQUAL if state.is_equal else DIFFERS} {state.kind} {state.name}: {values}"
    yield from difference_lines(state.differences, MAX_STATES)


def _row(row: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_short(value)}" for name, value in row.items())


def _short(value: str | None) -> str:
    if value is None:
        return "NULL"
    text = value.replace("\n", "\\n")
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}…"
