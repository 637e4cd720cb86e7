"""Reads tables through Spark's JDBC source, and asks the database for their primary keys."""

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import date
from functools import partial, reduce
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from tidemark.errors import UsageError
from tidemark.glue_job.frames.session import own_query
from tidemark.local_state.bookmarks.keys import (
    Alternatives,
    Bound,
    Comparison,
    JdbcSource,
    KeyRange,
    Value,
    conditions,
    is_sequence,
    microseconds,
)

_OPERATORS: dict[str, Callable[[Column, Column], Column]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def is_between(frame: DataFrame, source: JdbcSource, keys: KeyRange) -> Column:
    """Return the condition of a range; rows without a value in a key are in no range."""
    return all_of(
        [
            *(key_column(key).isNotNull() for key in source.keys),
            *(any_of(frame, alternatives) for alternatives in conditions(source, keys)),
        ]
    )


def is_at_bound(frame: DataFrame, source: JdbcSource, bound: Bound | None) -> Column:
    """Return whether a row has exactly the keys of a bound."""
    if bound is None:
        return F.lit(False)
    pairs = zip(source.keys, bound, strict=True)
    return all_of(_compare(frame, Comparison(key, "=", value)) for key, value in pairs)


def any_of(frame: DataFrame, alternatives: Alternatives) -> Column:
    """Return whether all comparisons of one of the lists hold."""
    compare = partial(_compare, frame)
    return reduce(operator.or_, (all_of(map(compare, ways)) for ways in alternatives))


def all_of(conditions: Iterable[Column]) -> Column:
    """Return whether all conditions hold."""
    return reduce(operator.and_, conditions)


def key_column(name: str) -> Column:
    """Return a column by its name, whatever its characters."""
    return F.col(f"`{name.replace('`', '``')}`")


def _compare(frame: DataFrame, comparison: Comparison) -> Column:
    key, sign, (kind, text) = comparison
    # A literal of the column's own type is pushed down to the database; a cast column is not.
    if kind == "int":
        value = F.lit(int(text)).cast("bigint")
    elif kind == "timestamp":
        value = F.timestamp_micros(F.lit(microseconds(text)).cast("bigint"))
    else:
        value = F.lit(text).cast(frame.schema[key].dataType)
    return _OPERATORS[sign](key_column(key), value)


_WHOLE_NUMBER = re.compile(r"(tiny|small|big)?int|decimal\(\d+,0\)")
_NAME_PART = re.compile(r'"[^"]+"|`[^`]+`|\[[^\]]+\]|[^\s."`()\[\]]+')
_QUOTES = '"`['
_EPOCH_ORDINAL = date(1970, 1, 1).toordinal()
COUNT_SECONDS = 30


def load(
    spark: SparkSession,
    connection: Mapping[str, str],
    partitions: Mapping[str, str] | None = None,
    **options: str,
) -> DataFrame:
    """Return a table or query of a database, lazily.

    Raises UsageError if the database or Spark refuses the options that are named `partitions`.
    """
    check_driver(spark, connection)
    given = partitions or {}
    with naming_refused(given):
        return spark.read.format("jdbc").options(**connection, **given, **options).load()


@contextmanager
def naming_refused(options: Mapping[str, str]) -> Iterator[None]:
    """Turn an error of the database, or of Spark, into one that names these options, if any."""
    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        if not options:
            raise
        cause = error.java_exception.getMessage() if isinstance(error, Py4JJavaError) else error
        raise UsageError(f"connection_options has {options}, which is refused: {cause}") from error


def check_driver(spark: SparkSession, connection: Mapping[str, str]) -> None:
    """Raise UsageError if the driver of a connection is not on the class path."""
    driver = connection.get("driver")
    if driver and not _jvm(spark).org.apache.spark.util.Utils.classIsLoadable(driver):
        raise UsageError(
            f"the JDBC driver {driver} is not on the class path of Spark: name its jar in "
            "--extra-jars, or another driver in connection_options"
        )


def execute(spark: SparkSession, connection: Mapping[str, str], statements: Sequence[str]) -> None:
    """Run SQL statements in a database, in order, each on its own."""
    if not statements:
        return
    with closing(_connect(spark, connection)) as database:
        for text in statements:
            with closing(database.createStatement()) as statement:
                statement.execute(text)


def count_where(
    spark: SparkSession,
    connection: Mapping[str, str],
    table: str,
    keys: Sequence[str],
    wanted: Sequence[Alternatives],
) -> list[int] | None:
    """Return how many rows of a table have all keys and meet each of some conditions on them.

    The database counts, in one query that returns one row, limited to `COUNT_SECONDS`.
    """
    dialect = _jvm(spark).org.apache.spark.sql.jdbc.JdbcDialects.get(connection["url"])
    tests = (_in_sql(spark, dialect, alternatives) for alternatives in wanted)
    counts = (f"COUNT(CASE WHEN {test} THEN 1 END)" for test in tests)
    have_keys = " AND ".join(f"{dialect.quoteIdentifier(key)} IS NOT NULL" for key in keys)
    query = f"SELECT {', '.join(counts)} FROM {table} WHERE {have_keys}"  # noqa: S608 (names)
    try:
        with closing(_connect(spark, {**connection, "dbtable": table})) as database:
            statement = database.createStatement()
            statement.setQueryTimeout(COUNT_SECONDS)
            answer = statement.executeQuery(query)
            answer.next()
            return [int(answer.getLong(n + 1)) for n in range(len(wanted))]
    except Py4JJavaError:
        return None


def _in_sql(spark: SparkSession, dialect: Any, alternatives: Alternatives) -> str:
    """Return comparisons in the SQL of a database, with the literals that Spark pushes down."""
    ways = (
        " AND ".join(
            f"{dialect.quoteIdentifier(key)} {sign} {_literal(spark, dialect, value)}"
            for key, sign, value in comparisons
        )
        for comparisons in alternatives
    )
    return " OR ".join(f"({way})" for way in ways)


def _literal(spark: SparkSession, dialect: Any, value: Value) -> str:
    kind, text = value
    times = _jvm(spark).org.apache.spark.sql.catalyst.util.DateTimeUtils
    if kind == "timestamp":
        return str(dialect.compileValue(times.toJavaTimestamp(microseconds(text))))
    if kind == "date":
        days = date.fromisoformat(text).toordinal() - _EPOCH_ORDINAL
        return str(dialect.compileValue(times.toJavaDate(days)))
    return text


def _connect(spark: SparkSession, connection: Mapping[str, str]) -> Any:
    """Return a connection of JDBC; ``dbtable`` is among the options."""
    jvm = _jvm(spark)
    options = jvm.org.apache.spark.sql.execution.datasources.jdbc.JDBCOptions(
        jvm.PythonUtils.toScalaMap(dict(connection))
    )
    dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(connection["url"])
    return dialect.createConnectionFactory(options).apply(-1)


def default_key(
    spark: SparkSession, connection: Mapping[str, str], frame: DataFrame, table: str
) -> tuple[str, ...]:
    """Return the primary key if it is one integer without gaps, else an empty tuple.

    The database counts, in one query that returns one row.

    Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html
    """
    keys = _primary_key(spark, connection, table)
    if len(keys) != 1 or not _WHOLE_NUMBER.fullmatch(spark_type(frame, keys[0])):
        return ()
    dialect = _jvm(spark).org.apache.spark.sql.jdbc.JdbcDialects.get(connection["url"])
    key = dialect.quoteIdentifier(keys[0])
    extent = f"COUNT(*) AS key_count, MIN({key}) AS key_min, MAX({key}) AS key_max"
    query = f"SELECT {extent} FROM {table}"  # noqa: S608 (a quoted name; Spark reads the table so)
    with own_query(spark):
        count, least, greatest = load(spark, connection, query=query).collect()[0]
    return keys if is_sequence(count, least, greatest) else ()


def _primary_key(spark: SparkSession, connection: Mapping[str, str], table: str) -> tuple[str, ...]:
    parts = _NAME_PART.findall(table)
    # A subquery has no key, and neither has a name that this does not parse.
    if ".".join(parts) != table.strip() or len(parts) > 2:
        return ()
    with closing(_connect(spark, {**connection, "dbtable": table})) as database:
        catalog, schema = database.getCatalog(), database.getSchema()
        metadata = database.getMetaData()
        *qualifier, name = (_stored_name(metadata, part) for part in parts)
        if qualifier and schema is None:  # MySQL's databases are catalogs
            catalog = qualifier[0]
        elif qualifier:
            schema = qualifier[0]
        rows, keys = metadata.getPrimaryKeys(catalog, schema, name), []
        while rows.next():
            keys.append((rows.getInt("KEY_SEQ"), rows.getString("COLUMN_NAME")))
    return tuple(key for _, key in sorted(keys))


def _stored_name(metadata: Any, part: str) -> str:
    if part[0] in _QUOTES:
        return part[1:-1]
    if metadata.storesUpperCaseIdentifiers():
        return part.upper()
    return part.lower() if metadata.storesLowerCaseIdentifiers() else part


def spark_type(frame: DataFrame, column: str) -> str:
    """Return Spark's simple name of a column's type, such as ``decimal(10,2)``."""
    return frame.schema[column].dataType.simpleString()


def _jvm(spark: SparkSession) -> Any:
    return spark._jvm
