"""Reads database tables over JDBC, by the keys of the job bookmark.

Differs from AWS: one connection reads the table, unless Spark's own options ask for several.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-connect-jdbc-home.html,
https://docs.aws.amazon.com/glue/latest/dg/run-jdbc-parallel-read-job.html
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.errors import UsageError
from tidemark.glue_job.frames.session import own_query
from tidemark.glue_job.process.bookmark_session import (
    BookmarkSession,
    current_session,
    session_of_source,
)
from tidemark.glue_job.readers.databases.database import (
    all_of,
    any_of,
    count_where,
    default_key,
    is_at_bound,
    is_between,
    key_column,
    load,
    naming_refused,
    spark_type,
)
from tidemark.local_state.bookmarks import passed_rows
from tidemark.local_state.bookmarks.datasets_read import dataset_of_database, position_of
from tidemark.local_state.bookmarks.keys import (
    ASC,
    DESC,
    Bound,
    JdbcSource,
    KeyRange,
    choose_keys,
    encode,
    has_other_table,
    key_type,
    range_to_read,
    state_after,
)
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.checkpoints.checkpoint import DatasetRead
from tidemark.model.clock import now_ms
from tidemark.model.messages import plural

# Glue's connection types -> the driver that AWS includes for them.
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
# Options of drivers and of Redshift's files: they do not change the rows.
WITHOUT_EFFECT = ("redshiftTmpDir", "aws_iam_role", "customJdbcDriverS3Path")
# Glue's options for several connections: checked, and named in a warning.
HASHES = ("hashfield", "hashexpression")
HASH_OPTIONS = (*HASHES, "hashpartitions")
# Those of Spark, which reads by several connections here too.
PARTITION_OPTIONS = ("partitionColumn", "lowerBound", "upperBound", "numPartitions")
REDSHIFT = "jdbc:redshift:"


def read_jdbc(
    spark: SparkSession,
    connection_type: str,
    connection_options: Mapping[str, Any],
    transformation_ctx: str,
) -> DataFrame:
    """Return the rows of a table or query that are new to the bookmark, lazily."""
    options = dict(connection_options)
    hashes, partitions = _taken(options, HASH_OPTIONS), _taken(options, PARTITION_OPTIONS)
    url = options.pop("url", None)
    if not url:
        raise UsageError(
            f"connection_options has no url; a {connection_type} source needs one, such as "
            "'jdbc:postgresql://host:5432/database'"
        )
    _taken(options, WITHOUT_EFFECT)
    driver = _one_of(options, DRIVER_OPTIONS) or driver_of(connection_type, url)
    table, query = _one_of(options, TABLE_OPTIONS), _one_of(options, QUERY_OPTIONS)
    keys, order = options.pop("jobBookmarkKeys", []), options.pop("jobBookmarkKeysSortOrder", ASC)
    credentials = {"driver": driver, "user": options.pop("user", None)}
    credentials["password"] = options.pop("password", None)
    named = {name: value for name, value in credentials.items() if value is not None}
    connection = {"url": url, **named}
    if options:
        raise NotImplementedError(
            f"connection_options {sorted(options)} of a {connection_type} source are not supported "
            "by the local Glue yet"
        )
    if table and "query" in connection_options:
        raise UsageError("connection_options has both a query and a table; give one of them")
    if not table and not query:
        raise UsageError(
            f"connection_options has no table; a {connection_type} source needs 'dbtable'"
        )
    if hashes:
        _check_hashes(spark, connection, f"({query}) q" if query else table, hashes)
    if query:
        return _read_query(spark, connection, query, transformation_ctx, partitions)
    return read_jdbc_table(spark, connection, table, transformation_ctx, keys, order, partitions)


def _taken(options: dict[str, Any], names: Sequence[str]) -> dict[str, str]:
    values = {name: options.pop(name, None) for name in names}
    return {name: str(value) for name, value in values.items() if value is not None}


def _check_hashes(
    spark: SparkSession, connection: Mapping[str, str], table: str, hashes: Mapping[str, str]
) -> None:
    count = hashes.get("hashpartitions", "1")
    if not count.isdecimal() or not int(count):
        raise UsageError(
            f"connection_options['hashpartitions'] is {count!r}; it must be a number of 1 or more"
        )
    for name in HASHES:
        if name in hashes:
            # No row is read; the database only says whether it can compute the expression.
            query = f"SELECT {hashes[name]} AS h FROM {table} WHERE 1 = 0"  # noqa: S608
            with naming_refused({name: hashes[name]}):
                load(spark, connection, query=query)
    note(RunWarning.JDBC_ONE_CONNECTION, " and ".join(f"{k} {v!r}" for k, v in hashes.items()))


def driver_of(connection_type: str, url: str) -> str | None:
    """Return the driver of a connection type; the stand-in for Redshift has its own."""
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
    partitions: Mapping[str, str] | None = None,
) -> DataFrame:
    """Return the rows of a table that are new to the bookmark, lazily.

    One query reads the keys of the new rows now and captures the last ones; rows with
    later keys belong to the next run. Spark compares strings by code points, whatever the
    collation of the database, so the whole table comes to Spark; the database does every other
    comparison.
    """
    if not isinstance(keys, list | tuple) or not all(isinstance(key, str) for key in keys):
        raise UsageError(f"jobBookmarkKeys is {keys!r}; it must be a list of column names")
    if order not in (ASC, DESC):
        raise UsageError(f"jobBookmarkKeysSortOrder is {order!r}; allowed are {ASC} and {DESC}")
    opened_at_ms = now_ms()
    source_as_asked = JdbcSource(table, transformation_ctx, tuple(keys), order)
    session = session_of_source(transformation_ctx, source_as_asked.name)
    is_bookmarked = session is not None and session.open_source(
        transformation_ctx, source_as_asked.name
    )
    frame = load(spark, connection, dbtable=table)
    parted = load(spark, connection, partitions, dbtable=table) if partitions else frame
    if session is None or not is_bookmarked:
        return _in_full(parted, source_as_asked, session, opened_at_ms, connection)
    chosen = choose_keys(keys, frame.columns, table)
    chosen = chosen or default_key(spark, connection, frame, table)
    source = replace(source_as_asked, keys=chosen)
    if not chosen:
        note(RunWarning.JDBC_KEY, table)
        return _in_full(parted, source, session, opened_at_ms, connection)
    types = [key_type(key, spark_type(frame, key)) for key in chosen]
    if "string" in types:
        connection = {**connection, "pushDownPredicate": "false"}
        frame = load(spark, connection, dbtable=table)
        parted = load(spark, connection, partitions, dbtable=table) if partitions else frame
    return parted.where(_is_new(frame, source, types, session, opened_at_ms, connection))


def _is_new(
    frame: DataFrame,
    source: JdbcSource,
    types: Sequence[str],
    session: BookmarkSession,
    opened_at_ms: int,
    connection: Mapping[str, str],
) -> Column:
    """Return the condition of the rows that are new to the bookmark, and record them."""
    edges = session.edges(source.transformation_ctx)
    allowed = range_to_read(source, types, edges)
    is_other = has_other_table(source, edges.low)
    cuts = [] if is_other else passed_rows.stored_cuts(edges.low)
    seen = Captured()
    with own_query(frame.sparkSession):
        if not allowed.is_closed:
            seen = _capture(frame, source, types, allowed)
        if not allowed.is_closed and not allowed.high:
            now = _count_passed(frame, source, connection, cuts, allowed.low, seen)
            if allowed.low and not is_other:
                _warn_of_skips(source, cuts, now, allowed.low, is_there=seen.is_there)
            cuts = cuts if now is None else now
    if is_other:
        note(RunWarning.TABLE_CHANGED, source.name)
    next_state = state_after(source, allowed.low, seen.last, passed_rows.to_json(cuts))
    if ahead := passed_rows.day_ahead(seen.last or allowed.low, source.order, opened_at_ms):
        note(RunWarning.JDBC_AHEAD, f"{source.name} is at {ahead}")
    read = DatasetRead(
        dataset_of_database(connection["url"], source.table),
        source.transformation_ctx,
        rows=seen.rows,
        before=position_of(edges.low),
        after=position_of(next_state),
    )
    session.record(source.to_json(), opened_at_ms, next_state, (seen.rows, 0), [read])
    if seen.last is None:
        return F.lit(False)
    return is_between(frame, source, KeyRange(allowed.low, seen.last))


class Captured(NamedTuple):
    """How many rows are new, their first and last keys, and whether a row is at the bookmark."""

    rows: int = 0
    first: Bound | None = None
    last: Bound | None = None
    is_there: bool = True


def _capture(
    frame: DataFrame, source: JdbcSource, types: Sequence[str], allowed: KeyRange
) -> Captured:
    """Return the new rows of a table. One query."""
    has_keys = all_of(key_column(key).isNotNull() for key in source.keys)
    is_at = is_at_bound(frame, source, allowed.low)
    values = [
        F.unix_micros(key_column(key)) if kind == "timestamp" else key_column(key)
        for key, kind in zip(source.keys, types, strict=True)
    ]
    struct = F.struct(*(value.alias(f"k{n}") for n, value in enumerate(values)))
    keys = F.when(has_keys & ~is_at, struct)
    seen = frame.select(*map(key_column, source.keys)).where(
        is_between(frame, source, allowed) | is_at | ~has_keys
    )
    ends = (F.min(keys), F.max(keys)) if source.order == ASC else (F.max(keys), F.min(keys))
    row = seen.agg(F.count(keys), F.count_if(~has_keys), *ends, F.count_if(is_at)).collect()[0]
    if row[1]:
        note(RunWarning.JDBC_NULLS, f"{plural(row[1], 'row')} of {source.name}")
    first, last = (end and tuple(map(encode, types, end)) for end in row[2:4])
    return Captured(row[0], first, last, allowed.low is None or row[4] > 0)


def _count_passed(
    frame: DataFrame,
    source: JdbcSource,
    connection: Mapping[str, str],
    stored: Sequence[passed_rows.Cut],
    low: Bound | None,
    seen: Captured,
) -> list[passed_rows.Cut] | None:
    """Return the current cuts; None if the database cannot count them. One query."""
    # Spark compares strings, so their rows are counted there.
    first = seen.first[0] if seen.first else None
    places = passed_rows.keys_to_count(stored, low, seen.last, first, source.order)
    if not places:
        return []
    wanted = [passed_rows.is_passed(source, keys) for keys in places]
    if any(kind == "string" for kind, _ in places[-1]):
        has_keys = all_of(key_column(key).isNotNull() for key in source.keys)
        counts = [F.count_if(has_keys & any_of(frame, alternatives)) for alternatives in wanted]
        keys = frame.select(*map(key_column, source.keys))
        rows: Sequence[int] | None = keys.agg(*counts).first()
    else:
        rows = count_where(frame.sparkSession, connection, source.table, source.keys, wanted)
    return None if rows is None else list(map(passed_rows.Cut, places, rows))


def _warn_of_skips(
    source: JdbcSource,
    before: Sequence[passed_rows.Cut],
    now: Sequence[passed_rows.Cut] | None,
    low: Bound,
    *,
    is_there: bool,
) -> None:
    if now is not None:
        told = passed_rows.skip_to_report(before, now, low, is_there=is_there)
        if told:
            note(told[0], f"{plural(told[1], 'row')} of {source.name}")
    elif not is_there:
        note(RunWarning.JDBC_BELOW, f"rows of {source.name}, if there are any")


def _read_query(
    spark: SparkSession,
    connection: Mapping[str, str],
    query: str,
    transformation_ctx: str,
    partitions: Mapping[str, str],
) -> DataFrame:
    """Return all rows of a query; bookmarks do not cover it, whatever its transformation_ctx."""
    opened_at_ms = now_ms()
    session = current_session()
    source = JdbcSource("", transformation_ctx)
    if session is not None and session.is_reading:
        note(RunWarning.JDBC_QUERY, source.name)
    # Spark knows no partitions of a query, only of a table.
    named = {"dbtable": f"({query}) q"} if partitions else {"query": query}
    frame = load(spark, {**connection, **named}, partitions)
    return _in_full(frame, source, session, opened_at_ms, connection)


def _in_full(
    frame: DataFrame,
    source: JdbcSource,
    session: BookmarkSession | None,
    opened_at_ms: int,
    connection: Mapping[str, str],
) -> DataFrame:
    if session is not None:
        dataset = dataset_of_database(connection["url"], source.table or "query")
        # Its rows are not counted: that would be another query.
        read = DatasetRead(dataset, source.transformation_ctx)
        session.record(source.to_json(), opened_at_ms, None, (0, 0), [read])
    return frame


def _one_of(options: dict[str, Any], names: Sequence[str]) -> Any:
    values = {name: options.pop(name) for name in names if name in options}
    if len(values) > 1:
        raise UsageError(f"connection_options {sorted(values)} mean the same; give one of them")
    return next(iter(values.values()), None)
