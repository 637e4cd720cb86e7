"""Tables of the Data Catalog as Spark's catalog describes them, and back; plain data only.

Spark's own sources read and write Hive tables, as Glue does for Parquet and ORC.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-glue-data-catalog-hive.html
"""

from collections.abc import Mapping
from typing import Any

from tidemark.errors import UnsupportedError
from tidemark.glue_job.metastore.storage import STORED_AS, read_options
from tidemark.model.assembly.catalog_tables import CatalogTable

HIVE_MARK = "tidemark.hive"  # a property of a table that is created as a Hive table
PROVIDER = "spark.sql.sources.provider"
SCHEMA = "spark.sql.sources.schema"
VIEW_MARK = "view.catalogAndNamespace.numParts"  # of views that Spark made
ROWS, SIZE = "spark.sql.statistics.numRows", "spark.sql.statistics.totalSize"
SPARK_PROPERTIES = tuple(
    (
        "spark.sql.sources. spark.sql.partitionProvider spark.sql.create.version "
        "spark.sql.statistics. EXTERNAL"
    ).split()
)
TYPES = {"MANAGED": "MANAGED_TABLE", "EXTERNAL": "EXTERNAL_TABLE", "VIEW": "VIRTUAL_VIEW"}
# Options of a data source, and the SerDe properties that mean the same to a Hive reader of CSV.
COMPUTED = tuple("sep header quote escape nullValue timestampFormat partitionOverwriteMode".split())


def spark_table(table: CatalogTable) -> dict[str, Any]:
    """Return a table in the form of `SparkJson.java`."""
    parameters, kind = table.parameters, table.definition.get("TableType")
    if table.is_view:
        if VIEW_MARK not in parameters:
            raise UnsupportedError(
                f"the view {table.full_name} was not created by Spark, and its SQL is for another "
                "engine; create it with CREATE OR REPLACE VIEW in a job"
            )
        return {**_common(table, "VIEW"), "view_text": table.definition.get("ViewExpandedText")}
    if table.is_iceberg:
        # Without its files, which only Iceberg knows: enough to list it.
        return {**_common(table, "EXTERNAL"), "provider": "iceberg", "location": table.location}
    if open_format := parameters.get("table_type"):
        raise UnsupportedError(
            f"the table {table.full_name} is one of {open_format}: Spark reads it by a catalog of "
            f"that format, whose jar --extra-jars names"
        )
    common = _common(table, "MANAGED" if kind == "MANAGED_TABLE" else "EXTERNAL")
    common["location"] = table.location
    if provider := parameters.get(PROVIDER):
        options = {k: v for k, v in table.serde_parameters.items() if k != "path"}
        if table.bucket_columns:
            common["buckets"], common["bucket_columns"] = table.bucket_count, table.bucket_columns
            common["sort_columns"] = table.sort_columns
        return {**common, "provider": provider, "options": options}
    if table.is_projected:
        raise UnsupportedError(
            f"the table {table.full_name} has partition projection, which only Athena knows: Spark "
            f"reads registered partitions; read {table.location} with spark.read"
        )
    provider, options = read_options(table)
    return {**common, "provider": provider, "options": options}


def _common(table: CatalogTable, kind: str) -> dict[str, Any]:
    columns = [*table.columns, *table.partition_keys]
    storage = table.definition.get("StorageDescriptor") or {}
    described = [*storage.get("Columns", []), *table.definition.get("PartitionKeys", [])]
    comments = {column["Name"]: column["Comment"] for column in described if column.get("Comment")}
    parameters = table.parameters
    return {
        "database": table.database,
        "table": table.name,
        "type": kind,
        "provider": None,
        "schema": parameters.get(SCHEMA) or "".join(_numbered(parameters, "part")) or None,
        "columns": [[name, spark_type(of), comments.get(name)] for name, of in columns],
        # In Spark's spelling if it is stored.
        "partition_keys": _numbered(parameters, "partCol") or [n for n, _ in table.partition_keys],
        "location": None,
        "options": {},
        "properties": {k: v for k, v in parameters.items() if not k.startswith(SPARK_PROPERTIES)},
        "comment": table.definition.get("Description"),
        "owner": str(table.definition.get("Owner") or ""),
        "created_ms": 0,
        "view_text": None,
        "size_bytes": parameters.get(SIZE),
        "rows": parameters.get(ROWS),
    }


def _numbered(parameters: Mapping[str, str], what: str) -> list[str]:
    """Return what Spark stores in several parameters: parts of a schema, or partition keys."""
    counts = {"part": "numParts", "partCol": "numPartCols"}
    count = int(parameters.get(f"{SCHEMA}.{counts[what]}", "0"))
    return [parameters[f"{SCHEMA}.{what}.{number}"] for number in range(count)]


