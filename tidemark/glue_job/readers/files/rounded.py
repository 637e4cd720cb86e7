"""Texts that have more digits behind the point than the decimal that their column declares."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType, DecimalType

from tidemark.glue_job.frames.own_queries import own_query
from tidemark.local_state.run_warnings import RunWarning, note


def is_rounded(text: Column, kind: DataType) -> Column:
    """Return whether a decimal of a type rounds a text; False for other types."""
    if not isinstance(kind, DecimalType):
        return F.lit(False)
    # The first two tests spare most texts the third one, which takes long.
    is_long = F.length(F.substring_index(text, ".", -1)) > kind.scale
    digits = rf"^\s*[+-]?[0-9]*\.[0-9]{{{kind.scale}}}[0-9]*[1-9]"
    number = text.cast("double")
    by_exponent = F.lower(text).contains("e") & (F.round(number, kind.scale) != number)
    return (text.contains(".") & is_long & text.rlike(digits)) | by_exponent


def note_rounded(frame: DataFrame, flags: Mapping[str, Column]) -> None:
    """Warn of the columns of which a flag is set in some row; one pass over the rows."""
    if not flags:
        return
    each = [F.max(F.coalesce(flag, F.lit(False))) for flag in flags.values()]
    with own_query(frame.sparkSession):
        has = frame.agg(*each).collect()[0]
    for column, is_set in zip(flags, has, strict=True):
        if is_set:
            note(RunWarning.DECIMAL_ROUNDED, column)
