"""The words of a DQDL document, with their places.

Source: https://github.com/awslabs/dqdl (its lexer rules)
"""

import re
from dataclasses import dataclass

from tidemark.errors import UsageError

STRING, NUMBER, WORD, SIGN, END = "string", "number", "word", "sign", "end"
_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\#[^\n]*)
    |(?P<string>"(?:\\["\\]|[^"])*")
    |(?P<number>\d+(?:\.\d+)?(?![\w.]))
    |(?P<word>[A-Za-z0-9_.]+)
    |(?P<sign>>=|<=|!=|[\[\](){},:=<>!$+*/-])
    """,
    re.VERBOSE,
)


@dataclass(frozen=True)
class Token:
    """A word of a document.

    Attributes:
        kind: `STRING`, `NUMBER`, `WORD`, `SIGN` or `END`.
        text: as it is written, a string with its quotes.
        line: its line, from 1.
    """

    kind: str
    text: str
    line: int


def tokens_of(text: str) -> list[Token]:
    """Return the words of a document, comments left out, and an `END`."""
    found: list[Token] = []
    place, line = 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise wrong_ruleset(line, _unreadable(text[place:]))
        kind = str(match.lastgroup)
        if kind != "skip":
            found.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
        place = match.end()
    return [*found, Token(END, "the end", line)]


def wrong_ruleset(line: int, reason: str) -> UsageError:
    """Return the error of a document that is no DQDL."""
    return UsageError(f"the data quality ruleset is wrong in line {line}: {reason}")


def _unreadable(rest: str) -> str:
    if rest[0] == '"':
        return f"{rest.splitlines()[0][:40]} has no closing quote"
    return f"{rest[0]!r} cannot be there; strings are in double quotes, a comment begins with #"
