"""`tidemark rewind`: a plan with its consequences, one step, and back again."""

import getpass
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.bookmark import FORMAT, JSON_HELP, console_for_tables
from tidemark.cli.known_names import JOB
from tidemark.cli.rewind_request import (
    LAST,
    RewindRequest,
    number_of,
    plan_of,
    read_facts,
    show_plan,
)
from tidemark.cli.target import open_target
from tidemark.cli.where import Where, app_options, only_looks
from tidemark.errors import UnsupportedError, UsageError
from tidemark.local_state.rewinds.records import Asked
from tidemark.model.clock import now_ms

if TYPE_CHECKING:
    from tidemark.local_state.rewinds.records import RewindRecord
    from tidemark.operate.target import Target

TO_HELP = (
    "Where to: a run, a prefix of its id is enough; previous, the run before the last one "
    "that read anything; a moment, 2026-11-20 or 2026-11-20T06:00 (UTC); or beginning."
)
UNDO_HELP = "Undo a rewind: the last one, or that of this number."


@click.command()
@click.argument("jobs", type=JOB, nargs=-1, metavar="[JOB]...")
@click.option("--to", metavar="RUN|previous|DATE|beginning", help=TO_HELP)
@click.option("--with-downstream", is_flag=True, help="Take all jobs downstream of them back too.")
@click.option("--clear", is_flag=True, help="Delete what rewound jobs have appended since.")
@click.option("--accept-changes", is_flag=True, help="Although jobs were added or removed since.")
@click.option("--reason", "--why", "why", metavar="TEXT", help="Reason, for the record.")
@click.option("--actor", default=getpass.getuser, help="Who asks; your user name if not given.")
@click.option("--dry-run", "--plan", is_flag=True, help="Show the plan, change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=False, flag_value=LAST, metavar="[NUMBER]", help=UNDO_HELP)
@click.option("--resume", is_flag=True, help="Finish a rewind that was interrupted.")
@click.option("--list", "lists", is_flag=True, help="List rewinds, by whom and why.")
@app_options
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
def rewind(
    jobs: tuple[str, ...], to: str | None, undo: str | None, where: Where, **options: Any
) -> None:
    """Take JOBs back to an earlier run, and show first what follows from it.

    The plan says what is read again, what the jobs downstream of them will see, and which targets
    would have rows twice. It is carried out in one step, recorded, and can be undone.
    """
    request = RewindRequest(jobs, to, undo, **options)
    request.check()
    look = only_looks(_rewind) if request.lists or request.dry_run else _rewind
    look(request, where)


def _rewind(request: RewindRequest, where: Where) -> None:
    from tidemark.operate.rewind.carry_out import UnfinishedError
    from watermarks import WatermarksError

    with open_target(where) as target:
        try:
            if request.lists:
                _show_records(target, request)
            elif request.undo is not None:
                _undo(target, request)
            elif request.resume:
                done = target.rewinds.resume(now_ms())
                _report(done, request, f"rewind {done.rewind_id} is finished")
            else:
                _carry_out(target, request)
        except (UsageError, UnfinishedError):
            raise  # nothing was changed, or it says what was
        except BaseException as error:
            _report_unfinished(target)
            if isinstance(error, WatermarksError):
                raise UsageError(str(error)) from error
            raise


def _carry_out(target: "Target", request: RewindRequest) -> None:
    """Show the plan, ask, and carry it out."""
    rewinds = target.rewinds
    if request.clear and not target.can_clear:
        raise UnsupportedError(
            "--clear deletes files of this machine's lake, from where they can come back; of a "
            "stage delete the partitions that the plan names yourself, and leave out --clear"
        )
    rewinds.check_none_is_open()
    facts, windows = read_facts(target, now_ms())
    plan, steps = rewinds.steps_of(facts, plan_of(facts, request), windows)
    if request.dry_run or request.output == "table":
        show_plan(plan, request, [path for path, _ in steps.files])
    if request.dry_run:
        return
    if not plan.states:
        rewinds.note_nothing(plan, Asked(request.actor, request.why or "", now_ms()))
        return
    why = request.reason
    if not request.yes:
        names = ", ".join(one.job for one in plan.jobs if one.states)
        click.confirm(f"Rewind {names} in {target.where}?", abort=True)
    record = rewinds.carry_out(plan, steps, Asked(request.actor, why, now_ms()))
    if record is None:
        click.echo("rewound; the stage has no watermark table to record actor and reason")
        return
    _report(record, request, f"rewound: number {record.rewind_id}")
    if request.output == "table":
        click.echo(f"`tidemark rewind --undo {record.rewind_id}{target.option}` takes it back")


def _undo(target: "Target", request: RewindRequest) -> None:
    rewinds = target.rewinds
    found = rewinds.to_undo(number_of(request))
    if not request.yes:
        jobs = ", ".join(found.jobs)
        click.confirm(f"Undo rewind {found.rewind_id} of {jobs} in {target.where}?", abort=True)
    asked = Asked(request.actor, request.why or "undo", now_ms())
    record, stayed = rewinds.undo(found.rewind_id, asked)
    besides = ": everything is as it was before it"
    if stayed:
        besides = f"; {', '.join(stayed)} moved on since it was interrupted, and stays so"
    _report(record, request, f"rewind {found.rewind_id} is undone{besides}")


def _show_records(target: "Target", request: RewindRequest) -> None:
    """List rewinds."""
    from tidemark.cli.views.rewind import record_json, records_listing

    found = target.rewinds.records()
    if request.output == "json":
        click.echo(json.dumps([record_json(one) for one in found], indent=2))
    elif found:
        console_for_tables().print(records_listing(found), soft_wrap=True)
    else:
        click.echo(f"nothing was rewound in {target.where}")


def _report(record: "RewindRecord", request: RewindRequest, text: str) -> None:
    from tidemark.cli.views.rewind import record_json

    click.echo(json.dumps(record_json(record), indent=2) if request.output == "json" else text)


def _report_unfinished(target: "Target") -> None:
    """Say before the error of whatever interrupts a rewind that it is half done."""
    with suppress(Exception):  # the state may be what cannot be read
        try:
            target.rewinds.check_none_is_open()
        except UsageError as half_done:
            click.echo(str(half_done), err=True)
