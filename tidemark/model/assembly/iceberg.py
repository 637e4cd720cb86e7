"""Iceberg's names: the settings of a job that uses its tables, and what the Data Catalog keeps.

Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-iceberg.html,
https://iceberg.apache.org/docs/1.10.0/spark-queries/#inspecting-tables
"""

from collections.abc import Mapping
from typing import Any

DATALAKE_FORMATS, FORMAT = "--datalake-formats", "iceberg"
# Parameters of a table: where its metadata are, and were before the last commit.
METADATA, PREVIOUS = "metadata_location", "previous_metadata_location"
# Tables that Iceberg has for each table, below its name.
CHANGES = "changes"
METADATA_TABLES = frozenset(
    "changes entries files data_files delete_files history manifests metadata_log_entries "
    "partitions position_deletes refs snapshots all_data_files all_delete_files all_entries "
    "all_files all_manifests".split()
)
CATALOG = "glue_catalog"
EXTENSIONS = "spark.sql.extensions"
ICEBERG_EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
SPARK_CATALOG = "org.apache.iceberg.spark.SparkCatalog"
GLUE_CATALOG = "org.apache.iceberg.aws.glue.GlueCatalog"
FILE_IO = "org.apache.iceberg.aws.s3.S3FileIO"


def table_formats(arguments: Mapping[str, str]) -> list[str]:
    """Return the formats that the arguments of a job name in `--datalake-formats`.

    Example:
        >>> table_formats({"--datalake-formats": "iceberg, delta"})
        ['iceberg', 'delta']
    """
    given = (part.strip() for part in arguments.get(DATALAKE_FORMATS, "").split(","))
    return [name for name in given if name]


def iceberg_settings(catalog: str, warehouse: str) -> dict[str, str]:
    """Return the five settings of a job, for a catalog of the Data Catalog and its warehouse."""
    key = f"spark.sql.catalog.{catalog}"
    return {
        EXTENSIONS: ICEBERG_EXTENSIONS,
        key: SPARK_CATALOG,
        f"{key}.catalog-impl": GLUE_CATALOG,
        f"{key}.io-impl": FILE_IO,
        f"{key}.warehouse": warehouse,
    }


def is_of_iceberg(request: Mapping[str, Any]) -> bool:
    """Return whether a request of CreateTable, or a resource, asks for a table of Iceberg."""
    return bool((request.get("OpenTableFormatInput") or {}).get("IcebergInput"))
