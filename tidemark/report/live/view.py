"""What the live pages show: the report with active runs, the runs, one job, one run."""

import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_service.http.pages import PREFIX
from tidemark.model.clock import now_ms
from tidemark.operate.app_jobs import PipelineJob, jobs_of, with_submitted
from tidemark.operate.executions import STANDARD, executions_of, machines_of
from tidemark.operate.job_runs import Run
from tidemark.operate.target import Target
from tidemark.report.content import Content, JobRow, content_of
from tidemark.report.gather import pipeline_runs, report_of
from tidemark.report.live.shown import Asked, Body, Flow, Live, Section, Shown
from tidemark.report.needs import needs_of_machines
from tidemark.report.page import part_of, render
from tidemark.report.series import points_of
from tidemark.report.words import BAD, OK, STOPPED

LIMIT = 50  # runs of each job
NEWEST = 5  # runs of a job among which active ones are looked for
LOG_LINES, TAIL_LINES = 500, 3
SHOWN_EXECUTIONS, MAX_EXECUTIONS = 3, 20  # of a state machine: on the first page, on its own
REST_S = 2.0  # between two overviews: jobs need the cores more
OpenTarget: TypeAlias = Callable[[], AbstractContextManager[Target]]
Defined: TypeAlias = Callable[[Target], Collection[str]]
"""Returns the jobs that Glue knows here: not scripts that were submitted."""
Details: TypeAlias = Callable[[Target, str, Asked], Sequence[Section]]
"""Returns what commands say: of a job or run, by `job` or `run`."""


class View:
    """Makes the content of pages; called by many threads."""

    def __init__(
        self,
        database: Path,
        open_target: OpenTarget,
        details: Details,
        defined: Defined,
        base: str = PREFIX,
    ) -> None:
        """Show the home whose database it is; paths of pages begin with ``base``."""
        self.base, self._defined = base, defined
        self._files = (database, database.with_name(f"{database.name}-wal"))
        self._runs = database.parent / "runs"
        self._open_target, self._details = open_target, details
        self._lock = threading.Lock()  # one of a kind at a time, for all browsers
        self._made: dict[str, Body] = {}
        self._not_before_s: dict[str, float] = {}
        self._active: tuple[str, ...] = ()
        self._known: dict[str, Run] = {}  # by the name that a page has asked for

    def state(self, kind: str, name: str) -> object:
        """Return a value that is another one when what a page shows was recorded or printed."""
        known = self._known.get(name)
        runs = {"run": (known.run_id,) if known else (), "job": ()}.get(kind, self._active)
        logs = (self._runs / run / "stdout.log" for run in runs)
        return tuple(_size(file) for file in (*self._files, *logs))

    def content(self, kind: str, asked: Asked) -> Body:
        """Return the content of a page: of a ``job``, ``run`` or ``machine``, else of all jobs."""
        pages = {"job": self._job, "run": self._run, "machine": self._machine}
        if kind not in pages:
            return self._of_all(kind)
        state = self.state(kind, asked["name"])
        return Body(state, pages[kind](asked))

    def _of_all(self, kind: str) -> Body:
        with self._lock:
            # Within the rest the last one is as good: the page asks again a second later.
            is_rested = time.monotonic() >= self._not_before_s.get(kind, 0)
            state, made = self.state("", ""), self._made.get(kind)
            if made is None or (is_rested and state != made.state):
                with self._open_target() as target:
                    made = self._made[kind] = Body(state, self._drawn(target, kind))
                self._not_before_s[kind] = time.monotonic() + REST_S
            return made

    def _drawn(self, target: Target, kind: str) -> str:
        report = report_of(target, _jobs(target), LIMIT, now_ms())
        content = content_of(report)
        live = self._live(target, content)
        self._active = tuple(live.active)
        needs = (*needs_of_machines(live.executions), *content.needs)
        content = replace(content, needs=tuple(sorted(needs, key=lambda need: need.kind != BAD)))
        return part_of("runs" if kind == "runs" else "overview", report, content, live)

    def _live(self, target: Target, content: Content) -> Live:
        rows = {row.job.name: row for row in content.rows}
        newest = target.runs(list(rows), limit=NEWEST) if rows else []
        active = sorted(
            (run for run in newest if not run.is_final),
            key=lambda run: run.started_at,
            reverse=True,
        )
        busy = {run.job for run in active}
        busy |= {rows[run.job].job.workflow for run in active if run.workflow_run_id}
        return Live(
            base=self.base,
            defined=self._defined(target),
            active={
                run.run_id: _shown(target, run, TAIL_LINES, rows[run.job].usual_s) for run in active
            },
            workflows=[_flow(name, content.rows, busy) for name in target.names.workflows],
            busy=busy,
            executions={
                name: executions_of(target.glue, machine, SHOWN_EXECUTIONS)
                for name, machine in machines_of(target.glue, kinds=[STANDARD]).items()
            },
        )

    def _job(self, asked: Asked) -> str:
        name = asked["name"]
        with self._open_target() as target:
            if name not in target.known_jobs and name not in target.names.jobs:
                raise EntityNotFoundError(f"there is no job {name!r} here")
            runs = sorted(target.runs([name], None, LIMIT), key=lambda run: run.started_at)[::-1]
            return self._render(
                "live_job.html.jinja",
                target,
                job_name=name,
                points=points_of(pipeline_runs([PipelineJob(name)], runs)),
                committed=target.committed_runs(name),
                asked=asked,
                runs=runs,
                sections=self._details(target, "job", asked),
            )

    def _run(self, asked: Asked) -> str:
        with self._open_target() as target:
            run = self._find(target, asked["name"])
            of_run = {**asked, "name": run.run_id, "job": run.job}
            older = [
                other
                for other in target.runs([run.job], None, LIMIT)
                if other.started_at < run.started_at
            ]
            before = max(older, key=lambda other: other.started_at, default=None)
            return self._render(
                "live_run.html.jinja",
                target,
                shown=_shown(target, run, LOG_LINES),
                checkpoint=target.checkpoint(run) if run.is_final else None,
                before=before,
                before_checkpoint=before and target.checkpoint(before),
                sections=self._details(target, "run", of_run),
            )

    def _machine(self, asked: Asked) -> str:
        name = asked["name"]
        with self._open_target() as target:
            machine = machines_of(target.glue, kinds=[STANDARD]).get(name)
            if machine is None:
                raise EntityNotFoundError(f"there is no state machine {name!r} here")
            executions = executions_of(target.glue, machine, MAX_EXECUTIONS)
            return self._render(
                "live_machine.html.jinja", target, machine=name, executions=executions
            )

    def _render(self, template: str, target: Target, **values: Any) -> str:
        live = Live(self.base, self._defined(target))
        return render(template, live=live, now_ms=now_ms(), **values)

    def _find(self, target: Target, run_id: str) -> Run:
        # One that was shown before is looked for among the newest of its job: all runs are many.
        known = self._known.get(run_id)
        runs = target.runs([known.job], None, LIMIT) if known else ()
        run = _named(runs, run_id) or _named(target.runs(None), run_id)
        if run is None:
            raise EntityNotFoundError(f"there is no run {run_id!r} here")
        self._known[run_id] = run
        return run


