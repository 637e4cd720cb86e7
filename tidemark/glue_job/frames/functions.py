"""Functions of the script over records: filter, map and whole partitions.

A record is a dict, and so are the structs in it; the value of a choice is its plain value.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-dynamic-frame.html
"""

import os
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from pyspark import Accumulator, AccumulatorParam, SparkContext
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

from tidemark.glue_job.frames.absence import Absence, fields_lacking, names_in
from tidemark.glue_job.frames.choices import built, check_names, schema_of, values_of
from tidemark.glue_job.frames.errors import error_records
from tidemark.glue_job.frames.function_results import FunctionResults, Item
from tidemark.glue_job.frames.records import Convert, converter
from tidemark.local_state.run_warnings import RunWarning, note


class _FirstNote(AccumulatorParam[str]):
    """The details of a warning; empty until a task adds the first."""

    def __init__(self, warning: RunWarning) -> None:
        self._warning, self._process = warning, os.getpid()

    def zero(self, value: str) -> str:
        return ""

    def addInPlace(self, value1: str, value2: str) -> str:  # noqa: N802 (Spark's name)
        if value2 and not value1 and os.getpid() == self._process:
            note(self._warning, value2)
        return value1 or value2


def first_note(context: SparkContext, warning: RunWarning) -> Accumulator[str]:
    """Return an accumulator for tasks; the first string added becomes the details of a warning."""
    return context.accumulator("", _FirstNote(warning))


Wrap = Callable[[Mapping[str, Any]], Any]
KEPT = "\x00"  # no error message is this
SHOWN = 200  # characters of an error in a warning


def wrapped(wrap: Wrap, record: Mapping[str, Any]) -> Any:
    """Return a record in which structs are records too."""
    return wrap({k: wrapped(wrap, v) if type(v) is dict else v for k, v in record.items()})


def _maker_of_records(frame: DataFrame, absence: Absence) -> Convert:
    check_names(frame, "for a function of the script")
    schema = schema_of(frame)
    # A row has null for both, and here the source does not say which one it is.
    for name in sorted(absence.mixed.intersection(names_in(schema))):
        note(RunWarning.NULL_OR_LACKING, name)
    record_of = converter(schema, absence)
    assert record_of is not None  # noqa: S101 (a row is a struct)
    if absence.is_told:
        return record_of
    fields = first_note(frame.sparkSession.sparkContext, RunWarning.NO_VALUE)
    told = list[str]()

    def convert(row: Any) -> Any:
        record = record_of(row)
        if not told and (names := sorted(set(fields_lacking(record, schema)))):
            told.extend(names)
            fields.add(", ".join(names))
        return record

    return convert


def filtered(
    frame: DataFrame, function: Callable[[Any], Any], wrap: Wrap, absence: Absence
) -> tuple[DataFrame, Callable[[], DataFrame]]:
    """Return the rows for which a function is true, and a function for the rows where it failed.

    As on AWS a KeyError, ValueError or TypeError means false: the row is left out. The first one
    causes a warning. Any other error makes an error record of the row.
    """
    source, values = values_of(frame)
    if not values:
        return frame, lambda: no_failures(frame)
    record_of = _maker_of_records(frame, absence)
    context = frame.sparkSession.sparkContext
    reasons, failures = first_note(context, RunWarning.FILTER_LEFT_OUT), _failures(context)

    def outcome(row: Row) -> str | None:
        try:
            return KEPT if function(wrapped(wrap, record_of(row))) else None
        except (KeyError, ValueError, TypeError) as error:
            reasons.add(_message(error))
            return None
        except Exception as error:  # noqa: BLE001 (a function of the script raises what it likes)
            failures.add(_about(_message(error)))
            return f"{_message(error)}{KEPT}{traceback.format_exc()}"

    # Said, because Spark 4 would look for Arrow's types in the hints of the function.
    ask = F.udf(outcome, StringType(), useArrow=False).asNondeterministic()
    answer = ask(F.struct(*[value.column for value in values]))

    def failed() -> DataFrame:
        answered = source.withColumn("answer of tidemark", answer)
        parts = F.split(F.col("`answer of tidemark`"), KEPT)
        record = F.struct(*[v.column.alias(v.name) for v in values])
        failed = answered.filter((F.size(parts) == 2) & (parts[0] != ""))
        return error_records(failed, parts[0], record, stackTrace=parts[1])

    return built(source.filter(answer == KEPT), values), failed


