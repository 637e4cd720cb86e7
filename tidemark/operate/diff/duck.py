"""Compares rows of Parquet and CSV by DuckDB: Spark needs seconds before it reads the first one."""

import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.operate.diff.comparing import (
    SIDES,
    TEXTS,
    Asked,
    are_unlike,
    compare_rows,
    without_times,
)
from tidemark.operate.rows.records import WINDOW_COLUMNS, are_of_windows

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

MAX_BYTES = 4_000_000_000  # of both sides: what is more, Spark compares
MEMORY = "2GB"
NESTED_OTHERWISE = re.compile(r"map\(|(float|double).*[])]")  # its JSON differs for equal values
NAMES = {  # of types, as Spark has them
    "integer": "int",
    "varchar": "string",
    "blob": "binary",
    "timestamp with time zone": "timestamp",
    "timestamp": "timestamp_ntz",
}


class NotForDuckError(Exception):
    """The files are for Spark."""


class _Duck:
    """DuckDB as what runs SQL."""

    def __init__(self, connection: "DuckDBPyConnection") -> None:
        self._connection = connection

    def ask(self, sql: str) -> list[Any]:
        return self._connection.execute(sql).fetchall()

    def keep(self, name: str, sql: str) -> None:
        self._connection.execute(f"CREATE OR REPLACE TEMP TABLE {name} AS {sql}")


def compared_by_duck(pair: Mapping[str, Any], scratch: Path) -> dict[str, Any]:
    """Return how the rows and types of two targets differ.

    Args:
        pair: the `format`; `old` and `new`, each the `folder` and its `files`; `asked`.
        scratch: a folder for what does not fit into memory.

    Raises:
        NotForDuckError: Spark has to compare them.
    """
    try:
        import duckdb
    except ImportError as error:
        raise NotForDuckError from error
    _check_files(pair)
    spill = str(scratch / "duckdb")
    try:
        with duckdb.connect(config={"memory_limit": MEMORY, "temp_directory": spill}) as connection:
            connection.execute("SET TimeZone = 'UTC'; SET preserve_insertion_order = false")
            return _compared(connection, pair)
    except duckdb.Error as error:  # Spark may read them, or says in its words what is wrong
        raise NotForDuckError from error


def _check_files(pair: Mapping[str, Any]) -> None:
    files = [
        (side["folder"], file) for side in map(pair.get, SIDES) if side for file in side["files"]
    ]
    is_known = pair["format"] == "parquet" or pair["format"] in TEXTS
    has_other_folders = any("=" in folder for folder, _ in files)  # DuckDB takes them for columns
    size = sum(Path(file).stat().st_size for _, file in files)
    if not is_known or has_other_folders or size > MAX_BYTES:
        raise NotForDuckError


def _compared(connection: "DuckDBPyConnection", pair: Mapping[str, Any]) -> dict[str, Any]:
    asked = Asked(**pair["asked"])
    where = f"WHERE {_of_spark(asked.where)}" if asked.where else ""
    types = [_types(connection, side, pair) if pair[side]["files"] else {} for side in SIDES]
    if not all(types):  # a target that is not there on one side
        count = f"SELECT count(*) FROM {{}}_files {where}"  # noqa: S608
        rows = [
            _Duck(connection).ask(count.format(side))[0][0] if of_side else None
            for side, of_side in zip(SIDES, types, strict=True)
        ]
        return {"rows": rows, "only": [number or 0 for number in rows], "types": types}
    names = [name for name in types[0] if name in types[1]]
    both = {name: (types[0][name], types[1][name]) for name in names}
    for types_of_both in both.values():
        kinds = {kind.partition("(")[0] for kind in types_of_both}
        has_other_texts = any(NESTED_OTHERWISE.search(kind) for kind in types_of_both)
        if kinds == {"timestamp", "timestamp_ntz"} or has_other_texts:
            raise NotForDuckError
    for side, of_side, times in zip(SIDES, types, asked.times or (None, None), strict=True):
        columns = ", ".join(
            f"{_canonical(name, of_side[name], times, is_text=are_unlike(*kinds))} AS c{number}"
            for number, (name, kinds) in enumerate(both.items())
        )
        connection.execute(
            f"CREATE VIEW {side}_rows AS SELECT {columns or '1'} FROM {side}_files {where}"  # noqa: S608
        )
    kinds_of = {name: of_both[0] for name, of_both in both.items()}
    result = compare_rows(_Duck(connection), kinds_of, asked.of_columns(names))
    return {**asdict(result), "types": types}


def _types(connection: "DuckDBPyConnection", side: str, pair: Mapping[str, Any]) -> dict[str, str]:
    files = ", ".join(_literal(file) for file in pair[side]["files"])
    options = "union_by_name = true, hive_partitioning = true, hive_types_autocast = false"
    if (divider := TEXTS.get(pair["format"])) is not None:
        options += f", header = true, all_varchar = true, delim = {_literal(divider)}, quote = '\"'"
        reader = f"read_csv([{files}], {options})"
    else:
        reader = f"read_parquet([{files}], {options})"
    connection.execute(f"CREATE VIEW {side}_files AS SELECT * FROM {reader}")  # noqa: S608 (quoted)
    described = connection.execute(f"DESCRIBE {side}_files").fetchall()
    types = {name: NAMES.get(kind.lower(), kind.lower()) for name, kind, *_ in described}
    dropped = WINDOW_COLUMNS if are_of_windows(pair[side]["files"]) else ()
    return {name: kind for name, kind in types.items() if name not in dropped}


def _canonical(name: str, kind: str, times: tuple[float, float] | None, *, is_text: bool) -> str:
    column = '"' + name.replace('"', '""') + '"'
    if kind in ("float", "double"):
        column = f"({column} + 0)"  # makes 0.0 of -0.0, which a GROUP BY would tell apart
    elif kind.startswith("timestamp") and times:
        column = without_times(column, times)
    elif kind == "binary":
        column = f"hex({column})"
    elif re.search(r"[\[(]", kind) and not kind.startswith("decimal("):
        column = f"CAST(to_json({column}) AS VARCHAR)"
    return f"CAST({column} AS VARCHAR)" if is_text else column


def _of_spark(condition: str) -> str:
    import sqlglot

    return sqlglot.transpile(condition, read="spark", write="duckdb")[0]


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
