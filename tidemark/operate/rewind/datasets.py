"""Which jobs are downstream: they read what others write, or a trigger starts them after."""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tidemark.model.assembly.definitions import is_filling
from tidemark.model.checkpoints.checkpoint import (
    APPEND,
    OVERWRITE,
    PARTITIONS,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    Position,
)
from tidemark.operate.rewind.facts import RewindFacts


@dataclass(frozen=True)
class DataFlow:
    """One job reads what another one writes."""

    writer: str
    reader: str
    written: DatasetWritten
    read: DatasetRead


@dataclass(frozen=True)
class Datasets:
    """What the jobs read and write, as far as their checkpoints tell.

    Attributes:
        read: by job, the last read of each dataset and source.
        written: by job, the last write of each dataset.
        flows: from job to job, each pair of a write and a read that meet.
    """

    read: Mapping[str, Sequence[DatasetRead]]
    written: Mapping[str, Sequence[DatasetWritten]]
    flows: Sequence[DataFlow]

    def into(self, job: str) -> list[DataFlow]:
        """Return the flows into a job."""
        return [flow for flow in self.flows if flow.reader == job]

    def out_of(self, job: str) -> list[DataFlow]:
        """Return the flows out of a job."""
        return [flow for flow in self.flows if flow.writer == job]


def meets(written: DatasetWritten, read: DatasetRead) -> bool:
    """Return whether a reader reads a writer's output: one folder in the other, or one table."""
    if written.table and written.table == read.table:
        return True
    one, other = _place(written.dataset), _place(read.dataset)
    if one.startswith("s3://") and other.startswith("s3://"):
        return one.startswith(other) or other.startswith(one)
    return one == other


def _place(dataset: str) -> str:
    for scheme in ("s3a://", "s3n://"):
        if dataset.startswith(scheme):
            dataset = "s3://" + dataset.removeprefix(scheme)
    if not dataset.startswith("s3://"):
        return dataset
    name = dataset.rpartition("/")[2]
    return dataset if dataset.endswith("/") or "." in name else f"{dataset}/"


def datasets_of(facts: RewindFacts) -> Datasets:
    """Return what jobs read and write; the newest checkpoint that names a dataset counts.

    A run that fills a range may read and write in other ways than the incremental runs that follow
    a rewind: it counts only for a job that has no other. Where no checkpoint says what a job reads,
    or writes, what the template declares counts.
    """
    jobs = facts.jobs
    read, written = last_datasets(jobs, facts.checkpoints)
    for job in jobs:
        # One with a bookmark is taken to read by that.
        tracks = facts.tracks_of(job)
        position: Position | None = {"kind": "keys", "values": {}} if tracks else None
        if any(track.is_bookmark for track in tracks):
            position = {"kind": "files"}
        reads = facts.declared_reads.get(job, ())
        read[job] = read[job] or [DatasetRead(uri, after=position) for uri in reads]
        writes = facts.declared_writes.get(job, ())
        written[job] = written[job] or [DatasetWritten(uri) for uri in writes]
    return joined(read, written)


def last_datasets(
    jobs: Iterable[str], checkpoints: Sequence[Checkpoint]
) -> tuple[dict[str, list[DatasetRead]], dict[str, list[DatasetWritten]]]:
    """Return what each job reads and writes, by its checkpoints."""
    incremental = {record.job_name for record in checkpoints if not is_filling(record.arguments)}
    checkpoints = [
        checkpoint
        for checkpoint in checkpoints
        if checkpoint.job_name not in incremental or not is_filling(checkpoint.arguments)
    ]
    by_watermark = {checkpoint.job_name for checkpoint in checkpoints if checkpoint.watermarks}
    by_snapshots = {record.job_name for record in checkpoints if reads_by_snapshots(record)}
    read: dict[str, dict[tuple[str, str], DatasetRead]] = {job: {} for job in jobs}
    written: dict[str, dict[str, DatasetWritten]] = {job: {} for job in read}
    for checkpoint in checkpoints:
        if checkpoint.job_name in read:
            for data in _with_positions(checkpoint, by_watermark, by_snapshots):
                of_job = read[checkpoint.job_name]
                last = of_job.get((data.dataset, data.source))
                is_less = last is not None and is_tracked(last) and not is_tracked(data)
                of_job[data.dataset, data.source] = last if last and is_less else data
            written[checkpoint.job_name] |= {write.dataset: write for write in checkpoint.written}
    return (
        {job: list(by_key.values()) for job, by_key in read.items()},
        {job: list(by_key.values()) for job, by_key in written.items()},
    )