def no_failures(frame: DataFrame) -> DataFrame:
    """Return an empty frame of failures, for a frame without columns."""
    columns = "msg string, stackTrace string, dynamicRecord struct<>"
    return frame.sparkSession.createDataFrame([], columns)


def _message(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _failures(context: SparkContext) -> Accumulator[str]:
    return first_note(context, RunWarning.ERROR_RECORDS)


def _about(message: str) -> str:
    first = " ".join(message.split())[:SHOWN]
    return f"records for which a function of the script failed, first with {first!r}"


def mapped(
    frame: DataFrame, function: Callable[[Any], Any], wrap: Wrap, absence: Absence
) -> FunctionResults:
    """Return the results of a function for each record, and error records where it fails."""
    record_of = _maker_of_records(frame, absence)
    failures = _failures(frame.sparkSession.sparkContext)

    def run(_: int, rows: Iterable[Row]) -> Iterator[Item]:
        for row in rows:
            try:
                result = _plain(function(wrapped(wrap, record_of(row))))
            except Exception as error:  # noqa: BLE001 (a function of the script raises what it likes)
                failures.add(_about(_message(error)))
                yield False, row, _message(error), traceback.format_exc()
                continue
            if result and isinstance(result, Mapping):
                yield True, result, "", ""
            else:
                kind = None if isinstance(result, Mapping | None) else type(result).__name__
                text = f"User-specified function returned {kind} instead of DynamicRecord"
                failures.add(_about(text))
                yield False, row, text, ""

    return FunctionResults(frame, run)


def mapped_partitions(
    frame: DataFrame,
    function: Callable[[int, Iterator[dict[str, Any]]], Iterable[dict[str, Any]]],
    absence: Absence,
) -> FunctionResults:
    """Return the results of a function for the records of each partition.

    As on AWS it takes and returns dicts with the keys ``record``, ``isError`` and ``errorMessage``.
    """
    record_of = _maker_of_records(frame, absence)
    failures = _failures(frame.sparkSession.sparkContext)

    def given(row: Row) -> dict[str, Any]:
        return {"record": record_of(row), "isError": False, "errorMessage": ""}

    def run(number: int, rows: Iterable[Row]) -> Iterator[Item]:
        for item in function(number, map(given, rows)):
            if item.get("isError"):
                failures.add(_about(str(item.get("errorMessage", ""))))
            yield not item.get("isError"), _plain(item["record"]), item.get("errorMessage", ""), ""

    return FunctionResults(frame, run)


def _plain(value: Any, field: str = "") -> Any:
    """Return a record as plain dicts and lists, with names that are strings of Unicode."""
    if isinstance(value, str):
        return _whole(value, field)
    if isinstance(value, Mapping):
        plain = {_whole(str(name), field): _plain(part, str(name)) for name, part in value.items()}
        if len(plain) < len(value):
            raise ValueError(f"keys of a record are one name as strings: {list(value)}")
        return plain
    is_list = isinstance(value, list | tuple | set)
    return [_plain(part, field) for part in value] if is_list else value


def _whole(text: str, field: str) -> str:
    """Return a string or name; it fails with half of a surrogate pair, which Spark replaces."""
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            where = f"the field {field!r}" if field else "a key of the record"
            half = text[error.start]
            raise ValueError(f"{where} has half of a surrogate pair, {half!r}") from None
    return text
