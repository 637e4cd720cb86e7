"""Finds which new file of a source has brought a change, and in how many rows, without Spark."""

import csv
import gzip
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.model.checkpoints.schema_changes import Change, type_parts
from tidemark.model.checkpoints.schemas import Column, quoted
from tidemark.model.messages import plural

MAX_FILES, MAX_BYTES = 50, 16_000_000  # that are looked into, also of a slow disk
_STEPS = re.compile(r"`(?:[^`]|``)+`|[^.]+")


def brought_by(
    changes: Iterable[Change], files: Sequence[str], file_format: str
) -> dict[Change, str]:
    """Return where each change was first seen, and in how many rows, to follow its text.

    What is gone is in no file.

    Args:
        changes: of a source.
        files: the URIs of its new files, the oldest first.
        file_format: JSON is read for it, and CSV with a header for what is new; of others only a
            single file is known.
    """
    asked = [change for change in changes if files and change.kind in ("new", "type")]
    first, rows, whole = dict[Change, str](), Counter[Change](), 0
    for file, records, is_whole in looked_into(files if asked else (), file_format):
        whole += is_whole
        for change in asked:
            if brought := _rows(change, records, file_format):
                first.setdefault(change, file)
                rows[change] += brought
    more = "" if whole == len(files) else " or more"
    told = dict[Change, str]()
    for change in asked:
        place = f"first in {first[change]}" if change in first else ""
        place = f"in {files[0]}" if len(files) == 1 else place
        place = place or f"in one of {plural(len(files), 'new file')}"
        count = f" ({plural(rows[change], 'row')}{more})" * bool(rows[change])
        told[change] = f", {place}{count}"
    return told


def looked_into(files: Sequence[str], file_format: str) -> Iterator[tuple[str, list[Any], bool]]:
    """Yield the first files of JSON or CSV, each with its records, and whether these are all."""
    left = MAX_BYTES
    for file in files[:MAX_FILES] if file_format in ("json", "csv") else ():
        text = _text(file, left)
        left -= len(text)
        yield file, list(_lines(text) if file_format == "csv" else _records(text)), left > 0
        if left <= 0:
            return


def columns_in(
    records: Iterable[Any], file_format: str, had: Mapping[str, str]
) -> tuple[Column, ...]:
    """Return the outermost columns of records, each with a type that it has not had, if it can."""
    kinds = dict[str, str]()
    items = (item for record in records if isinstance(record, dict) for item in record.items())
    for name, value in items:
        path = quoted(name)
        known = had.get(path) or kinds.get(path)
        kind = known or "string" if file_format == "csv" or value is None else _kind(value)
        if value is not None and (path not in kinds or kind not in type_parts(known or kind)):
            kinds[path] = known if known and kind in type_parts(known) else kind
    return tuple(Column(path, kind) for path, kind in kinds.items())


def _rows(change: Change, records: Iterable[Any], file_format: str) -> int:
    """Return how many records have brought a change; of a type that CSV has, it is not known."""
    if file_format == "csv" and change.kind == "type":
        return 0
    steps = [step.strip("`").replace("``", "`") for step in _STEPS.findall(change.path)]
    return sum(
        any(_is_brought(change, value) for value in _values([record], steps)) for record in records
    )


def _text(uri: str, most: int) -> str:
    with folder_of(uri).open("rb") as stream:
        whole = gzip.GzipFile(fileobj=stream) if uri.endswith(".gz") else stream
        return whole.read(most).decode("utf-8-sig", errors="replace")


def _lines(text: str) -> Iterator[dict[str, str]]:
    """Yield the lines of CSV below a header, without values that are empty."""
    head = text.partition("\n")[0]
    separator = max(",;|\t", key=head.count)
    for line in csv.DictReader(io.StringIO(text, newline=""), delimiter=separator):
        yield {name: value for name, value in line.items() if value and isinstance(value, str)}


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
