"""Makes copies of files of JSON and CSV, with each record in a line and its types in sight."""

import atexit
import hashlib
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from tidemark.operate.versions.targets import HIDDEN

LINE = "line"
WINDOW_COLUMNS = ("window", "attempt")
WINDOW = re.compile(r"/window=[^/]+/attempt=[0-9]+/")  # folders of `write_window`
CORRUPT = "_corrupt_record"  # Spark's column for lines that are not JSON
PLAIN_JSON = (".json", ".jsonl")  # not compressed
PLAIN_CSV = (".csv", ".tsv")
# The name of a field, and how its value begins: a string, or a number or boolean.
KIND = re.compile(rb'"((?:[^"\\]|\\.)*)"\s*:\s*(["\-\dtf])')
TOGETHER = re.compile(rb"\}[ \t]*\{")  # two records in one line, or a string with that
SEEN = "file"  # before the name of a hidden file
SPACE = re.compile(r"[ \t\r\n]*")
LINE_ENDS = re.compile(r"[\r\n]+")


class Number(str):
    """A number of JSON as it is written."""

    __slots__ = ()


def are_of_windows(files: Collection[str]) -> bool:
    """Return whether some files are in folders of windows, whose names are random and no data."""
    return any(WINDOW.search(file) for file in files)


def have_shared_lines(side: dict[str, Any]) -> bool:
    """Return whether some lines may have several records."""
    return any(TOGETHER.search(Path(file).read_bytes()) for file in side["files"])


def in_lines(side: dict[str, Any], mixed: Collection[str] = ()) -> dict[str, Any]:
    """Return a side whose files have one line for each record, in copies; others stay as they are.

    Spark's own option for records of several lines drops all but the first one of a file. Numbers
    and booleans under mixed names are marked.
    """
    return copied(side, PLAIN_JSON, lambda text: "\n".join(records_of(text, mixed)))


def copied(
    side: dict[str, Any], suffixes: tuple[str, ...], change: Callable[[str], str]
) -> dict[str, Any]:
    """Return a side with copies of its files, those with some suffixes changed; deleted at exit.

    Files for which the change raises ValueError stay as they are. Spark reads every copy, also of
    a hidden file.
    """
    copies: dict[str, str] = {}
    below = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, below, ignore_errors=True)
    for file in side["files"]:
        copy = below / file.lstrip("/")
        copy = copy.with_name(f"{SEEN}{copy.name}" if copy.name.startswith(HIDDEN) else copy.name)
        copy.parent.mkdir(parents=True, exist_ok=True)
        try:
            if not file.endswith(suffixes):
                raise ValueError(file)
            copy.write_text(change(Path(file).read_text("utf-8")), encoding="utf-8")
        except ValueError:
            copy.symlink_to(file)
        copies[file] = str(copy)
    folders = side.get("folders") or {side["folder"]: side["files"]}
    return {
        "folder": str(below / side["folder"].lstrip("/")),
        "files": list(copies.values()),
        "all": False,
        "folders": {
            str(below / folder.lstrip("/")): [copies[file] for file in files]
            for folder, files in folders.items()
        },
    }


def with_marks(sides: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return sides of JSON, in which a number and a string of its digits differ.

    Spark takes a column that has both for one of strings.
    """
    both = set[bytes]()  # with a string in one place of a side, and something else in another
    for side in sides:
        kinds = set[tuple[bytes, bool]]()
        for file in side["files"]:
            if file.endswith(PLAIN_JSON):
                matches = KIND.findall(Path(file).read_bytes())
                kinds |= {(name, first == b'"') for name, first in matches}
        both |= {name for name, is_string in kinds if is_string and (name, False) in kinds}
    mixed = {json.loads(b'"%b"' % name) for name in both}
    return [in_lines(side, mixed) for side in sides] if mixed else sides


def with_whole_records(sides: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return sides of CSV with one line for each record: quoted fields may have line breaks."""
    files = {file for side in sides for file in side["files"] if file.endswith(PLAIN_CSV)}
    if not any(map(_has_open_line, files)):
        return sides
    return [copied(side, PLAIN_CSV, whole_records) for side in sides]


def _has_open_line(file: str) -> bool:
    with Path(file).open("rb") as lines:
        return any(line.count(b'"') % 2 for line in lines)


def whole_records(text: str) -> str:
    """Return lines of CSV, line breaks within quotes as a backslash and an n."""
    lines, is_open = list[str](), False
    for line in text.removesuffix("\n").split("\n"):
        if is_open:
            lines[-1] += f"\\n{line}"
        else:
            lines.append(line)
        is_open ^= line.count('"') % 2 == 1
    return "\n".join(lines)


def records_of(text: str, mixed: Collection[str] = ()) -> Iterator[str]:
    """Yield the records of a text of JSON, or arrays of them, as written but for line breaks.

    Raises:
        ValueError: the text has something else.
    """
    decoder, at = json.JSONDecoder(parse_int=Number, parse_float=Number), _after_space(text, 0)
    while at < len(text):
        value, end = decoder.raw_decode(text, at)
        records = value if isinstance(value, list) else [value]
        if not all(isinstance(record, dict) for record in records):
            raise ValueError(text[at:end])
        yield _marked(value, mixed) if mixed else LINE_ENDS.sub(" ", text[at:end])
        at = _after_space(text, end)


def _after_space(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    return match.end() if match else at


def _marked(value: Any, mixed: Collection[str], name: str = "") -> str:
    if isinstance(value, dict):
        fields = (
            f"{json.dumps(name)}:{_marked(element, mixed, name)}" for name, element in value.items()
        )
        return f"{{{','.join(fields)}}}"
    if isinstance(value, list):
        return f"[{','.join(_marked(element, mixed) for element in value)}]"
    text = value if isinstance(value, Number) else json.dumps(value)
    is_marked = name in mixed and isinstance(value, Number | bool)
    return json.dumps(f"{text} (not a string)") if is_marked else text


def lines_of(file: Path, kind: str) -> list[str]:
    """Return the records of a file as lines: those of Avro, or the hash of its bytes."""
    if kind == "avro":
        import fastavro

        with file.open("rb") as opened:
            return [json.dumps(row, default=str, sort_keys=True) for row in fastavro.reader(opened)]
    return [hashlib.sha256(file.read_bytes()).hexdigest()]
