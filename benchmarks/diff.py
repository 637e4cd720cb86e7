"""Measures `tidemark diff` against DuckDB's own full outer join: `python -m benchmarks.diff`.

Both read the same two files of 5 million rows and 20 columns, in turns, with the same memory. Of
the rows 1,000 are on one side only, and 5,000 have another value. The join only counts.
"""

import sys
import tempfile
import time
from pathlib import Path

import duckdb

from benchmarks.measure import Result
from tidemark.operate.diff.duck import MEMORY, compared_by_duck

COMMAND = "python -m benchmarks.diff"
ROWS = 5_000_000
ROUNDS = 5
NUMBERS, FRACTIONS, TEXTS = range(9), range(5), range(5)


def measure() -> list[Result]:
    """Return the seconds of a diff, and their ratio to the seconds of a full outer join."""
    with tempfile.TemporaryDirectory() as folder:
        files = [_written(Path(folder), side) for side in (0, 1)]
        pairs = [(_diff(files, Path(folder)), _join(files, Path(folder))) for _ in range(ROUNDS)]
    ours, ratios = [own for own, _ in pairs], [own / join for own, join in pairs]
    return [
        Result("tidemark diff of 5 M rows, 20 columns", COMMAND, ours),
        Result("tidemark diff, times DuckDB's full outer join", COMMAND, ratios, "target 2.0"),
    ]


def _written(folder: Path, side: int) -> Path:
    changed = f"CASE WHEN i % 1000 = 0 THEN i + {side} ELSE i END AS changed"
    columns = [
        *(f"CAST(hash(i, {n}) % 1000000 AS BIGINT) AS n{n}" for n in NUMBERS),
        *(f"(hash(i, {n}) % 100000) / 7.0 AS f{n}" for n in FRACTIONS),
        *(f"'t' || (hash(i, {n}) % 1000) AS t{n}" for n in TEXTS[:4]),
    ]
    first, file = side * 1000, folder / f"{side}.parquet"
    query = (
        f"SELECT i AS id, {changed}, {', '.join(columns)} FROM range({first}, {first + ROWS}) t(i)"  # noqa: S608
    )
    duckdb.execute(f"COPY ({query}) TO '{file}' (FORMAT parquet)")
    return file


def _diff(files: list[Path], folder: Path) -> float:
    sides = [{"folder": str(file.parent), "files": [str(file)]} for file in files]
    pair = {"format": "parquet", "old": sides[0], "new": sides[1], "asked": {"key": ["id"]}}
    begin = time.monotonic()
    answer = compared_by_duck(pair, folder)
    seconds = time.monotonic() - begin
    if (answer["only"], answer["columns"]) != ((1000, 1000), {"changed": 4999}):
        raise RuntimeError(f"the diff is wrong: {answer['only']}, {answer['columns']}")
    return seconds


def _join(files: list[Path], folder: Path) -> float:
    config = {"memory_limit": MEMORY, "temp_directory": str(folder / "join")}
    with duckdb.connect(config=dict(config)) as connection:
        described = connection.execute(f"DESCRIBE SELECT * FROM '{files[0]}'").fetchall()  # noqa: S608
        counts = ", ".join(f"count(o.{row[0]}), count(n.{row[0]})" for row in described)
        begin = time.monotonic()
        connection.execute(
            f"SELECT {counts} FROM '{files[0]}' o FULL OUTER JOIN '{files[1]}' n ON o.id = n.id"  # noqa: S608
        ).fetchall()
        return time.monotonic() - begin


if __name__ == "__main__":
    for result in measure():
        sys.stdout.write(f"{result.row()}\n")
