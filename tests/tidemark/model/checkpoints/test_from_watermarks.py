"""What the library has recorded of runs, as reads of a checkpoint."""

from __future__ import annotations

from datetime import UTC, datetime

from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead
from tidemark.model.checkpoints.from_watermarks import checkpoints_of_job, reads_of
from watermarks import RunRecord

AT = datetime(2026, 11, 25, tzinfo=UTC)
RAW, ORDERS = "s3://lake/raw/", "jdbc:postgresql://h/d#orders"


def test_what_was_read_by_its_committed_windows_is_marked():
    notes = {"read": [ORDERS], "committed": [RAW]}
    record = RunRecord("jr_1", "orders", AT, notes=notes)

    assert reads_of([record, record]) == (
        DatasetRead(ORDERS, "orders"),
        DatasetRead(RAW, is_committed=True),
    )
    (kept,) = checkpoints_of_job("load", [record], "t")
    assert Checkpoint.from_json(kept.to_json()) == kept


def test_what_was_read_otherwise_too_is_not():
    record = RunRecord("jr_1", "", AT, notes={"read": [RAW], "committed": [RAW]})

    assert reads_of([record]) == (DatasetRead(RAW),)
