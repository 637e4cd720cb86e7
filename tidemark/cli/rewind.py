"""`tidemark rewind`: a plan with its consequences, one step, and back again."""

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import click

from tidemark.cli.progress import console_for_tables, print_output
from tidemark.cli.target import open_target
from tidemark.cli.terminal import print_json
from tidemark.cli.views.rewind import plan_lines, record_json, records_listing
from tidemark.cli.where import Where, looking
from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_state.rewinds.records import RewindCause, RewindRecord
from tidemark.model.clock import now_ms
from tidemark.operate.rewind.carry_out import UnfinishedError
from tidemark.operate.rewind.gather import facts_of
from tidemark.operate.rewind.plan import RewindPlan
from tidemark.operate.rewind.planner import plan_request
from tidemark.operate.target import Target
from watermarks import WatermarksError

# Bytes: the space in the table of watermarks, and a number.
MAX_REASON_LENGTH, MAX_ACTOR_LENGTH = 9_000, 900


@dataclass(frozen=True)
class RewindRequest:
    """What the options say of a rewind."""

    jobs: tuple[str, ...]
    to: str
    with_downstream: bool
    clear: bool
    accept_changes: bool
    why: str | None
    actor: str
    dry_run: bool
    yes: bool
    output: str


def rewind(
    jobs: tuple[str, ...],
    to: str | None,
    where: Where,
    undo: str | None,
    resume: bool,
    lists: bool,
    **options: Any,
) -> None:
    if undo is not None or resume or lists:
        if jobs or to or (undo is not None) + resume + lists > 1:
            raise UsageError("--undo, --resume and --list each stand alone: leave out JOB and --to")
        _run_old_option(undo, resume, where, **options)
        return
    if jobs and not to and jobs[0] in ("list", "resume", "undo"):
        raise UsageError(
            f"options stand after the verb: tidemark rewind {jobs[0]} …; of a job with this name, "
            "give --to"
        )
    if not jobs or not to:
        raise UsageError(
            "say which jobs and where to: tidemark rewind JOB --to RUN, previous, a date or "
            "beginning; `tidemark runs JOB` lists the runs"
        )
    request = RewindRequest(jobs, to, **options)
    _check_texts(request.actor, request.why)
    if request.output == "json" and not (request.dry_run or request.yes):
        raise UsageError("--format json does not ask: give --dry-run or --yes too")
    if request.dry_run:
        with looking():
            _rewind(request, where)
    else:
        _rewind(request, where)


def _run_old_option(
    number: str | None, resume: bool, where: Where, *, output: str, **options: Any
) -> None:
    """Do what --undo, --resume or --list asks for; the release after 0.1 drops these."""
    verb = "resume" if resume else "list" if number is None else "undo"
    for name in ("dry_run", "clear", "with_downstream", "accept_changes"):
        if options[name]:
            option = f"--{name.replace('_', '-')}"
            raise UsageError(f"{option} does nothing with --{verb}: leave it out")
    click.echo(
        f"warning: `tidemark rewind --{verb}` becomes `tidemark rewind {verb}`: the next release "
        "has no such option",
        err=True,
    )
    if resume:
        finish(where, output)
    elif number is None:
        with looking():
            show_records(where, output)
    else:
        number = None if number == "last" else number
        take_back(number, options["why"], options["actor"], options["yes"], where, output)


def _rewind(request: RewindRequest, where: Where) -> None:
    with _opened(where) as target:
        rewinds = target.rewinds
        _check_can_clear(request, target)
        rewinds.check_none_is_open()
        facts, windows = facts_of(target, now_ms())
        plan = plan_request(
            facts,
            request.jobs,
            request.to,
            with_downstream=request.with_downstream,
            clears=request.clear,
            accepts_changes=request.accept_changes,
        )
        plan, steps = rewinds.steps_of(facts, plan, windows)
        _show_plan(plan, [path for path, _ in steps.files], request)
        if request.dry_run:
            return
        if not plan.states:
            rewinds.note_nothing(plan, RewindCause(request.actor, request.why or "", now_ms()))
            return
        why = _reason(request.why)
        if not request.yes:
            names = ", ".join(job.job for job in plan.jobs if job.states)
            click.confirm(f"Rewind {names} in {target.where}?", abort=True)
        record = rewinds.carry_out(plan, steps, RewindCause(request.actor, why, now_ms()))
        if record is None:
            click.echo("rewound; the stage has no watermark table to record actor and reason")
            return
        undo = f"`tidemark rewind undo {record.rewind_id}{target.option}` takes it back"
        _report(record, request.output, f"rewound: number {record.rewind_id}\n{undo}")


