"""Shows the ledger of a job, the plan of a backfill, and its runs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from rich.text import Text

from tidemark.cli.progress import render_state
from tidemark.cli.views.listing import MIN_ID_LENGTH, Listing, Sentence
from tidemark.cli.views.runs import render_end
from tidemark.model.messages import plural
from tidemark.operate.backfill.filling import Filling
from tidemark.operate.backfill.ledger import TO_RUN, Interval, RangeState
from tidemark.operate.backfill.plan import BackfillPlan, rest_of
from tidemark.operate.backfill.ranges import Span, Unit
from tidemark.operate.job_runs import Run

STYLES = {RangeState.MISSING: "bold red", RangeState.STALE: "yellow", RangeState.RUNNING: "cyan"}
WHY = {
    (RangeState.MISSING, False): "not loaded",
    (RangeState.MISSING, True): "the source has no file",
    (RangeState.STALE, False): "the source changed since",
    (RangeState.RUNNING, False): "a run fills it now",
    (RangeState.RUNNING, True): "a run fills it now",
}
NEXT = "; the next run reads it"
MAX_PARTS_SHOWN = 20


def gaps_lines(
    job: str, unit: Unit, whole: Span, intervals: Sequence[Interval], option: str
) -> Iterator[Listing | Sentence]:
    """Yield the output of `tidemark gaps`: what is not done, how much that is, and what to do."""
    rows = [
        (
            unit.text(interval.range.low),
            unit.text(interval.range.high - 1),
            unit.count(interval.range.size),
            Text(interval.state.value, style=STYLES.get(interval.state, "")),
            f"{WHY[interval.state, interval.is_empty]}{NEXT if interval.is_ahead else ''}",
        )
        for interval in intervals
        if interval.state is not RangeState.DONE
    ]
    if rows:
        yield Listing(("from", "to", "how many", "state", "why"), rows, whole=(1, 3))
    sizes: Counter[RangeState] = Counter()
    for interval in intervals:
        sizes[interval.state] += interval.range.size
    counts = ", ".join(f"{sizes[state]:,} {state.value}" for state in RangeState if sizes[state])
    yield Sentence(f"{job}, {whole.text(unit)}: {unit.count(whole.size)}, {counts}")
    if todo := [span.range for span in intervals if span.state in TO_RUN and not span.is_empty]:
        low, high = min(missing.low for missing in todo), max(missing.high for missing in todo)
        command = render_command(job, unit, Span(low, high), " --only-missing" + option)
        yield Sentence(f"to load it: `{command}`")


def render_command(job: str, unit: Unit, span: Span, options: str) -> str:
    """Return the command that fills a range."""
    ends = f"--from {unit.text(span.low)} --to {unit.text(span.high - 1)}"
    return f"tidemark backfill {job} {ends}{options}"


def gaps_json(job: str, unit: Unit, span: Span, intervals: Sequence[Interval]) -> dict[str, Any]:
    """Return the ledger as plain JSON values; both ends of a range belong to it."""
    return {
        "job": job,
        "unit": unit.value,
        **_ends(unit, span),
        "intervals": [_interval_json(unit, interval) for interval in intervals],
    }


def _ends(unit: Unit, span: Span) -> dict[str, Any]:
    low, last = span.low, span.high - 1
    if unit is Unit.NUMBER:
        return {"from": low, "to": last}
    return {"from": unit.text(low), "to": unit.text(last)}


def _interval_json(unit: Unit, interval: Interval) -> dict[str, Any]:
    return {
        **_ends(unit, interval.range),
        "state": interval.state.value,
        "is_empty": interval.is_empty,
        "is_ahead": interval.is_ahead,
    }


def plan_lines(plan: BackfillPlan, at_once: int) -> Iterator[Listing | Sentence]:
    """Yield the plan of a backfill."""
    unit, how = plan.unit, "one after another" if at_once < 2 else f"{at_once} at once"
    size = unit.count(sum(part.size for part in plan.parts))
    subject = f"{plan.job}, {plan.asked.text(unit)}"
    if not plan.parts:
        yield Sentence(
            f"{subject}: nothing is missing or stale that the source has; no run to start"
        )
    else:
        order = f", {how}" if len(plan.parts) > 1 else ""
        yield Sentence(f"{subject}: {size} in {plural(len(plan.parts), 'job run')}{order}")
        rows = [
            (str(number), part.text(unit), unit.count(part.size))
            for number, part in enumerate(plan.parts[:MAX_PARTS_SHOWN], 1)
        ]
        if len(plan.parts) > 1:
            yield Listing(("run", "range", "how many"), rows, whole=(1,))
        if (more := len(plan.parts) - MAX_PARTS_SHOWN) > 0:
            yield Sentence(f"and {more:,} more")
    if empty := sum(interval.range.size for interval in plan.skipped if interval.is_empty):
        yield Sentence(f"not run: {unit.count(empty)} for which the source has no file")
    for warning in plan.warnings:
        yield Sentence(f"warning: {warning}")


def plan_json(plan: BackfillPlan) -> dict[str, Any]:
    """Return a plan as plain JSON values."""
    return {
        "job": plan.job,
        "unit": plan.unit.value,
        **_ends(plan.unit, plan.asked),
        "parts": [_ends(plan.unit, part) for part in plan.parts],
        "skipped": [_interval_json(plan.unit, interval) for interval in plan.skipped],
        "warnings": list(plan.warnings),
    }


def outcome_json(plan: BackfillPlan, filling: Filling) -> dict[str, Any]:
    """Return how a backfill ended as plain JSON values."""
    runs = {**filling.done, **filling.failed}
    parts = [
        {
            **_ends(plan.unit, part),
            "run_id": runs[part].run_id if part in runs else None,
            "state": runs[part].state if part in runs else None,
            "message": (runs[part].message or None) if part in runs else None,
        }
        for part in plan.parts
    ]
    return {**plan_json(plan), "parts": parts, "is_success": len(filling.done) == len(plan.parts)}


def run_line(plan: BackfillPlan, run: Run, part: Span, option: str) -> Text:
    """Return a line about the run of a part: that it began, or how it ended."""
    which = f"{plan.parts.index(part) + 1}/{len(plan.parts)} {part.text(plan.unit)}"
    if not run.is_final:
        return Text.assemble(
            f"  {run.job}  {which} ", render_state(run.state), f" {run.run_id[:MIN_ID_LENGTH]}"
        )
    logs = f"tidemark logs {run.job} --run {run.run_id[:MIN_ID_LENGTH]}{option}"
    return Text.assemble(render_end(run, logs), f"  {which}")


def render_rest(plan: BackfillPlan, done: Sequence[Span], option: str) -> str:
    """Return the command that fills everything missing; empty if nothing is."""
    rest = rest_of(plan, done)
    if rest is None:
        return ""
    left = len(plan.parts) - len(done)
    options = " --only-missing" if plan.is_only_missing else ""
    if left > 1:
        options += f" --parts {left}"
    return render_command(plan.job, plan.unit, rest, options + option)
