"""The home of this machine as a target: the records in its state, whoever serves it.

Facts are read from the state database itself, as the next engine will find it. That is true while
another process serves the home, for each change is one transaction, which readers see whole; and it
has rows, warnings, and how far a bookmark has read, which no operation of Glue tells. What starts
or stops something goes through a Glue that serves the home.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from tidemark.errors import EntityNotFoundError, TidemarkError, UsageError
from tidemark.glue_service.commands import App, region
from tidemark.glue_service.entities import EntityKind, list_entities
from tidemark.glue_service.read_only_store import ReadOnlyStore
from tidemark.glue_service.runs.run_requests import run_requests
from tidemark.glue_service.runs.skip import REASON_FILE
from tidemark.glue_service.state_machines.execution_rows import Execution, all_executions
from tidemark.glue_service.submitted import find_job, submitted_jobs
from tidemark.local_state.bookmarks.api import entry_of, reset_job_bookmark
from tidemark.local_state.bookmarks.explain import no_bookmark_reason
from tidemark.local_state.bookmarks.versions import (
    bookmark_of_run,
    contexts_of_last_commit,
    latest_bookmark,
    successful_runs,
)
from tidemark.local_state.catalog.table_metadata import (
    has_replaced_partitions,
    metadata_or_none,
    read_metadata,
    transforms_of,
)
from tidemark.local_state.catalog.tables import table_or_none
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint, may_have_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import (
    checkpoint_of_run,
    stored_checkpoints,
    uncommitted_checkpoints,
)
from tidemark.local_state.store.database import Store
from tidemark.local_state.store.stored_warnings import (
    ShowWarnings,
    StoredWarning,
    open_warnings,
    show_unseen,
    texts_of_run,
)
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.model.assembly.iceberg import METADATA
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetWritten
from tidemark.model.clock import now_ms
from tidemark.operate.app_names import Names
from tidemark.operate.clients import Glue
from tidemark.operate.home_runs import last_lines, run_of_record
from tidemark.operate.job_runs import Run
from tidemark.operate.recorded_runs import facts_of_ended
from tidemark.operate.rewind.cleared import Cleared, cleared_here
from tidemark.operate.rewind.facts import JobTrigger, RewindFacts
from tidemark.operate.rewind.home_rewinds import HomeRewinds, bookmark_track
from tidemark.operate.rewind.rewinds import Rewinds
from tidemark.operate.run_facts import RunFacts
from tidemark.operate.target import BookmarkHead, CommittedRun, RunNotes, Target
from watermarks import WatermarkAdmin, WatermarkTableError


class HomeTarget(Target):
    """The home of this machine."""

    option = ""
    has_rows = True
    has_positions = True
    has_streaming = False
    can_clear = True

    def __init__(
        self,
        home: Home,
        stack: ExitStack,
        glue: AbstractContextManager[Glue],
        read_app: Callable[[], App],
        *,
        reads_app: bool,
    ) -> None:
        """Work on a home until ``stack`` is closed; serve it and read its app when needed."""
        self.home = home
        self.where = str(home.shown)
        self.region = region()
        self._stack = stack
        self._glue = glue
        self._read_app = read_app
        self._reads_app = reads_app

    @cached_property
    def store(self) -> ReadOnlyStore:
        """The state, to be read."""
        store = ReadOnlyStore(self.home.database, is_held=self.home.is_held())
        self._stack.callback(store.close)
        return store

    @cached_property
    def glue(self) -> Glue:
        """Clients of the Glue that serves the home, or of one of this command's own."""
        return self._stack.enter_context(self._glue)

    @cached_property
    def app(self) -> App:
        """The app that was synthesized last, or that the command names."""
        return self._read_app()

    @property
    def assembly(self) -> Assembly:
        """The stacks of that app."""
        return self.app.assembly

    @cached_property
    def names(self) -> Names:
        """The jobs and workflows that are defined here."""
        kinds = EntityKind.JOB, EntityKind.WORKFLOW
        entities_by_kind = [list_entities(self.store, kind) for kind in kinds]
        jobs, workflows = (
            tuple(entity.name for entity in entities) for entities in entities_by_kind
        )
        return Names((*jobs, *self.submitted), workflows)

    @cached_property
    def submitted(self) -> Sequence[str]:
        """The scripts that `tidemark submit` has run, by the names of their runs."""
        return submitted_jobs(self.store)

    @property
    def known_jobs(self) -> Sequence[str]:
        """The jobs that were deployed here, have run here or have a bookmark here."""
        return self.store.known_jobs()

    def definition(self, job: str) -> Mapping[str, Any] | None:
        """Return a job of the app, if the command reads one, else its definition here."""
        jobs = self.app.deployment.jobs if self._reads_app else {}
        if job not in jobs:
            if self._reads_app and job not in self.submitted:
                raise UsageError(f"the app has no job {job!r}; it has {', '.join(sorted(jobs))}")
            entity = find_job(self.store, job)
            return None if entity is None else entity.definition
        job_definition = jobs[job]
        return {
            "DefaultArguments": job_definition.default_arguments,
            "NonOverridableArguments": job_definition.non_overridable_arguments,
            "ExecutionProperty": {"MaxConcurrentRuns": job_definition.max_concurrent_runs},
        }

    def runs(
        self, jobs: Sequence[str] | None, since: datetime | None = None, limit: int | None = None
    ) -> list[Run]:
        """Return the newest runs of each job, also of scripts that were submitted."""
        begin_ms = since.timestamp() * 1000 if since else 0
        if jobs is None:
            known = [self.store.all_job_runs()]
        else:
            known = [self.store.job_runs_of_job(job) for job in jobs]
        recent = [run for runs in known for run in runs[:limit] if run.started_at_ms >= begin_ms]
        ids = [run.run_id for run in recent]
        requests = run_requests(self.store, ids)
        uncommitted = uncommitted_checkpoints(self.store, ids)
        again = {checkpoint.run_id for checkpoint in uncommitted if checkpoint.is_read_again}
        return [
            run_of_record(run, requests[run.run_id], is_read_again=run.run_id in again)
            for run in recent
        ]

    def notes(self, run: Run, line_count: int) -> RunNotes:
        """Return the warnings of a run, the end of its log, and why it was not skipped."""
        record = self.store.job_run(run.run_id)
        folder = Path(record.log_path).parent if record else self.home.runs / run.run_id
        reason = folder / REASON_FILE
        return RunNotes(
            tuple(texts_of_run(self.store, run.run_id)),
            tuple(last_lines(folder, run.message, line_count)),
            reason.read_text(encoding="utf-8") if reason.is_file() else "",
        )

    def checkpoints(self, job: str | None = None) -> list[Checkpoint]:
        """Return what runs have recorded, with rows and files."""
        return stored_checkpoints(self.store, job)

    def checkpoint(self, run: Run) -> Checkpoint | None:
        """Return the record of a run."""
        return checkpoint_of_run(self.store, run.run_id)

    def run_facts(self, runs: Sequence[Run]) -> list[RunFacts]:
        """Return the records of runs that have ended, with tables of the Data Catalog."""
        return facts_of_ended(self.home, [run.run_id for run in runs])

    def bookmark(self, job: str) -> BookmarkHead | None:
        """Return the bookmark of a job; it is as far as the source that was read least far."""
        bookmark = latest_bookmark(self.store, job)
        if bookmark is None:
            return None
        contexts = contexts_of_last_commit(self.store, job)
        states = [state for ctx, state in bookmark.states.items() if ctx in contexts]
        states = states or list(bookmark.states.values())
        edges = [state["high_ms"] for state in states if "high_ms" in state]
        return BookmarkHead(bookmark.version, min(edges, default=None))

    def bookmark_entry(self, job: str, run_id: str | None = None) -> Mapping[str, Any] | None:
        """Return what GetJobBookmark answers for a job, also of a script that was submitted."""
        bookmark = (
            bookmark_of_run(self.store, job, run_id) if run_id else latest_bookmark(self.store, job)
        )
        return None if bookmark is None else entry_of(bookmark)

    def committed_runs(self, job: str) -> list[CommittedRun]:
        """Return the runs that have committed the bookmark, as it keeps them."""
        return [
            CommittedRun(
                version.run_id,
                version.committed_at_ms,
                version.run,
                run.state if run else None,
                run.rows_read if run else None,
            )
            for version, run in successful_runs(self.store, job)
        ]

    def no_bookmark_reason(self, job: str) -> TidemarkError:
        """Return the error that tells why a job has no bookmark, and what it keeps instead."""
        return EntityNotFoundError(no_bookmark_reason(self.store, job))

    def reset_bookmark(self, job: str, run_id: str | None) -> Mapping[str, Any]:
        """Set a bookmark back, in one transaction, whoever serves the home."""
        request = {"JobName": job, **({"RunId": run_id} if run_id else {})}
        with Store(self.home.database) as store:
            answer = reset_job_bookmark(store, request, now_ms())
        entry: Mapping[str, Any] = answer["JobBookmarkEntry"]
        return entry

    def arrived(self, uri: str) -> int | None:
        """Return when a file arrived; nothing can change that time.

        A file of S3 has the time of its arrival; one that `cp -p` or `mv` brings here has its own.
        """
        try:
            return self.home.local_path(uri).stat().st_ctime_ns // 1_000_000
        except (OSError, TidemarkError):
            return None

    def transforms(self, written: DatasetWritten) -> Sequence[str] | None:
        """Return by what the partitions are that a write has replaced, as its snapshots say."""
        database, _, name = written.dataset.removeprefix("table:").partition(".")
        catalog_table = table_or_none(self.store, database, name)
        if (
            catalog_table is None
            or not catalog_table.is_iceberg
            or METADATA not in catalog_table.parameters
        ):
            return None
        metadata = read_metadata(self.home, catalog_table.parameters[METADATA])
        is_theirs = has_replaced_partitions(metadata, written.snapshots)
        return transforms_of(metadata) if is_theirs else None

    @contextmanager
    def watermarks(self, table: str) -> Iterator[WatermarkAdmin]:
        """Open a table of watermarks of the home; nothing is started where none was ever made."""
        if not may_have_tables(self.home):
            raise WatermarkTableError(f"there is no table {table} in {self.where}", "not_found")
        with (
            dynamodb_endpoint(self.home) as endpoint,
            dynamodb_client(endpoint, self.region) as dynamodb,
        ):
            yield WatermarkAdmin(table, dynamodb)

    def iceberg_metadata(self, table: str) -> Mapping[str, Any] | None:
        """Return the metadata of a table of the Data Catalog of the home."""
        return metadata_or_none(self.home, self.store, table)

    def warnings(self) -> list[StoredWarning]:
        """Return the warnings that no later run has resolved."""
        return open_warnings(self.store)

    def show_unseen(self, show: ShowWarnings) -> None:
        """Show the warnings of earlier runs; a command that runs jobs now shows its own."""
        if not self.home.is_held():
            with Store(self.home.database) as store:
                show_unseen(store, show)

    def starts(self) -> list[str]:
        """Return which schedules and events start workflows on AWS, and the last executions."""
        deployment = self.app.deployment
        by_event = [
            trigger.workflow_name for trigger in deployment.triggers if trigger.type == "EVENT"
        ]
        return [
            *(f"On AWS, events start {name}; here, tidemark run." for name in by_event),
            *(
                f"On AWS, {schedule.expression} in {schedule.time_zone} starts "
                f"{schedule.workflow_name}; here, tidemark run."
                for schedule in deployment.schedules
            ),
            *(
                f"State machine {arn.rpartition(':')[2]}: {last.name} {last.status}; "
                f"tidemark runs --machine {arn.rpartition(':')[2]} shows its steps."
                for arn, last in self._last_executions().items()
            ),
        ]

    def _last_executions(self) -> dict[str, Execution]:
        return {execution.machine: execution for execution in all_executions(self.store)}

    def rewind_facts(self, jobs: Sequence[str], runs: Sequence[Run]) -> RewindFacts:
        """Return the bookmarks with every version, the triggers of the app, and other jobs."""
        deployment = self.app.deployment
        stacks = self.store.query("SELECT job_name, stack_name FROM deployed_job")
        ran = self.store.query("SELECT DISTINCT job_name FROM job_run")
        others = {row["job_name"]: "another app or a script of its own" for row in ran}
        others |= {row["job_name"]: f"stack {row['stack_name']}" for row in stacks}
        starts = [
            JobTrigger(
                trigger.name,
                tuple(action.job_name for action in trigger.actions),
                tuple(condition.job_name for condition in trigger.conditions),
                trigger.workflow_name or "",
            )
            for trigger in deployment.triggers
        ]
        return RewindFacts(
            jobs,
            starts,
            [track for job in jobs if (track := bookmark_track(self.store, job))],
            runs=runs,
            schedules=[
                f"{schedule.workflow_name} is started by {schedule.expression} "
                f"({schedule.time_zone}) on AWS, not here"
                for schedule in deployment.schedules
            ],
            others={job: where for job, where in others.items() if job not in jobs},
            created_at_ms={
                job.name: job.created_at_ms for job in list_entities(self.store, EntityKind.JOB)
            },
        )

    def cleared(self) -> Sequence[Cleared]:
        """Return the output that rewinds have deleted, and that no undo has brought back."""
        return cleared_here(self.store)

    @cached_property
    def rewinds(self) -> Rewinds:
        """The rewinds of the home, recorded in its state."""
        store = self._stack.enter_context(Store(self.home.database))
        return HomeRewinds(self.home, store, self.watermarks)
