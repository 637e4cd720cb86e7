"""Reads JSON files: by Spark's reader of files, or by their lines where faster or needed."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from pyspark.sql import Column, DataFrame, DataFrameReader, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from tidemark.errors import UsageError
from tidemark.glue_job.frames.absence import SOME_LACK
from tidemark.glue_job.frames.own_queries import own_query
from tidemark.glue_job.frames.types import casts_as_texts, numbered
from tidemark.glue_job.readers.files.conformed import data_schema, note_missing
from tidemark.glue_job.readers.files.formats import Format
from tidemark.glue_job.readers.files.misread import json_reason
from tidemark.glue_job.readers.files.partitions import Layout
from tidemark.glue_job.readers.files.read_errors import (
    naming_the_file,
    refuse_odd_ends,
    some_of,
    unreadable,
)
from tidemark.glue_job.readers.files.replaced_fields import note_replaced
from tidemark.glue_job.readers.files.spark_files import (
    CORRUPT,
    load,
    reader_of,
    strict,
    with_folders,
)
from tidemark.glue_job.readers.json.casts import with_casts
from tidemark.glue_job.readers.json.documents import (
    Documents,
    declared_documents,
    documents,
    read_documents,
)
from tidemark.glue_job.readers.json.errors import separated_good_texts
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
    lines_of_small,
    records,
    separated_texts,
    telling_case,
    texts_by_spark,
    texts_of,
    without_mark,
)
from tidemark.glue_job.readers.json.path import document_with, select_records
from tidemark.glue_job.readers.tables.declared import in_files, twins
from tidemark.local_state.run_warnings import RunWarning, note


def read_json(spark: SparkSession, files: Sequence[str], layout: Layout, json: Format) -> DataFrame:
    """Return the records of JSON files, with the names that keys have there.

    A schema is inferred from all files, of a table only which keys they have.
    """
    refuse_odd_ends(files, "json")
    with _naming_deep_values(files):
        path = str(json.options.get("jsonPath") or "")
        if json.schema is not None and json.names is None and path in ("", "$", "$[*]"):
            json.failed.note_absence(SOME_LACK)
            _note_replaced(spark, files, layout, json, json.schema.names)
            return _as_given(spark, files, layout, json, json.schema)
        dynamic = documents(spark, files, layout, json) if json.is_dynamic else None
        # Of a data frame it would be another pass.
        is_asked = json.is_dynamic and dynamic is None
        texts = separated_texts(spark, files, layout, json) if is_asked else None
        found = dynamic.schema if dynamic else _found(spark, files, layout, json, texts)
        _note_replaced(spark, files, layout, json, found.names, dynamic)
        if json.names is None:
            _refuse_twins(spark, files, found)
        if dynamic:
            wanted = declared_documents(dynamic, json, path) if json.names else dynamic
            if not wanted.are_plain:
                return read_documents(wanted, path, layout.columns)
            found = wanted.schema
        elif json.schema is not None:
            found = document_with(found, path, partial(_declared, json))
        rows = _read(spark, files, layout, json, found, texts)
        return select_records(rows, path, layout.columns)


@contextmanager
def _naming_deep_values(files: Sequence[str]) -> Iterator[None]:
    try:
        yield
    except RecursionError as error:
        reason = "its values are nested deeper than Python follows; write deep parts as text"
        raise unreadable(some_of(files), "json", reason) from error


def _note_replaced(
    spark: SparkSession,
    files: Sequence[str],
    layout: Layout,
    json: Format,
    names: Sequence[str],
    dynamic: Documents | None = None,
) -> None:
    """Call `note_replaced` with a reader of these fields alone, as texts."""
    alone = replace(json, is_grouped=False)  # to know the file of a row
    folders = {name.lower() for name in layout.columns}
    fields = [StructField(name, StringType()) for name in names if name.lower() in folders]

    def rows() -> DataFrame:
        if dynamic and not dynamic.are_lines:
            texts = dynamic.texts.select(f"`{LINE}`")
        else:
            is_whole = _is_multi_line(json) and not dynamic
            texts = texts_of(spark, files, Layout(), alone, is_whole=is_whole)
        with telling_case(spark):
            return records(as_separated(texts), StructType(fields), ())

    note_replaced(names, layout, files, json, rows)


def _as_given(
    spark: SparkSession, files: Sequence[str], layout: Layout, json: Format, schema: StructType
) -> DataFrame:
    separated = separated_good_texts if json.is_dynamic else separated_texts
    texts = separated(spark, files, layout, json)
    if texts is not None:
        return records(texts, _without_folders(schema, layout), layout.columns)
    return _strict(_reader(spark, layout, json), files, layout, json, schema)


def _reader(spark: SparkSession, layout: Layout, json: Format) -> DataFrameReader:
    reader = reader_of(spark, layout).option("multiLine", _is_multi_line(json))
    return reader.option("columnNameOfCorruptRecord", CORRUPT)


def _is_multi_line(json: Format) -> bool:
    return json.is_on("multiLine", "multiline")


def _is_by_lines(files: Sequence[str], json: Format) -> bool:
    return not _is_multi_line(json) and are_many_small(files)


def _found(
    spark: SparkSession,
    files: Sequence[str],
    layout: Layout,
    json: Format,
    texts: DataFrame | None,
) -> StructType:
    """Return the schema that Spark infers; of declared columns only the keys are asked for."""
    only_names = json.names is not None
    if texts is not None:
        schema = _schema_of_texts(spark, files, texts, only_names=only_names)
    elif not _is_multi_line(json):
        lines = texts_of(spark, files, layout, json)
        schema = _schema_of_texts(spark, files, firsts(lines), only_names=only_names)
        by_spark = texts_by_spark(spark, files, layout, json, is_whole=False)
        schema = without_mark(schema, by_spark)
    else:
        with telling_case(spark):
            schema = data_schema(load(_reader(spark, layout, json), files, "json"), layout)
        if not json.is_dynamic and (several := next(files_with_several(spark, files), None)):
            note(RunWarning.SEVERAL_VALUES, several)
    if CORRUPT in schema.names:  # the inference saw a record that is no JSON; find it
        any_object = StructType([StructField("a field", StringType())])
        reader = _reader(spark, layout, json)
        with naming_the_file(files, "json"):
            if texts is not None:
                records(texts, any_object, layout.columns).foreach(_pass)
            _strict(reader, files, layout, json, any_object).foreach(_pass)
        raise unreadable(f"one of {files[0]} and others", "json", "a record does not parse")
    return schema


def _pass(_: Row) -> None:
    """Do nothing with a row; to read all rows is all."""


def _schema_of_texts(
    spark: SparkSession, files: Sequence[str], texts: DataFrame, *, only_names: bool
) -> StructType:
    """Return the schema of texts as `separated_texts` returns them, as Spark infers it."""
    line = F.col(f"`{LINE}`")
    lines = texts.select(F.regexp_replace(line, EMPTY, FULL) if only_names else line)
    return _schema_of_lines(spark, files, lines, only_names=only_names)


def _schema_of_lines(
    spark: SparkSession, files: Sequence[str], lines: DataFrame, *, only_names: bool
) -> StructType:
    reader = spark.read.option("columnNameOfCorruptRecord", CORRUPT)
    jreader = (for_keys(reader) if only_names else reader)._jreader
    strings = spark._jvm.org.apache.spark.sql.Encoders.STRING()  # type: ignore[union-attr]
    with naming_the_file(files, "json"), telling_case(spark), own_query(spark):
        return DataFrame(jreader.json(getattr(lines._jdf, "as")(strings)), spark).schema


def _refuse_twins(spark: SparkSession, files: Sequence[str], found: StructType) -> None:
    pair = next(twins(found), None)
    if pair and spark.conf.get(CASE) != "true":
        raise UsageError(
            f"the fields {', '.join(pair)} of the JSON files {files[0]} and others differ in case "
            "only, and Spark does not tell them apart: read the files through a table of the Data "
            "Catalog, which makes one column of them, or set spark.sql.caseSensitive to true, as "
            "in --conf spark.sql.caseSensitive=true"
        )


def _declared(json: Format, record: StructType) -> StructType:
    """Return what records are parsed as: the declared types under the names of the files."""
    assert json.schema is not None  # noqa: S101 (of a table, both are given)
    assert json.names is not None  # noqa: S101
    note_missing(json, [record])
    kind = in_files(json.schema, record, json.names)
    assert isinstance(kind, StructType)  # noqa: S101 (for the type checker: of a struct)
    return kind


def _read(
    spark: SparkSession,
    files: Sequence[str],
    layout: Layout,
    json: Format,
    schema: StructType,
    texts: DataFrame | None,
) -> DataFrame:
    schema = _without_folders(schema, layout)
    if texts is not None:
        return records(texts, schema, layout.columns)
    if _is_by_lines(files, json):
        return records(lines_of_small(spark, files, layout, json), schema, layout.columns)
    if json.names is not None and next(twins(schema), None):
        return records(texts_of(spark, files, layout, json), schema, layout.columns)
    reader = _reader(spark, layout, json)
    if json.names is not None:
        return _strict(reader, files, layout, json, schema)
    return load(reader.schema(schema).option("mode", "FAILFAST"), files, "json")


def _without_folders(schema: StructType, layout: Layout) -> StructType:
    """Return the fields of records; a folder wins over a field of its name, as in Spark."""
    folders = {name.lower() for name in layout.columns}
    return StructType([one for one in schema if one.name.lower() not in folders])


def _strict(
    reader: DataFrameReader,
    files: Sequence[str],
    layout: Layout,
    json: Format,
    schema: StructType,
) -> DataFrame:
    texts = casts_as_texts(schema)

    def reason(record: Column) -> Column:
        struct = F.struct(*[f"`{name}`" for name in schema.names]).cast(numbered(texts))
        return json_reason(texts, struct, record)

    rows = strict(reader, files, with_folders(texts, layout, json), "json", reason)
    return with_casts(rows, schema)
