"""Reads JSON files: with Spark's reader, or line by line if that is faster or needed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial

from pyspark.sql import Column, DataFrame, DataFrameReader, Row
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.absence import SOME_LACK
from tidemark.glue_job.frames.session import own_query
from tidemark.glue_job.frames.types import numbered, schema_with_strings
from tidemark.glue_job.readers.files.conformed import declared_record
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.misread import json_does_not_parse, json_reason
from tidemark.glue_job.readers.files.read_errors import (
    blaming_files,
    refuse_cut_bzip2,
    some_of,
    unreadable,
)
from tidemark.glue_job.readers.files.replaced_fields import note_replaced
from tidemark.glue_job.readers.files.spark_files import CORRUPT, load, strict, with_folders
from tidemark.glue_job.readers.json.casts import with_casts
from tidemark.glue_job.readers.json.documents import (
    Documents,
    declared_documents,
    documents,
    read_documents,
)
from tidemark.glue_job.readers.json.errors import separated_good_strings
from tidemark.glue_job.readers.json.lines import (
    CASE,
    EMPTY,
    FULL,
    LINE,
    are_many_small,
    as_separated,
    files_with_several,
    firsts,
    for_keys,
    records,
    separated_strings,
    small_file_lines,
    strings_by_spark,
    strings_of,
    telling_case,
    without_mark,
)
from tidemark.glue_job.readers.json.path import document_with, select_records
from tidemark.glue_job.readers.tables.declared import case_duplicates, in_files
from tidemark.local_state.run_warnings import RunWarning, note


def read_json(files: Files) -> DataFrame:
    """Return the records of JSON files, with the names of their keys.

    A schema is inferred from all files; for a table only which keys they have.
    """
    json, layout = files.format, files.layout
    refuse_cut_bzip2(files.paths, "json")
    with _naming_deep_values(files.paths):
        path = str(json.options.get("jsonPath") or "")
        given = json.schema if json.names is None else None
        if given is not None and path in ("", "$", "$[*]"):
            json.failed.note_absence(SOME_LACK)
            _note_replaced(files, given.names)
            return _as_given(files, given)
        dynamic = documents(files) if json.is_dynamic else None
        # For a data frame it would take another pass.
        strings = separated_strings(files) if json.is_dynamic and dynamic is None else None
        schema = dynamic.schema if dynamic else _found(files, strings)
        _note_replaced(files, schema.names, dynamic)
        if given is not None:
            schema = document_with(schema, path, lambda _: given)
            strings = dynamic.separated if dynamic else strings
        elif json.names is None:
            _refuse_duplicates(files, schema)
        elif json.schema is not None and not dynamic:
            schema = document_with(schema, path, partial(declared_record, json, inside=in_files))
        if dynamic and given is None:
            wanted = declared_documents(dynamic, json, path) if json.names else dynamic
            if not wanted.are_plain:
                return read_documents(wanted, path, layout)
            schema = wanted.schema
        return select_records(_read(files, schema, strings), path, layout.columns)


@contextmanager
def _naming_deep_values(files: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        reason = "its values are nested deeper than Python follows; write deep parts as text"
        raise unreadable(some_of(files), "json", reason) from error


def _note_replaced(files: Files, names: Sequence[str], dynamic: Documents | None = None) -> None:
    """Call `note_replaced` with a reader of these fields alone, as strings."""
    folders = {name.lower() for name in files.layout.columns}
    # Only the fields that a folder hides are read again.
    fields = [StructField(name, StringType()) for name in names if name.lower() in folders]

    def rows() -> DataFrame:
        if dynamic and not dynamic.are_lines:
            strings = dynamic.strings.select(f"`{LINE}`")
        else:
            strings = strings_of(files.alone, is_whole=files.format.is_multi_line and not dynamic)
        with telling_case(files.spark):
            return records(as_separated(strings), StructType(fields), ())

    note_replaced(names, files, rows)


def _as_given(files: Files, schema: StructType) -> DataFrame:
    separated = separated_good_strings if files.format.is_dynamic else separated_strings
    strings = separated(files)
    if strings is not None:
        return records(strings, files.layout.fields_of_files(schema), files.layout.columns)
    return _strict(files, schema)


def _reader(files: Files) -> DataFrameReader:
    reader = files.reader.option("multiLine", files.format.is_multi_line)
    return reader.option("columnNameOfCorruptRecord", CORRUPT)


def _found(files: Files, strings: DataFrame | None) -> StructType:
    """Return the schema that Spark infers; for declared columns only the keys."""
    if strings is not None:
        schema = _schema_of_strings(files, strings)
    elif not files.format.is_multi_line:
        schema = _schema_of_strings(files, firsts(strings_of(files)))
        schema = without_mark(schema, strings_by_spark(files, is_whole=False))
    else:
        with telling_case(files.spark):
            schema = files.layout.fields_of_files(load(_reader(files), files).schema)
        if not files.format.is_dynamic and (several := next(files_with_several(files), None)):
            note(RunWarning.SEVERAL_VALUES, several)
    if CORRUPT in schema.names or not schema.names:  # a record is not an object; find it
        any_object = StructType([StructField("a field", StringType())])
        with blaming_files(files.paths, "json"):
            if strings is not None:
                records(strings, any_object, files.layout.columns).foreach(_pass)
            _strict(files, any_object).foreach(_pass)
    if CORRUPT in schema.names:
        raise unreadable(f"one of {files.paths[0]} and others", "json", "a record does not parse")
    return schema


def _pass(_: Row) -> None:
    """Ignore a row; the purpose is to read them all."""


def _schema_of_strings(files: Files, strings: DataFrame) -> StructType:
    spark, only_names = files.spark, files.format.names is not None
    line = F.col(f"`{LINE}`")
    # Spark infers nothing from an empty object, not even that its key is there.
    lines = strings.select(F.regexp_replace(line, EMPTY, FULL) if only_names else line)
    reader = spark.read.option("columnNameOfCorruptRecord", CORRUPT)
    jreader = (for_keys(reader) if only_names else reader)._jreader
    strings = spark._jvm.org.apache.spark.sql.Encoders.STRING()  # type: ignore[union-attr]
    with blaming_files(files.paths, "json"), telling_case(spark), own_query(spark):
        return DataFrame(jreader.json(getattr(lines._jdf, "as")(strings)), spark).schema


def _refuse_duplicates(files: Files, schema: StructType) -> None:
    pair = next(case_duplicates(schema), None)
    if pair and files.spark.conf.get(CASE) != "true":
        raise UsageError(
            f"the fields {', '.join(pair)} of the JSON files {files.paths[0]} and others differ in "
            "case only, and Spark does not tell them apart: read the files through a table of the "
            "Data Catalog, which makes one column of them, or set spark.sql.caseSensitive to true, "
            "as in --conf spark.sql.caseSensitive=true"
        )


def _read(files: Files, schema: StructType, strings: DataFrame | None) -> DataFrame:
    schema, folders = files.layout.fields_of_files(schema), files.layout.columns
    if strings is not None:
        return records(strings, schema, folders)
    if not files.format.is_multi_line and are_many_small(files.paths):
        return records(small_file_lines(files), schema, folders)
    if files.format.names is not None:
        has_both = next(case_duplicates(schema), None)
        return records(strings_of(files), schema, folders) if has_both else _strict(files, schema)
    if not schema.names:
        return load(_reader(files).schema(schema).option("mode", "FAILFAST"), files)
    # Spark infers nothing from null, and fails at it without naming the file.
    return strict(_reader(files), files, with_folders(schema, files), json_does_not_parse)


def _strict(files: Files, schema: StructType) -> DataFrame:
    strings = schema_with_strings(schema)

    def reason(record: Column) -> Column:
        struct = F.struct(*[f"`{name}`" for name in schema.names]).cast(numbered(strings))
        return json_reason(strings, struct, record)

    rows = strict(_reader(files), files, with_folders(strings, files), reason)
    return with_casts(rows, schema)
