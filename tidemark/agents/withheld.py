"""Takes the data of rows out of what a command has printed: values, messages, what scripts print.

What may have a value of a row is known by its place, not by its looks. Of an error the class and
the line of the script stay, of a position its numbers and times, of a log its tracebacks.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

WITHHELD = "[withheld: the server was started without --allow-rows]"
ROWS = set("examples twice_example only_old only_new log output".split())
MESSAGES = {"message", "error", "cause"}
POSITIONS = set(
    "watermark watermarks before after values windows open_windows restores summary differences "
    "JobBookmark".split()
)
# Within a position:
NAMES = set("cursor format job job_name keys kind option order run_id table window_id".split())
PLAIN = re.compile(r"[-+.:0-9TZ ]*|s3://\S*|[jw]r_\w*")
# Classes of errors are named so, or by two words; Spark's have a condition, [PATH_NOT_FOUND].
CLASS = r"\b(?:[a-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception|Exit)|[A-Z][a-z0-9]+[A-Z]\w*)"
AT = r" \([\w.-]+, line \d+\)"
RAISED = re.compile(
    rf"(?P<error>{CLASS}(?:: \[[A-Z_.]+\](?= )|(?=:\s))):?\s.*?(?P<place>{AT})?\Z", re.DOTALL
)
PLACE, PLACED = re.compile(rf"{AT}\Z"), re.compile(rf": .*?({AT})", re.DOTALL)
FRAME = re.compile(r'Traceback \(most recent call last\):|  File "[^"]*", line \d+, in \S+')


def without_rows(value: Any, key: str = "", *, is_position: bool = False) -> Any:
    """Return a document without what may be of rows.

    Example:
        >>> without_rows({"message": "ValueError: Jane (a.py, line 3)", "rows": 2})["message"]
        'ValueError: [withheld: the server was started without --allow-rows] (a.py, line 3)'
    """
    if key in ROWS and value:
        return WITHHELD
    is_position = (is_position or key in POSITIONS) and key not in NAMES
    if key == "differences" and not isinstance(value, Mapping):
        is_position = False  # they are sentences about a job
    if isinstance(value, str):
        return _position(value) if is_position else _text(value, key)
    if isinstance(value, Mapping):
        return {name: without_rows(v, name, is_position=is_position) for name, v in value.items()}
    if isinstance(value, Sequence):
        return [without_rows(part, key, is_position=is_position) for part in value]
    return value


def _text(text: str, key: str) -> str:
    if key in MESSAGES and not RAISED.match(text):
        place = PLACE.search(text)
        return f"{WITHHELD}{place[0] if place else ''}"
    return without_messages(text)


def without_messages(text: str) -> str:
    """Return a text without what follows the class of an error, or stands before a line of script.

    Example:
        >>> without_messages("job a FAILED: KeyError: 'Jane'")
        'job a FAILED: KeyError: [withheld: the server was started without --allow-rows]'
    """
    told = RAISED.sub(lambda match: f"{match['error']}: {WITHHELD}{match['place'] or ''}", text)
    return told if told != text else PLACED.sub(rf": {WITHHELD}\1", text)


def _position(text: str) -> str:
    if PLAIN.fullmatch(text):
        return text
    with suppress(ValueError):  # Glue writes the states of a bookmark as JSON in a text
        return json.dumps(without_rows(json.loads(text), is_position=True))
    return WITHHELD


def lines_without_rows(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of a log that a script cannot have filled with rows: of tracebacks."""
    return [
        {**line, "text": without_messages(line["text"])}
        for line in lines
        if FRAME.fullmatch(line["text"]) or RAISED.match(line["text"])
    ]
