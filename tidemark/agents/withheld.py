"""Takes the data of rows out of what a command has printed: values, messages, what scripts print.

What may have a value of a row is known by its place, not by its looks. Of an error the class and
the line of the script stay, of a position its numbers and times, of a log its tracebacks.
"""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tidemark.model.advice import advice_of

WITHHELD = "[withheld: the server was started without --allow-rows]"
ROWS = set("examples twice_example only_old only_new log input output".split())
QUOTES = {"'", '"'}
MESSAGES = {"message", "error", "cause"}
POSITIONS = set(
    "watermark watermarks before after values windows open_windows restores summary differences "
    "JobBookmark contexts".split()
)
# Of a position: what has columns as its names, and what names something that is no row.
COLUMNS = set("watermarks before after values".split())
NAMES = set("cursor format job job_name keys kind option order run_id table window_id".split())
PLAIN = re.compile(r"files|keys|s3|[-+.:0-9TZ ]*|s3://.*|[jw]r_\w*")
# Classes of errors are named so, or by two words; Spark's have a condition, [PATH_NOT_FOUND].
CLASS = r"\b(?:[a-z_]\w*\.)*(?:[A-Z]\w*(?:Error|Exception|Exit)|[A-Z][a-z0-9]+[A-Z]\w*)"
AT = r" \([\w.-]+, line \d+\)"
RAISED = re.compile(
    rf"(?P<error>{CLASS}(?:: \[[A-Z_.]+\](?= )|(?=:\s))):?\s.*?(?P<place>{AT})?\Z", re.DOTALL
)
PLACE, PLACED = re.compile(rf"{AT}\Z"), re.compile(rf": .*?({AT})", re.DOTALL)
WARNING = re.compile(r"\((TM\d+)\)\Z")
QUOTING = set(
    "text-between-rows json-broken json-value error-records filter-left-out jdbc-ahead "
    "not-observed not-looked-at table-not-looked-at".split()
)
FRAME = re.compile(r'Traceback \(most recent call last\):|  File "[^"]*", line \d+, in \S+')


def without_rows(
    value: Any, key: str = "", *, is_position: bool = False, names: Collection[str] = NAMES
) -> Any:
    """Return a document without what may be of rows.

    Example:
        >>> without_rows({"message": "ValueError: Jane (a.py, line 3)", "rows": 2})["message"]
        'ValueError: [withheld: the server was started without --allow-rows] (a.py, line 3)'
    """
    # `explain` writes texts among the keys of a table in quotes, and nothing else.
    is_of_texts = key == "rows" and isinstance(value, str) and not QUOTES.isdisjoint(value)
    if (key in ROWS and value) or is_of_texts:
        return WITHHELD
    is_name = key in names and not isinstance(value, Mapping)
    is_position = (is_position or key in POSITIONS) and not is_name
    if key == "differences" and not isinstance(value, Mapping):
        is_position = False  # they are sentences about a job
    if isinstance(value, str):
        return _position(value) if is_position else _text(value, key)
    if isinstance(value, Mapping):
        below = () if key in COLUMNS else names  # a column may be named as what names something
        return {
            name: without_rows(part, name, is_position=is_position, names=below)
            for name, part in value.items()
        }
    if isinstance(value, Sequence):
        of_list = "" if key in COLUMNS else key
        return [without_rows(p, of_list, is_position=is_position, names=names) for p in value]
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
    text = _warning(text)
    told = RAISED.sub(lambda match: f"{match['error']}: {WITHHELD}{match['place'] or ''}", text)
    return told if told != text else PLACED.sub(rf": {WITHHELD}\1", text)


def _warning(text: str) -> str:
    """Return the message of a warning, without its subject if that may quote a row or an error."""
    if not (number := WARNING.search(text)):
        return text
    advice = {each.id: each for name, each in advice_of("warnings").items() if name in QUOTING}
    if not (quoting := advice.get(number[1])):
        return text
    says = "; ".join(filter(None, (quoting.text.format(WITHHELD), quoting.remedy)))
    return f"{says} ({quoting.id})"


def _position(text: str) -> str:
    if PLAIN.fullmatch(text):
        return text
    with suppress(ValueError):  # Glue writes the states of a bookmark as JSON in a text
        return json.dumps(without_rows(json.loads(text), is_position=True))
    return WITHHELD


def lines_without_rows(lines: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines of a log that a script cannot have filled with rows: of tracebacks."""
    kept, traced = list[dict[str, Any]](), set[object]()
    for line in lines:
        text, stream = line["text"], line.get("stream")
        is_end = stream in traced and not text[:1].isspace()  # the class, after all frames
        if FRAME.fullmatch(text) or (is_end and RAISED.match(text)):
            kept.append({**line, "text": without_messages(text)})
        if is_end:
            traced.discard(stream)
        if text.startswith("Traceback"):
            traced.add(stream)
    return kept


def messages_without_rows(
    lines: Sequence[str], *, scripts_print: bool, is_answer: bool
) -> list[str]:
    """Return what a command has said beside its answer, without what may be of rows.

    Where scripts print too, it is only why there is no answer: a script can print any beginning.
    """
    if scripts_print:
        errors = [line for line in lines if line.startswith("error: ") and not is_answer]
        lines = errors[-1:]
    # Later lines of a message are indented.
    return [without_messages(line) for line in lines if not line[:1].isspace()]
