"""A checkpoint is the same after it was stored, and says whether its run read anything."""

import json
from dataclasses import replace

import pytest

from tidemark.errors import UsageError
from tidemark.model.checkpoints.checkpoint import (
    BookmarkMove,
    Checkpoint,
    DatasetRead,
    DatasetWritten,
    WatermarkMove,
)
from tidemark.model.checkpoints.schemas import Column, Schema

WHOLE = Checkpoint(
    "orders",
    "jr_1",
    1_763_931_600_000,
    "wr_1",
    BookmarkMove("job-bookmark-enable", 3, 4),
    (
        WatermarkMove(
            "glue-watermarks",
            "items",
            None,
            {"id": "7"},
            0,
            1,
            ({"cursor": "id", "window_id": 1, "low": None, "high": "7"},),
        ),
    ),
    (DatasetRead("s3://raw/orders/", "orders", "", 2, 100, None, None, {"kind": "files"}),),
    (DatasetWritten("s3://mart/orders/", "overwrite", "mart.orders", 5, 1),),
    {"--day": "2026-11-22"},
    {"script": "ab"},
    schemas=(
        Schema("read", "s3://raw/orders/", "orders", "json", (Column("id", "int", False),)),
        Schema("written", "s3://mart/orders/", format="parquet", partitions=("day",)),
    ),
)


@pytest.mark.parametrize("checkpoint", [WHOLE, Checkpoint("orders", "jr_2", 0)])
def test_a_checkpoint_is_the_same_after_it_was_stored(checkpoint: Checkpoint) -> None:
    stored = json.dumps(checkpoint.to_json())

    assert Checkpoint.from_json(json.loads(stored)) == checkpoint


def test_a_checkpoint_of_before_schemas_loads_and_one_without_any_is_written_as_then() -> None:
    plain = replace(WHOLE, schemas=())
    document = plain.to_json()

    assert document["format"] == 2
    assert "schemas" not in document
    assert Checkpoint.from_json(document) == plain
    assert Checkpoint.from_json({**document, "format": 1}) == plain
    assert WHOLE.to_json()["format"] == 3


@pytest.mark.parametrize(
    ("amounts", "is_nothing"),
    [
        ([], False),
        ([{"files": 0}], True),
        ([{"files": 0}, {"rows": 0}], True),
        ([{"files": 0}, {"files": 1}], False),
        ([{"files": 0}, {"rows": None}], False),
    ],
)
def test_nothing_was_read_if_that_is_known_of_every_source(
    amounts: list[dict[str, int | None]], is_nothing: bool
) -> None:
    read = tuple(DatasetRead("s3://raw/", **amount) for amount in amounts)

    assert Checkpoint("orders", "jr_1", 0, read=read).has_read_nothing is is_nothing


def test_a_document_of_a_newer_tidemark_is_refused() -> None:
    with pytest.raises(UsageError, match="format 4"):
        Checkpoint.from_json({**WHOLE.to_json(), "format": 4})
