"""`tidemark report`: one page of HTML about the jobs of an app and how their runs went."""

import webbrowser
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from tidemark.cli.target import open_target
from tidemark.cli.terminal import moment_json, print_json
from tidemark.cli.where import Where
from tidemark.errors import UsageError
from tidemark.extras import require
from tidemark.local_state.home import Home
from tidemark.model.clock import now_ms
from tidemark.operate.app_jobs import app_jobs_of, with_submitted
from tidemark.operate.backfill.ledger import TO_RUN, ledger
from tidemark.operate.backfill.reading import read_job, read_known, read_positions
from tidemark.operate.target import Target
from tidemark.report.gather import report_of
from tidemark.report.model import Gap, Report

MAX_LEDGERS = 50  # jobs whose sources are listed


def report(opens: bool, output: Path | None, limit: int, where: Where, form: str) -> None:
    if form == "json":
        if opens or output is not None:
            raise UsageError("--format json writes no page: leave out --open and --output")
        print_json(_plain(asdict(_gathered(where, limit))))
        return
    require("jinja2")
    from tidemark.report.page import page_of

    file = (output or _file_of(Home.from_environment())).absolute()
    check_writable(file)
    facts = _gathered(where, limit)
    file.write_text(page_of(facts), encoding="utf-8", errors="backslashreplace")
    click.echo(f"wrote {file}")
    if opens and not webbrowser.open(file.as_uri()):
        click.echo("no browser could be opened: open the file in one", err=True)


def _gathered(where: Where, limit: int) -> Report:
    with open_target(where) as target:
        jobs = with_submitted(target, app_jobs_of(target))
        return with_gaps(report_of(target, jobs, limit, now_ms()), target)


def _file_of(home: Home) -> Path:
    if home.copy_of is not None:
        raise UsageError(f"{home.copy_of} cannot be written: say where to, with --output FILE")
    return home.root / "report.html"


def with_gaps(report: Report, target: Target) -> Report:
    """Return a report with what jobs that can be told a range have not loaded of theirs."""
    gaps: list[Gap] = []
    unknown: list[str] = []
    names = [job.name for job in report.jobs if job.has_ranges] if report.runs else []
    for name in names[:MAX_LEDGERS]:
        try:
            gaps += [Gap(name, *gap) for gap in gaps_of(name, target)]
        except UsageError:  # it is missing, or its table is
            unknown.append(f"The gaps of {name} are not known.")
    if len(names) > MAX_LEDGERS:
        unknown.append(f"Gaps are those of the first {MAX_LEDGERS} of {len(names)} jobs.")
    return replace(report, gaps=tuple(gaps), unknown=(*report.unknown, *unknown))


def gaps_of(name: str, target: Target) -> Iterator[tuple[str, str, str]]:
    """Yield begin, end and state of what a job has not loaded, or what has changed since."""
    job = read_job(target, name)
    known = read_known(target, job, target.checkpoints(name), read_positions(target, job))
    extent = known.evidence.extent()
    if known.unit is None or extent is None:
        return
    for interval in ledger(extent, known.evidence):
        if interval.state in TO_RUN and not interval.is_empty:
            state = (
                f"{interval.state.value}, the next run reads it"
                if interval.is_ahead
                else interval.state.value
            )
            yield (
                known.unit.text(interval.range.low),
                known.unit.text(interval.range.high - 1),
                state,
            )


def check_writable(file: Path) -> None:
    """Refuse a file that cannot be written, before anything is asked."""
    if file.is_dir():
        raise UsageError(f"--output {file} is a folder; name a file in it, such as report.html")
    if not file.parent.is_dir():
        raise UsageError(f"--output {file}: there is no folder {file.parent}; create it first")


def _plain(value: Any) -> Any:
    """Return facts as plain JSON values: moments in UTC, without the unit in their name."""
    if isinstance(value, Mapping):
        return dict(_member(name, member) for name, member in value.items())
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    return sorted(value) if isinstance(value, frozenset) else value


def _member(name: str, value: Any) -> tuple[str, Any]:
    if name.endswith("_at_ms"):
        return name.removesuffix("_ms"), None if value is None else moment_json(value)
    return name, _plain(value)
