"""Names of columns: whether a frame has them, and how SQL takes them."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from watermarks.errors import WatermarkValueError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_LOG = logging.getLogger("watermarks")
_REMEDIES = {
    "frame": "give the columns of the table, and the cursor",
    "table": "add it, or name the column that is there",
}
DELETED = "_tidemark_deleted"
"""The column that says which rows of a merge delete."""


def check_columns(frame: DataFrame, names: Sequence[str], *, of: str = "frame") -> None:
    """Raise a WatermarkValueError unless a frame, or a table, has columns, whatever their case."""
    there = {name.lower() for name in frame.columns}
    if missing := [name for name in names if name.lower() not in there]:
        raise WatermarkValueError(
            f"the {of} has no column {', '.join(map(repr, missing))}, it has "
            f"{', '.join(frame.columns)}: {_REMEDIES[of]}"
        )


def warn_of_others(frame: DataFrame, names: Sequence[str], used: str) -> None:
    """Log which columns of a frame a table lacks, and no expression uses: they are not written."""
    there = {name.lower() for name in names}
    words = {word.lower() for word in re.findall(r"\w+", used)}
    others = [name for name in frame.columns if name.lower() not in there | words]
    if others:
        _LOG.warning(
            "the frame has columns that the table lacks, and they are not written: %s; add them to "
            "the table, or leave them out of the frame",
            ", ".join(others),
        )


def escaped(name: str) -> str:
    """Return a column name as Spark's SQL takes it, whatever is in it."""
    return "`" + name.replace("`", "``") + "`"
