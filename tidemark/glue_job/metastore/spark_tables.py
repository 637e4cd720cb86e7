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
SPARK_PROPERTIES = (
    "spark.sql.sources.",
    "spark.sql.partitionProvider",
    "spark.sql.create.version",
    "spark.sql.statistics.",
    "EXTERNAL",
)
TYPES = {"MANAGED": "MANAGED_TABLE", "EXTERNAL": "EXTERNAL_TABLE", "VIEW": "VIRTUAL_VIEW"}
# Options of a data source, and the SerDe properties that mean the same to a Hive reader of CSV.
COMPUTED = (
    "sep",
    "header",
    "quote",
    "escape",
    "nullValue",
    "timestampFormat",
    "partitionOverwriteMode",
)


def spark_table(table: CatalogTable) -> dict[str, Any]:
    """Return a table in the form of `SparkJson.java`."""
    parameters, kind = table.parameters, table.definition.get("TableType")
    if table.is_view:
        return {**_common(table, "VIEW"), **_view(table)}
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
        buckets = _buckets(table) if table.bucket_columns else {}
        return {**common, "provider": provider, "options": options, **buckets}
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
    comments = {one["Name"]: one["Comment"] for one in described if one.get("Comment")}
    parameters = table.parameters
    return {
        "database": table.database,
        "table": table.name,
        "type": kind,
        "provider": None,
        "schema": _schema_of(parameters),
        "columns": [[name, spark_type(of), comments.get(name)] for name, of in columns],
        "partition_keys": _keys(table),
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


def _view(table: CatalogTable) -> dict[str, Any]:
    if VIEW_MARK not in table.parameters:
        raise UnsupportedError(
            f"the view {table.full_name} was not created by Spark, and its SQL is for another "
            "engine; create it with CREATE OR REPLACE VIEW in a job"
        )
    return {"view_text": table.definition.get("ViewExpandedText")}


def _schema_of(parameters: Mapping[str, str]) -> str | None:
    """Return the schema that Spark stored as JSON, in one or several parts; None without."""
    if whole := parameters.get(SCHEMA):
        return whole
    count = int(parameters.get(f"{SCHEMA}.numParts", "0"))
    return "".join(parameters[f"{SCHEMA}.part.{n}"] for n in range(count)) or None


def _keys(table: CatalogTable) -> list[str]:
    """Return the partition keys in Spark's spelling if it is stored."""
    parameters = table.parameters
    count = int(parameters.get(f"{SCHEMA}.numPartCols", "0"))
    spelled = [parameters[f"{SCHEMA}.partCol.{n}"] for n in range(count)]
    return spelled or [name for name, _ in table.partition_keys]


def _buckets(table: CatalogTable) -> dict[str, Any]:
    return {
        "buckets": table.bucket_count,
        "bucket_columns": table.bucket_columns,
        "sort_columns": table.sort_columns,
    }


def spark_type(hive_type: str) -> str:
    """Return a type of the Data Catalog in the syntax of Spark's parser."""
    return hive_type.replace("uniontype", "struct") or "string"


def catalog_table(spark: Mapping[str, Any], old: CatalogTable | None = None) -> CatalogTable:
    """Return the table that Spark wants to store in the Data Catalog."""
    properties = dict(spark["properties"])
    is_marked = properties.pop(HIVE_MARK, None) is not None
    is_hive = is_marked or (old is not None and PROVIDER not in old.parameters)
    keys = [key.lower() for key in spark["partition_keys"]]
    columns = [_column(one) for one in spark["columns"] if one[0].lower() not in keys]
    by_name = {one[0].lower(): _column(one) for one in spark["columns"]}
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
    found = {"Name": name.lower(), "Type": kind.replace("_ntz", "").replace("void", "string")}
    return {**found, "Comment": comment} if comment else found


def _parameters(spark: Mapping[str, Any], is_hive: bool) -> dict[str, str]:
    """Return the parameters in which Spark stores its own properties of a table."""
    found = {"EXTERNAL": "TRUE"} if spark["type"] == "EXTERNAL" else {}
    found |= {
        name: str(spark[key])
        for name, key in ((SIZE, "size_bytes"), (ROWS, "rows"))
        if spark.get(key)
    }
    if is_hive:
        return found
    found[SCHEMA] = spark["schema"]
    if spark["type"] == "VIEW":
        return found
    found[PROVIDER] = spark["provider"]
    if spark["provider"].lower() in STORED_AS:
        found["classification"] = spark["provider"].lower()
    if keys := spark["partition_keys"]:
        found |= {f"{SCHEMA}.partCol.{number}": key for number, key in enumerate(keys)}
        found |= {f"{SCHEMA}.numPartCols": str(len(keys)), "spark.sql.partitionProvider": "catalog"}
    if is_true(spark["options"].get("header")):
        found["skip.header.line.count"] = "1"
    return found


def is_true(text: str | None) -> bool:
    """Return whether an option is true, by Spark's rules."""
    return str(text).lower() == "true"


def _storage(spark: Mapping[str, Any], is_hive: bool) -> dict[str, Any]:
    """Return the storage descriptor of a new table."""
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
            "SortColumns": [{"Column": one, "SortOrder": 1} for one in spark["sort_columns"]],
        }
    return storage


def hive_table(spark: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source that writes a new table of Hive: provider, options, properties."""
    properties = {**spark["properties"], HIVE_MARK: "true"}
    table = catalog_table({**spark, "properties": properties})
    provider, options = read_options(table)
    return {
        "provider": provider,
        "options": {**spark["options"], **options},
        "properties": properties,
    }
