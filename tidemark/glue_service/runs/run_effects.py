"""Reads what an ended run has done: from its folder, and the table of its watermarks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.errors import DiskFullError
from tidemark.glue_job.process.commit_record import read_facts
from tidemark.glue_job.process.spark import EVENTS_FOLDER
from tidemark.glue_service.runs.row_counts import RowCounts, read_row_counts
from tidemark.local_state.dynamodb import dynamodb_client
from tidemark.local_state.observed_schemas import noted_schemas
from tidemark.local_state.run_notes import noted_reads, noted_writes, snapshots_of
from tidemark.local_state.store.checkpoints import checkpoint_of_run
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import WATERMARK_TABLE
from tidemark.model.checkpoints.checkpoint import DatasetRead, DatasetWritten, WatermarkMove
from tidemark.model.checkpoints.from_watermarks import moves_of, reads_of, writes_of
from tidemark.model.checkpoints.schemas import Schema

LIBRARY = b"watermarks"  # imported by the script of a job that keeps watermarks


class LibraryRecords(NamedTuple):
    """The records of the watermark library about one run."""

    moves: tuple[WatermarkMove, ...] = ()
    read: tuple[DatasetRead, ...] = ()
    written: tuple[DatasetWritten, ...] = ()


@dataclass(frozen=True)
class RunEffects:
    """What an ended run has done.

    Attributes:
        counts: Spark's counts; None for a run without Spark.
        facts: ``arguments``, ``code`` and ``committed_reads``; empty if the script did not end
            normally.
        read: datasets read without Spark's knowledge.
        written: datasets written without it.
        snapshots: those that it has added to tables of Iceberg.
        schemas: of what its process has read and written.
        library: records of the watermark library.
        problem: why these could not be read; empty if they could.
    """

    counts: RowCounts | None = None
    facts: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    read: Sequence[DatasetRead] = ()
    written: Sequence[DatasetWritten] = ()
    snapshots: Sequence[Mapping[str, Any]] = ()
    schemas: tuple[Schema, ...] = ()
    library: LibraryRecords = field(default_factory=LibraryRecords)
    problem: str = ""


def read_effects(
    store: Store,
    run: JobRun,
    counts: RowCounts | None = None,
    dynamodb: tuple[str, str] | None = None,
) -> RunEffects:
    """Return what a run has done; changes nothing."""
    folder = Path(run.log_path).parent
    effects = RunEffects()
    try:
        if not folder.is_dir():  # it never started
            return effects
        counts = counts or read_row_counts(folder / EVENTS_FOLDER)
        reads, writes = noted_reads(folder), noted_writes(folder)
        notes = reads, writes, snapshots_of(folder), noted_schemas(folder)
        effects = RunEffects(counts, read_facts(folder), *notes)
        scripts = folder.glob("*.py")
        if dynamodb is None or not any(LIBRARY in script.read_bytes() for script in scripts):
            return effects
        checkpoint = checkpoint_of_run(store, run.run_id)
        arguments = checkpoint.arguments if checkpoint else effects.facts.get("arguments", {})
        library = library_records(*dynamodb, run.job_name, run.run_id, arguments)
        return replace(effects, library=library)
    except DiskFullError:
        # The end is recorded when there is room.
        raise
    except Exception as error:  # noqa: BLE001 (files that a script left, a table that it broke)
        return replace(effects, problem=f"{type(error).__name__}: {error}")


def library_records(
    endpoint: str, region: str, job_name: str, run_id: str, arguments: Mapping[str, str]
) -> LibraryRecords:
    """Return what a run has recorded in the table of its argument, or in the library's own."""
    from watermarks import TABLE_NAME, WatermarkAdmin, WatermarkTableError  # few jobs have any

    table = arguments.get(WATERMARK_TABLE) or TABLE_NAME
    with dynamodb_client(endpoint, region) as client:
        try:
            records = WatermarkAdmin(table, client).run_records(job_name, run_id)
        except WatermarkTableError as error:
            if error.reason == "not_found":
                return LibraryRecords()
            raise
    return LibraryRecords(moves_of(records, table), reads_of(records), writes_of(records))
