"""Upserting a window into PostgreSQL, with the window's id in the same transaction.

    Spark writes the rows into a table of this attempt, with the columns of the target
    one transaction:
        tidemark_windows: window id and attempt; refused if a later attempt of the job is there
        INSERT … SELECT … ON CONFLICT (keys) DO UPDATE … unless the row there is newer
        DELETE of the rows that are deleted; DROP of the attempt's table

A run that was superseded is refused by the transaction, whenever it wakes up; so a window is in the
target completely and once, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from watermarks import run_notes
from watermarks.errors import WatermarksError, WatermarkSupersededError, WatermarkValueError
from watermarks.windows.bookmark_option import check_is_kept
from watermarks.windows.window import Window, edges

from .columns import DELETED, TargetColumns, without_loss
from .dialects import Dialect, literal, quoted
from .merge import changes_of, check_keys
from .sql import source_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import DataType, StructType

WINDOWS_TABLE = "tidemark_windows"
# Source: https://www.postgresql.org/docs/current/errcodes-appendix.html
_NO_SUCH_TABLE, _NO_UNIQUE_INDEX = "42P01", "42P10"
_ANY_NUMERIC = "decimal(38,18)"  # so Spark reads a numeric of PostgreSQL that has any precision
_LOCK_TIMEOUT = "SET LOCAL lock_timeout = '5s'"


def upsert_jdbc(
    frame: DataFrame,
    options: Mapping[str, str],
    table: str,
    window: Window,
    keys: Sequence[str],
    *,
    column: str | None = None,
    deleted: str | None = None,
) -> int:
    """Upsert the rows of a window into a PostgreSQL table by key, all in one transaction.

    Repeating it has no further effect. An attempt at the window that was superseded, or the window
    of a run that a rewind has made stale, changes nothing once a later window of the job is there.
    Two tables are created in the target's schema: `tidemark_windows`, which stays, and one
    for the rows on their way.

    Args:
        frame: the rows of the window; columns as in the table, and maybe those of `deleted`. A
            row without a cursor value replaces none.
        options: of Spark's JDBC source: url, driver, user, password.
        table: the table, dotted if it is in a schema, each part quoted exactly as given. It has a
            unique index on `keys`. A cursor value that its column cannot hold whole, such as a
            time in a DATE, ends the job: an older row would replace a newer one.
        window: the window that the run holds; commit it afterwards.
        keys: the columns that identify a row; no NULLs.
        column: the cursor column, in the frame and the table, where its name is not the cursor.
        deleted: an SQL condition of Spark on a row of the frame, such as `op = 'D'`: rows that
            fulfil it are deleted.

    Returns:
        How many rows of the table were inserted, replaced or deleted.

    Raises:
        ValueError: the window is empty, there is no key, or the URL is not one of PostgreSQL.
        WatermarkValueError: the table, its unique index or a column is missing; the table lacks a
            column of the frame; a column name is not valid; a key is NULL.
        WatermarksError: the window is that of a run with job-bookmark-disable.
        WatermarkSupersededError: a later attempt has already written; nothing was changed.
    """
    edges(window)  # refuses an empty one
    check_is_kept(
        window, "upsert_jdbc", 'write the frame by Spark\'s JDBC writer with mode("overwrite")'
    )
    check_keys(keys)
    if Dialect.of(options.get("url", "")) is not Dialect.POSTGRESQL:
        raise ValueError("the URL is not one of PostgreSQL: upsert_jdbc writes its SQL only")
    spark, cursor = frame.sparkSession, column or window.cursor
    target = _Target(options, table, window, keys, cursor)
    database = _Database(spark, target)
    reader = spark.read.format("jdbc").options(**options)
    try:
        schema = reader.option("dbtable", target.name).load().schema
    except Exception as error:
        if database.has_state(error, _NO_SUCH_TABLE):
            raise WatermarkValueError(
                f"the database has no table {table!r}: give the name of one, with its schema if "
                "that is not on the search path, in the case it was created with"
            ) from error
        raise
    target.check(schema.names, frame.columns)
    TargetColumns(table, schema).check_no_others(frame, [*keys, cursor], deleted)
    whole = _with_whole_cursor(frame, cursor, schema[cursor].dataType)
    rows = changes_of(whole, schema.names, keys, cursor, deleted)
    database.make_tables()
    try:
        # Into columns of the target's types; strings are cast to them.
        writer = rows.write.format("jdbc").options(**options).option("stringtype", "unspecified")
        writer.option("dbtable", target.staged).mode("append").save()
        changed = database.change(target.statements(schema))
    except Exception as error:
        # A later attempt has dropped the staging table.
        if not isinstance(error, WatermarksError) and database.is_superseded():
            raise target.superseded() from error
        if database.has_state(error, _NO_UNIQUE_INDEX):
            raise WatermarkValueError(
                f"the table {table!r} has no unique index on exactly the keys {', '.join(keys)}: "
                "rows could not be distinguished, and nothing was changed; create one, or give the "
                "columns of the existing one"
            ) from error
        raise
    else:
        run_notes.note_written(window, run_notes.database(options, table), "merge", frame)
        return changed
    finally:
        database.clean_up()


def _with_whole_cursor(frame: DataFrame, cursor: str, held: DataType) -> DataFrame:
    if held.simpleString() == _ANY_NUMERIC:
        return frame
    return frame.withColumn(cursor, without_loss(frame, cursor, held))


class _Target:
    """A table and the changes of a window to it; takes the arguments of `upsert_jdbc`."""

    def __init__(
        self,
        options: Mapping[str, str],
        table: str,
        window: Window,
        keys: Sequence[str],
        cursor: str,
    ) -> None:
        self.options = options
        self.window = window
        self._table = table
        self._keys = keys
        self._cursor = cursor
        schema, _, _ = table.rpartition(".")
        # Names of 63 bytes at most, which no other window or table has.
        digest = sha256(f"{table}\n{window.window_id}".encode()).hexdigest()[:32]
        self.prefix = f"tidemark_{digest}_"
        self.name = source_of(table, Dialect.POSTGRESQL)
        self.staged, self.done = (
            source_of(f"{schema}.{name}" if schema else name, Dialect.POSTGRESQL)
            for name in (f"{self.prefix}{window.attempt}", WINDOWS_TABLE)
        )

    def check(self, names: Sequence[str], given: Sequence[str]) -> None:
        """Raise a WatermarkValueError unless the columns exist and can be named."""
        for name in names:
            if '"' in name:
                raise WatermarkValueError(
                    f"the table {self._table!r} has the column {name!r}: Spark cannot write a name "
                    "with a quotation mark; rename it"
                )
        for wanted, there, whose in (
            ([*self._keys, self._cursor], names, f"table {self._table!r}"),
            (names, given, "frame"),
        ):
            if missing := [name for name in wanted if name not in there]:
                raise WatermarkValueError(
                    f"the {whose} has no column {', '.join(map(repr, missing))}, it has "
                    f"{', '.join(there)}: give the columns of the table {self._table!r}, the keys "
                    "and the cursor among them"
                )

    def claim(self) -> str:
        """Return the statement that notes the attempt; it changes nothing if a later one is noted.

        Attempts rise from window to window of a cursor, and with a rewind; those of a backfill
        count by themselves.
        """
        window = self.window
        claimed = f"{self.lane}, {_literal(window.window_id)}, {window.attempt}"
        return (
            f"INSERT INTO {self.done} AS w (lane, window_id, attempt) VALUES ({claimed}) "  # noqa: S608
            "ON CONFLICT (lane) DO UPDATE SET window_id = EXCLUDED.window_id, "
            "attempt = EXCLUDED.attempt, at = now() WHERE w.attempt <= EXCLUDED.attempt"
        )

    def null_keys(self) -> str:
        """Return the query of how many rows on their way have no key."""
        is_null = " OR ".join(f"{_quoted(key)} IS NULL" for key in self._keys)
        return f"SELECT count(*) FROM {self.staged} WHERE {is_null}"  # noqa: S608 (quoted)

    def statements(self, schema: StructType) -> list[str]:
        """Return the statements that change the table; each counts the rows it changes."""
        names, q = schema.names, _quoted
        columns, on = ", ".join(map(q, names)), ", ".join(map(q, self._keys))
        same = " AND ".join(f"t.{q(key)} = s.{q(key)}" for key in self._keys)
        # Strings in the order of windows, whatever that of the database is.
        is_string = schema[self._cursor].dataType.typeName() == "string"
        order = ' COLLATE "C"' if is_string else ""
        mine = f"t.{q(self._cursor)}"
        older = f"({mine} IS NULL OR {mine}{order} <= {{}}.{q(self._cursor)}{order})"
        sets = ", ".join(f"{q(n)} = EXCLUDED.{q(n)}" for n in names if n not in self._keys)
        action = f"UPDATE SET {sets} WHERE {older.format('EXCLUDED')}" if sets else "NOTHING"
        upsert = (
            f"INSERT INTO {self.name} AS t ({columns}) "  # noqa: S608 (every name is quoted)
            # A task that Spark repeats has maybe committed its rows before.
            f"SELECT DISTINCT ON ({on}) {columns} FROM {self.staged} WHERE NOT {q(DELETED)} "
            f"ON CONFLICT ({on}) DO {action}"
        )
        delete = (
            f"DELETE FROM {self.name} AS t USING {self.staged} AS s "  # noqa: S608 (quoted)
            f"WHERE {same} AND s.{q(DELETED)} AND {older.format('s')}"
        )
        return [upsert, delete]

    def superseded(self) -> WatermarkSupersededError:
        """Return the error that a later attempt has been there."""
        window = self.window
        return WatermarkSupersededError(
            f"a later attempt than {window.attempt} at window {window.window_id}, or a later "
            f"window, has been upserted into {self._table!r}: run {window.run_id!r} can no longer "
            "commit it; nothing was changed; stop this run"
        )

    @property
    def lane(self) -> str:
        """What attempts count in, as SQL: a cursor of a job, or a backfill of it."""
        window, lane = self.window, [self._table, self.window.job_id]
        if window.window_id.startswith("backfill-"):
            lane.append(window.window_id.rpartition("-")[0])
        else:
            lane += [window.source, window.cursor]
        return _literal("\n".join(lane))


class _Database:
    """Connections of the driver's JVM, with the drivers that Spark has."""

    def __init__(self, spark: Any, target: _Target) -> None:
        self._jvm: Any = spark.sparkContext._jvm
        self._target = target

    def make_tables(self) -> None:
        """Create the table of windows, if it is missing, and the staging table."""
        target = self._target
        with suppress(Exception), self._transaction() as statement:  # two runs may be the first
            statement.executeUpdate(
                f"CREATE TABLE IF NOT EXISTS {target.done} (lane text PRIMARY KEY, window_id text "
                "NOT NULL, attempt bigint NOT NULL, at timestamptz NOT NULL DEFAULT now())"
            )
        with self._transaction() as statement:
            statement.execute(_LOCK_TIMEOUT)
            statement.executeUpdate(f"DROP TABLE IF EXISTS {target.staged}")
            statement.executeUpdate(
                f"CREATE TABLE {target.staged} AS SELECT *, false AS {_quoted(DELETED)} "  # noqa: S608
                f"FROM {target.name} WHERE false"
            )

    def change(self, statements: Sequence[str]) -> int:
        """Claim the window, run the statements and commit; return how many rows they changed."""
        target = self._target
        with self._transaction() as statement:
            if statement.executeUpdate(target.claim()) != 1:
                raise target.superseded()
            if nulls := _number(statement, target.null_keys()):
                raise WatermarkValueError(
                    f"a NULL is in a key of the frame, in {nulls} of its rows: no row of the table "
                    "would be replaced by them; leave them out, or give them a key"
                )
            return sum(int(statement.executeUpdate(text)) for text in statements)

    def has_state(self, error: Exception, state: str) -> bool:
        """Return whether an error is one of the database, with this SQLSTATE."""
        thrown = getattr(error, "java_exception", None)
        kind = self._jvm.java.lang.Class.forName("java.sql.SQLException")
        return thrown is not None and kind.isInstance(thrown) and thrown.getSQLState() == state

    def is_superseded(self) -> bool:
        """Return whether a later attempt has been upserted."""
        with suppress(Exception), self._transaction() as statement:
            noted = f"SELECT attempt FROM {self._target.done} WHERE lane = {self._target.lane}"  # noqa: S608
            return _number(statement, noted) > self._target.window.attempt
        # There may be no connection, or no such table: the first error counts.
        return False

    def clean_up(self) -> None:
        """Drop the table of this attempt, and those of earlier ones that died; if it can be."""
        target = self._target
        with suppress(Exception), self._transaction() as statement:
            statement.execute(_LOCK_TIMEOUT)
            for table in {target.staged, *self._earlier(statement)}:
                statement.executeUpdate(f"DROP TABLE IF EXISTS {table}")

    def _earlier(self, statement: Any) -> list[str]:
        prefix, tables = self._target.prefix, []
        is_staged = f"starts_with(tablename, {_literal(prefix)})"
        query = f"SELECT schemaname, tablename FROM pg_tables WHERE {is_staged}"  # noqa: S608
        result = statement.executeQuery(query)
        while result.next():
            schema, name = result.getString(1), result.getString(2)
            if int(name.removeprefix(prefix)) < self._target.window.attempt:
                tables.append(source_of(f"{schema}.{name}", Dialect.POSTGRESQL))
        return tables

    @contextmanager
    def _transaction(self) -> Iterator[Any]:
        connection = self._opened()
        try:
            connection.setAutoCommit(False)
            yield connection.createStatement()
            connection.commit()
        except BaseException:
            # The connection may be what has failed.
            with suppress(Exception):
                connection.rollback()
            raise
        finally:
            connection.close()

    def _opened(self) -> Any:
        options = self._target.options
        if driver := options.get("driver"):
            package = self._jvm.org.apache.spark.sql.execution.datasources.jdbc
            package.DriverRegistry.register(driver)
        properties = self._jvm.java.util.Properties()
        for name, value in options.items():
            if name.lower() not in {"url", "driver"}:
                properties.setProperty(name, str(value))
        return self._jvm.java.sql.DriverManager.getConnection(options["url"], properties)


def _number(statement: Any, query: str) -> int:
    result = statement.executeQuery(query)
    return int(result.getLong(1)) if result.next() else 0


def _literal(value: str) -> str:
    return literal(value, Dialect.POSTGRESQL)


def _quoted(name: str) -> str:
    return quoted(name, Dialect.POSTGRESQL)
