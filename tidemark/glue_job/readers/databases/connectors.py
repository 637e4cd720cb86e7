"""Reads and writes through Spark data sources of the job: custom.spark, marketplace.spark.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-market.html
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from pyspark.sql import DataFrame, SparkSession

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.readers.files.s3_options import option_string
from tidemark.local_state.catalog.definitions import connection_of_job
from tidemark.model.awsglue_api.connections import MONGODB

DATA_SOURCE = "mongodb"  # of version 10 of the connector, in Glue 4.0 and later
URIS = ("connection.uri", "uri")  # the second one is Glue 3.0's
WITHOUT_EFFECT = {"disableUpdateUri"}  # without it Glue adds database and collection to the URI
URI_OPTIONS = {"ssl": "tls", "ssl.domain_match": "tlsAllowInvalidHostnames"}
_NEGATED = ("ssl.domain_match",)


def connector_options(given: Mapping[str, Any]) -> dict[str, str]:
    """Return the options of Spark's connector for Glue's options."""
    options = {name: option_string(value) for name, value in given.items() if value is not None}
    if "secretId" in options:
        raise UnsupportedError(
            "connection_options['secretId'] is not supported: no Secrets Manager runs here; give "
            "username and password"
        )
    if name := options.pop("connectionName", ""):
        properties = connection_of_job(name).properties
        words = {"CONNECTION_URL": URIS[0], "USERNAME": "username", "PASSWORD": "password"}
        named = {w: str(properties[key]) for key, w in words.items() if properties.get(key)}
        options = {**named, **options}
    uris = [uri for name in URIS if (uri := options.pop(name, ""))]
    missing = [name for name in ("database", "collection") if not options.get(name)]
    if missing or not uris:
        raise UsageError(
            f"connection_options has no {', '.join([*missing, *([] if uris else [URIS[0]])])}; "
            "MongoDB needs a URI, a database and a collection"
        )
    credentials = options.pop("username", ""), options.pop("password", "")
    uri = _with_credentials(uris[0], *credentials)
    flags = {
        parameter: ("false" if value == "true" else "true") if name in _NEGATED else value
        for name, parameter in URI_OPTIONS.items()
        if (value := options.pop(name, ""))
    }
    spark_options = {name: value for name, value in options.items() if name not in WITHOUT_EFFECT}
    return {**spark_options, "connection.uri": _with_parameters(uri, flags)}


def _with_credentials(uri: str, user: str, password: str) -> str:
    scheme, separator, rest = uri.partition("://")
    if not user or "@" in rest.partition("/")[0]:
        return uri
    return f"{scheme}{separator}{quote(user, safe='')}:{quote(password, safe='')}@{rest}"


def _with_parameters(uri: str, parameters: Mapping[str, str]) -> str:
    if not parameters:
        return uri
    scheme, _, rest = uri.partition("://")
    rest, _, query = rest.partition("?")
    place = rest if "/" in rest else f"{rest}/"
    added = [f"{name}={value}" for name, value in parameters.items()]
    return f"{scheme}://{place}?{'&'.join([*filter(None, [query]), *added])}"


CLASS_NAMES = ("CONNECTOR_CLASS_NAME", "ConnectorClassName")  # of a connection


def read_connector(
    spark: SparkSession, connection_type: str, connection_options: Mapping[str, Any]
) -> DataFrame:
    """Return the rows of a Spark data source."""
    source, options = _source(spark, connection_type, connection_options)
    return spark.read.format(source).options(**options).load()


def write_connector(
    frame: DataFrame, connection_type: str, connection_options: Mapping[str, Any]
) -> None:
    """Append rows through a Spark data source; see `read_connector`."""
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
    options = {name: option_string(value) for name, value in given.items() if value is not None}
    if "secretId" in options:
        raise UnsupportedError(
            "connection_options['secretId'] is not supported: no Secrets Manager runs here; give "
            "the options that are in the secret"
        )
    connection, source = options.pop("connectionName", ""), options.pop("className", "")
    if connection and not source:
        properties = connection_of_job(connection).properties
        source = next((str(properties[name]) for name in CLASS_NAMES if name in properties), "")
    if not source:
        raise UsageError(
            "connection_options has no className; a Spark connector needs the class or the short "
            "name of its data source"
        )
    _check(spark, source)
    return source, options


def _check(spark: SparkSession, source: str) -> None:
    jvm: Any = spark._jvm
    try:
        jvm.org.apache.spark.sql.execution.datasources.DataSource.lookupDataSource(
            source, jvm.org.apache.spark.sql.internal.SQLConf.get()
        )
    except Exception as error:  # the class of the error is Java's and differs by source
        raise UsageError(
            f"there is no data source {source!r} on the class path of Spark: name the jar "
            "of the connector in --extra-jars"
        ) from error
