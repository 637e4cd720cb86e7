"""What Spark leaves out of a JSON table's files, or makes null, said before it reads them.

Spark's reader with a schema says nothing of a line that is no JSON: its row has nulls only. The
files are looked at by `JsonLook.java`, each once.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.local_state.run_warnings import RunWarning
from tidemark.model.hive_types import fields_of, inside_of, is_a

# Options of a table that do not change how its lines are read.
PLAIN_OPTIONS = frozenset({"compression", "partitionOverwriteMode", "path", "serialization.format"})
CORRUPT = "_corrupt_record"  # a column of this name has the text of what Spark does not read

Ask = Callable[[str, str], str]
"""`JsonLook.look` of Java."""


class Found(NamedTuple):
    """One kind of what Spark does not read, with how often it is there, and the first place."""

    what: str
    column: str
    times: int
    file: str
    example: str


def is_plain(options: Mapping[str, str]) -> bool:
    """Return whether Spark reads a table with these options as `look_at` does."""
    others = dict(options)
    mode = others.pop("mode", "PERMISSIVE")
    return mode.upper() == "PERMISSIVE" and others.keys() <= PLAIN_OPTIONS


def look_at(
    columns: Sequence[Sequence[Any]],
    files: Iterable[Path],
    ask: Ask,
    partition_keys: Sequence[str] = (),
) -> list[Found]:
    """Return what Spark does not read in lines of JSON."""
    paths = [str(file) for file in files]
    record = {str(name): shape_of(str(kind)) for name, kind, *_ in columns}
    record |= dict.fromkeys(partition_keys, "folder")
    found = [Found(*one) for one in json.loads(ask(json.dumps(paths), json.dumps(record)))]
    kept = {"broken", "text", "value"} if CORRUPT in record else set[str]()
    return [one for one in found if one.what not in kept]


def ask_java(files: str, record: str) -> str:
    """Return what `JsonLook.look` says in the JVM of this process; for arguments see there."""
    from pyspark import SparkContext

    look = getattr(SparkContext._gateway.jvm.dev.tidemark.catalog, "JsonLook")  # type: ignore[union-attr] # noqa: B009
    return str(look.look(files, record))


def columns_of(table: Mapping[str, Any]) -> list[Sequence[Any]]:
    """Return name and type of each column of a table as `SparkJson.java` takes it."""
    if table["schema"] is None:
        return list(table["columns"])
    from pyspark.sql.types import StructType

    schema = StructType.fromJson(json.loads(table["schema"]))
    return [(one.name, one.dataType.simpleString()) for one in schema]


def shape_of(kind: str) -> Any:
    """Return a type of Hive as `JsonLook.java` takes it.

    ``struct<a:int,b:array<date>>`` is ``{"a": "int", "b": ["array", "date"]}``.
    """
    kind = kind.strip()
    lower = kind.lower()
    if is_a(lower, "struct"):
        return {name.strip().strip("`"): shape_of(one) for name, one in fields_of(kind)}
    if is_a(lower, "array"):
        return ["array", shape_of(inside_of(kind))]
    if is_a(lower, "map"):
        return ["map", shape_of(inside_of(kind).partition(",")[2])]
    return lower


def warnings_of(found: Iterable[Found], table: str) -> Iterator[tuple[RunWarning, str]]:
    """Yield what to warn of, with what it is about."""
    for one in found:
        place = f"the file {Path(one.file).name} of the table {table}"
        if one.what == "text":
            yield RunWarning.JSON_TEXT, f"{one.column.lower()} of the table {table}"
        elif one.what == "several":
            yield RunWarning.SEVERAL_VALUES, place
        elif one.what == "case":
            column = one.column.rpartition(".")[2]
            names = " and ".join(sorted((column, one.example)))
            yield RunWarning.JSON_CASE, f"{names} in the files of the table {table}"
        elif one.what == "folder":
            name = one.column
            about = f"files in the folders {name}=… of the table {table} have a field {name}"
            yield RunWarning.FOLDER_WINS, about
        else:
            yield _NULLS[one.what], _counted(one, place)


_NULLS: Mapping[str, RunWarning] = {
    "broken": RunWarning.JSON_BROKEN,
    "value": RunWarning.JSON_VALUE,
}


def _counted(one: Found, place: str) -> str:
    what = f"values of the column {one.column.lower()}" if one.column else "lines"
    return f"{one.times:,} {what}, the first one in {place}: {one.example!r}"
