"""A stage in an account of AWS as a target: facts from Glue, CloudWatch and watermark tables.

Glue tells no rows and no warnings. What runs have read and written is known as far as the library
`watermarks` has recorded it in the table of their job.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

from tidemark.errors import DamagedDatabaseError, EntityNotFoundError, TidemarkError, UsageError
from tidemark.local_state.catalog.table_metadata import DEFAULT, parsed_metadata
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.model.assembly.definitions import BOOKMARK_OPTION, ENABLE, SHELL, WATERMARK_TABLE
from tidemark.model.assembly.iceberg import METADATA
from tidemark.model.assembly.intrinsics import ACCOUNT_ID
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.model.checkpoints.from_watermarks import checkpoints_of_job
from tidemark.operate.app_names import JOB, Names
from tidemark.operate.clients import Glue, NotAnsweredError, or_none, translated
from tidemark.operate.job_runs import Run, runs_of_job
from tidemark.operate.logs import ERROR, OUTPUT, lines_of
from tidemark.operate.rewind.deployed import StageRewinds
from tidemark.operate.rewind.facts import COMMIT, JobTrigger, RewindFacts, Track
from tidemark.operate.rewind.rewinds import Rewinds
from tidemark.operate.rewind.tracks import bookmark_track, entry_of
from tidemark.operate.run_facts import RunFacts
from tidemark.operate.target import BookmarkHead, CommittedRun, RunNotes, Target, arguments_of
from tidemark.operate.triggers import triggers_of
from watermarks import WatermarkAdmin, WatermarksError, WatermarkTableError

AT_ONCE = 8  # jobs that AWS is asked about


class Account(Target):
    """A stage in an account."""

    def __init__(self, glue: Glue, assembly: Assembly) -> None:
        self._glue = glue
        self._assembly = assembly
        self.where = glue.where
        self.option = f" --deployed {glue.names.stage}"
        self.region = str(glue.glue.meta.region_name)
        self._definitions: dict[str, Mapping[str, Any] | None] = {}

    @property
    def glue(self) -> Glue:
        """The clients of the account."""
        return self._glue

    @property
    def assembly(self) -> Assembly:
        """The app of the stage."""
        return self._assembly

    @property
    def names(self) -> Names:
        """The jobs and workflows of the stage."""
        return self.glue.names

    @property
    def known_jobs(self) -> Sequence[str]:
        """The jobs of the stage."""
        return self.names.jobs

    def definition(self, job: str) -> Mapping[str, Any] | None:
        """Return the deployed definition of a job; None without one."""
        if job not in self._definitions:
            answer = or_none(self.glue.glue.get_job, JobName=job)
            self._definitions[job] = answer and answer["Job"]
        return self._definitions[job]

    def runs(
        self, jobs: Sequence[str] | None, since: datetime | None = None, limit: int | None = None
    ) -> list[Run]:
        """Return the newest runs of each job; one that is not deployed has none."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            names = self.names.jobs if jobs is None else jobs
            runs_by_job = pool.map(partial(runs_of_job, self.glue, since=since, limit=limit), names)
            return [run for runs in runs_by_job for run in runs]

    def notes(self, run: Run, line_count: int) -> RunNotes:
        """Return the last lines that a run printed; those of its errors, if it printed none."""
        lines = lines_of(self.glue, run, (OUTPUT,)) or lines_of(self.glue, run, (ERROR,))
        return RunNotes(lines=[line.text for line in lines[-line_count:]])

    def checkpoints(self, job: str | None = None) -> list[Checkpoint]:
        """Return what jobs have recorded in their watermark tables; rows are not among it."""
        names = self.names.jobs if job is None else [job]
        records = [record for name in names for record in self._checkpoints(name)]
        return sorted(records, key=attrgetter("committed_at_ms"), reverse=True)

    def _checkpoints(self, job: str) -> list[Checkpoint]:
        with translated(self.where):
            table = arguments_of(self.definition(job)).get(WATERMARK_TABLE)
            if not table:
                return []
            try:
                with self.watermarks(table) as admin:
                    return checkpoints_of_job(job, admin.run_records(job), table)
            except WatermarkTableError as error:
                why = f"{error}; job {job} names the table in {WATERMARK_TABLE}"
                raise UsageError(why) from error
            except WatermarksError as error:
                raise UsageError(str(error)) from error

    def checkpoint(self, run: Run) -> Checkpoint | None:
        """Return the record of a run, with its arguments."""
        records = (record for record in self._checkpoints(run.job) if record.run_id == run.run_id)
        return next((replace(checkpoint, arguments=run.arguments) for checkpoint in records), None)

    def run_facts(self, runs: Sequence[Run]) -> list[RunFacts]:
        """Return Glue's facts about runs that have ended, and their records."""
        jobs = dict.fromkeys(run.job for run in runs)
        recorded = {record.run_id: record for job in jobs for record in self.checkpoints(job)}
        return [self._run_facts(run, recorded.get(run.run_id)) for run in runs]

    def _run_facts(self, run: Run, record: Checkpoint | None) -> RunFacts:
        command = (self.definition(run.job) or {}).get("Command", {})
        facts = RunFacts(
            run.job,
            run.run_id,
            run.state,
            run.started_at_ms,
            self.region,
            self.glue.arn.split(":")[4] if self.glue.arn else ACCOUNT_ID,
            ended_at_ms=run.ended_at_ms,
            error_message=run.message or None,
            is_spark=command.get("Name") != SHELL,
            script=command.get("ScriptLocation", ""),
            workflow_name=run.workflow_name or None,
            workflow_run_id=run.workflow_run_id or None,
        )
        return facts.with_data(record, record.read, record.written) if record else facts

    def bookmark(self, job: str) -> BookmarkHead | None:
        """Return the version of a bookmark: how far it has read is Glue's own affair."""
        entry = self.bookmark_entry(job)
        return None if entry is None else BookmarkHead(int(entry["Version"]))

    def bookmark_entry(self, job: str, run_id: str | None = None) -> Mapping[str, Any] | None:
        """Return the answer of GetJobBookmark."""
        return entry_of(self.glue, job, run_id)

    def committed_runs(self, job: str) -> list[CommittedRun]:
        """Return the runs that are taken to have committed, as Glue keeps them."""
        track = self._bookmark_track(job, self.runs([job]))
        moves = track.moves if track else ()
        return [
            CommittedRun(move.run_id, move.at_ms, state="SUCCEEDED")
            for move in moves
            if move.kind == COMMIT
        ]

    def _bookmark_track(self, job: str, runs: Sequence[Run]) -> Track | None:
        own = [run for run in runs if run.job == job]
        newest_first = sorted(own, key=lambda run: run.started_at_ms, reverse=True)
        return bookmark_track(job, self.bookmark_entry(job), newest_first)

    def _known_track(self, job: str, runs: Sequence[Run]) -> Track | None:
        try:
            return self._bookmark_track(job, runs)
        except NotAnsweredError:
            if arguments_of(self.definition(job)).get(BOOKMARK_OPTION) == ENABLE:
                raise  # a plan without it would say that nothing is read again
            return None

    def no_bookmark_reason(self, job: str) -> TidemarkError:
        """Return the error of a job that has committed none."""
        return EntityNotFoundError(f"job {job} has no bookmark in {self.where}: it committed none")

    def reset_bookmark(self, job: str, run_id: str | None) -> Mapping[str, Any]:
        """Call ResetJobBookmark."""
        self.glue.check_stage(JOB, job)
        request = {"JobName": job, **({"RunId": run_id} if run_id else {})}
        entry: Mapping[str, Any] = self.glue.glue.reset_job_bookmark(**request)["JobBookmarkEntry"]
        return entry

    @cached_property
    def dynamodb(self) -> Any:
        """A client of DynamoDB."""
        return self.glue.client("dynamodb")

    @contextmanager
    def watermarks(self, table: str) -> Iterator[WatermarkAdmin]:
        """Open a table of watermarks of the account."""
        yield WatermarkAdmin(table, self.dynamodb)

    def iceberg_metadata(self, table: str) -> Mapping[str, Any] | None:
        """Return the metadata of a table of the Data Catalog of the account."""
        database, _, name = table.rpartition(".")
        names = {"DatabaseName": database or DEFAULT, "Name": name}
        with translated(self.where):
            answer = or_none(self.glue.glue.get_table, **names)
            place = (answer or {}).get("Table", {}).get("Parameters", {}).get(METADATA)
            if not place:
                return None
            bucket, _, key = place.partition("://")[2].partition("/")
            content = self.glue.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
        try:
            return parsed_metadata(content)
        except ValueError as error:
            raise DamagedDatabaseError(
                f"{place}, the metadata of the table {table} in {self.where}, cannot be read: "
                f"{error}; restore an earlier version of that object, or let {METADATA} of the "
                "table in the Data Catalog name earlier metadata"
            ) from error

    def rewind_facts(self, jobs: Sequence[str], runs: Sequence[Run]) -> RewindFacts:
        """Return the bookmarks of the stage, and the triggers that start a job of it."""
        tracks = [self._known_track(job, runs) for job in jobs]
        starts = [
            JobTrigger(trigger.name, trigger.starts, trigger.after, trigger.workflow)
            for trigger in triggers_of(self.glue)
            if set(self.names.jobs) & set(trigger.starts)
        ]
        meanwhile = "a schedule or an event of the stage may start runs: none is paused"
        definitions = {job: self.definition(job) or {} for job in jobs}
        return RewindFacts(
            jobs,
            starts,
            [*filter(None, tracks)],
            runs=runs,
            schedules=[meanwhile],
            created_at_ms={
                job: int(definition["CreatedOn"].timestamp() * 1000)
                for job, definition in definitions.items()
                if "CreatedOn" in definition
            },
        )

    @cached_property
    def rewinds(self) -> Rewinds:
        """The rewinds of the stage, recorded in one of its watermark tables."""
        jobs = self.names.jobs
        tables = [arguments_of(self.definition(job)).get(WATERMARK_TABLE) for job in jobs]
        return StageRewinds(self.glue, self.dynamodb, min(filter(None, tables), default=None))
