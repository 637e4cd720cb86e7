"""The fixture `pipeline`: the project's app, synthesized, run as a whole in one test."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.glue_service.commands import deploy, load_app
from tidemark.glue_service.one_run import SilentListener, run_workflow
from tidemark.glue_service.workflows.selection import Selection
from tidemark.glue_service.workflows.whole_run import WorkflowResult
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import Deployment, JobDefinition
from tidemark.model.assembly.synthesis import synthesize
from tidemark.model.schedules.schedules import Schedule
from tidemark.testing.recorded_run import recorded_run
from tidemark.testing.run import GlueRun

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest

WHY = "a pipeline starts each job as a process, as tidemark run does"


@dataclass(frozen=True)
class PipelineRun:
    """A run of a workflow that is over.

    Attributes:
        workflow: its name.
        runs: the last run of each job that ran, by job.
        fired: the names of the triggers that fired, in order.
        blocked: for each job that never ran, the conditions that were not met.
        state: COMPLETED if every job ran and SUCCEEDED, else FAILED.
    """

    workflow: str
    runs: Mapping[str, GlueRun]
    fired: tuple[str, ...]
    blocked: Mapping[str, tuple[str, ...]]
    state: str

    @property
    def is_success(self) -> bool:
        """Whether every job ran, and SUCCEEDED."""
        return self.state == "COMPLETED"

    @property
    def states(self) -> dict[str, str]:
        """The state of each job that ran."""
        return {name: run.state for name, run in self.runs.items()}

    def __getitem__(self, job: str) -> GlueRun:
        if job in self.runs:
            return self.runs[job]
        why = f": waited for {', '.join(self.blocked[job])}" if job in self.blocked else ""
        raise KeyError(f"job {job} did not run{why}; those that ran: {', '.join(self.runs)}")


class Pipeline:
    """The app of the project, deployed into the lake of a test."""

    def __init__(self, test: GlueTest, assembly: Path) -> None:
        """Deploy the assembly: buckets, scripts, tables of the Data Catalog."""
        self._test = test
        self._app = load_app(assembly)
        self.deployment: Deployment = deploy(self._app, test.home)

    @property
    def jobs(self) -> Mapping[str, JobDefinition]:
        """The jobs of the app by name."""
        return self.deployment.jobs

    @property
    def workflows(self) -> tuple[str, ...]:
        """The names of its workflows."""
        return self.deployment.workflows

    @property
    def triggers(self) -> dict[str, str]:
        """The types of its triggers by name."""
        return {trigger.name: trigger.type for trigger in self.deployment.triggers}

    @property
    def buckets(self) -> tuple[str, ...]:
        """The names of its buckets."""
        return self.deployment.buckets

    def bucket(self, part: str) -> str:
        """Return the one bucket whose name ends in a word, or contains it: ``landing``.

        Raises:
            EntityNotFoundError: none does, or several do.
        """
        word = part.lower()
        for names in (
            [name for name in self.buckets if name == word],
            [name for name in self.buckets if name.endswith(word)],
            [name for name in self.buckets if word in name],
        ):
            if len(names) == 1:
                return names[0]
        raise EntityNotFoundError(
            f"no bucket, or several, {part!r}; the app has {', '.join(self.buckets) or 'none'}"
        )

    def arguments(self, job: str) -> dict[str, str]:
        """Return the arguments that the app gives a job, without the leading ``--``."""
        return {
            name.removeprefix("--"): value
            for name, value in self._job(job).default_arguments.items()
        }

    def run(
        self, workflow: str | None = None, *, only: str | None = None, from_job: str | None = None
    ) -> PipelineRun:
        """Run a workflow once, from its start trigger until nothing more fires.

        Args:
            workflow: its name; without, the only one.
            only: runs this job alone.
            from_job: runs this job and those after it.

        Raises:
            TidemarkError: nothing could be started.
        """
        for job in filter(None, (only, from_job)):
            self._job(job)
        chosen = only or from_job
        selection = Selection(chosen, has_following=only is None) if chosen else None
        started = time.monotonic()
        result = run_workflow(
            self._app,
            self._test.home,
            workflow,
            SilentListener(),
            self._test.kit.jvms,
            skips_crawlers=True,
            selection=selection,
        )
        return self._as_run(result, workflow or self.workflows[0], time.monotonic() - started)

    def starts(self, begin: datetime, end: datetime | None = None) -> list[tuple[datetime, str]]:
        """Return the times when schedules start its workflows on AWS, between two times.

        Args:
            begin: such as ``glue_clock.now``.
            end: without, a day later.
        """
        moments = []
        for schedule in self.deployment.schedules:
            timer = Schedule(schedule.expression, schedule.time_zone)
            at = timer.next_after(begin)
            while at is not None and at <= (end or begin + timedelta(days=1)):
                moments.append((at, schedule.workflow_name))
                at = timer.next_after(at)
        return sorted(moments)

    def _job(self, name: str) -> JobDefinition:
        if name not in self.jobs:
            raise EntityNotFoundError(
                f"there is no job {name!r}; the app has {', '.join(self.jobs)}"
            )
        return self.jobs[name]

    def _as_run(self, result: WorkflowResult, workflow: str, seconds: float) -> PipelineRun:
        runs = {}
        with Store(self._test.home.database) as store:
            for run in result.job_runs:
                runs[run.job_name] = self._job_run(store, run, result, seconds)
        self._test.runs.extend(runs.values())
        fired = dict.fromkeys(run.trigger_name for run in result.job_runs if run.trigger_name)
        state = "COMPLETED" if result.is_success else "FAILED"
        return PipelineRun(workflow, runs, tuple(fired), result.blocked, state)

    def _job_run(
        self, store: Store, run: JobRun, result: WorkflowResult, seconds: float
    ) -> GlueRun:
        job = result.jobs[run.job_name]
        took = (run.completed_at_ms or run.started_at_ms) - run.started_at_ms

        def repeat() -> GlueRun:
            return self.run(only=run.job_name)[run.job_name]

        return recorded_run(
            store, run, job, job.default_arguments, took / 1000 or seconds, WHY, repeat
        )


def synthesized(project: Path, base: Path, context: Mapping[str, str]) -> Path:
    """Return the assembly of a project for a context, created once for all processes of a session.

    Raises:
        UsageError: the project has no app.
        TidemarkError: the app fails.
    """
    if not (project / "cdk.json").is_file():
        raise UsageError(
            f"the fixture pipeline runs the app of the project, and {project} has no cdk.json: run "
            "pytest in the folder that has it"
        )
    folder = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    key = "-".join(f"{name}-{value}" for name, value in sorted(context.items())) or "default"
    out = folder / f"assembly-{key}"
    state = out.with_suffix(".lock")
    with state.open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not state.read_text(encoding="utf-8"):
            synthesize(project, context, out)
            state.write_text("complete", encoding="utf-8")
    return out
