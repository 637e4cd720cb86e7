"""Reads tables of databases over JDBC, by the keys of the job bookmark.

Differs from AWS: a database is read over one connection; options that choose how many change no
row and have no effect here.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-jdbc-home.html
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.checkpoints.checkpoint import DatasetRead
from tidemark.errors import UsageError
from tidemark.local_glue.bookmarks.datasets_read import dataset_of_database, position_of
from tidemark.local_glue.bookmarks.keys import (
    ASC,
    DESC,
    Alternatives,
    Bound,
    Comparison,
    JdbcSource,
    KeyRange,
    choose_keys,
    conditions,
    encode,
    has_other_table,
    key_type,
    microseconds,
    range_to_read,
    state_after,
)
from tidemark.local_glue.bookmarks.session import (
    BookmarkSession,
    current_session,
    session_of_source,
)
from tidemark.local_glue.frames.own_queries import own_query
from tidemark.local_glue.machine.clock import now_ms
from tidemark.local_glue.readers.database import default_key, load, spark_type
from tidemark.local_glue.runs.run_warnings import RunWarning, note

# Glue's connection types -> the driver that AWS brings for them.
DRIVERS = {
    "postgresql": "org.postgresql.Driver",
    "mysql": "com.mysql.cj.jdbc.Driver",
    "oracle": "oracle.jdbc.OracleDriver",
    "sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
    "redshift": "com.amazon.redshift.jdbc42.Driver",
    "custom.jdbc": None,
    "marketplace.jdbc": None,
    "jdbc": None,
}
TABLE_OPTIONS = ("dbtable", "dbTable")
QUERY_OPTIONS = ("query", "sampleQuery")
DRIVER_OPTIONS = ("driver", "className", "customJdbcDriverClassName")
# They choose how many connections read at once, never which rows.
WITHOUT_ROWS = ("redshiftTmpDir", "aws_iam_role", "customJdbcDriverS3Path")
IGNORED = {"hashfield", "hashexpression", "hashpartitions"} | {
    *("partitionColumn", "lowerBound", "upperBound", "numPartitions"),
}
REDSHIFT = "jdbc:redshift:"
_OPERATORS: dict[str, Callable[[Column, Column], Column]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def read_jdbc(
    spark: SparkSession,
    connection_type: str,
    connection_options: Mapping[str, Any],
    transformation_ctx: str,
) -> DataFrame:
    """Return the rows of a table or query that the bookmark lets through, lazily.

    Args:
        spark: the session.
        connection_type: one of `DRIVERS`.
        connection_options: ``url``, ``user``, ``password``; ``dbtable`` (or ``dbTable``), or
            ``query``, or a ``sampleQuery`` that stands in for the table; ``driver`` (or
            ``className``, ``customJdbcDriverClassName``); ``jobBookmarkKeys`` (list),
            ``jobBookmarkKeysSortOrder`` (``asc``, the default, or ``desc``).
        transformation_ctx: name of this source in the bookmark; empty reads everything.

    Raises:
        UsageError: an option is missing or wrong, or a key cannot be one.
        NotImplementedError: an option this machine does not run.
    """
    options = {name: value for name, value in connection_options.items() if name not in IGNORED}
    url = options.pop("url", None)
    if not url:
        raise UsageError(
            f"connection_options has no url; a {connection_type} source needs one, such as "
            "'jdbc:postgresql://host:5432/database'"
        )
    for name in WITHOUT_ROWS:
        options.pop(name, None)
    driver = _one_of(options, DRIVER_OPTIONS) or driver_of(connection_type, url)
    table, query = _one_of(options, TABLE_OPTIONS), _one_of(options, QUERY_OPTIONS)
    keys, order = options.pop("jobBookmarkKeys", []), options.pop("jobBookmarkKeysSortOrder", ASC)
    given = {"driver": driver, "user": options.pop("user", None)}
    given["password"] = options.pop("password", None)
    connection = {"url": url, **{name: value for name, value in given.items() if value is not None}}
    if options:
        raise NotImplementedError(
            f"connection_options {sorted(options)} of a {connection_type} source are not supported "
            "by the local Glue yet"
        )
    if table and "query" in connection_options:
        raise UsageError("connection_options names a query and a table; give one of them")
    if query:
        return _read_query(spark, connection, query, transformation_ctx)
    if not table:
        raise UsageError(
            f"connection_options names no table; a {connection_type} source needs 'dbtable'"
        )
    return read_jdbc_table(spark, connection, table, transformation_ctx, keys, order)


def driver_of(connection_type: str, url: str) -> str | None:
    """Return the driver of a connection type; what stands in for Redshift has its own."""
    if connection_type == "redshift" and not url.startswith(REDSHIFT):
        return None
    return DRIVERS[connection_type]


def read_jdbc_table(
    spark: SparkSession,
    connection: Mapping[str, str],
    table: str,
    transformation_ctx: str = "",
    keys: Sequence[str] = (),
    order: str = ASC,
) -> DataFrame:
    """Return the rows of a table that the bookmark lets through, lazily.

    The last keys are captured now, by one query that reads the keys of the new rows; rows with
    later keys belong to the next run. Text is compared in Spark, by code points, whatever the
    collation of the database, so the whole table comes to Spark; every other comparison is left to
    the database.

    Args:
        spark: the session.
        connection: ``url``, ``driver``, ``user``, ``password``, as Spark's JDBC source takes them.
        table: its name, with the schema if it needs one.
        transformation_ctx: name of this source in the bookmark; empty reads everything.
        keys: the jobBookmarkKeys; none takes the primary key, if it is one integer without
            gaps, and else reads everything.
        order: the jobBookmarkKeysSortOrder.

    Returns:
        The columns of the table; without rows if nothing is new.

    Raises:
        UsageError: a key is no column or cannot be one, or the bookmark holds other keys.
    """
    _check(keys, order)
    opened_at_ms = now_ms()
    asked = JdbcSource(table, transformation_ctx, tuple(keys), order)
    session = session_of_source(transformation_ctx, asked.name)
    is_bookmarked = session is not None and session.open_source(transformation_ctx, asked.name)
    frame = load(spark, connection, dbtable=table)
    if session is None or not is_bookmarked:
        return _in_full(frame, asked, session, opened_at_ms, connection)
    chosen = choose_keys(keys, frame.columns, table)
    chosen = chosen or default_key(spark, connection, frame, table)
    source = replace(asked, keys=chosen)
    if not chosen:
        note(RunWarning.JDBC_KEY, table)
        return _in_full(frame, source, session, opened_at_ms, connection)
    types = [key_type(key, spark_type(frame, key)) for key in chosen]
    if "string" in types:
        frame = load(spark, connection, dbtable=table, pushDownPredicate="false")
    return _new_rows(frame, source, types, session, opened_at_ms, connection["url"])


def _new_rows(
    frame: DataFrame,
    source: JdbcSource,
    types: Sequence[str],
    session: BookmarkSession,
    opened_at_ms: int,
    url: str,
) -> DataFrame:
    edges = session.edges(source.transformation_ctx)
    allowed = range_to_read(source, types, edges)
    rows, last = 0, None
    with own_query(frame.sparkSession):
        if not allowed.is_closed:
            rows, last, is_there = _capture(frame, source, types, allowed)
            if not is_there and not allowed.high and not has_other_table(source, edges.low):
                _warn_of_rows_below(frame, source, allowed)
    if has_other_table(source, edges.low):
        note(RunWarning.TABLE_CHANGED, source.name)
    next_state = state_after(source, allowed.low, last)
    read = DatasetRead(
        dataset_of_database(url, source.table),
        source.transformation_ctx,
        rows=rows,
        before=position_of(edges.low),
        after=position_of(next_state),
    )
    session.record(source.to_json(), opened_at_ms, next_state, (rows, 0), [read])
    if last is None:
        return frame.where(F.lit(False))
    return frame.where(_condition(frame, source, KeyRange(allowed.low, last)))


def _capture(
    frame: DataFrame, source: JdbcSource, types: Sequence[str], allowed: KeyRange
) -> tuple[int, Bound | None, bool]:
    """Return how many rows are new, the last keys of them, and if a row is at the bookmark.

    The keys are None if nothing is new. One query.
    """
    has_keys = _all(_column(key).isNotNull() for key in source.keys)
    is_at = _is_at(frame, source, allowed.low)
    values = [
        F.unix_micros(_column(key)) if kind == "timestamp" else _column(key)
        for key, kind in zip(source.keys, types, strict=True)
    ]
    struct = F.struct(*(value.alias(f"k{n}") for n, value in enumerate(values)))
    keys = F.when(has_keys & ~is_at, struct)
    seen = frame.select(*map(_column, source.keys)).where(
        _condition(frame, source, allowed) | is_at | ~has_keys
    )
    last = F.max(keys) if source.order == ASC else F.min(keys)
    found = seen.agg(F.count(keys), F.count_if(~has_keys), last, F.count_if(is_at)).collect()[0]
    if found[1]:
        note(RunWarning.JDBC_NULLS, f"{found[1]:,} rows of {source.name}")
    last_keys = None if found[2] is None else tuple(map(encode, types, found[2]))
    return found[0], last_keys, allowed.low is None or found[3] > 0


def _is_at(frame: DataFrame, source: JdbcSource, bound: Bound | None) -> Column:
    """Return whether a row has the very keys of a bound."""
    if bound is None:
        return F.lit(False)
    pairs = zip(source.keys, bound, strict=True)
    return _all(_compare(frame, Comparison(key, "=", value)) for key, value in pairs)


def _warn_of_rows_below(frame: DataFrame, source: JdbcSource, allowed: KeyRange) -> None:
    """Note that the row at the bookmark is gone and others lie below it. One query."""
    has_keys = _all(_column(key).isNotNull() for key in source.keys)
    is_below = has_keys & ~_condition(frame, source, allowed)
    rows = frame.select(*map(_column, source.keys)).where(is_below).count()
    if rows:
        note(RunWarning.JDBC_BELOW, f"{rows:,} rows of {source.name}")


def _condition(frame: DataFrame, source: JdbcSource, keys: KeyRange) -> Column:
    """Return what the rows of a range satisfy; rows without a value in a key are in none."""
    return _all(
        [
            *(_column(key).isNotNull() for key in source.keys),
            *(_any_of(frame, alternatives) for alternatives in conditions(source, keys)),
        ]
    )


def _any_of(frame: DataFrame, alternatives: Alternatives) -> Column:
    ways = [_all(_compare(frame, one) for one in comparisons) for comparisons in alternatives]
    return reduce(operator.or_, ways)


def _all(conditions: Iterable[Column]) -> Column:
    return reduce(operator.and_, conditions)


def _compare(frame: DataFrame, comparison: Comparison) -> Column:
    """Return a comparison of a column with a literal of its own type, which Spark pushes down."""
    key, sign, (kind, text) = comparison
    if kind == "int":
        value = F.lit(int(text)).cast("bigint")
    elif kind == "timestamp":
        value = F.timestamp_micros(F.lit(microseconds(text)).cast("bigint"))
    else:
        value = F.lit(text).cast(frame.schema[key].dataType)
    return _OPERATORS[sign](_column(key), value)


def _read_query(
    spark: SparkSession, connection: Mapping[str, str], query: str, transformation_ctx: str
) -> DataFrame:
    """Return all rows of a query; bookmarks leave it out, whatever its transformation_ctx."""
    opened_at_ms = now_ms()
    session = current_session()
    source = JdbcSource("", transformation_ctx)
    if session is not None and session.is_reading:
        note(RunWarning.JDBC_QUERY, source.name)
    frame = load(spark, connection, query=query)
    return _in_full(frame, source, session, opened_at_ms, connection)


def _in_full(
    frame: DataFrame,
    source: JdbcSource,
    session: BookmarkSession | None,
    opened_at_ms: int,
    connection: Mapping[str, str],
) -> DataFrame:
    """Record that a source is read without the bookmark; its rows are not counted."""
    if session is not None:
        dataset = dataset_of_database(connection["url"], source.table or "query")
        read = DatasetRead(dataset, source.transformation_ctx)
        session.record(source.to_json(), opened_at_ms, None, (0, 0), [read])
    return frame


def _check(keys: Any, order: str) -> None:
    """Refuse bookmark options that are no list of names or no order."""
    if not isinstance(keys, list | tuple) or not all(isinstance(key, str) for key in keys):
        raise UsageError(f"jobBookmarkKeys is {keys!r}; it must be a list of column names")
    if order not in (ASC, DESC):
        raise UsageError(f"jobBookmarkKeysSortOrder is {order!r}; allowed are {ASC} and {DESC}")


def _one_of(options: dict[str, Any], names: Sequence[str]) -> Any:
    """Take the one option that several names stand for; None if it is not given."""
    given = {name: options.pop(name) for name in names if name in options}
    if len(given) > 1:
        raise UsageError(f"connection_options {sorted(given)} mean the same; give one of them")
    return next(iter(given.values()), None)


def _column(name: str) -> Column:
    return F.col(f"`{name.replace('`', '``')}`")