def spark_type(hive_type: str) -> str:
    """Return a type of the Data Catalog in the syntax of Spark's parser."""
    return hive_type.replace("uniontype", "struct") or "string"


def catalog_table(spark: Mapping[str, Any], old: CatalogTable | None = None) -> CatalogTable:
    """Return the table that Spark wants to store in the Data Catalog."""
    properties = dict(spark["properties"])
    is_marked = properties.pop(HIVE_MARK, None) is not None
    is_hive = is_marked or (old is not None and PROVIDER not in old.parameters)
    keys = [key.lower() for key in spark["partition_keys"]]
    columns = [_column(column) for column in spark["columns"] if column[0].lower() not in keys]
    by_name = {column[0].lower(): _column(column) for column in spark["columns"]}
    before = dict(old.definition) if old else {}
    storage = {**(before.get("StorageDescriptor") or _storage(spark, is_hive))}
    storage |= {"Columns": columns}
    if spark["location"]:
        storage["Location"] = spark["location"]
    definition = {
        **before,
        "Name": spark["table"].lower(),
        "TableType": TYPES[spark["type"]],
        # CREATE TABLE … AS has no columns before its query has run.
        "PartitionKeys": [by_name.get(key, {"Name": key, "Type": "string"}) for key in keys],
        "Parameters": {**properties, **_parameters(spark, is_hive)},
        "StorageDescriptor": storage,
    }
    texts = {"Description": spark["comment"], "Owner": spark["owner"]}
    if spark["type"] == "VIEW":
        texts |= dict.fromkeys(("ViewOriginalText", "ViewExpandedText"), spark["view_text"])
    definition |= {name: text for name, text in texts.items() if text}
    return CatalogTable(spark["database"].lower(), spark["table"].lower(), definition)


def _column(column: list[Any]) -> dict[str, str]:
    name, kind, comment = column
    described = {"Name": name.lower(), "Type": kind.replace("_ntz", "").replace("void", "string")}
    return {**described, "Comment": comment} if comment else described


def _parameters(spark: Mapping[str, Any], is_hive: bool) -> dict[str, str]:
    """Return the parameters in which Spark stores its own properties of a table."""
    parameters = {"EXTERNAL": "TRUE"} if spark["type"] == "EXTERNAL" else {}
    statistics = {SIZE: spark.get("size_bytes"), ROWS: spark.get("rows")}
    parameters |= {name: str(value) for name, value in statistics.items() if value}
    if is_hive:
        return parameters
    parameters[SCHEMA] = spark["schema"]
    if spark["type"] == "VIEW":
        return parameters
    parameters[PROVIDER] = spark["provider"]
    if spark["provider"].lower() in STORED_AS:
        parameters["classification"] = spark["provider"].lower()
    if keys := spark["partition_keys"]:
        parameters |= {f"{SCHEMA}.partCol.{number}": key for number, key in enumerate(keys)}
        parameters[f"{SCHEMA}.numPartCols"] = str(len(keys))
        parameters["spark.sql.partitionProvider"] = "catalog"
    if is_true(spark["options"].get("header")):
        parameters["skip.header.line.count"] = "1"
    return parameters


def is_true(text: str | None) -> bool:
    """Return whether an option is true, by Spark's rules."""
    return str(text).lower() == "true"


def _storage(spark: Mapping[str, Any], is_hive: bool) -> dict[str, Any]:
    options = dict(spark["options"])
    if is_hive:
        serde, inputs, outputs = spark["serde"], spark["input_format"], spark["output_format"]
        options = {name: value for name, value in options.items() if name not in COMPUTED}
    else:
        provider = str(spark["provider"]).lower()
        serde, inputs, outputs = STORED_AS.get(provider, STORED_AS["csv"])
        options.setdefault("serialization.format", "1")
        if provider == "csv":
            options.setdefault("field.delim", options.get("sep", options.get("delimiter", ",")))
    storage: dict[str, Any] = {
        "InputFormat": inputs,
        "OutputFormat": outputs,
        "SerdeInfo": {"SerializationLibrary": serde, "Parameters": options},
    }
    if spark.get("buckets"):
        storage |= {
            "NumberOfBuckets": spark["buckets"],
            "BucketColumns": spark["bucket_columns"],
            "SortColumns": [{"Column": name, "SortOrder": 1} for name in spark["sort_columns"]],
        }
    return storage


def hive_table(spark: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source that writes a new table of Hive: provider, options, properties."""
    properties = {**spark["properties"], HIVE_MARK: "true"}
    provider, options = read_options(catalog_table({**spark, "properties": properties}))
    options = {**spark["options"], **options}
    return {"provider": provider, "options": options, "properties": properties}
