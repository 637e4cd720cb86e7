"""Frames of literal rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame


@pytest.fixture
def rows_of(glue_context: GlueContext) -> Callable[..., DynamicFrame]:
    """Return a maker of frames from tuples and a schema in words."""
    from awsglue.dynamicframe import DynamicFrame

    def rows_of(schema: str, *rows: tuple[Any, ...], name: str = "rows") -> DynamicFrame:
        frame = glue_context.spark_session.createDataFrame(rows, schema)
        return DynamicFrame.fromDF(frame, glue_context, name)

    return rows_of


@pytest.fixture
def medicare(rows_of: Callable[..., DynamicFrame]) -> DynamicFrame:
    """Return the frame of AWS's example: provider id is a long, and a string in two rows."""
    columns = "`drg definition` string, `provider id` {}, `total discharges` bigint"
    longs = rows_of(columns.format("bigint"), ("a", 10001, 91), ("b", 10005, 14))
    texts = rows_of(columns.format("string"), ("c", "n/a", 24), ("d", "10006", 25))
    return longs.union(texts)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Callable[[DynamicFrame], str]:
    """Return a function that returns the tree of a frame's schema, without its first line."""

    def printed(frame: DynamicFrame) -> str:
        frame.printSchema()
        return capsys.readouterr().out.removeprefix("root\n").strip("\n")

    return printed
