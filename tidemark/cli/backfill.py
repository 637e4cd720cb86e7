"""The commands about ranges of a job: `gaps` and `backfill`, here and on AWS."""

import sys

import click

from tidemark.cli.progress import RunConsole, console_for_tables, print_output, print_warnings
from tidemark.cli.runs import unseen
from tidemark.cli.target import open_target
from tidemark.cli.terminal import print_json
from tidemark.cli.views.backfill import (
    gaps_json,
    gaps_lines,
    outcome_json,
    plan_json,
    plan_lines,
    render_rest,
    run_line,
)
from tidemark.cli.where import Where
from tidemark.errors import TidemarkError, UsageError
from tidemark.model.clock import now
from tidemark.model.messages import plural
from tidemark.operate.backfill.evidence import KnownRanges
from tidemark.operate.backfill.filling import Filling, arguments_of_trigger, fill, room_for
from tidemark.operate.backfill.ledger import ledger
from tidemark.operate.backfill.plan import BackfillPlan, blind_readers, plan, targets_of
from tidemark.operate.backfill.ranges import Span, Unit, parse_range, parts_of
from tidemark.operate.backfill.reading import has_other_runs, read_job, read_known, read_positions
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.datasets import DataFlow
from tidemark.operate.target import Target

FAILURE = 1


def gaps(job: str, begin: str | None, end: str | None, where: Where, output: str) -> None:
    with open_target(where) as target:
        declared = read_job(target, job)
        checkpoints = target.checkpoints(declared.name)
        known = read_known(target, declared, checkpoints, read_positions(target, declared))
    unit, span = _gaps_span(declared.name, known, begin, end, is_declared=declared.is_declared)
    intervals = ledger(span, known.evidence)
    document = gaps_json(declared.name, unit, span, intervals)
    print_output(output, document, gaps_lines(declared.name, unit, span, intervals, where.option))


def backfill(
    job: str,
    begin: str,
    end: str,
    parts: int,
    only_missing: bool,
    dry_run: bool,
    yes: bool,
    where: Where,
    output: str,
) -> None:
    unit, span = parse_range(begin, end, now().date())
    parts_of(span, parts, unit)  # refuses what cannot be before anything is asked
    with open_target(where, None if dry_run else ("job", job)) as target:
        declared = read_job(target, job)
        declared.check()
        checkpoints = target.checkpoints(declared.name)
        before = read_positions(target, declared)
        known = read_known(target, declared, checkpoints, before)
        _check_unit(declared.name, known.unit, unit)
        room = room_for(declared, unit, span, known.open_runs)
        intervals = ledger(span, known.evidence)
        targets = targets_of(checkpoints, target.transforms)
        blind = _blind_readers(target, declared.name)
        planned = plan(
            declared.name, unit, span, parts, intervals, targets, blind, only_missing=only_missing
        )
        if output != "json":
            for line in plan_lines(planned, min(room, len(planned.parts))):
                console_for_tables().print(line)
        if dry_run or not planned.parts:
            if output == "json":
                print_json(plan_json(planned))
            return
        if not yes:
            click.confirm(f"Start {plural(len(planned.parts), 'job run')}?", abort=True, err=True)
        progress = Progress(planned, where, output)
        arguments = arguments_of_trigger(target.glue, declared.name)
        try:
            filling = fill(target.glue, declared, planned, arguments, room, progress.report)
        except BaseException:
            progress.print_rest("stopped")
            raise
        has_moved = before != read_positions(target, declared)
        is_ours = has_moved and not has_other_runs(target, declared.name, known)
    sys.exit(progress.outcome(filling, is_ours))


def _gaps_span(
    job: str, known: KnownRanges, begin: str | None, end: str | None, *, is_declared: bool
) -> tuple[Unit, Span]:
    today = now().date()
    extent = known.evidence.extent()
    if begin is not None and end is not None and (extent or is_declared):
        unit, span = parse_range(begin, end, today)
        _check_unit(job, known.unit, unit)
        return unit, span
    if extent is None and is_declared:
        raise UsageError(
            f"{job} has no loaded data, so the range is not known: give both --from and --to"
        )
    if known.unit is None or extent is None:
        raise UsageError(
            f"{job} has no days or numbers: it has no watermark of them, has read no source in "
            "folders by day through its bookmark, and no range of it was filled"
        )
    last = extent.high - 1
    if known.unit is known.unit.DAY:
        last = min(last, today.toordinal())  # a source may have folders of days to come
    ends = begin or known.unit.text(extent.low), end or known.unit.text(last)
    unit, span = parse_range(*ends, today)
    _check_unit(job, known.unit, unit)
    return unit, span


def _blind_readers(target: Target, job: str) -> list[DataFlow]:
    # The runs are started all the same: a warning says what is not known.
    try:
        return blind_readers(job, target.names.jobs, target.checkpoints())
    except TidemarkError as error:
        click.echo(f"warning: what the jobs downstream of {job} see is unknown: {error}", err=True)
        return []


def _check_unit(job: str, known: Unit | None, unit: Unit) -> None:
    if known not in (None, unit) and known is not None:
        example = "2013-01-31" if known is known.DAY else "1000"
        raise UsageError(
            f"{job} is kept by {known.value}, not by {unit.value}: give --from and --to such as "
            f"{example}"
        )


class Progress:
    """Prints the runs of a backfill, and how it ended."""

    def __init__(self, planned: BackfillPlan, where: Where, output: str) -> None:
        """Have seen no run."""
        self._show_unseen = unseen(where)
        self._planned = planned
        self._option = where.option
        self._is_json = output == "json"
        self._console = RunConsole(stderr=self._is_json)
        self._done: list[Span] = []

    def report(self, run: Run, part: Span) -> None:
        """Print that the run of a part has begun, or how it ended."""
        if run.state == "SUCCEEDED":
            self._done.append(part)
        self._console.print(run_line(self._planned, run, part, self._option))
        if run.is_final:
            self._show_unseen(lambda warnings: print_warnings(self._console, warnings))

    def print_rest(self, what: str) -> bool:
        """Print the command that continues, if anything is left; return whether it is."""
        rest = render_rest(self._planned, self._done, self._option)
        if rest:
            count = plural(len(self._planned.parts), "job run")
            click.echo(
                f"{what}: {len(self._done)} of {count} done; `{rest}` runs the rest", err=True
            )
        return bool(rest)

    def outcome(self, filling: Filling, is_moved: bool) -> int:
        """Print how it ended; return the exit code."""
        planned = self._planned
        if self._is_json:
            print_json(outcome_json(planned, filling))
        if is_moved:
            click.echo(
                f"warning: the bookmark or watermark of {planned.job} has moved: its script does "
                "not heed --backfill_from; docs/backfill.md shows how",
                err=True,
            )
        if self.print_rest("not all is loaded"):
            return FAILURE
        if not self._is_json:
            click.echo(f"{planned.job}, {planned.asked.text(planned.unit)}: loaded")
        return FAILURE if is_moved else 0