def _jobs(target: Target) -> tuple[PipelineJob, ...]:
    """Return the jobs of the app, if there is one, submitted scripts, and jobs of clients."""
    try:
        jobs = with_submitted(target, jobs_of(target))
    except TidemarkError:  # no app was synthesized, and no script was submitted
        jobs = ()
    names = {job.name for job in jobs}
    others = dict.fromkeys((*target.names.jobs, *target.known_jobs))
    return (*jobs, *(PipelineJob(name) for name in others if name not in names))


def _named(runs: Iterable[Run], run_id: str) -> Run | None:
    # A link of the grid has the beginning of an id: of a run and its retries it means the run.
    meant = (run for run in runs if run.run_id.startswith(run_id)) if run_id else ()
    return min(meant, key=lambda run: len(run.run_id), default=None)


def _shown(target: Target, run: Run, count: int, usual_s: float | None = None) -> Shown:
    notes = target.notes(run, count)
    return Shown(run, tuple(notes.lines), tuple(notes.warnings), usual_s)


def _flow(name: str, rows: Sequence[JobRow], busy: Collection[str]) -> Flow:
    of_flow = [row for row in rows if row.job.workflow == name]
    done = sum(row.kind == OK for row in of_flow)
    failed = any(
        row.kind in (BAD, STOPPED) and row.last and row.last.workflow_run_id for row in of_flow
    )
    return Flow(name, len(of_flow), done, name in busy, failed)


def _size(file: Path) -> tuple[int, int]:
    try:
        facts = file.stat()
    except OSError:
        return (0, 0)
    return (facts.st_size, facts.st_mtime_ns)