def _check_can_clear(request: RewindRequest, target: Target) -> None:
    if request.clear and not target.can_clear:
        raise UnsupportedError(
            "--clear deletes files of this machine's lake, from where they can come back; of a "
            "stage delete the partitions that the plan names yourself, and leave out --clear"
        )


def _show_plan(plan: RewindPlan, files: Sequence[str], request: RewindRequest) -> None:
    if request.output == "table":
        for line in plan_lines(plan, files):
            console_for_tables().print(line)
    elif request.dry_run:
        print_json({**plan.to_json(), "files_deleted": list(files)})


def take_back(
    number: str | None, why: str | None, actor: str, yes: bool, where: Where, output: str
) -> None:
    _check_texts(actor, why)
    if number is not None and not number.isdecimal():
        raise UsageError(f"rewind undo {number}: give a number that `tidemark rewind list` shows")
    with _opened(where) as target:
        rewinds = target.rewinds
        to_undo = rewinds.to_undo(None if number is None else int(number))
        if not yes:
            question = f"Undo rewind {to_undo.rewind_id} of {', '.join(to_undo.jobs)}"
            click.confirm(f"{question} in {target.where}?", abort=True)
        cause = RewindCause(actor, why or "undo", now_ms())
        record, stayed = rewinds.undo(to_undo.rewind_id, cause)
        besides = ": everything is as it was before it"
        if stayed:
            besides = f"; {', '.join(stayed)} moved on since it was interrupted, and stays so"
        _report(record, output, f"rewind {to_undo.rewind_id} is undone{besides}")


def finish(where: Where, output: str) -> None:
    with _opened(where) as target:
        record = target.rewinds.resume(now_ms())
        _report(record, output, f"rewind {record.rewind_id} is finished")


def show_records(where: Where, output: str) -> None:
    with _opened(where) as target:
        records = target.rewinds.records()
        shown = records_listing(records) if records else f"nothing was rewound in {target.where}"
        print_output(output, list(map(record_json, records)), [shown])


@contextmanager
def _opened(where: Where) -> Iterator[Target]:
    """Yield the target; whatever interrupts a rewind, say first that it is half done."""
    with open_target(where) as target:
        try:
            yield target
        except (UsageError, UnfinishedError):
            raise  # nothing was changed, or it says what was
        except BaseException as error:
            with suppress(Exception):  # the state may be what cannot be read
                try:
                    target.rewinds.check_none_is_open()
                except UsageError as half_done:
                    click.echo(str(half_done), err=True)
            if isinstance(error, WatermarksError):
                raise UsageError(str(error)) from error
            raise


def _report(record: RewindRecord, output: str, text: str) -> None:
    click.echo(json.dumps(record_json(record), indent=2) if output == "json" else text)


def _reason(why: str | None) -> str:
    if why and why.strip():
        return why
    if not sys.stdin.isatty():
        raise UsageError("say why, for the record: --reason TEXT")
    why = str(click.prompt("Why, for the record"))
    _check_text("why", why, MAX_REASON_LENGTH)
    return why


def _check_texts(actor: str, why: str | None) -> None:
    _check_text("--actor", actor, MAX_ACTOR_LENGTH)
    if why:
        _check_text("--reason", why, MAX_REASON_LENGTH)


def _check_text(option: str, text: str, max_bytes: int) -> None:
    if not text.strip():
        raise UsageError(f"{option} {text!r} is blank: give a value, for the record")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise UsageError(f"{option} {text[:40]!r} is not UTF-8: write it again") from error
    if size > max_bytes:
        raise UsageError(
            f"{option} has {size:,} bytes ({text[:40]!r}…): give at most {max_bytes:,}"
        )
