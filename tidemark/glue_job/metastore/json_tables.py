"""JSON that Spark skips or reads as null in a table's files; how the files spell names.

Spark's reader with a schema turns a line that is not JSON into nulls, silently. `JsonLook.java`
checks each file once. A SerDe ignores the case of names, Spark does not.
Source: https://docs.aws.amazon.com/athena/latest/ug/openx-json-serde.html
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.glue_job.readers.files.compression import open_file
from tidemark.local_state.bookmarks.hidden import is_hidden
from tidemark.local_state.run_warnings import RunWarning
from tidemark.model.hive_types import fields_of, inside_of, is_a, parts_of, struct_of

# Options of a table that do not change how its lines are read.
PLAIN_OPTIONS = frozenset({"compression", "partitionOverwriteMode", "path", "serialization.format"})
CORRUPT = "_corrupt_record"  # a column with this name holds lines that Spark cannot read

Ask = Callable[[str, str], str]
"""`JsonLook.look` of Java."""


class Found(NamedTuple):
    """A kind of JSON that Spark does not read: how often it occurs, and where first."""

    what: str
    column: str
    times: int
    file: str
    example: str


def is_plain(options: Mapping[str, str]) -> bool:
    """Return whether `look_at` reads a table with these options as Spark does."""
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
    """Return the result of `JsonLook.look` in the JVM of this process; see there for arguments."""
    from pyspark import SparkContext

    look = getattr(SparkContext._gateway.jvm.dev.tidemark.catalog, "JsonLook")  # type: ignore[union-attr] # noqa: B009
    return str(look.look(files, record))


def columns_of(table: Mapping[str, Any]) -> list[Sequence[Any]]:
    """Return name and type of each column of a table in the form of `SparkJson.java`."""
    if table["schema"] is None:
        return list(table["columns"])
    from pyspark.sql.types import StructType

    schema = StructType.fromJson(json.loads(table["schema"]))
    return [(one.name, one.dataType.simpleString()) for one in schema]


def shape_of(kind: str) -> Any:
    """Return a type of Hive in the form of `JsonLook.java`.

    ``struct<a:int,b:array<date>>`` is ``{"a": "int", "b": ["array", "date"]}``.
    """
    kind = kind.strip()
    lower = kind.lower()
    if is_a(lower, "struct"):
        return {name.strip().strip("`"): shape_of(one) for name, one in fields_of(kind)}
    if is_a(lower, "array"):
        return ["array", shape_of(inside_of(kind))]
    if is_a(lower, "map"):
        return ["map", shape_of(parts_of(inside_of(kind))[-1])]
    return lower


def warnings_of(found: Iterable[Found], table: str) -> Iterator[tuple[RunWarning, str]]:
    """Yield each warning with its details."""
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


BYTES = 64 * 1024  # how much of a file is read
Names = dict[tuple[str, ...], str]
"""The spelling of a name, by its path in lower case; elements of a list are not a step."""


def spelled_names(folder: Path) -> Names:
    """Return the spelling of names in the first file of a folder, at every depth."""
    names: Names = {}
    file = next(files_of(folder), None)
    for line in _first_lines(file) if file else ():
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):  # the last line is cut, or it is not JSON
            continue
        if isinstance(record, dict):
            _see(record, (), names)
    return names


def _see(value: Any, path: tuple[str, ...], names: Names) -> None:
    if isinstance(value, list):
        for one in value:
            _see(one, path, names)
    elif isinstance(value, dict):
        for name, one in value.items():
            here = (*path, name.lower())
            names.setdefault(here, name)
            _see(one, here, names)


def spelled(definition: Mapping[str, Any], names: Names) -> dict[str, Any]:
    """Return a table for Spark, its columns and their fields spelled as in its files."""
    columns = [
        [names.get((name.lower(),), name), _spelled_type(kind, (name.lower(),), names), *rest]
        for name, kind, *rest in definition["columns"]
    ]
    return {**definition, "columns": columns}


def _spelled_type(kind: str, path: tuple[str, ...], names: Names) -> str:
    if is_a(kind, "array"):
        return f"array<{_spelled_type(inside_of(kind), path, names)}>"
    if not is_a(kind, "struct"):
        return kind
    fields = dict[str, str]()
    for name, one in fields_of(kind):
        here = (*path, name.strip("`").lower())
        quote = name[:1] if name.startswith("`") else ""
        found = names.get(here, name.strip("`"))
        fields[f"{quote}{found}{quote}"] = _spelled_type(one, here, names)
    return struct_of(fields)


def _first_lines(file: Path) -> list[bytes]:
    try:
        with open_file(str(file)) as stream:
            return stream.read(BYTES).splitlines()
    except (OSError, EOFError, zlib.error):  # Spark reports it when it reads the file
        return []


def files_of(folder: Path) -> Iterator[Path]:
    """Yield the files that Spark reads, in the order of their names; a file yields itself."""
    if folder.is_file():
        yield folder
    if not folder.is_dir():
        return
    for entry in sorted(folder.iterdir()):
        if is_hidden(entry.name):
            continue
        if entry.is_dir():
            yield from files_of(entry)
        elif entry.stat().st_size:
            yield entry
