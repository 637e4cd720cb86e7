"""Cursors that PostgreSQL gives another type than their column has, once they are a MAX."""

from __future__ import annotations

import uuid
from datetime import timedelta
from decimal import Decimal

import pytest

from tests.sampled import at_night
from watermarks import WatermarkValueError, newest_jdbc, read_jdbc

pytestmark = pytest.mark.spark


@pytest.fixture
def make(server):
    name = f"made_{uuid.uuid4().hex}"

    def make(kind, values):
        with server.connect() as connection:
            connection.execute(f"CREATE TABLE {name} (n INT, c {kind})")
            for n, value in enumerate(values):
                connection.execute(f"INSERT INTO {name} VALUES (%s, %s)", [n, value])  # noqa: S608
        return name

    return make


def read(spark, server, watermarks, job, table, run_id, **options):
    """Return the numbers of the rows that a run reads, window by window."""
    high = newest_jdbc(spark, server.options, table)
    windows = watermarks.windows(
        job, run_id=run_id, cursor="c", high=high, settle=timedelta(0), **options
    )
    found = []
    for window in windows:
        rows = read_jdbc(spark, server.options, table, window, partitions=2).collect()
        found.append(sorted(row["n"] for row in rows))
    return found


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("NUMERIC(30,20)", [Decimal(1).scaleb(-20), Decimal(60).scaleb(-20), Decimal(2)]),
        ("CHAR(5)", ["B", "a", "b "]),
        ('TEXT COLLATE "en-x-icu"', ["B", "a", "b"]),
        *at_night(
            ("NUMERIC(30,0)", [Decimal(5), Decimal(10**20), Decimal(10**29)]),
            ("BIGINT", [-(2**63), 0, 2**63 - 1]),
        ),
    ],
    ids=["scale", "char", "text", "large", "bigint"],
)
def test_every_row_is_read_once_as_it_comes(spark, server, watermarks, make, kind, values):
    job = f"job-{uuid.uuid4().hex}"
    table = make(kind, values[:2])

    first = read(spark, server, watermarks, job, table, "jr_1", max_rows=1)
    with server.connect() as connection:
        connection.execute(f"INSERT INTO {table} VALUES (2, %s)", [values[2]])  # noqa: S608
    second = read(spark, server, watermarks, job, table, "jr_2")

    assert [n for window in first for n in window] == [0, 1]
    assert second == [[2]]


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["TIMESTAMPTZ", "TIMESTAMP", "DATE"])
def test_an_infinity_hides_no_row(spark, server, watermarks, make, kind):
    """It is refused by name and nothing is written; without it all rows are read once."""
    job = f"job-{uuid.uuid4().hex}"
    table = make(kind, ["2012-12-30", "2012-12-31", "infinity"])

    with pytest.raises(WatermarkValueError, match="would hide every row"):
        read(spark, server, watermarks, job, table, "jr_1")
    assert watermarks.latest(job) is None

    with server.connect() as connection:
        connection.execute(f"DELETE FROM {table} WHERE c = 'infinity'")  # noqa: S608
    assert read(spark, server, watermarks, job, table, "jr_2") == [[0, 1]]


@pytest.mark.parametrize("kind", ["TIMESTAMPTZ", "TIMESTAMP"])  # Spark cannot read that of DATE
def test_a_minus_infinity_is_read_once_as_any_value(spark, server, watermarks, make, kind):
    job = f"job-{uuid.uuid4().hex}"
    table = make(kind, ["-infinity", "2012-12-30", "2012-12-31"])

    assert read(spark, server, watermarks, job, table, "jr_1") == [[0, 1, 2]]
    assert read(spark, server, watermarks, job, table, "jr_2") == []
