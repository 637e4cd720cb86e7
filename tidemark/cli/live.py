"""The live page of `tidemark serve`: what it shows of a job, and what its buttons do."""

import io
import secrets
from collections.abc import Callable, Collection, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from shlex import quote

from rich.console import RenderableType

from tidemark.cli.target import open_target
from tidemark.cli.terminal import Terminal
from tidemark.cli.views.bookmarks import bookmark_tables
from tidemark.cli.views.explain import explain_job, explanation_tables
from tidemark.cli.views.listing import Listing, short_ids
from tidemark.cli.views.rewind import cleared_lines, consequences
from tidemark.cli.views.snapshots import snapshot_lines
from tidemark.cli.views.watermarks import current_tables, states_of
from tidemark.cli.where import Where
from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_service.http.pages import PREFIX, Pages
from tidemark.glue_service.submitted import submitted_jobs
from tidemark.local_state.home import Home
from tidemark.local_state.machine import peers
from tidemark.model.assembly.definitions import WATERMARK_TABLE
from tidemark.model.clock import now_ms
from tidemark.operate.executions import find_machine, stop_executions
from tidemark.operate.home import HomeTarget
from tidemark.operate.job_runs import start_run, stop_runs
from tidemark.operate.rewind.gather import facts_of
from tidemark.operate.rewind.planner import PREVIOUS, plan_request
from tidemark.operate.snapshot_reads import snapshot_reads
from tidemark.operate.target import Target, arguments_of
from tidemark.operate.workflow_runs import resume, start_workflow_run, stop_workflow
from tidemark.report.live.pages import LivePages
from tidemark.report.live.shown import Asked, Section, Table
from tidemark.report.live.view import OpenTarget, View
from watermarks import WatermarksError

WIDTH = 110
VERBS = ("start", "resume", "stop", "run", "stop-job", "stop-machine")


def live_pages(home: Home, app: Path | None) -> Pages:
    """Return the pages of a home that this process will serve; without an app, of cdk.out."""
    # Where the port cannot refuse other users of this machine, they do not know the path.
    base = PREFIX if peers.shows_owners() else f"{PREFIX}{secrets.token_urlsafe(32)}/"
    opened = partial(open_target, Where(None, app, takes=("app",)))
    view = View(home.database, opened, details_of, _defined, base)
    return LivePages(view, partial(act, opened), str(home.shown))


def _defined(target: Target) -> Collection[str]:
    assert isinstance(target, HomeTarget)  # noqa: S101 (the page is of a home)
    return set(target.names.jobs).difference(submitted_jobs(target.store))


def details_of(target: Target, kind: str, asked: Asked) -> list[Section]:
    """Return what the commands say about a job, or which files a run has read."""
    of_run = {"Files": _files_of_run}
    of_job: dict[str, Callable[[Target, Asked], Iterable[RenderableType]]] = {
        "Next run": _next_run,
        "Bookmark": _bookmark,
        "Watermarks": _watermarks,
        "Rewind": _rewind,
    }
    parts = of_run if kind == "run" else of_job
    return [Section(title, _parts_or_error(part, target, asked)) for title, part in parts.items()]


def _parts_or_error(
    part: Callable[[Target, Asked], Iterable[RenderableType]], target: Target, asked: Asked
) -> list[Table | str]:
    try:
        return [_plain(shown) for shown in part(target, asked)]
    except (TidemarkError, WatermarksError) as error:
        return [str(error)]


def _plain(part: RenderableType) -> Table | str:
    if isinstance(part, Listing):
        rows = [[str(cell) for cell in row] for row in part.rows]
        return Table(part.headings, rows, part.title.strip())
    text = io.StringIO()
    Terminal(file=text, width=WIDTH).print(part)
    return text.getvalue().strip()


def _next_run(target: Target, asked: Asked) -> Iterable[RenderableType]:
    job = asked["name"]
    snapshots = snapshot_reads(target, job)
    try:
        files = explain_job(Home.from_environment(), job, None, None)
    except EntityNotFoundError:
        if not snapshots:
            raise
        files = []
    return [*explanation_tables(job, None, files), *snapshot_lines(job, snapshots)]


def _files_of_run(target: Target, asked: Asked) -> Iterable[RenderableType]:
    job, run_id = asked["job"], asked["name"]
    return explanation_tables(job, run_id, explain_job(Home.from_environment(), job, run_id, None))


def _bookmark(target: Target, asked: Asked) -> Iterable[RenderableType]:
    job = asked["name"]
    entry = target.bookmark_entry(job)
    if entry is None:
        raise target.no_bookmark_reason(job)
    return bookmark_tables(entry, target.committed_runs(job))


def _watermarks(target: Target, asked: Asked) -> Iterable[RenderableType]:
    job = asked["name"]
    table = arguments_of(target.definition(job) or {}).get(WATERMARK_TABLE)
    if not table:
        return [f"{job} has no argument {WATERMARK_TABLE}: it keeps no watermarks"]
    with target.watermarks(table) as admin:
        states = states_of(admin, job)
    tables = (current_tables(job, source, *state) for source, state in states.items())
    return chain.from_iterable(tables)


def _rewind(target: Target, asked: Asked) -> Iterable[RenderableType]:
    name, to, with_downstream = asked["name"], asked.get("to", PREVIOUS), "downstream" in asked
    facts, windows = facts_of(target, now_ms())
    request = plan_request(facts, [name], to, with_downstream=with_downstream)
    plan, steps = target.rewinds.steps_of(facts, request, windows)
    ids = {run for state in plan.states for run in (state.from_run, state.to_run, *state.undone)}
    short = short_ids(run for run in sorted(ids) if run)
    rows = [
        (job.job, "yes" if job.is_rewound else "no, it is downstream", what)
        for job in plan.jobs
        for what in consequences(job, short)
    ]
    nothing = f"Nothing to rewind: {name} is already where {to} says."
    yield Listing(("job", "goes back", "consequence"), rows) if rows else nothing
    yield from cleared_lines(plan, [path for path, _ in steps.files])
    yield from (*plan.advice, *plan.unknown, *plan.schedules)
    downstream = " --with-downstream" if with_downstream else ""
    yield f"`tidemark rewind {quote(name)} --to {quote(to)}{downstream} --reason REASON` does it."


def act(opened: OpenTarget, verb: str, name: str) -> str:
    """Do what a button of the page says; return what to say about it."""
    if verb not in VERBS:
        raise EntityNotFoundError(f"{verb!r} is not an action; there are {', '.join(VERBS)}")
    try:
        with opened() as target:  # which also translates what Glue answers
            return f"{name}: {_done(target, verb, name)}"
    except TidemarkError as error:
        return f"not done: {error}"


def _done(target: Target, verb: str, name: str) -> str:
    glue, names = target.glue, target.names
    match verb:
        case "start":
            return f"started {start_workflow_run(glue, names.workflow(name))}"
        case "resume":
            run_id, jobs, _ = resume(glue, names.workflow(name), None, [])
            return f"resumed at {', '.join(jobs)} as {run_id}"
        case "run":
            return f"started {start_run(glue, names.job(name), {}).run_id}"
        case "stop":
            stopping = stop_workflow(glue, names.workflow(name), None)
        case "stop-machine":
            stopping = stop_executions(glue, find_machine(glue, name), None)
        case _:
            stopping = [run.run_id for run in stop_runs(glue, names.job(name), None)]
    return f"stopping {', '.join(stopping)}" if stopping else "nothing to stop"
