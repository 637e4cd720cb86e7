"""File formats and their options: Glue's names, Spark's values.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format.html
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrameReader, SparkSession
from pyspark.sql.types import DataType, StructType

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.frames.absence import ALL_THERE, SOME_LACK
from tidemark.glue_job.frames.errors import ReaderErrors
from tidemark.glue_job.frames.schemas import spark_schema
from tidemark.glue_job.frames.types import as_struct_type, without_nulls
from tidemark.glue_job.readers.files.partitions import Layout
from tidemark.glue_job.readers.files.s3_options import is_true, option_string
from tidemark.glue_job.readers.tables.declared import Names
from tidemark.local_state.run_warnings import RunWarning, note

# Options that only select a faster reader on AWS, or that belong to a writer.
WITHOUT_EFFECT = {"optimizePerformance", "writeHeader"}
ATTACHED = ("attachFilename", "attachTimestamp")  # columns about the file of a row, in any format
READ_OPTIONS: dict[str, set[str]] = {
    "csv": WITHOUT_EFFECT.union(
        "separator escaper quoteChar multiLine multiline withHeader skipFirst".split()
    ),
    "json": {"jsonPath", "multiLine", "multiline", "withSchema", "optimizePerformance"},
    "avro": {"version"},
    "xml": set(
        "rowTag encoding excludeAttribute excludeAttributes withSchema treatEmptyValuesAsNulls "
        "attributePrefix valueTag ignoreSurroundingSpaces".split()
    ),
    "parquet": set(),
    "orc": set(),
    "ion": set(),
}
SAME_AS = {"glueparquet": "parquet"}
# A file of 0 bytes has no rows in these formats; in the others it is broken.
MAY_BE_EMPTY = ("csv", "ion", "json", "xml")
# Formats whose schema comes from the records, and whether these can lack fields. For JSON the
# reader of documents decides.
RECORD_FORMATS = {"csv": ALL_THERE, "ion": SOME_LACK, "xml": SOME_LACK}


@dataclass(frozen=True)
class Format:
    """How files are read.

    Attributes:
        name: the format.
        options: its checked format options.
        schema: schema of the records, if the script or a table gives one.
        table: the name of the table that declares the schema, if one does.
        names: how the schema's names map to the files; None if they are equal.
        partitions: the declared types of partition columns, by lower-case name.
        null_string: what a SerDe reads as null, but Glue's CSV reader as a string; may be empty.
        is_grouped: whether a task reads many files as one, without telling them apart.
        is_dynamic: whether a column of several types becomes a marked choice.
        failed: list for records that do not parse, if it is dynamic.
    """

    name: str
    options: Mapping[str, Any] = field(default_factory=dict)
    schema: StructType | None = None
    table: str = ""
    names: Names | None = None
    partitions: Mapping[str, DataType] = field(default_factory=dict)
    null_string: str = ""
    is_grouped: bool = False
    is_dynamic: bool = False
    failed: ReaderErrors = field(default_factory=ReaderErrors)

    def with_errors_in(self, failed: ReaderErrors | None) -> "Format":
        """Return the format of a DynamicFrame, which gets a list for records that do not parse.

        None means a DataFrame, where no record may be broken.
        """
        if failed is None:
            return self
        if self.name in RECORD_FORMATS:
            failed.note_absence(RECORD_FORMATS[self.name])
        return replace(self, is_dynamic=True, failed=failed)

    @property
    def is_multi_line(self) -> bool:
        """Whether a record may span several lines."""
        return self.is_on("multiLine", "multiline")

    def is_on(self, *names: str) -> bool:
        """Return whether any of these options is switched on."""
        return any(is_true(self.options.get(name, False)) for name in names)


@dataclass(frozen=True)
class Files:
    """Files that are read together: their URIs, their partition folders and how to read them."""

    spark: SparkSession
    paths: Sequence[str]
    layout: Layout
    format: Format

    @property
    def alone(self) -> "Files":
        """The same files without partition columns, each row with its file."""
        return replace(self, layout=Layout(), format=replace(self.format, is_grouped=False))

    @property
    def reader(self) -> DataFrameReader:
        """Spark's reader, which turns partition folders into columns."""
        reader = self.spark.read
        return reader.option("basePath", self.layout.base) if self.layout.columns else reader


def read_format(name: str | None, format_options: Mapping[str, Any]) -> Format:
    """Return the format that a source is read with.

    An option that Glue does not know for this format is ignored, as on AWS, with a warning.
    """
    format_name = SAME_AS.get(str(name).lower(), str(name).lower())
    if format_name not in READ_OPTIONS:
        allowed = ", ".join(READ_OPTIONS)
        raise UnsupportedError(f"format {name!r} is not supported; allowed are {allowed}")
    for option in sorted(set(format_options) - READ_OPTIONS[format_name] - {*ATTACHED}):
        note(RunWarning.OPTION_IGNORED, f"format_options[{option!r}] of the format {format_name}")
    if format_name == "xml" and not format_options.get("rowTag"):
        raise UsageError("format 'xml' needs format_options['rowTag'], the tag of one row")
    if format_name == "avro":
        avro_version(format_options)
    schema = given_schema(format_options.get("withSchema"), "format_options['withSchema']")
    return Format(format_name, dict(format_options), schema)


def given_schema(text: object, what: str) -> StructType | None:
    """Return the schema that a script gives in an option, if any."""
    if not text:
        return None
    try:
        return as_struct_type(without_nulls(spark_schema(json.loads(str(text)))))
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(
            f"{what} is {text!r}; it must be the JSON of a awsglue.gluetypes.StructType, as "
            f"json.dumps(schema.jsonValue()) writes it ({error})"
        ) from error


def avro_version(format_options: Mapping[str, Any]) -> str:
    """Return the version of Avro; 1.8 has dates, timestamps and decimals."""
    version = str(format_options.get("version", "1.7"))
    if version not in ("1.7", "1.8"):
        raise UsageError(
            f"format_options['version'] is {format_options['version']!r}; allowed are 1.7 and 1.8 "
            "(with logical types)"
        )
    return version


def csv_options(csv: Format) -> dict[str, str]:
    """Return Spark's options for CSV by RFC 4180, which Glue follows.

    Without an escaper a backslash is a plain character, and a doubled quote is one quote.
    """
    quote = str(csv.options.get("quoteChar", '"'))
    quote = "" if quote == "-1" else quote
    escaper = str(csv.options.get("escaper") or "none")
    separator = str(csv.options.get("separator", ",")).replace("\\t", "\t")
    if len(separator) != 1:
        raise UsageError(f"format_options['separator'] is {separator!r}; it must be one character")
    return {
        "sep": separator,
        "quote": quote,
        "escape": quote if escaper.lower() == "none" else escaper,
        "multiLine": option_string(csv.is_multi_line),
        "header": option_string(csv.is_on("withHeader", "skipFirst")),
    }
