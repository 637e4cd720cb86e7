"""Frames of literal rows, and what rules say of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from awsglue.context import GlueContext
    from awsglue.dynamicframe import DynamicFrame


@pytest.fixture
def rows_of(glue_context: GlueContext) -> Callable[..., DynamicFrame]:
    """Return a maker of frames from a schema and tuples."""
    from awsglue.dynamicframe import DynamicFrame

    def rows_of(schema: str, *rows: tuple[Any, ...]) -> DynamicFrame:
        frame = glue_context.spark_session.createDataFrame(rows, schema).coalesce(1)
        return DynamicFrame.fromDF(frame, glue_context, "rows")

    return rows_of


@pytest.fixture
def people(rows_of: Callable[..., DynamicFrame]) -> DynamicFrame:
    """Return four rows with a key twice, nulls, an empty text and one of spaces."""
    return rows_of(
        "id int, name string, age int, day date, email string",
        (1, "Ann", 30, None, "a@x.de"),
        (2, "Bob", None, None, "b@x.de"),
        (2, None, 7, None, ""),
        (4, "  ", 50, None, None),
    )


@pytest.fixture
def evaluated(people: DynamicFrame) -> Callable[..., dict[str, tuple[Any, ...]]]:
    """Return a function that returns outcome, reason and metrics by rule."""
    from awsgluedq.transforms import EvaluateDataQuality

    def evaluated(*rules: str, **more: Any) -> dict[str, tuple[Any, ...]]:
        ruleset = f"Rules = [ {', '.join(rules)} ]"
        found = EvaluateDataQuality.apply(frame=people, ruleset=ruleset, **more).toDF().collect()
        return {
            row.Rule: (row.Outcome, row.FailureReason, dict(row.EvaluatedMetrics)) for row in found
        }

    return evaluated
