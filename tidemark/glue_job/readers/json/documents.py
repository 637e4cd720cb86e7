"""Reads JSON like Glue's DynamicFrames: choices where values differ, documents of several lines.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-json-home.html
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from tidemark.glue_job.frames.session import met_in_some_row, own_query
from tidemark.glue_job.frames.types import as_struct_type, numbered, struct_type
from tidemark.glue_job.process.bookmark_session import places_of
from tidemark.glue_job.readers.files.conformed import declared_record
from tidemark.glue_job.readers.files.formats import Files, Format
from tidemark.glue_job.readers.files.misread import note_rounded, uri_of_row
from tidemark.glue_job.readers.files.partitions import Layout
from tidemark.glue_job.readers.files.read_errors import blaming_files
from tidemark.glue_job.readers.json.casts import cast_places, decimal_places, pruned, with_strings
from tidemark.glue_job.readers.json.choices import (
    has_choice,
    has_rounded,
    is_misfit,
    marked,
    raw_type,
    with_choices,
)
from tidemark.glue_job.readers.json.errors import good_strings
from tidemark.glue_job.readers.json.kinds import (
    NULL,
    SEVERAL,
    absence_in,
    kinds_in,
    kinds_of,
    note_changed,
    schema_of_records,
    type_of,
)
from tidemark.glue_job.readers.json.lines import (
    LINE,
    as_separated,
    fit_in_strings,
    records,
    strings_of,
)
from tidemark.glue_job.readers.json.path import document_with, record_type, select_records
from tidemark.glue_job.readers.tables.declared import declared_kind
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.checkpoints.schemas import columns_of

SMALL_BYTES = 1 << 18  # of all files: a shuffle of less takes longer than it saves


@dataclass(frozen=True)
class Documents:
    """JSON to read.

    Attributes:
        strings: a column `LINE` of strings with whole records, and the columns of folders.
        schema: schema of the documents, with choices.
        are_lines: whether each string is a line of a file, and one value or one array.
    """

    strings: DataFrame
    schema: StructType
    are_lines: bool

    @property
    def are_plain(self) -> bool:
        """Whether Spark's JSON reader reads them as Glue does."""
        return self.are_lines and not has_choice(self.schema)

    @property
    def separated(self) -> DataFrame:
        """The strings, of which each is a record or an array of records."""
        return self.strings if self.are_lines else as_separated(self.strings)


def documents(files: Files) -> Documents | None:
    """Return the documents of JSON files, in one pass over them; None if they are not JSON.

    A file with a line that is not a record is read as a whole, as if records spanned several lines;
    text that is still not JSON becomes an error record, see `good_strings`.
    """
    # Line by line first: it is the faster way, and most files have a record in each line.
    if not files.format.is_multi_line and (readable := _documents(files, strings_of(files))):
        return readable
    if fit_in_strings(files.paths) and (
        readable := _documents(files, strings_of(files, is_whole=True))
    ):
        return replace(readable, are_lines=False)
    good = good_strings(files)
    readable = None if good is None else _documents(files, good)
    return readable and replace(readable, are_lines=False)


def _documents(files: Files, strings: DataFrame) -> Documents | None:
    size = sum(os.stat(place).st_size for place in places_of(files.paths))  # noqa: PTH116
    with blaming_files(files.paths, "json"):
        kinds = kinds_in(strings, F.col(f"`{LINE}`"), is_small=size <= SMALL_BYTES)
    if kinds is None:
        return None
    note_changed(kinds, are_declared=files.format.schema is not None)
    if NULL in kinds.letters:
        # The file of the first string with an array that holds null beside its records.
        with own_query(strings.sparkSession):
            has_null = kinds_of(F.col(f"`{LINE}`")).rlike(rf'^\[?"[^"]*{NULL}')
            first = strings.filter(has_null).select(uri_of_row()).first()
        note(RunWarning.JSON_NULL_RECORD, first[0] if first else "a file")
    files.format.failed.note_absence(absence_in(kinds))
    fields = struct_type((name, type_of(field)) for name, field in kinds.fields.items())
    files.format.failed.columns += columns_of(fields.jsonValue())
    return Documents(strings, schema_of_records(kinds), are_lines=SEVERAL not in kinds.letters)


def declared_documents(inferred: Documents, json: Format, path: str) -> Documents:
    """Return documents as a table declares their records, with the names of the files.

    A string that is not the table's time or decimal makes a choice.
    """
    declared = partial(declared_record, json, inside=declared_kind)
    wanted = replace(inferred, schema=document_with(inferred.schema, path, declared))
    # If such columns have strings, one pass over the documents finds these places. Another pass
    # finds the numbers that a decimal of the table rounds.
    places = list(cast_places(wanted.schema, inferred.schema))
    decimals = list(decimal_places(wanted.schema, inferred.schema))
    if not places and not decimals:
        return wanted
    cast_fields = as_struct_type(
        pruned(wanted.schema, [steps for steps, _ in [*places, *decimals]])
    )
    rows = _parsed(wanted.strings, cast_fields)
    rows = rows.toDF(*map(str, range(len(cast_fields))))  # names may differ in case only
    record = F.struct(*[F.col(name) for name in rows.columns]).cast(numbered(raw_type(cast_fields)))
    rounded = {
        "".join(steps).removeprefix("."): has_rounded(record, cast_fields, steps, kind)
        for steps, kind in decimals
    }
    note_rounded(_unmarked(wanted, cast_fields), rounded)
    if not places:
        return wanted
    misfits = {steps: is_misfit(record, cast_fields, steps, kind) for steps, kind in places}
    mixed = list(met_in_some_row(rows, misfits))
    return replace(wanted, schema=as_struct_type(with_strings(wanted.schema, mixed)))


def _unmarked(wanted: Documents, schema: StructType) -> DataFrame:
    # Without marks on strings, which would take a call of Java for each line.
    raw = as_struct_type(raw_type(schema))
    return records(wanted.separated, raw, ()).toDF(*map(str, range(len(schema))))


def _parsed(strings: DataFrame, schema: StructType, folders: Sequence[str] = ()) -> DataFrame:
    """Return documents as the `raw_type` of a schema, with marked strings."""
    raw = as_struct_type(raw_type(schema))
    return records(strings.withColumn(LINE, marked(F.col(f"`{LINE}`"))), raw, folders)


def read_documents(wanted: Documents, path: str, layout: Layout) -> DataFrame:
    """Return the records that a path selects, with their choices."""
    schema, folders = layout.fields_of_files(wanted.schema), layout.columns
    chosen = select_records(_parsed(wanted.strings, schema, folders), path, folders)
    return with_choices(chosen, record_type(schema, path), folders)
