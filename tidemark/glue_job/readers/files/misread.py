"""Fails an action on the first record that was misread, by the file, the column and the value."""

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tidemark.glue_job.readers.files.mixed_types import (
    file_of_row,
    first_misfit_of_csv,
    first_misfit_of_json,
)
from tidemark.glue_job.readers.files.read_errors import REMEDY

SHOWN = 200  # characters of a bad record
BREAKS = r"[\s\p{Cc}\p{Zl}\p{Zp}]+"  # a control character would end the text before its remedy


def csv_reason(schema: StructType, line: Column, options: Mapping[str, str]) -> Column:
    """Return why a line of CSV was misread."""
    return F.coalesce(first_misfit_of_csv(schema, line, options), csv_does_not_parse(line, options))


def csv_does_not_parse(line: Column, options: Mapping[str, str]) -> Column:
    """Return the text of the error for a line that is no record of CSV."""
    hint = "if a value in quotes holds a line feed, set multiLine to true in format_options; else "
    is_multi_line = options.get("multiLine") == "true"
    return does_not_parse(line, "csv", "" if is_multi_line else hint)


def json_reason(schema: StructType, struct: Column, record: Column) -> Column:
    """Return why a record of JSON was misread; see `first_misfit_of_json`."""
    misfit = first_misfit_of_json(schema, struct, record)
    return F.coalesce(misfit, does_not_parse(record, "json"))


def refusing(frame: DataFrame, bad: Column, reason: Column) -> DataFrame:
    """Return the rows; one that has a text of a bad record fails the action with the reason."""
    failure = F.raise_error(reason).cast("boolean")
    return frame.filter(F.when(bad.isNull(), F.lit(True)).otherwise(failure))


def does_not_parse(record: Column, format_name: str, hint: str = "") -> Column:
    """Return the text of the error for a record that is not of its format, a hint before REMEDY."""
    return F.concat(
        F.lit("UnreadableFileError: cannot read "),
        file_of_row(),
        F.lit(f" as {format_name}: '"),
        F.regexp_replace(F.substring(record, 1, SHOWN), BREAKS, " "),
        F.lit(f"' does not parse; {hint}{REMEDY}"),
    )
