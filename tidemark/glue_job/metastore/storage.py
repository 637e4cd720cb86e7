"""How Hive tables are stored, and which source of Spark reads and writes them."""

from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.errors import UnsupportedError
from tidemark.model.assembly.catalog_tables import CatalogTable

_HIVE = "org.apache.hadoop.hive.ql.io"
_TEXT = ("org.apache.hadoop.mapred.TextInputFormat", f"{_HIVE}.HiveIgnoreKeyTextOutputFormat")
LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
OPEN_CSV = "opencsvserde"
# Format -> SerDe, input and output format, as in Athena's CREATE TABLE.
STORED_AS = {
    "csv": (LAZY, *_TEXT),
    "json": ("org.openx.data.jsonserde.JsonSerDe", *_TEXT),
    "parquet": (
        f"{_HIVE}.parquet.serde.ParquetHiveSerDe",
        f"{_HIVE}.parquet.MapredParquetInputFormat",
        f"{_HIVE}.parquet.MapredParquetOutputFormat",
    ),
    "avro": (
        "org.apache.hadoop.hive.serde2.avro.AvroSerDe",
        f"{_HIVE}.avro.AvroContainerInputFormat",
        f"{_HIVE}.avro.AvroContainerOutputFormat",
    ),
    "orc": (f"{_HIVE}.orc.OrcSerde", f"{_HIVE}.orc.OrcInputFormat", f"{_HIVE}.orc.OrcOutputFormat"),
}
SOURCES = ("csv", "json", "parquet", "orc")  # of Spark, without further jars
CONTROL_A = "\x01"  # between the fields of a text file of Hive
# Defaults of a Hive text file that differ from Spark's CSV.
LAZY_SERDE_OPTIONS = {"quote": "", "escape": ""}
HIVE_TIME_OPTIONS = {"timestampFormat": "yyyy-MM-dd HH:mm:ss[.SSSSSS]"}


def as_columns(columns: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return columns as the Data Catalog has them.

    Example:
        >>> as_columns([("id", "bigint")])
        [{'Name': 'id', 'Type': 'bigint'}]
    """
    return [{"Name": name, "Type": kind} for name, kind in columns]


def storage_of(
    format_name: str,
    columns: Iterable[tuple[str, str]],
    location: str,
    serde_parameters: Mapping[str, str],
) -> dict[str, Any]:
    """Return the StorageDescriptor of a table of files in one of the formats of `STORED_AS`."""
    serde, inputs, outputs = STORED_AS[format_name]
    return {
        "Columns": as_columns(columns),
        "Location": location,
        "InputFormat": inputs,
        "OutputFormat": outputs,
        "SerdeInfo": {"SerializationLibrary": serde, "Parameters": dict(serde_parameters)},
    }


def read_options(table: CatalogTable) -> tuple[str, dict[str, str]]:
    """Return the source of Spark and its options for a table of Hive, with its own rules.

    A header counts as a row: Spark ignores skip.header.line.count. INSERT OVERWRITE replaces
    only the partitions that it writes.
    """
    name = table.classification
    if table.is_jdbc or name not in SOURCES:
        raise UnsupportedError(
            f"the table {table.full_name} has the format {name}, which Spark SQL does not read "
            f"here; allowed: {', '.join(SOURCES)}: read it with create_dynamic_frame.from_catalog"
        )
    if any(name in table.input_format.lower() for name in ("sequencefile", "rcfile")):
        raise UnsupportedError(
            f"the table {table.full_name} has {table.input_format}, which Spark SQL does not read "
            "or write here: store it as text, parquet or orc"
        )
    if any(name.startswith("mapping.") for name in table.serde_parameters):
        raise UnsupportedError(
            f"the table {table.full_name} has columns by mapping.… of its SerDe, which Spark SQL "
            "does not support here: read it with create_dynamic_frame.from_catalog"
        )
    options = {"partitionOverwriteMode": "dynamic"} if table.partition_keys else {}
    if name == "csv":
        options |= _csv_options(table)
    return name, options


def null_string(table: CatalogTable) -> str:
    r"""Return the string that LazySimpleSerDe reads as null; ``\N`` by default.

    Empty for a table of OpenCSVSerDe, which has no such string.

    Source: https://cwiki.apache.org/confluence/display/Hive/LanguageManual+DDL
    """
    if OPEN_CSV in table.serde_library.lower():
        return ""
    parameters = {**table.parameters, **table.serde_parameters}
    return str(parameters.get("serialization.null.format", "\\N"))


def _csv_options(table: CatalogTable) -> dict[str, str]:
    serde = table.serde_parameters
    if OPEN_CSV in table.serde_library.lower():
        return {
            "header": "false",
            "sep": serde.get("separatorChar", ","),
            "quote": serde.get("quoteChar", '"'),
            "escape": serde.get("escapeChar", "\\"),
        }
    sep = serde.get("field.delim") or table.parameters.get("delimiter") or CONTROL_A
    options = {
        "header": "false",
        "sep": sep,
        "nullValue": null_string(table),
        **LAZY_SERDE_OPTIONS,
        **HIVE_TIME_OPTIONS,
    }
    return {**options, "escape": serde["escape.delim"]} if "escape.delim" in serde else options
