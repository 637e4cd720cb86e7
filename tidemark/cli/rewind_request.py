"""What is asked of `tidemark rewind`, and the plan of it, here and on AWS alike."""

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from tidemark.cli.bookmark import console_for_tables
from tidemark.errors import UsageError

if TYPE_CHECKING:
    from tidemark.operate.rewind import cut
    from tidemark.operate.rewind.facts import Facts
    from tidemark.operate.rewind.plan import RewindPlan
    from tidemark.operate.rewind.tracks import Windows
    from tidemark.operate.target import Target

BEGINNING = "beginning"
PREVIOUS = "previous"
LAST = "last"
# Bytes: the space in the table of watermarks, and a number.
MAX_REASON_LENGTH, MAX_ACTOR = 9_000, 900
DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")


@dataclass(frozen=True)
class RewindRequest:
    """What the options say."""

    jobs: tuple[str, ...]
    to: str | None
    undo: str | None
    with_downstream: bool
    clear: bool
    accept_changes: bool
    why: str | None
    actor: str
    dry_run: bool
    yes: bool
    resume: bool
    lists: bool
    output: str

    def check(self) -> None:
        """Refuse options that do not go together."""
        _check_string("--actor", self.actor, MAX_ACTOR)
        if self.why:
            _check_string("--reason", self.why, MAX_REASON_LENGTH)
        kinds = [self.undo is not None, self.resume, self.lists]
        if any(kinds) and (self.jobs or self.to or sum(kinds) > 1):
            raise UsageError("--undo, --resume and --list each stand alone: leave out JOB and --to")
        if any(kinds):
            return
        if not self.jobs or not self.to:
            raise UsageError(
                "say which jobs and where to: tidemark rewind JOB --to RUN, previous, a date or "
                "beginning; `tidemark runs JOB` lists the runs"
            )
        if self.output == "json" and not (self.dry_run or self.yes):
            raise UsageError("--format json does not ask: give --dry-run or --yes too")

    @property
    def reason(self) -> str:
        """Return the reason; ask for it if it is missing."""
        if self.why and self.why.strip():
            return self.why
        if not sys.stdin.isatty():
            raise UsageError("say why, for the record: --reason TEXT")
        why = str(click.prompt("Why, for the record"))
        _check_string("why", why, MAX_REASON_LENGTH)
        return why


def _check_string(option: str, text: str, most: int) -> None:
    """Refuse what the record of a rewind cannot hold."""
    if not text.strip():
        raise UsageError(f"{option} {text!r} is blank: give a value, for the record")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise UsageError(f"{option} {text[:40]!r} is not UTF-8: write it again") from error
    if size > most:
        raise UsageError(f"{option} has {size:,} bytes ({text[:40]!r}…): give at most {most:,}")


def number_of(request: RewindRequest) -> int | None:
    """Return the number that `--undo` names, None for the last one."""
    if request.undo == LAST:
        return None
    if not str(request.undo).isdecimal():
        raise UsageError(
            f"--undo {request.undo}: give a number that `tidemark rewind --list` shows"
        )
    return int(str(request.undo))


def goal_of(facts: "Facts", jobs: Sequence[str], text: str) -> "cut.RewindTo":
    """Return the target of `--to`."""
    from tidemark.operate.rewind.cut import RewindTo, previous
    from tidemark.operate.rewind.refusals import resolve_run

    if text == BEGINNING:
        return RewindTo(text)
    if text == PREVIOUS:
        return previous(facts, jobs)
    if DATE.fullmatch(text):
        try:
            moment = datetime.fromisoformat(text)
        except ValueError as error:
            raise UsageError(
                f"--to {text} is not a moment ({error}); write it as 2026-11-20 or 2026-11-20T06:00"
            ) from error
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return RewindTo(f"{moment:%Y-%m-%d %H:%M:%S%z}", at_ms=int(moment.timestamp() * 1000))
    return RewindTo(text, resolve_run(facts, jobs, text))


def read_facts(target: "Target", now_ms: int) -> tuple["Facts", "Windows"]:
    """Return what a plan is made of, with the data that the template says jobs read and write."""
    from tidemark.operate.rewind.gather import facts_of
    from tidemark.report.gather import jobs_of

    jobs = jobs_of(target)
    reads = {job.name: job.reads for job in jobs}
    return facts_of(target, reads, {job.name: job.writes for job in jobs}, now_ms)


def plan_of(facts: "Facts", request: RewindRequest) -> "RewindPlan":
    """Return the plan that a request asks for."""
    from tidemark.operate.rewind.planner import plan_rewind
    from tidemark.operate.rewind.refusals import check_fits, check_jobs

    check_jobs(facts, request.jobs)
    jobs = list(dict.fromkeys(request.jobs))
    plan = plan_rewind(
        facts,
        jobs,
        goal_of(facts, jobs, request.to or ""),
        with_downstream=request.with_downstream,
        clears=request.clear,
        accepts_changes=request.accept_changes,
    )
    check_fits(plan)
    return plan


def show_plan(plan: "RewindPlan", request: RewindRequest, files: Sequence[str]) -> None:
    """Print a plan for people, or as JSON."""
    from tidemark.cli.views.rewind import plan_lines

    if request.output == "json":
        click.echo(json.dumps({**plan.to_json(), "files_deleted": list(files)}, indent=2))
        return
    for line in plan_lines(plan, files):
        console_for_tables().print(line, highlight=False, soft_wrap=True)
