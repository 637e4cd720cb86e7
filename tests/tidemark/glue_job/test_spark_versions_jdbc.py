"""What Spark makes of types of databases, of its event log and of py4j on Glue 5.1 and on 6.0."""

from __future__ import annotations

import py4j.version
import pytest

from tidemark.local_state.sparks.installed import own_spark

pytestmark = pytest.mark.spark
IS_SPARK_4 = own_spark().major >= 4
POSTGRESQL, MYSQL = "jdbc:postgresql://host/d", "jdbc:mysql://host/d"
SQL_SERVER, ORACLE = "jdbc:sqlserver://host", "jdbc:oracle:thin:@host"
# Of java.sql.Types, and of the driver of SQL Server.
TIMESTAMP, SMALLINT, REAL, TINYINT, BIT, DATETIMEOFFSET = 93, 5, 7, -6, -7, -155


@pytest.fixture
def read_as(spark):
    """Return the type that the dialect of a database reads a column as; None: as JDBC says."""

    def ask(url, kind, name, size=0, *, prefers_ntz=False):
        jvm = spark._jvm
        facts = jvm.org.apache.spark.sql.types.MetadataBuilder().putLong("scale", 0)
        facts.putBoolean("isSigned", True)
        facts.putBoolean("isTimestampNTZ", prefers_ntz)  # the option preferTimestampNTZ
        dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(url)
        found = dialect.getCatalystType(kind, name, size, facts)
        return found.get().simpleString() if found.isDefined() else None

    return ask


@pytest.fixture
def written_as(spark):
    """Return the type of the column that the dialect of a database creates."""

    def ask(url, kind):
        jvm = spark._jvm
        found = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(url).getJDBCType(
            jvm.org.apache.spark.sql.types.DataType.fromDDL(kind)
        )
        # Without one of its own a dialect has the common type, which is TIMESTAMP for both.
        return found.get().databaseTypeDefinition() if found.isDefined() else "TIMESTAMP"

    return ask


def of_versions(on_5_1, on_6_0):
    return on_6_0 if IS_SPARK_4 else on_5_1


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="SPARK4", versions=("TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
)
def test_the_column_of_postgresql_that_spark_creates_for_a_timestamp(written_as):
    assert written_as(POSTGRESQL, "timestamp") == of_versions(
        "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"
    )
    assert written_as(POSTGRESQL, "timestamp_ntz") == "TIMESTAMP"


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="SPARK4", versions=("TIMESTAMP", "TIMESTAMP WITH LOCAL TIME ZONE")
)
def test_the_column_of_oracle_that_spark_creates_for_a_timestamp(written_as):
    assert written_as(ORACLE, "timestamp") == of_versions(
        "TIMESTAMP", "TIMESTAMP WITH LOCAL TIME ZONE"
    )


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("TIMESTAMP", "DATETIME"))
def test_the_column_of_mysql_that_spark_creates_for_a_time_without_a_zone(written_as):
    assert written_as(MYSQL, "timestamp_ntz") == of_versions("TIMESTAMP", "DATETIME")
    assert written_as(MYSQL, "timestamp") == "TIMESTAMP"


@pytest.mark.rule(
    "Glue 5.1 and 6.0", source="SPARK4", versions=("a time without a zone", "a timestamp")
)
@pytest.mark.parametrize(("url", "name"), [(POSTGRESQL, "timestamptz"), (MYSQL, "TIMESTAMP")])
def test_a_time_with_a_zone_of_a_database_with_prefer_timestamp_ntz(read_as, url, name):
    assert read_as(url, TIMESTAMP, name, prefers_ntz=True) == of_versions(None, "timestamp")


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("a string", "a timestamp"))
def test_a_datetimeoffset_of_sql_server(read_as):
    found = read_as(SQL_SERVER, DATETIMEOFFSET, "datetimeoffset")

    assert found == of_versions("string", "timestamp")


@pytest.mark.rule(
    "Glue 5.1 and 6.0",
    source="SPARK4",
    versions=("int; double; a long", "smallint; float; binary"),
)
def test_a_smallint_a_float_and_a_bit_8_of_mysql(read_as):
    columns = ((SMALLINT, "SMALLINT", 0), (REAL, "FLOAT", 0), (BIT, "BIT", 8))
    found = [read_as(MYSQL, *column) for column in columns]

    assert found == of_versions([None, None, "bigint"], ["smallint", "float", "binary"])


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("int", "smallint"))
def test_a_tinyint_of_sql_server(read_as):
    assert read_as(SQL_SERVER, TINYINT, "tinyint") == of_versions(None, "smallint")


@pytest.mark.rule(
    "Glue 5.1 and 6.0",
    source="SPARK4CORE",
    versions=("one file, not compressed", "a folder of compressed files"),
)
def test_the_event_log_that_spark_writes_by_default(spark):
    entries = getattr(spark._jvm.org.apache.spark.internal.config, "package$")
    config = getattr(entries, "MODULE$")
    found = [config.EVENT_LOG_ENABLE_ROLLING(), config.EVENT_LOG_COMPRESS()]

    expected = of_versions("false", "true")
    assert [entry.defaultValueString() for entry in found] == [expected] * 2


@pytest.mark.rule("Glue 5.1 and 6.0", source="SPARK4", versions=("0.10.9.7", "0.10.9.9"))
def test_the_py4j_that_joins_python_and_the_jvm():
    assert py4j.version.__version__ == of_versions("0.10.9.7", "0.10.9.9")
