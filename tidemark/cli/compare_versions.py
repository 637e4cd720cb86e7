"""The command `compare-versions`: the same jobs on two versions of Glue, and what differs."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console

from tidemark.cli.known_names import JOB_OR_FILE, WORKFLOW
from tidemark.cli.script_or_app import database_writes, submission_of
from tidemark.cli.synth import APP_HELP, CONTEXT_HELP, assembly_folder
from tidemark.cli.terminal import Terminal
from tidemark.errors import UsageError
from tidemark.model.assembly.glue_versions import RUN_HERE
from tidemark.model.messages import plural

if TYPE_CHECKING:
    from tidemark.operate.versions.outcomes import (
        Comparison,
        JobOutcome,
        StateOutcome,
        TargetOutcome,
    )
    from tidemark.operate.versions.trial import Start

VERSION = click.Choice(RUN_HERE)
MARKS = {"equal": "✓", "differs": "≠", "fails": "✗"}
THERE = "there"
MAX_DIFFERENCES = 10  # of one bookmark, watermark or table
FIND_HELP = "If the results differ, look for the setting of Spark that brings the old ones back."
SHARED_HELP = "Also run scripts that write to a database: both versions use the same one."
KEEP_HELP = "Keep the two copies of the home, with all that the runs wrote, in this new folder."


@click.command(
    "compare-versions",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@click.option("--from", "old", type=VERSION, default="5.1", show_default=True)
@click.option("--to", "new", type=VERSION, default="6.0", show_default=True)
@click.option("--workflow", metavar="NAME", type=WORKFLOW, help="Run this workflow of the app.")
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
@click.option("--keep", type=click.Path(path_type=Path), metavar="DIR", help=KEEP_HELP)
@click.option("--find-settings", is_flag=True, help=FIND_HELP)
@click.option("--with-databases", is_flag=True, help=SHARED_HELP)
@click.option("--format", "output", type=click.Choice(["table", "json"]), default="table")
@click.argument("what", required=False, metavar="[JOB|SCRIPT]", type=JOB_OR_FILE)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
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
    """Run a job of the app, a SCRIPT with ARGUMENTS, or a workflow on two versions of Glue.

    Both run at once over copies of the data, bookmarks and watermarks of the home, which stays as
    it is. Every place that they write is compared by rows and types, every bookmark, watermark and
    table of the Data Catalog by its values, every run by its end. Exit code 0: equal. 1: something
    differs, or a job fails on the new version.
    """
    from tidemark.cli.engines import prepare_sparks
    from tidemark.local_state.home import Home
    from tidemark.operate.versions import compare
    from tidemark.operate.versions.scratch import scratch_of
    from tidemark.operate.versions.shared import refuse_shared, shared_by_both

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
        found = compare.compare_versions(
            home,
            start,
            (old, new),
            scratch,
            lambda text: console.print(f"{text} …"),
            finds_settings=find_settings,
        )
        found = replace(found, not_compared=shared_by_both(writes, os.environ))
    if output == "json":
        click.echo(json.dumps(found.to_json(), indent=2))
    else:
        for line in lines_of(found):
            click.echo(line)
    sys.exit(0 if found.verdict == "equal" else 1)


def _start(
    console: Console,
    what: str | None,
    arguments: tuple[str, ...],
    workflow: str | None,
    app: Path | None,
    context: tuple[str, ...],
    scratch: Path,
) -> "tuple[Start, dict[str, Path]]":
    """Return what runs, and its scripts by the names that messages use."""
    from tidemark.model.assembly.cloud_assembly import read_assembly
    from tidemark.operate.versions.trial import app_start, script_start

    submission = submission_of(what, arguments, workflow, app, context)
    if submission is not None:
        return script_start(submission), {submission.script.name: submission.script}
    assembly = assembly_folder(console, app, context)
    scripts = {
        one.name or one.source.name: one.source
        for one in read_assembly(assembly).assets
        if one.source.suffix == ".py"
    }
    return app_start(assembly, workflow, what, scratch), scripts


def lines_of(found: "Comparison") -> Iterator[str]:
    """Yield a comparison as lines for people."""
    for job in found.jobs:
        yield from _job_lines(job, found)
    for target in found.targets:
        yield from _target_lines(target, found)
    for state in found.states:
        yield from _state_lines(state, found)
    for what in found.not_compared:
        yield f"- not compared, both versions share it: {what}"
    if not found.targets:
        yield "no file was written, so no rows were compared"
    if found.settings is not None:
        words = " ".join(f"--conf {setting}" for setting in found.settings)
        least = f"the fewest differences on {found.new}: {words}"
        yield least if words else "no known setting brings the old result back"
    yield (
        f"{MARKS[found.verdict]} Glue {found.old} and {found.new}: {found.verdict} "
        f"({found.seconds[0]:.1f} s and {found.seconds[1]:.1f} s here; a DPU-hour costs "
        f"{_price(found.old):.3f} and {_price(found.new):.3f} USD on AWS)"
    )


def _job_lines(job: "JobOutcome", found: "Comparison") -> Iterator[str]:
    yield f"{MARKS[job.verdict]} {job.job}: {job.verdict}"
    yield from (f"    {text}" for text in job.differences)
    for run, version in ((job.old, found.old), (job.new, found.new)):
        if run is not None and run.error:
            yield f"    on {version}: {run.error.splitlines()[0]}"
    if (cause := job.cause) is not None and job.verdict == "fails":
        yield f"    cause: {cause.title}" + (f" ({cause.place})" if cause.place else "")
        yield f"    remedy: {cause.remedy}"
        if cause.setting:
            yield f"    the old result: {cause.setting}"


def _target_lines(target: "TargetOutcome", found: "Comparison") -> Iterator[str]:
    verdict = "equal" if target.is_equal else "differs"
    old, new = ("no file" if count is None else plural(count, "row") for count in target.rows)
    rows = old if old == new else f"{old} on {found.old}, {new} on {found.new}"
    is_one_of_several = sum(it.target == target.target for it in found.targets) > 1
    place = f"{target.target} ({target.format})" if is_one_of_several else target.target
    yield f"{MARKS[verdict]} {place}: {verdict}, {target.problem or rows}"
    for name, (before, after) in (target.schema or {}).items():
        yield f"    {name}: {before or 'not there'} -> {after or 'not there'}"
    if target.columns:
        yield f"    other values in {', '.join(target.columns)}"
    if target.by_order:
        yield f"    the same elements in another order: {', '.join(target.by_order)}"
    if target.by_time:
        yield f"    left out, the time of the run: {', '.join(target.by_time)}"
    yield from (f"    only on {found.old}: {row}" for row in target.only_old)
    yield from (f"    only on {found.new}: {row}" for row in target.only_new)


def _state_lines(state: "StateOutcome", found: "Comparison") -> Iterator[str]:
    verdict = "equal" if state.is_equal else "differs"
    old, new = ("not there" if text is None else text or THERE for text in state.summary)
    values = old if old == new else f"{old} on {found.old}, {new} on {found.new}"
    yield f"{MARKS[verdict]} {state.kind} {state.name}: {verdict}" + (
        f", {values}" if values != THERE else ""
    )
    for name, (before, after) in list(state.differences.items())[:MAX_DIFFERENCES]:
        yield f"    {name}: {before or 'not there'} -> {after or 'not there'}"
    if (more := len(state.differences) - MAX_DIFFERENCES) > 0:
        yield f"    and {more} more: --format json"


def _price(version: str) -> float:
    from tidemark.report.costs import GLUE_6_FACTOR, USD_PER_DPU_HOUR

    return USD_PER_DPU_HOUR["standard"] * (GLUE_6_FACTOR if float(version) >= 6 else 1)
