"""Reads and appends rows of Iceberg's tables in the Data Catalog, by the names of the tables.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-iceberg.html
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from py4j.java_gateway import JavaPackage
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from tidemark.errors import UnsupportedError
from tidemark.glue_job.iceberg.settings import CATALOG
from tidemark.glue_job.process.bookmark_session import note_no_bookmark
from tidemark.glue_job.readers.request import TableRequest
from tidemark.model.assembly.catalog_tables import CatalogTable
from tidemark.model.assembly.iceberg import GLUE_CATALOG, SPARK_CATALOG

OWN_CATALOG = "tidemark_data_catalog"  # of the session, beside those that the script names
CATALOGS = (SPARK_CATALOG, "org.apache.iceberg.spark.SparkSessionCatalog")


def read_iceberg(
    spark: SparkSession, table: CatalogTable, request: TableRequest, *, is_dynamic: bool
) -> DataFrame:
    """Return the rows of a table, by the options of Iceberg's reader, such as `snapshot-id`."""
    if is_dynamic:
        raise UnsupportedError(
            f"the table {table.full_name} is one of Iceberg, which DynamicFrames do not support: "
            "read it with create_data_frame.from_catalog, or spark.table"
        )
    if request.push_down_predicate:
        raise UnsupportedError(
            f"push_down_predicate {request.push_down_predicate!r} chooses folders, and the table "
            f"{table.full_name} is one of Iceberg: filter the rows after the read, which reads "
            "only what the filter needs"
        )
    if request.transformation_ctx:
        note_no_bookmark(f"{request.transformation_ctx} ({table.full_name}, a table of Iceberg)")
    options = {name: str(value) for name, value in request.options.items()}
    return spark.read.options(**options).table(_spark_name(spark, table))


def append_iceberg(frame: DataFrame, table: CatalogTable, options: Mapping[str, Any]) -> None:
    """Append rows to a table, in one commit, by the options of Iceberg's writer."""
    texts = {name: str(value) for name, value in options.items()}
    spark = frame.sparkSession
    frame.writeTo(_spark_name(spark, table)).options(**texts).append()
    # The script's own catalogs, which keep a table for a while, see the commit at once.
    for row in spark.sql("SHOW CATALOGS").collect():
        catalog = row.catalog
        if spark.conf.get(f"{CATALOG}{catalog}", None) not in CATALOGS or catalog == OWN_CATALOG:
            continue
        with suppress(AnalysisException, Py4JJavaError):  # it is one of other tables
            spark.catalog.refreshTable(f"`{catalog}`.`{table.database}`.`{table.name}`")


def _spark_name(spark: SparkSession, table: CatalogTable) -> str:
    """Return the table's name for Spark SQL, in a catalog that sees each commit at once."""
    if isinstance(spark._jvm.dev.tidemark.catalog.IcebergCatalog, JavaPackage):  # type: ignore[union-attr]
        raise UnsupportedError(
            f"the table {table.full_name} is one of Iceberg: give the job the argument "
            "--datalake-formats iceberg"
        )
    name = f"{CATALOG}{OWN_CATALOG}"
    if spark.conf.get(name, None) is None:
        spark.conf.set(f"{name}.catalog-impl", GLUE_CATALOG)
        spark.conf.set(f"{name}.cache-enabled", "false")
        spark.conf.set(name, SPARK_CATALOG)
    return f"`{OWN_CATALOG}`.`{table.database}`.`{table.name}`"
