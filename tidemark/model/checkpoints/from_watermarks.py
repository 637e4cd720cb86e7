"""The records of the library `watermarks` about runs, as checkpoints."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from tidemark.model.checkpoints.checkpoint import (
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)

if TYPE_CHECKING:
    from watermarks import RunRecord


def move_of(record: "RunRecord", table: str) -> WatermarkMove:
    """Return the changes of a run to watermarks."""
    return WatermarkMove(
        table,
        record.source,
        before=strings_of(record.before) if record.before else None,
        after=strings_of(record.watermarks),
        before_version=record.before_version,
        after_version=record.version,
        windows=tuple(
            {
                "cursor": window.cursor,
                "window_id": window.window_id,
                "low": None if window.low is None else str(window.low),
                "high": str(window.high),
            }
            for window in record.windows
        ),
    )


def moves_of(records: Iterable["RunRecord"], table: str) -> tuple[WatermarkMove, ...]:
    """Return the changes of a run to the watermarks of its job and its sources."""
    in_order = sorted(records, key=lambda record: record.source)
    return tuple(move_of(record, table) for record in in_order if record.version)


def reads_of(records: Iterable["RunRecord"]) -> tuple[DatasetRead, ...]:
    """Return the datasets that the library has seen a run read."""
    reads: dict[str, DatasetRead] = {}
    committed: dict[str, DatasetRead] = {}
    for record in records:
        for dataset in record.notes.get("read", ()):
            reads.setdefault(dataset, DatasetRead(dataset, record.source))
        for dataset in record.notes.get("committed", ()):
            committed.setdefault(dataset, DatasetRead(dataset, is_committed=True))
    return (*reads.values(), *(committed[key] for key in committed if key not in reads))


def writes_of(records: Iterable["RunRecord"]) -> tuple[DatasetWritten, ...]:
    """Return the datasets that the library has seen a run write."""
    values: dict[str, Any] = {}
    for record in records:
        values |= record.notes.get("written", {})
    return tuple(DatasetWritten(dataset, mode) for dataset, mode in values.items())


def checkpoints_of_job(
    job_name: str, records: Iterable["RunRecord"], table: str
) -> list[Checkpoint]:
    """Return one checkpoint for each run of a job, the one that committed last first."""
    runs: dict[str, list[RunRecord]] = {}
    for record in records:
        runs.setdefault(record.run_id, []).append(record)
    checkpoints = [_checkpoint(job_name, run_id, of_run, table) for run_id, of_run in runs.items()]
    return sorted(checkpoints, key=lambda run: run.committed_at_ms, reverse=True)


def _checkpoint(
    job_name: str, run_id: str, records: "Sequence[RunRecord]", table: str
) -> Checkpoint:
    code: dict[str, str] = {}
    for record in records:
        code |= record.notes.get("code", {})
    last = max(record.committed_at for record in records)
    return Checkpoint(
        job_name,
        run_id,
        int(last.astimezone(UTC).timestamp() * 1000),
        watermarks=moves_of(records, table),
        read=reads_of(records),
        written=writes_of(records),
        code=code,
    )


def strings_of(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values as strings by name, the names of nested ones joined by dots."""
    texts: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            texts |= {f"{name}.{inner}": text for inner, text in strings_of(value).items()}
        else:
            texts[name] = str(value)
    return texts
