"""`tidemark rewind`: a plan with its consequences, one step, and back again."""

import getpass
import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tidemark.cli.bookmark import FORMAT, JSON_HELP, console_for_tables
from tidemark.cli.looking import only_looks
from tidemark.cli.rewind_request import LAST, Request, number_of, plan_of, show_plan, with_declared
from tidemark.cli.where import CONTEXT_HELP, DEPLOYED_HELP, Where
from tidemark.errors import UsageError

if TYPE_CHECKING:
    from tidemark.local_state.home import Home
    from tidemark.local_state.rewinds.records import RewindRecord
    from tidemark.local_state.store.database import Store
    from tidemark.operate.rewind.facts import Facts, Track
    from tidemark.operate.rewind.local import Windows
    from watermarks import WatermarkAdmin

TO_HELP = (
    "Where to: a run, the beginning of its id is enough; previous, the run before the last one; a "
    "moment, 2026-11-20 or 2026-11-20T06:00 (UTC); or beginning."
)
APP_HELP = (
    "Cloud assembly to use instead of cdk.out, which the last run left here, or with --deployed "
    "instead of synthesizing the app."
)
UNDO_HELP = "Make everything as it was before a rewind: the last one, or that of this number."


@click.command()
@click.argument("jobs", nargs=-1, metavar="[JOB]...")
@click.option("--to", metavar="RUN|previous|DATE|beginning", help=TO_HELP)
@click.option("--with-downstream", is_flag=True, help="Take all jobs behind them back too.")
@click.option("--clear", is_flag=True, help="Delete what rewound jobs have appended since.")
@click.option("--accept-changes", is_flag=True, help="Although jobs were added or removed since.")
@click.option("--why", metavar="TEXT", help="Why, for the record.")
@click.option("--actor", default=getpass.getuser, help="Who asks; your user name if not given.")
@click.option("--dry-run", is_flag=True, help="Show the plan, change nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--undo", is_flag=False, flag_value=LAST, metavar="[NUMBER]", help=UNDO_HELP)
@click.option("--resume", is_flag=True, help="Finish a rewind that was interrupted.")
@click.option("--list", "lists", is_flag=True, help="List what was rewound, by whom and why.")
@click.option("--app", type=click.Path(path_type=Path), metavar="DIR", help=APP_HELP)
@click.option("--context", "-c", multiple=True, metavar="KEY=VALUE", help=CONTEXT_HELP)
@click.option("--deployed", metavar="STAGE", help=DEPLOYED_HELP)
@click.option("--format", "output", type=FORMAT, default="table", help=JSON_HELP)
def rewind(
    jobs: tuple[str, ...],
    to: str | None,
    undo: str | None,
    app: Path | None,
    context: tuple[str, ...],
    deployed: str | None,
    **options: Any,
) -> None:
    """Take JOBs back to an earlier run, and show first what follows from it.

    The plan says what is read again, what the jobs behind them will see, and which targets would
    have rows twice. It is carried out in one step, recorded, and can be undone.
    """
    request = Request(jobs, to, undo, **options)
    request.check()
    if deployed is not None:
        from tidemark.cli.rewind_deployed import rewind_deployed

        rewind_deployed(request, Where(deployed, app, context))
        return
    if context:
        raise UsageError("--context goes with --deployed STAGE: leave it out")
    look = only_looks(_rewind_here) if request.lists or request.dry_run else _rewind_here
    look(request, app)


def _rewind_here(request: Request, app: Path | None) -> None:
    with _opened(app) as here:
        if request.lists:
            here.show_records(request)
            return
        with _half_done_is_told(here.store):
            if request.undo is not None or request.resume:
                here.go_back_or_on(request)
            else:
                here.rewind(request)


