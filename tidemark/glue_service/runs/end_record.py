"""Completes the checkpoint of an ended run: what it wrote, which rows, what it moved."""

import re
from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.glue_service.runs.row_counts import RowCounts
from tidemark.glue_service.runs.run_effects import RunEffects
from tidemark.glue_service.runs.spark_datasets import A_QUERY, DATABASE, MORE, Scan
from tidemark.local_state.bookmarks.datasets_read import reads_of_run
from tidemark.local_state.store.checkpoints import checkpoint_of_run, put_checkpoint
from tidemark.local_state.store.database import JobRun, Store
from tidemark.local_state.store.stored_warnings import keep_warnings
from tidemark.model.checkpoints.checkpoint import (
    OVERWRITE,
    PARTITIONS,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
)
from tidemark.model.checkpoints.merging import merged_writes
from tidemark.model.checkpoints.schemas import READ, Schema

ON_THEIR_WAY = re.compile(r"#.*tidemark_[0-9a-f]{32}_[0-9]+")


def record_end(store: Store, run: JobRun, effects: RunEffects) -> JobRun:
    """Record the end of a run and complete its checkpoint; call it in a transaction.

    A run that has committed has one. A run that SUCCEEDED without a commit, or moved its
    watermarks, gets one; others have none. Returns the recorded run: its rows are unknown
    if neither Spark nor the checkpoint knows that there were none.
    """
    store.put_job_run(run)
    checkpoint = checkpoint_of_run(store, run.run_id)
    if checkpoint is None and run.state != "SUCCEEDED" and not effects.library.moves:
        return run
    try:
        complete = _completed(store, run, checkpoint, effects)
    except (AttributeError, LookupError, TypeError, ValueError) as error:  # a script's own files
        # Its watermarks have moved, whatever its files say: a rewind must know that.
        effects = RunEffects(library=effects.library, problem=f"{type(error).__name__}: {error}")
        complete = _completed(store, run, checkpoint, effects)
    put_checkpoint(store, complete)
    if effects.problem:
        text = f"not all of what the run has done is in its checkpoint: {effects.problem}"
        keep_warnings(store, run.run_id, [text])
    if effects.counts is not None:
        run = with_known_rows(run, complete, is_whole=effects.counts.is_whole)
        store.put_job_run(run)
    return run


def _completed(
    store: Store, run: JobRun, checkpoint: Checkpoint | None, effects: RunEffects
) -> Checkpoint:
    checkpoint = checkpoint or Checkpoint(
        job_name=run.job_name,
        run_id=run.run_id,
        committed_at_ms=run.completed_at_ms or run.started_at_ms,
        workflow_run_id=run.workflow_run_id or "",
        read=reads_of_run(store, run.job_name, run.run_id),
        arguments=effects.facts.get("arguments", {}),
        code=effects.facts.get("code", {}),
        is_committed=bool(effects.library.moves),
    )
    counts = effects.counts or RowCounts()
    others = [*effects.read, *(read for read in effects.library.read if not read.is_committed)]
    reads = with_scans(
        with_others(checkpoint.read, others),
        counts.scans,
        counts.rows_read if counts.rows_read or counts.is_whole else None,
    )
    written = with_library(
        merged_writes([*counts.writes, *effects.written]), effects.library.written
    )
    return replace(
        checkpoint,
        watermarks=effects.library.moves,
        read=with_committed(reads, counts.scans, effects.facts.get("committed_reads", {})),
        written=with_snapshots(written, effects.snapshots),
        schemas=with_rows(effects.schemas, written),
    )


def with_rows(schemas: Sequence[Schema], writes: Sequence[DatasetWritten]) -> tuple[Schema, ...]:
    """Return the schemas of a run without those of targets that got no row."""
    empty = {write.dataset for write in writes if write.rows == 0}
    return tuple(seen for seen in schemas if seen.role == READ or seen.dataset not in empty)


def with_known_rows(run: JobRun, checkpoint: Checkpoint, *, is_whole: bool) -> JobRun:
    """Return a run without rows where Spark saw none, unless there certainly were none.

    That is certain if Spark's counts are complete, the run opened a source, and none of its sources
    had new data. Otherwise the rows come from the checkpoint.
    """
    if run.rows_read or run.rows_written or (is_whole and checkpoint.read):
        return run
    if checkpoint.has_read_nothing and not checkpoint.written:
        return run
    return replace(
        run,
        rows_read=_sum([dataset.rows for dataset in checkpoint.read]),
        rows_written=_sum([dataset.rows for dataset in checkpoint.written]),
    )


def _sum(rows: Sequence[int | None]) -> int | None:
    known = [count for count in rows if count is not None]
    return sum(known) if known and len(known) == len(rows) else None


