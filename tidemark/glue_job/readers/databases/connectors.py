"""Reads and writes by a Spark data source that the job brings: custom.spark, marketplace.spark.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-market.html
"""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.readers.databases.mongodb import DATA_SOURCE, connector_options
from tidemark.local_state.catalog.connections import connection_of_job
from tidemark.model.awsglue_api.connections import MONGODB

CLASS_NAMES = ("CONNECTOR_CLASS_NAME", "ConnectorClassName")  # of a connection


def read_connector(
    spark: SparkSession, connection_type: str, connection_options: Mapping[str, Any]
) -> DataFrame:
    """Return what a data source of Spark reads."""
    source, options = _source(spark, connection_type, connection_options)
    return spark.read.format(source).options(**options).load()


def write_connector(
    frame: DataFrame, connection_type: str, connection_options: Mapping[str, Any]
) -> None:
    """Append rows by a data source of Spark; see `read_connector`."""
    source, options = _source(frame.sparkSession, connection_type, connection_options)
    if frame.columns:
        frame.write.format(source).options(**options).mode("append").save()


def _source(
    spark: SparkSession, connection_type: str, given: Mapping[str, Any]
) -> tuple[str, dict[str, str]]:
    if connection_type in MONGODB:
        options = connector_options(given)
        _check(spark, DATA_SOURCE)
        return DATA_SOURCE, options
    options = {name: _text(value) for name, value in given.items() if value is not None}
    if "secretId" in options:
        raise UnsupportedError(
            "connection_options['secretId'] is not supported: no Secrets Manager runs here; give "
            "the options that the secret holds"
        )
    connection = options.pop("connectionName", "")
    source = options.pop("className", "") or _class_of(connection)
    if not source:
        raise UsageError(
            "connection_options has no className; a Spark connector needs the class or the short "
            "name of its data source"
        )
    _check(spark, source)
    return source, options


def _class_of(connection: str) -> str:
    if not connection:
        return ""
    properties = connection_of_job(connection).properties
    return next((str(properties[name]) for name in CLASS_NAMES if name in properties), "")


def _check(spark: SparkSession, source: str) -> None:
    jvm: Any = spark._jvm
    try:
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(
            source, jvm.org.apache.spark.sql.internal.SQLConf.get()
        )
    except Exception as error:  # the class of the error is Java's and differs by source
        raise UsageError(
            f"there is no data source {source!r} on the class path of Spark: give the jar of the "
            "connector in --extra-jars"
        ) from error


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