@dataclass
class Here:
    """The state of this machine, opened for one command."""

    home: "Home"
    store: "Store"
    app: Path | None

    @contextmanager
    def open_table(self, name: str) -> "Iterator[WatermarkAdmin]":
        """Open a table of watermarks; its errors are the library's."""
        from tidemark.glue_service.commands import region
        from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
        from watermarks import WatermarkAdmin

        with dynamodb_endpoint(self.home) as url, dynamodb_client(url, region()) as client:
            yield WatermarkAdmin(name, client)

    def facts(self) -> tuple["Facts", "Windows"]:
        """Return what is known, and the open windows."""
        from tidemark.glue_service.commands import load_app
        from tidemark.local_state.store.checkpoints import stored_checkpoints
        from tidemark.operate.rewind.local import facts_of_home, tables_of
        from tidemark.operate.rewind.watermark_tracks import tracks_of_table

        app = load_app(self.app or Path("cdk.out"))
        deployment = app.deployment
        tracks: list[Track] = []
        windows: dict[tuple[str, str, str], Mapping[str, Any]] = {}
        checkpoints = stored_checkpoints(self.store)
        for table, jobs in tables_of(deployment, checkpoints).items():
            with self.open_table(table) as admin:
                found, items = tracks_of_table(admin, jobs)
            tracks += found
            windows |= items
        now_ms = time.time_ns() // 1_000_000
        facts = facts_of_home(self.home, self.store, deployment, checkpoints, tracks, now_ms)
        return with_declared(facts, app.assembly), windows

    def rewind(self, request: Request) -> None:
        """Show the plan, ask, and carry it out."""
        from tidemark.local_state.rewinds.records import note_nothing, refuse_unfinished
        from tidemark.operate.rewind.local import steps_of
        from tidemark.operate.rewind.local_carry_out import carry_out
        from tidemark.operate.rewind.sources_now import with_sources_as_they_are

        refuse_unfinished(self.home, self.store)
        facts, windows = self.facts()
        plan = with_sources_as_they_are(self.home, self.store, plan_of(facts, request))
        steps = steps_of(self.home, facts, plan, windows)
        if request.dry_run or request.output == "table":
            show_plan(plan, request, [path for path, _ in steps.files])
        if request.dry_run:
            return
        if not plan.states:
            note_nothing(self.store, _now_ms(), request.actor, request.why or "", plan.to)
            return
        why = request.reason
        if not request.yes:
            click.confirm(
                f"Rewind {', '.join(one.job for one in plan.jobs if one.states)}?", abort=True
            )
        record = carry_out(
            self.home,
            self.store,
            self.open_table,
            steps,
            actor=request.actor,
            why=why,
            at_ms=_now_ms(),
            to=plan.to,
        )
        _tell(record, request, f"rewound: number {record.rewind_id}")
        if request.output == "table":
            click.echo(f"`tidemark rewind --undo {record.rewind_id}` takes it back")

    def go_back_or_on(self, request: Request) -> None:
        """Undo a rewind, or finish one that was interrupted."""
        from tidemark.cli.views.rewind import jobs_of
        from tidemark.local_state.rewinds.records import open_rewind, rewinds
        from tidemark.operate.rewind.local import check_no_run
        from tidemark.operate.rewind.local_carry_out import finish
        from tidemark.operate.rewind.undoing import record_to_undo, undo

        check_no_run(self.home, self.store)
        if request.resume:
            record = open_rewind(self.store)
            if record is None:
                raise UsageError("no rewind was interrupted: there is nothing to finish")
            done = finish(self.home, self.store, self.open_table, record, at_ms=_now_ms())
            _tell(done, request, f"rewind {done.rewind_id} is finished")
            return
        found = record_to_undo(rewinds(self.store), number_of(request))
        number = found.rewind_id
        if not request.yes:
            click.confirm(f"Undo rewind {number} of {', '.join(jobs_of(found))}?", abort=True)
        record = undo(
            self.home,
            self.store,
            self.open_table,
            number,
            actor=request.actor,
            why=request.why or "undo",
            at_ms=_now_ms(),
        )
        undone = record.undoes or record.rewind_id
        _tell(record, request, f"rewind {undone} is undone: everything is as it was before it")

    def show_records(self, request: Request) -> None:
        """List what was rewound."""
        from tidemark.cli.views.rewind import records_json, records_listing
        from tidemark.local_state.rewinds.records import rewinds

        found = rewinds(self.store)
        if request.output == "json":
            click.echo(json.dumps(records_json(found), indent=2))
        elif found:
            console_for_tables().print(records_listing(found), soft_wrap=True)
        else:
            click.echo("nothing was rewound here")


def _tell(record: "RewindRecord", request: Request, text: str) -> None:
    from tidemark.cli.views.rewind import records_json

    click.echo(
        json.dumps(records_json([record])[0], indent=2) if request.output == "json" else text
    )


@contextmanager
def _half_done_is_told(store: "Store") -> Iterator[None]:
    """Say before the error of whatever interrupts a rewind that it is half done."""
    from tidemark.local_state.rewinds.records import open_rewind, unfinished_text

    try:
        yield
    except UsageError:
        raise  # nothing was changed
    except BaseException:
        with suppress(Exception):  # the state database may be what cannot be read
            if (found := open_rewind(store)) is not None:
                click.echo(unfinished_text(found.rewind_id), err=True)
        raise


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@contextmanager
def _opened(app: Path | None) -> Iterator[Here]:
    from tidemark.local_state.home import Home
    from tidemark.local_state.store.database import Store
    from watermarks import WatermarksError

    home = Home.from_environment()
    try:
        with Store(home.database) as store:
            yield Here(home, store, app)
    except WatermarksError as error:
        raise UsageError(str(error)) from error
