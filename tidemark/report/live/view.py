"""What the live pages show: the report with active runs, one job, one run."""

import json
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.errors import EntityNotFoundError, TidemarkError
from tidemark.glue_service.http.pages import PREFIX
from tidemark.model.clock import now_ms
from tidemark.operate.app_jobs import PipelineJob, jobs_of, with_submitted
from tidemark.operate.job_runs import Run
from tidemark.operate.target import Target
from tidemark.report.content import content_of
from tidemark.report.drawing import draw, without_pictures
from tidemark.report.gather import report_of
from tidemark.report.page import GRAPH, environment, in_page, pictures_of, width_px

LIMIT = 50  # runs of each job
LOG_LINES, TAIL_LINES = 500, 12
REST_S = 2.0  # between two overviews: jobs need the cores more
OpenTarget: TypeAlias = Callable[[], AbstractContextManager[Target]]
Defined: TypeAlias = Callable[[Target], Collection[str]]
"""Returns the jobs that Glue knows here: not scripts that were submitted."""
Details: TypeAlias = Callable[[Target, str], Mapping[str, str]]
"""Returns what is said about a job, as plain text by title: its next run, its bookmark, …"""


@dataclass(frozen=True)
class Body:
    """The content of a page as HTML, and the `View.state` that it shows."""

    state: object
    text: str


@dataclass(frozen=True)
class Shown:
    """A run with the end of its log."""

    run: Run
    lines: Sequence[str]
    warnings: Sequence[str] = ()


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
        self._lock = threading.Lock()  # one overview at a time, for all browsers
        self._overview: Body | None = None
        self._not_before_s = 0.0
        self._pictures: dict[str, tuple[str, str]] = {}  # what was drawn, and its picture
        self._active: tuple[str, ...] = ()
        self._job_of_run: dict[str, str] = {}

    def state(self, kind: str, name: str) -> object:
        """Return a value that is another one when what a page shows was recorded or printed."""
        runs = {"run": (name,), "job": ()}.get(kind, self._active)
        logs = (self._runs / run / "stdout.log" for run in runs if run.isidentifier())
        return tuple(_size(file) for file in (*self._files, *logs))

    def content(self, kind: str, name: str) -> Body:
        """Return the content of a page: of the ``kind`` job or run, else of the first page."""
        if kind not in ("job", "run"):
            return self._overview_of_now()
        state = self.state(kind, name)
        return Body(state, self._job(name) if kind == "job" else self._run(name))

    def _overview_of_now(self) -> Body:
        with self._lock:
            # Within the rest the last one is as good: the page asks again a second later.
            is_rested = time.monotonic() >= self._not_before_s
            state = self.state("", "")
            if self._overview is None or (is_rested and state != self._overview.state):
                with self._open_target() as target:
                    self._overview = Body(state, self._made(target))
                self._not_before_s = time.monotonic() + REST_S
            return self._overview

    def _job(self, name: str) -> str:
        with self._open_target() as target:
            if name not in target.known_jobs and name not in target.names.jobs:
                raise EntityNotFoundError(f"there is no job {name!r} here")
            runs = sorted(target.runs([name], None, LIMIT), key=lambda run: run.started_at)[::-1]
            details, defined = self._details(target, name), self._defined(target)
        return self._render(
            "live_job.html.jinja", job=name, runs=runs, details=details, defined=defined
        )

    def _run(self, run_id: str) -> str:
        with self._open_target() as target:
            shown = _shown(target, self._find(target, run_id), LOG_LINES)
        return self._render("live_run.html.jinja", shown=shown)

    def _find(self, target: Target, run_id: str) -> Run:
        # One that was shown before is looked for among the newest of its job: all runs are many.
        job = self._job_of_run.get(run_id)
        runs = target.runs([job], None, LIMIT) if job else ()
        run = _named(runs, run_id) or _named(target.runs(None), run_id)
        if run is None:
            raise EntityNotFoundError(f"there is no run {run_id!r} here")
        self._job_of_run[run_id] = run.job
        return run

    def _made(self, target: Target) -> str:
        jobs = _jobs(target)
        report = report_of(target, jobs, LIMIT, now_ms())
        content = content_of(report)
        active = [run for run in target.runs([job.name for job in jobs]) if not run.is_final]
        self._active = tuple(run.run_id for run in active)
        pictures = pictures_of(report, content)
        drawn = self._drawn(pictures.graphs, pictures.charts)
        return self._render(
            "live_overview.html.jinja",
            report=report,
            content=content,
            width=width_px(drawn[GRAPH]),
            pictures=in_page(drawn),
            active=[_shown(target, run, TAIL_LINES) for run in active],
            workflows=target.names.workflows,
            defined=self._defined(target),
        )

    def _render(self, template: str, **values: Any) -> str:
        return environment().get_template(template).render(base=self.base, **values)

    def _drawn(
        self, graphs: Mapping[str, str], charts: Mapping[str, Mapping[str, Any]]
    ) -> dict[str, str]:
        """Return pictures by name, the changed ones drawn anew."""
        sources = {**graphs, **{name: json.dumps(chart) for name, chart in charts.items()}}
        new = {name for name, text in sources.items() if self._pictures.get(name, ("",))[0] != text}
        try:
            pictures = draw(
                {name: graph for name, graph in graphs.items() if name in new},
                {name: chart for name, chart in charts.items() if name in new},
            )
        except TidemarkError:
            return without_pictures(graphs, charts)
        self._pictures |= {name: (sources[name], picture) for name, picture in pictures.items()}
        return {name: self._pictures[name][1] for name in sources}


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
    return next((run for run in runs if run.run_id == run_id), None)


def _shown(target: Target, run: Run, count: int) -> Shown:
    notes = target.notes(run, count)
    return Shown(run, tuple(notes.lines), tuple(notes.warnings))


def _size(file: Path) -> tuple[int, int]:
    try:
        facts = file.stat()
    except OSError:
        return (0, 0)
    return (facts.st_size, facts.st_mtime_ns)
