"""What Spark does not read as written in the text files of a table, and how they spell names.

Spark's reader with a schema turns a line that is not JSON into nulls, silently. `JsonLook.java`
checks each file once. A SerDe ignores the case of names, Spark does not. And Spark's CSV reader
trims rows of empty fields only, separated by white space or Ctrl-A, and drops them, unless it reads
a file as a whole.
Source: https://docs.aws.amazon.com/athena/latest/ug/openx-json-serde.html
"""

import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.glue_job.readers.csv.heads import BLANK, has_white_records, seeing_ends
from tidemark.glue_job.readers.files.compression import OTHER_CODECS, open_file
from tidemark.local_state.bookmarks.hidden import is_hidden
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.model.hive_types import fields_of, inside_of, is_a, parts_of, struct_of

CHUNK = 1 << 20
WHOLE_FILE_OPTIONS = {"multiLine": "true"}


class WhiteRows:
    """Knows which files have such rows; looks at each file once per change."""

    def __init__(self) -> None:
        """Start without any file."""
        self._ends: dict[tuple[str, int, int, str], frozenset[str]] = {}

    def options_for(self, table: Mapping[str, Any], files: Iterable[Path]) -> dict[str, str]:
        """Return the Spark options that keep such rows of a table; empty if it has none."""
        sep = str(table["options"].get("sep", ","))
        if len(sep) != 1 or sep not in BLANK:
            return {}
        ends = {str(file): self._ends_in(file, sep) for file in files}
        if not any(ends.values()):
            return {}
        each = frozenset[str]().union(*(white or plain_ends(Path(f)) for f, white in ends.items()))
        if len(each) > 1:
            name = Path(next(file for file, white in ends.items() if white)).name
            about = f"the file {name} of the table {table['database']}.{table['table']}"
            note(RunWarning.WHITE_ROWS, about)
            return {}
        return {**WHOLE_FILE_OPTIONS, "lineSep": next(iter(each))}

    def _ends_in(self, file: Path, sep: str) -> frozenset[str]:
        """Return the line ends of a file with such rows; empty for another file."""
        stat = file.stat()
        key = (str(file), stat.st_mtime_ns, stat.st_size, sep)
        if key not in self._ends:
            chunks = () if file.suffix in OTHER_CODECS else _chunks(file)
            has_some = any(has_white_records(text, sep) for text in chunks)
            self._ends[key] = plain_ends(file) if has_some else frozenset()
        return self._ends[key]


def plain_ends(file: Path) -> frozenset[str]:
    """Return the line ends of a file; empty if it cannot be opened as text."""
    ends = set[str]()
    if file.suffix not in OTHER_CODECS:
        for _ in seeing_ends(_chunks(file), ends):
            pass
    return frozenset(ends)


def _chunks(file: Path) -> Iterator[str]:
    with open_file(str(file)) as opened:
        while part := opened.read(CHUNK) + opened.readline(CHUNK):
            # A character for each byte: line ends and blanks are the same in every encoding of
            # ASCII.
            yield part.decode("latin-1")


# Options of a table that do not change how its lines are read.
PLAIN_OPTIONS = frozenset({"compression", "partitionOverwriteMode", "path", "serialization.format"})
CORRUPT = "_corrupt_record"  # a column with this name holds lines that Spark cannot read

Ask = Callable[[str, str], str]
"""`JsonLook.look` of Java."""


class Unread(NamedTuple):
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
) -> list[Unread]:
    """Return what Spark does not read in lines of JSON."""
    paths = [str(file) for file in files]
    record = {str(name): shape_of(str(kind)) for name, kind, *_ in columns}
    record |= dict.fromkeys(partition_keys, "folder")
    kinds = [Unread(*fields) for fields in json.loads(ask(json.dumps(paths), json.dumps(record)))]
    wanted_lines = {"broken", "text", "value"} if CORRUPT in record else set[str]()
    return [kind for kind in kinds if kind.what not in wanted_lines]


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
    return [(field.name, field.dataType.simpleString()) for field in schema]


def shape_of(kind: str) -> Any:
    """Return a type of Hive in the form of `JsonLook.java`.

    ``struct<a:int,b:array<date>>`` is ``{"a": "int", "b": ["array", "date"]}``.
    """
    kind = kind.strip()
    lower = kind.lower()
    if is_a(lower, "struct"):
        return {name.strip().strip("`"): shape_of(part) for name, part in fields_of(kind)}
    if is_a(lower, "array"):
        return ["array", shape_of(inside_of(kind))]
    if is_a(lower, "map"):
        return ["map", shape_of(parts_of(inside_of(kind))[-1])]
    return lower


def warnings_of(kinds: Iterable[Unread], table: str) -> Iterator[tuple[RunWarning, str]]:
    """Yield each warning with its details."""
    for kind in kinds:
        place = f"the file {Path(kind.file).name} of the table {table}"
        if kind.what == "text":
            yield RunWarning.JSON_TEXT, f"{kind.column.lower()} of the table {table}"
        elif kind.what == "several":
            yield RunWarning.SEVERAL_VALUES, place
        elif kind.what == "case":
            names = " and ".join(sorted((kind.column.rpartition(".")[2], kind.example)))
            yield RunWarning.JSON_CASE, f"{names} in the files of the table {table}"
        elif kind.what == "folder":
            folders = f"the folders {kind.column}=… of the table {table}"
            yield RunWarning.FOLDER_WINS, f"files in {folders} have a field {kind.column}"
        else:
            warning = RunWarning.JSON_BROKEN if kind.what == "broken" else RunWarning.JSON_VALUE
            what = f"values of the column {kind.column.lower()}" if kind.column else "lines"
            yield warning, f"{kind.times:,} {what}, the first one in {place}: {kind.example!r}"


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
        for element in value:
            _see(element, path, names)
    elif isinstance(value, dict):
        for name, part in value.items():
            here = (*path, name.lower())
            names.setdefault(here, name)
            _see(part, here, names)


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
    for name, part in fields_of(kind):
        here = (*path, name.strip("`").lower())
        quote = name[:1] if name.startswith("`") else ""
        spelling = names.get(here, name.strip("`"))
        fields[f"{quote}{spelling}{quote}"] = _spelled_type(part, here, names)
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
