"""The command `compare-versions`: the same jobs on two versions of Glue, and what differs."""

import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from tidemark.cli.engines import prepare_sparks
from tidemark.cli.script_or_app import database_writes, scripts_of, submission_of
from tidemark.cli.synth import assembly_folder
from tidemark.cli.terminal import Terminal, print_lines
from tidemark.cli.views.diff import THERE, difference_lines, summaries
from tidemark.errors import UsageError
from tidemark.local_state.home import Home
from tidemark.model.assembly.cloud_assembly import read_assembly
from tidemark.model.assembly.glue_versions import RUN_HERE
from tidemark.model.messages import plural
from tidemark.operate.versions import compare
from tidemark.operate.versions.outcomes import Comparison, JobOutcome, StateOutcome, TargetOutcome
from tidemark.operate.versions.scratch import scratch_of
from tidemark.operate.versions.shared import refuse_shared, shared_by_both
from tidemark.operate.versions.trial import Start, app_start, script_start
from tidemark.report.costs import GLUE_6_FACTOR, USD_PER_DPU_HOUR

MARKS = {"equal": "✓", "differs": "≠", "fails": "✗"}
MAX_DIFFERENCES = 10  # of one bookmark, watermark or table


def compare_versions(
    old: str,
    new: str,
    workflow: str | None,
    app: Path | None,
    context: tuple[str, ...],
    keep: Path | None,
    find_settings: bool,
    with_databases: bool,
    output: str,
    what: str | None,
    arguments: tuple[str, ...],
) -> None:
    if old == new:
        raise UsageError(
            f"--from and --to are both {old}; give two versions: {', '.join(RUN_HERE)}"
        )
    if keep is not None and keep.exists():
        raise UsageError(f"--keep {keep} exists; name a new folder")
    home = Home.from_environment()
    console = Terminal(stderr=True)
    with scratch_of(home, keep) as scratch:
        start, scripts = _start(console, what, arguments, workflow, app, context, scratch)
        writes = database_writes(scripts)
        if not with_databases:
            refuse_shared(writes, os.environ)
        prepare_sparks((old, new))  # takes minutes, so it comes after what can be refused
        comparison = compare.compare_versions(
            home,
            start,
            (old, new),
            scratch,
            lambda text: console.print(f"{text} …"),
            finds_settings=find_settings,
        )
        comparison = replace(comparison, not_compared=shared_by_both(writes, os.environ))
    print_lines(output, comparison.to_json(), lines_of(comparison))
    sys.exit(0 if comparison.verdict == "equal" else 1)


def _start(
    console: Console,
    what: str | None,
    arguments: tuple[str, ...],
    workflow: str | None,
    app: Path | None,
    context: tuple[str, ...],
    scratch: Path,
) -> tuple[Start, dict[str, Path]]:
    """Return what runs, and its scripts by the names that messages use."""
    submission = submission_of(what, arguments, workflow, app, context)
    if submission is not None:
        return script_start(submission), {submission.script.name: submission.script}
    assembly = assembly_folder(console, app, context)
    start = app_start(assembly, workflow, what, scratch)
    return start, scripts_of(read_assembly(assembly).assets)


def lines_of(comparison: Comparison) -> Iterator[str]:
    """Yield a comparison as lines for people."""
    for job in comparison.jobs:
        yield from _job_lines(job, comparison)
    for target in comparison.targets:
        yield from _target_lines(target, comparison)
    for state in comparison.states:
        yield from _state_lines(state, comparison)
    for what in comparison.not_compared:
        yield f"- not compared, both versions share it: {what}"
    if not comparison.targets:
        yield "no file was written, so no rows were compared"
    if comparison.settings is not None:
        words = " ".join(f"--conf {setting}" for setting in comparison.settings)
        least = f"the fewest differences on {comparison.new}: {words}"
        yield least if words else "no known setting brings the old result back"
    yield (
        f"{MARKS[comparison.verdict]} Glue {comparison.old} and {comparison.new}: "
        f"{comparison.verdict} ({comparison.seconds[0]:.1f} s and {comparison.seconds[1]:.1f} s "
        f"here; a DPU-hour costs {_price(comparison.old):.3f} and {_price(comparison.new):.3f} USD "
        "on AWS)"
    )


def _job_lines(job: JobOutcome, comparison: Comparison) -> Iterator[str]:
    yield f"{MARKS[job.verdict]} {job.job}: {job.verdict}"
    yield from (f"    {text}" for text in job.differences)
    for run, version in ((job.old, comparison.old), (job.new, comparison.new)):
        if run is not None and run.error:
            yield f"    on {version}: {run.error.splitlines()[0]}"
    if (cause := job.cause) is not None and job.verdict == "fails":
        yield f"    cause: {cause.title}" + (f" ({cause.place})" if cause.place else "")
        yield f"    remedy: {cause.remedy} ({cause.id})"
        if cause.setting:
            yield f"    the old result: {cause.setting}"


def _target_lines(target: TargetOutcome, comparison: Comparison) -> Iterator[str]:
    verdict = "equal" if target.is_equal else "differs"
    old, new = ("no file" if count is None else plural(count, "row") for count in target.rows)
    rows = old if old == new else f"{old} on {comparison.old}, {new} on {comparison.new}"
    is_one_of_several = [outcome.target for outcome in comparison.targets].count(target.target) > 1
    place = f"{target.target} ({target.format})" if is_one_of_several else target.target
    yield f"{MARKS[verdict]} {place}: {verdict}, {target.problem or rows}"
    yield from difference_lines(target.schema or {})
    if target.columns:
        yield f"    other values in {', '.join(target.columns)}"
    if target.by_order:
        yield f"    the same elements in another order: {', '.join(target.by_order)}"
    if target.by_time:
        yield f"    left out, the time of the run: {', '.join(target.by_time)}"
    yield from (f"    only on {comparison.old}: {row}" for row in target.only_old)
    yield from (f"    only on {comparison.new}: {row}" for row in target.only_new)


def _state_lines(state: StateOutcome, comparison: Comparison) -> Iterator[str]:
    verdict = "equal" if state.is_equal else "differs"
    old, new = summaries(state)
    values = old if old == new else f"{old} on {comparison.old}, {new} on {comparison.new}"
    yield f"{MARKS[verdict]} {state.kind} {state.name}: {verdict}" + (
        f", {values}" if values != THERE else ""
    )
    yield from difference_lines(state.differences, MAX_DIFFERENCES)


def _price(version: str) -> float:
    return USD_PER_DPU_HOUR["standard"] * (GLUE_6_FACTOR if float(version) >= 6 else 1)
