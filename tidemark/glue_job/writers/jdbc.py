"""Appends rows to database tables over JDBC.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-jdbc-home.html
"""

import re
from collections.abc import Mapping
from typing import Any

from pyspark.errors import IllegalArgumentException
from pyspark.sql import DataFrame

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.readers.databases.database import check_driver, execute
from tidemark.glue_job.readers.databases.jdbc import (
    DRIVER_OPTIONS,
    DRIVERS,
    TABLE_OPTIONS,
    driver_of,
)
from tidemark.glue_job.readers.sources import connected
from tidemark.local_state.catalog.definitions import connection_of_job

# Options for finding a driver or sending rows; they do not change the rows.
WITHOUT_EFFECT = frozenset(
    "bulkSize customJdbcDriverS3Path redshiftTmpDir tempdir tempformat aws_iam_role "
    "extracopyoptions sortkeyspec diststyle distkey forward_spark_s3_credentials".split()
)
BEFORE, AFTER = "preactions", "postactions"
SPARK_OPTIONS = ("batchsize", "isolationLevel", "numPartitions", "truncate")
# A URL up to its database, the database, and the rest; in the forms of the vendors.
_URLS = (
    r"(?P<server>jdbc:derby):(?P<database>[^;]*)(?P<rest>;.*)?",
    r"(?P<server>jdbc:sqlserver://[^;]+);database(?:Name)?=(?P<database>[^;]*)(?P<rest>;.*)?",
    r"(?P<server>jdbc:oracle:thin:@(?://)?[^/]+)[:/](?P<database>[^:/]+)(?P<rest>)",
    r"(?P<server>jdbc:\w+://[^/?;]+)/?(?P<database>[^?;]*)(?P<rest>[?;].*)?",
)
_BEFORE_DATABASE = {"derby": ":", "sqlserver": ";databaseName="}


def write_jdbc(
    frame: DataFrame, connection_type: str, connection_options: Mapping[str, Any]
) -> None:
    """Append the frame's rows to a table; creates a missing table."""
    options = {k: v for k, v in connection_options.items() if k not in WITHOUT_EFFECT}
    options = connected(options)
    before, after = list[str](), list[str]()
    if connection_type == "redshift":
        texts = (str(options.pop(name, "")) for name in (BEFORE, AFTER))
        before, after = ([part for part in text.split(";") if part.strip()] for text in texts)
    database = options.pop("database", None)
    table = next((options.pop(name) for name in TABLE_OPTIONS if name in options), None)
    driver = next((options.pop(name) for name in DRIVER_OPTIONS if name in options), None)
    url = options.pop("url", None)
    if not url or not table:
        raise UsageError(
            f"connection_options has no {'dbtable' if url else 'url'}; a {connection_type} sink "
            "needs url and dbtable"
        )
    known = ("user", "password", *SPARK_OPTIONS)
    if unknown := sorted(set(options) - set(known)):
        raise UnsupportedError(
            f"connection_options {unknown} of a {connection_type} sink are not supported by the "
            f"local Glue yet; it knows url, dbtable, database, driver, {', '.join(known)}"
        )
    connection = {
        "url": with_database(url, database) if database else url,
        **{name: str(value) for name, value in options.items() if value is not None},
    }
    if driver := driver or driver_of(connection_type, url):
        connection["driver"] = driver
    if not frame.columns:
        return
    # Spark would name a class that is missing, but not the argument that brings it.
    check_driver(frame.sparkSession, connection)
    target = {**connection, "dbtable": table}
    execute(frame.sparkSession, target, before)
    try:
        frame.write.format("jdbc").options(**target).mode("append").save()
    except IllegalArgumentException as error:
        raise _without_type(frame, str(error)) or error from None
    execute(frame.sparkSession, target, after)


def _without_type(frame: DataFrame, text: str) -> UsageError | None:
    """Return the error that names the columns for which the database has no type, if it is that."""
    kind = re.search(r"Can't get JDBC type for (.+?)\.?$", text)
    if kind is None:
        return None
    columns = [name for name, column_type in frame.dtypes if column_type == kind[1]]
    return UsageError(
        f"the database has no type for {kind[1]}, as of the columns {columns}: flatten it with "
        "unnest or relationalize, resolve a choice, or drop the columns before the write"
    )


def check_actions(connection_type: str, options: Mapping[str, Any]) -> None:
    """Raise UnsupportedError for statements around a write to a sink other than Redshift."""
    actions = [name for name in (BEFORE, AFTER) if name in options]
    if actions and connection_type != "redshift":
        raise UnsupportedError(
            f"connection_options has {' and '.join(actions)}, which AWS documents for redshift "
            f"only, and the sink is of {connection_type}: run the statements with a driver of the "
            "database before or after the write, or name the connection_type redshift"
        )


def connection_type_of(url: str) -> str:
    """Return the connection type of a URL; ``jdbc`` if Glue has no separate type for it."""
    vendor = vendor_of(url)
    return vendor if vendor in DRIVERS else "jdbc"


def vendor_of(url: str) -> str:
    """Return the vendor in a URL: ``postgresql``, ``mysql`` and so on."""
    return re.sub(r"^jdbc:(\w+).*", r"\1", url, flags=re.DOTALL)


def with_database(url: str, database: str) -> str:
    """Return the URL of another database on the same server."""
    server, rest = _parts(url)
    between = _BEFORE_DATABASE.get(vendor_of(url), "/")
    return f"{server}{between}{database}{rest}"


def jdbc_conf(name: str) -> dict[str, str]:
    """Return the result of ``extract_jdbc_conf`` for a connection; ``url`` is without database.

    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-crawler-pyspark-extensions-glue-context.html
    """
    properties = connection_of_job(name).jdbc_options()
    url = properties["url"]
    return {
        "user": properties.get("user", ""),
        "password": properties.get("password", ""),
        "vendor": vendor_of(url),
        "url": _parts(url)[0],
        "fullUrl": url,
        "enforceSSL": "false",
        "skipCustomJDBCCertValidation": "false",
        "customJDBCCert": "",
        "customJDBCCertString": "",
    }


def _parts(url: str) -> tuple[str, str]:
    for form in _URLS:
        if match := re.fullmatch(form, url):
            return match["server"], match["rest"] or ""
    raise UsageError(
        f"{url!r} is not a JDBC URL of a known form; leave out database, or correct it"
    )
