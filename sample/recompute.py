"""Recomputes the mart from scratch over everything landed, with another engine than the pipeline.

DuckDB reads the landed files themselves, so nothing of the pipeline (Spark, bookmarks, watermarks,
raw or curated data) takes part in the check.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import duckdb

MART_COLUMNS = (
    "flight_date",
    "origin",
    "dest",
    "flights",
    "cancelled",
    "delayed",
    "dep_delay_minutes",
    "arr_delay_minutes",
    "flights_in_rain",
)
FROM_SCRATCH = """
CREATE VIEW recomputed AS
WITH flight AS (
    SELECT *, make_date(year, month, day) AS flight_date
    FROM read_csv($flights, header = true, hive_partitioning = false, types = {
        'dep_time': 'INTEGER', 'dep_delay': 'INTEGER', 'arr_delay': 'INTEGER',
        'tailnum': 'VARCHAR', 'time_hour': 'TIMESTAMPTZ', 'updated_at': 'TIMESTAMPTZ'})
    QUALIFY row_number() OVER (
        PARTITION BY flight_date, carrier, flight, origin, dest, sched_dep_time
        ORDER BY updated_at DESC) = 1
), weather AS (
    SELECT origin, time_hour, precip
    FROM (
        SELECT origin, unnest(observations, recursive := true)
        FROM read_json($weather, format = 'newline_delimited', columns = {
            'origin': 'VARCHAR',
            'observations': 'STRUCT(time_hour TIMESTAMPTZ, precip DOUBLE, updated_at TIMESTAMPTZ)[]'
        })
    )
    QUALIFY row_number() OVER (PARTITION BY origin, time_hour ORDER BY updated_at DESC) = 1
)
SELECT
    flight_date, flight.origin, dest,
    count(*) AS flights,
    count(*) FILTER (dep_time IS NULL) AS cancelled,
    count(*) FILTER (dep_delay >= 15) AS delayed,
    coalesce(sum(dep_delay), 0)::BIGINT AS dep_delay_minutes,
    coalesce(sum(arr_delay), 0)::BIGINT AS arr_delay_minutes,
    count(*) FILTER (precip > 0) AS flights_in_rain
FROM flight LEFT JOIN weather USING (origin, time_hour)
GROUP BY ALL
"""
MART = "CREATE VIEW mart AS SELECT {columns} FROM read_parquet($mart, hive_partitioning = true)"
WORST_ROUTES = """
SELECT
    origin, dest, sum(flights) AS flights, sum(cancelled) AS cancelled,
    sum(dep_delay_minutes) / (sum(flights) - sum(cancelled)) AS mean_delay_minutes
FROM mart
GROUP BY ALL HAVING sum(flights) - sum(cancelled) >= 10
ORDER BY mean_delay_minutes DESC, origin, dest LIMIT $limit
"""


@dataclass(frozen=True)
class Comparison:
    """The mart against the recomputation; rows are compared whole, duplicates count."""

    mart_rows: int
    recomputed_rows: int
    missing_rows: int
    unexpected_rows: int

    @property
    def is_equal(self) -> bool:
        """Whether both hold the same rows, and any at all."""
        return self.mart_rows > 0 and self.missing_rows == 0 and self.unexpected_rows == 0


@dataclass(frozen=True)
class Route:
    """One route of the mart over all its days; the mean is over flights that departed."""

    origin: str
    dest: str
    flights: int
    cancelled: int
    mean_delay_minutes: float


@contextmanager
def _connection(mart: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        columns = ", ".join(MART_COLUMNS)
        _create_view(connection, MART.format(columns=columns), mart=mart / "**" / "*.parquet")
        yield connection


def _create_view(connection: duckdb.DuckDBPyConnection, sql: str, **paths: Path) -> None:
    """Create a view; a view cannot keep parameters, so the paths are put in as literals."""
    for name, path in paths.items():
        literal = str(path).replace("'", "''")
        sql = sql.replace(f"${name}", f"'{literal}'")
    connection.execute(sql)


def compare(landing: Path, mart: Path) -> Comparison:
    """Compare the mart with a recomputation over the landing bucket.

    Args:
        landing: folder of the landing bucket, with ``flights/`` (CSV) and ``weather/`` (JSON).
        mart: folder of the published ``route_delays``.
    """
    with _connection(mart) as connection:
        _create_view(
            connection,
            FROM_SCRATCH,
            flights=landing / "flights" / "**" / "*.csv",
            weather=landing / "weather" / "*.json",
        )
        counts = [
            _one(connection, "SELECT count(*) FROM mart"),
            _one(connection, "SELECT count(*) FROM recomputed"),
            _one(connection, _difference("recomputed", "mart")),
            _one(connection, _difference("mart", "recomputed")),
        ]
    return Comparison(*counts)


def _difference(left: str, right: str) -> str:
    return f"SELECT count(*) FROM (FROM {left} EXCEPT ALL FROM {right})"  # noqa: S608 (our views)


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = connection.execute(sql).fetchone()
    return int(row[0]) if row else 0


def rescued_rows(files: Path, field: str) -> int:
    """Return how many rows of Parquet files have a field in their rescued data."""
    with duckdb.connect() as connection:
        query = (
            "SELECT count(*) FROM read_parquet($files, union_by_name = true) "
            "WHERE json_exists(_rescued_data, $path)"
        )
        row = connection.execute(query, {"files": str(files), "path": f"$.{field}"}).fetchone()
    return int(row[0]) if row else 0


def worst_routes(mart: Path, limit: int) -> list[Route]:
    """Return the routes with the greatest mean departure delay, worst first."""
    with _connection(mart) as connection:
        rows = connection.execute(WORST_ROUTES, {"limit": limit}).fetchall()
    return [Route(*row) for row in rows]