def with_snapshots(
    writes: Sequence[DatasetWritten], snapshots: Sequence[Mapping[str, Any]]
) -> tuple[DatasetWritten, ...]:
    """Return the writes of a run with the snapshots that they have added to tables of Iceberg."""
    ids: dict[str, tuple[str, ...]] = {}
    for snapshot in snapshots:
        ids[snapshot["table"]] = (*ids.get(snapshot["table"], ()), snapshot["id"])
    # A table whose every commit has kept rows was not replaced: only its partitions were.
    partial = ids.keys() - {s["table"] for s in snapshots if not _has_kept_rows(s)}
    seen_by_spark = {write.dataset for write in writes}
    others = [DatasetWritten(f"table:{name}", table=name) for name in ids]
    complete = []
    for write in (*writes, *(noted for noted in others if noted.dataset not in seen_by_spark)):
        name = write.dataset.removeprefix("table:")
        mode = PARTITIONS if write.mode == OVERWRITE and name in partial else write.mode
        complete.append(replace(write, mode=mode, snapshots=ids.get(name, ())))
    return tuple(complete)


def _has_kept_rows(snapshot: Mapping[str, Any]) -> bool:
    summary = snapshot.get("summary") or {}
    total, added = (int(summary.get(name, 0)) for name in ("total-records", "added-records"))
    return total > added


def with_others(
    reads: Sequence[DatasetRead], others: Sequence[DatasetRead]
) -> tuple[DatasetRead, ...]:
    """Return the reads of a run, and the other reads that are of another dataset."""
    known = _datasets(reads)
    return (*reads, *(read for read in others if read.dataset not in known))


def with_library(
    writes: Sequence[DatasetWritten], noted: Sequence[DatasetWritten]
) -> tuple[DatasetWritten, ...]:
    """Return the writes of a run: counts by Spark, modes by the library for its own writes.

    Staging tables of the library are left out.
    """
    modes = {write.dataset: write for write in noted}
    known = [
        replace(write, mode=modes.pop(write.dataset).mode) if write.dataset in modes else write
        for write in writes
        if not ON_THEIR_WAY.search(write.dataset)
    ]
    rows = [write.rows for write in writes if ON_THEIR_WAY.search(write.dataset)]
    is_theirs = len(modes) == 1 and rows
    return (
        *known,
        *(replace(write, rows=rows[0] if is_theirs else None) for write in modes.values()),
    )


def with_scans(
    reads: Sequence[DatasetRead], scans: Sequence[Scan], rows_read: int | None
) -> tuple[DatasetRead, ...]:
    """Return the reads of a run's sources with their rows, and Spark's other scans.

    A source reads single files: a scan of its whole folder is not its own. A query belongs to a
    source that reads a database, if there is one.
    """
    rows: dict[str, int] = {}
    others: list[DatasetRead] = []
    names = sorted({read.dataset for read in reads}, key=len, reverse=True)
    knows_database = any(read.dataset.startswith("jdbc:") for read in reads)
    for scan in scans:
        # It may stand for several queries, so that its rows are not known.
        if scan.dataset == A_QUERY:
            others += [] if knows_database else [DatasetRead(A_QUERY)]
            continue
        name = next((name for name in names if _is_in(scan.dataset, name)), None)
        is_of_source = name is not None and (scan.dataset != name or not name.endswith("/"))
        if name is not None and is_of_source:
            rows[name] = rows.get(name, 0) + (scan.rows or 0)
        else:
            others.append(
                DatasetRead(scan.dataset, table=scan.table, files=scan.files, rows=scan.rows)
            )
        for place in scan.others:
            is_known = any(_is_in(place, dataset) for dataset in (*names, *_datasets(others)))
            if not is_known and not (place == MORE and name is not None):
                others.append(DatasetRead(place))
    if len(reads) == 1 and not scans and reads[0].files != 0 and rows_read is not None:
        rows[reads[0].dataset] = rows_read
    counts_of = Counter(read.dataset for read in reads)
    known = [
        replace(read, rows=0 if read.files == 0 else rows.get(read.dataset, read.rows))
        if read.rows is None and counts_of[read.dataset] == 1
        else read
        for read in reads
    ]
    return (*known, *others)


def with_committed(
    reads: Sequence[DatasetRead], scans: Sequence[Scan], noted: Container[str]
) -> tuple[DatasetRead, ...]:
    """Return the reads of a run, and which of them were committed windows only."""
    windows = {scan.dataset for scan in scans if scan.is_of_windows and scan.dataset in noted}
    whole = {scan.dataset for scan in scans if not scan.is_of_windows}
    return tuple(
        replace(read, is_committed=True)
        if read.dataset in windows - whole and not read.source
        else read
        for read in reads
    )


def _datasets(reads: Sequence[DatasetRead]) -> set[str]:
    return {read.dataset for read in reads}


def _is_in(dataset: str, folder: str) -> bool:
    if dataset.startswith(DATABASE):  # Spark does not tell
        return folder.startswith("jdbc:") and folder.endswith(dataset.removeprefix("jdbc:"))
    return dataset.rstrip("/") == folder.rstrip("/") or dataset.startswith(
        folder if folder.endswith("/") else f"{folder}/"
    )
