"""`tidemark report`: one page of HTML about the jobs of an app and how their runs went."""

import json
import webbrowser
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tidemark.cli.target import open_target
from tidemark.cli.where import Where, app_options, only_looks
from tidemark.errors import UsageError
from tidemark.model.clock import now_ms

if TYPE_CHECKING:
    from tidemark.local_state.home import Home
    from tidemark.operate.target import Target
    from tidemark.report.model import Report
    from tidemark.report.page import Draw

MAX_LEDGERS = 50  # jobs whose sources are listed
OUTPUT_HELP = "The file to write; report.html in the state home if not given."
LIMIT_HELP = "Look at the last N runs of each job."
FORMATS = click.Choice(["page", "json"])
FORMAT_HELP = "Write the page; or print what it shows as JSON, and write nothing."


@click.command()
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option("--output", type=click.Path(path_type=Path), metavar="FILE", help=OUTPUT_HELP)
@click.option(
    "--limit",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    metavar="N",
    help=LIMIT_HELP,
)
@app_options
@click.option("--format", "form", type=FORMATS, default="page", help=FORMAT_HELP)
@only_looks
def report(opens: bool, output: Path | None, limit: int, where: Where, form: str) -> None:
    """Write one page of HTML: the pipeline, its last runs, how fresh its data is, what it costs.

    The page is one file, which loads nothing. It shows what is recorded, and changes nothing.
    With --format json the same facts are printed, moments in UTC.
    """
    from tidemark.cli.views.report import report_json
    from tidemark.extras import require
    from tidemark.local_state.home import Home

    if form == "json":
        if opens or output is not None:
            raise UsageError("--format json writes no page: leave out --open and --output")
        click.echo(json.dumps(report_json(_gathered(where, limit)), indent=2))
        return
    require("jinja2")
    from tidemark.report.drawing import draw, find_packages, without_pictures
    from tidemark.report.page import page_of

    file = (output or _file_of(Home.from_environment())).absolute()
    check_writable(file)
    found = _gathered(where, limit)
    drawing: Draw = draw
    try:
        find_packages()
    except UsageError as error:  # the page says how to get Node's packages
        click.echo(f"warning: the page is written without pictures: {error}", err=True)
        drawing = without_pictures
    file.write_text(page_of(found, drawing), encoding="utf-8", errors="backslashreplace")
    click.echo(f"wrote {file}")
    if opens and not webbrowser.open(file.as_uri()):
        click.echo("no browser could be opened: open the file in one", err=True)


def _gathered(where: Where, limit: int) -> "Report":
    from tidemark.report.gather import app_jobs_of, report_of, with_submitted

    with open_target(where) as target:
        jobs = with_submitted(target, app_jobs_of(target))
        return with_gaps(report_of(target, jobs, limit, now_ms()), target)


def _file_of(home: "Home") -> Path:
    """Return the default path of the page."""
    if home.copy_of is not None:
        raise UsageError(f"{home.copy_of} cannot be written: say where to, with --output FILE")
    return home.root / "report.html"


def with_gaps(report: "Report", target: "Target") -> "Report":
    """Return a report with what jobs that can be told a range have not loaded of theirs."""
    from tidemark.report.model import Gap

    gaps: list[Gap] = []
    unknown: list[str] = []
    names = [job.name for job in report.jobs if job.has_ranges] if report.runs else []
    for name in names[:MAX_LEDGERS]:
        try:
            gaps += [Gap(name, *it) for it in gaps_of(name, target)]
        except UsageError:  # it is missing, or its table is
            unknown.append(f"The gaps of {name} are not known.")
    if len(names) > MAX_LEDGERS:
        unknown.append(f"Gaps are those of the first {MAX_LEDGERS} of {len(names)} jobs.")
    return replace(report, gaps=tuple(gaps), unknown=(*report.unknown, *unknown))


def gaps_of(name: str, target: "Target") -> Iterator[tuple[str, str, str]]:
    """Yield begin, end and state of what a job has not loaded, or what has changed since."""
    from tidemark.operate.backfill.ledger import TO_RUN, ledger
    from tidemark.operate.backfill.reading import read_job, read_known, read_positions

    job = read_job(target, name)
    known = read_known(target, job, target.checkpoints(name), read_positions(target, job))
    extent = known.evidence.extent()
    if known.unit is None or extent is None:
        return
    for it in ledger(extent, known.evidence):
        if it.state in TO_RUN and not it.is_empty:
            state = f"{it.state.value}, the next run reads it" if it.is_ahead else it.state.value
            yield known.unit.text(it.range.low), known.unit.text(it.range.high - 1), state


def check_writable(file: Path) -> None:
    """Refuse a file that cannot be written, before anything is asked."""
    if file.is_dir():
        raise UsageError(f"--output {file} is a folder; name a file in it, such as report.html")
    if not file.parent.is_dir():
        raise UsageError(f"--output {file}: there is no folder {file.parent}; create it first")
