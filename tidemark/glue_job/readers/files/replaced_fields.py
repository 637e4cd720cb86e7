"""Warns of fields in files that lose to a partition folder of the same name and another value."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from operator import or_
from typing import NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import NumericType, _parse_datatype_string

from tidemark.errors import TidemarkError
from tidemark.glue_job.frames.session import own_query
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.misread import without_quotes
from tidemark.glue_job.readers.files.partitions import (
    NULL_PARTITION,
    Layout,
    inferred_type,
    values_of,
)
from tidemark.local_state.run_warnings import RunWarning, note

FILE = "file of a row"
ZEROS = r"^([+-]?)0+(?=[0-9])"  # before a number, as in the folder month=01


class FolderValue(NamedTuple):
    """The value of a partition folder for a row: its string, and whether it is a number."""

    text: Column
    is_number: bool


def note_replaced(names: Iterable[str], files: Files, rows: Callable[[], DataFrame]) -> None:
    """Warn of the fields of files that have another value than the folder of their name.

    Their rows, without the folders, are read only if there is such a field.
    """
    layout = files.layout

    def values() -> Mapping[str, FolderValue]:
        texts = list(zip(*[values_of(file, layout) for file in files.paths], strict=True))
        declared = files.format.partitions
        values = {}
        for place, name in enumerate(layout.columns):
            kind = declared.get(name.lower()) or inferred_type(texts[place])
            kind = _parse_datatype_string(kind) if isinstance(kind, str) else kind
            values[name] = FolderValue(_folder_string(layout, place), isinstance(kind, NumericType))
        return values

    note_differing(names, layout, rows, values)


def note_differing(
    names: Iterable[str],
    layout: Layout,
    rows: Callable[[], DataFrame],
    values: Callable[[], Mapping[str, FolderValue]],
) -> None:
    """Do the same as `note_replaced` for values that need not be in the names of folders."""
    folders = {name.lower(): name for name in layout.columns}
    pairs = [(name, folders[name.lower()]) for name in names if name.lower() in folders]
    for name, folder in _differing(pairs, rows, values) if pairs else ():
        about = f"files in the folders {folder}=… of {layout.base} have a field {name}"
        note(RunWarning.FOLDER_WINS, about)


def _differing(
    pairs: Sequence[tuple[str, str]],
    rows: Callable[[], DataFrame],
    values: Callable[[], Mapping[str, FolderValue]],
) -> Iterator[tuple[str, str]]:
    # Where Spark cannot compare them, all pairs may differ.
    has: Sequence[bool] = [True] * len(pairs)
    with suppress(PySparkException, Py4JJavaError, TidemarkError):  # the reader itself reports it
        frame, of_folders = rows(), values()
        fields = frame.columns
        frame = frame.toDF(*map(str, range(len(fields))))  # names may differ in case only
        named = {name for name, _ in pairs}
        places = [str(place) for place, name in enumerate(fields) if name in named]
        frame = frame.select(*[F.col(place).cast("string").alias(place) for place in places])
        flags = []
        for name, folder in pairs:
            own = (str(place) for place, field in enumerate(fields) if field == name)
            each = (_differs(F.col(place), of_folders[folder]) for place in own)
            flags.append(F.max(F.coalesce(reduce(or_, each), F.lit(True))))
        # Most files have few values, and comparing them takes longer than finding them.
        few = frame.withColumn(FILE, F.input_file_name()).select(FILE, *places).distinct()
        with own_query(frame.sparkSession):
            has = few.agg(*flags).collect()[0]
    yield from (pair for pair, differs in zip(pairs, has, strict=True) if differs)


def _differs(text: Column, folder: FolderValue) -> Column:
    value = folder.text
    is_same = text == value
    if folder.is_number:
        short = [F.regexp_replace(string, ZEROS, "$1") for string in (text, value)]
        is_same |= short[0] == short[1]
    # A null loses nothing.
    return text.isNotNull() & ~F.coalesce(is_same, F.lit(False))


def _folder_string(layout: Layout, place: int) -> Column:
    """Return the value of a partition column as a string, by the file of a row."""
    before = rf"^\Q{layout.base}/\E(?:[^/]*/){{{place}}}"
    escaped = F.regexp_extract(without_quotes(F.col(FILE)), rf"{before}[^/=]*=([^/]*)/", 1)
    text = F.url_decode(F.replace(escaped, F.lit("+"), F.lit("%2B")))
    return F.when(text != NULL_PARTITION, text)
