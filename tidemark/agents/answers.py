"""Answers of tools as text: bounded, and with what others have written marked and escaped."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.model.messages import visible

MAX_CHARACTERS = 40_000  # of an answer
MAX_FACT = 2_000  # of a text of ours: it may quote what an agent has given
TAGS = {ord("<"): "\\u003c", ord(">"): "\\u003e", ord("&"): "\\u0026"}


def answer_text(
    facts: Mapping[str, Any], untrusted: Any, start: int | None = None, *, at_end: bool = False
) -> str:
    r"""Return an answer as JSON: facts of ours, and under ``untrusted`` what others have written.

    Control characters are written as ``\u001b``, also in values, and so are ``<``, ``>`` and
    ``&`` in the text: nothing in it begins a tag. Of a document that is too long, ``untrusted``
    has a part of its JSON as a text, and ``cut`` says which.

    Args:
        facts: what the server itself says.
        untrusted: plain JSON values.
        start: the character with which that part begins; None for the first.
        at_end: whether, without a start, it is the last part.
    """
    document = shown(untrusted)
    facts = {k: visible(v)[:MAX_FACT] if isinstance(v, str) else v for k, v in facts.items()}
    text = _json({**facts, "untrusted": document})
    if len(text) <= MAX_CHARACTERS and not start:
        return text
    whole = json.dumps(document, ensure_ascii=False)
    start = start if start is None else min(start, len(whole))
    size = min(len(whole), MAX_CHARACTERS)
    while True:
        begin = max(0, len(whole) - size) if at_end and start is None else start or 0
        end = min(begin + size, len(whole))
        cut = (
            f"characters {begin} to {end} of the {len(whole)} that the JSON has; "
            f"start={end} shows what follows, start={max(0, begin - size)} what is before"
        )
        text = _json({**facts, "cut": cut, "untrusted": whole[begin:end]})
        if len(text) <= MAX_CHARACTERS:
            return text
        size = size * 9 // 10  # what is escaped takes more room


def shown(value: Any) -> Any:
    r"""Return a document whose texts have no control characters.

    Example:
        >>> shown({"log": ["\x1b[2Jdone"]})
        {'log': ['\\u001b[2Jdone']}
    """
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(str(name)): shown(part) for name, part in value.items()}
    return [shown(part) for part in value] if isinstance(value, Sequence) else value


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False).translate(TAGS)
