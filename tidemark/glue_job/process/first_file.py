"""Finds the first new file of a source that has a changed column: it reads little, and no Spark."""

import csv
import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.model.checkpoints.schema_changes import Change, type_parts
from tidemark.model.messages import plural

MAX_FILES, MAX_BYTES = 50, 16_000_000  # that are looked into, also of a slow disk
_STEPS = re.compile(r"`(?:[^`]|``)+`|[^.]+")


def first_file(change: Change, files: Sequence[str], file_format: str) -> str:
    """Return where a change was first seen, to follow its text; empty for what is gone.

    Args:
        change: of a source.
        files: the URIs of its new files, the oldest first.
        file_format: JSON is read for it, and the header of CSV; of others only a single file is
            known.
    """
    if change.kind not in ("new", "type") or not files:
        return ""
    if len(files) == 1:
        return f", in {files[0]}"
    steps = [step.strip("`").replace("``", "`") for step in _STEPS.findall(change.path)]
    left = MAX_BYTES
    looked = files[:MAX_FILES] if file_format in ("json", "csv") else ()
    for file in looked:
        text = _text(file, left)
        left -= len(text)
        if file_format == "csv":
            is_first = change.kind == "new" and change.path in _header(text)
        else:
            is_first = any(_is_brought(change, value) for value in _values(_records(text), steps))
        if is_first:
            return f", first in {file}"
        if left <= 0:
            break
    return f", in one of {plural(len(files), 'new file')}"


def _text(uri: str, most: int) -> str:
    with folder_of(uri).open("rb") as stream:
        whole = gzip.GzipFile(fileobj=stream) if uri.endswith(".gz") else stream
        return whole.read(most).decode("utf-8-sig", errors="replace")


def _header(text: str) -> list[str]:
    line = text.partition("\n")[0].strip()
    separator = max(",;|\t", key=line.count)
    return next(csv.reader([line], delimiter=separator), [])


def _records(text: str) -> Iterator[Any]:
    """Yield the values of JSON in a text, as far as they are whole."""
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        if text[place] in " \t\r\n,":
            place += 1
            continue
        try:
            value, place = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):  # a broken record, or the part of one
            place = text.find("\n", place) + 1 or len(text)
            continue
        yield from value if isinstance(value, list) else [value]


def _values(records: Iterable[Any], steps: Sequence[str]) -> Iterator[Any]:
    for value in records:
        if not steps:
            yield value
        elif isinstance(value, list) and steps[0] == "element":
            yield from _values(value, steps[1:])
        elif isinstance(value, dict) and steps[0] in value:
            yield from _values([value[steps[0]]], steps[1:])


def _is_brought(change: Change, value: Any) -> bool:
    if value is None:
        return False
    return change.kind == "new" or _kind(value) not in type_parts(change.old)


def _kind(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool):
        return "int" if value.bit_length() < 32 else "bigint"
    names = {bool: "boolean", float: "double", str: "string", dict: "struct", list: "array"}
    return names[type(value)]