def joined(
    read: Mapping[str, Sequence[DatasetRead]], written: Mapping[str, Sequence[DatasetWritten]]
) -> Datasets:
    """Return the reads and writes of the same jobs, with each pair of a write and its read."""
    flows = [
        DataFlow(writer, reader, write, read_by_reader)
        for writer in written
        for reader in read
        if writer != reader
        for write in written[writer]
        for read_by_reader in read[reader]
        if meets(write, read_by_reader)
    ]
    return Datasets(read, written, flows)


def _with_positions(
    one: Checkpoint, by_watermark: Collection[str], by_snapshots: Collection[str]
) -> list[DatasetRead]:
    """Return the reads of a run; a job with watermarks reads untracked data by them."""
    if one.job_name not in by_watermark:
        return list(one.read)
    by_keys: Position = {"kind": "keys", "values": {}}
    of_tables = BY_SNAPSHOTS if one.job_name in by_snapshots else by_keys
    return [
        read
        if is_tracked(read)
        else replace(read, after=of_tables if read.dataset.startswith(TABLE) else by_keys)
        for read in one.read
    ]


def is_tracked(read: DatasetRead) -> bool:
    """Return whether a bookmark or a watermark records how far it has been read."""
    return read.before is not None or read.after is not None


def downstream_of(facts: RewindFacts, datasets: Datasets, jobs: Iterable[str]) -> list[str]:
    """Return the jobs after some, by datasets or by triggers, in the order of the template."""
    reached = set(jobs)
    todo = list(reached)
    while todo:
        job = todo.pop()
        followers = {flow.reader for flow in datasets.out_of(job)}
        followers |= {name for start in facts.starts if job in start.after for name in start.jobs}
        for name in followers - reached:
            reached.add(name)
            todo.append(name)
    return [job for job in facts.jobs if job in reached and job not in set(jobs)]


SNAPSHOTS = "snapshots"  # the kind of a position
BY_SNAPSHOTS: Position = {"kind": SNAPSHOTS, "values": {}}
FAILS = (
    "the table goes back to before what it has read there: its next run fails with "
    "SnapshotRolledBackError"
)
# The value of a cursor of snapshots, as the library writes it: sequence number, id, table's UUID.
_VALUE = re.compile(r"\d{12,}/-?\d+/[0-9a-f-]{36}")


def reads_by_snapshots(one: Checkpoint) -> bool:
    """Return whether a run has moved a watermark over the snapshots of a table."""
    return any(_VALUE.fullmatch(value) for move in one.watermarks for value in move.after.values())


def is_by_snapshots(read: DatasetRead) -> bool:
    """Return whether a read goes from snapshot to snapshot."""
    return (read.after or read.before or {}).get("kind") == SNAPSHOTS


def goes_back(writer: str, written: DatasetWritten, cleared: Collection[str]) -> bool:
    """Return whether a rewind takes a table back that a job writes; some jobs are cleared."""
    is_appended = written.dataset.startswith(TABLE) and written.mode == APPEND
    return writer in cleared and is_appended


Transforms: TypeAlias = Callable[[DatasetWritten], Sequence[str] | None]
"""The transforms of the partitions of a table that a write has replaced; None if not known."""

TABLE = "table:"  # how a dataset begins that is a table of Iceberg
_DAY_TRANSFORMS = ("identity", "day", "hour")


def with_whole_tables(
    checkpoints: Iterable[Checkpoint], transforms: Transforms
) -> list[Checkpoint]:
    """Return checkpoints in which what replaces partitions of a table without any replaces all."""
    return [
        replace(
            checkpoint,
            written=tuple(
                replace(write, mode=OVERWRITE) if _transforms_of(write, transforms) == () else write
                for write in checkpoint.written
            ),
        )
        for checkpoint in checkpoints
    ]


def coarse_partition(write: DatasetWritten, transforms: Transforms) -> str:
    """Return by what the partitions are that a write replaces, if they may have several days."""
    names = _transforms_of(write, transforms) or ()
    return "" if any(transform in _DAY_TRANSFORMS for transform in names) else ", ".join(names)


def _transforms_of(write: DatasetWritten, transforms: Transforms) -> tuple[str, ...] | None:
    if write.mode != PARTITIONS or not write.dataset.startswith(TABLE):
        return None
    names = transforms(write)
    return None if names is None else tuple(names)
