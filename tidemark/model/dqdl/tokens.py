"""The words of a DQDL document, with their places.

Source: https://github.com/awslabs/dqdl (its lexer rules)
"""

import re
from dataclasses import dataclass

from tidemark.errors import UsageError
from tidemark.model.dqdl.rules import Operand

STRING, NUMBER, WORD, SIGN, END = "string", "number", "word", "sign", "end"
_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\#[^\n]*)
    |(?P<string>"(?:\\["\\]|[^"])*")
    |(?P<number>\d{1,400}(?:\.\d+)?(?![\w.]))
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
        text: its source, a string with its quotes.
        line: its line, from 1.
    """

    kind: str
    text: str
    line: int


def tokens_of(text: str) -> list[Token]:
    """Return the words of a document, comments left out, and an `END`."""
    tokens: list[Token] = []
    place, line = 0, 1
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None:
            raise ruleset_error(line, _unreadable(text[place:]))
        kind = str(match.lastgroup)
        if kind != "skip":
            tokens.append(Token(kind, match.group(), line))
        line += match.group().count("\n")
        place = match.end()
    return [*tokens, Token(END, "the end", line)]


def ruleset_error(line: int, reason: str) -> UsageError:
    """Return the error of a document that is not DQDL."""
    return UsageError(f"the data quality ruleset is wrong in line {line}: {reason}")


def _unreadable(rest: str) -> str:
    if rest[0] == '"':
        return f"{rest.splitlines()[0][:40]} has no closing quote"
    return f"{rest[0]!r} cannot be there; strings are in double quotes, a comment begins with #"


class Stream:
    """Words that are taken in order."""

    def __init__(self, text: str) -> None:
        """Read a document."""
        self._tokens = tokens_of(text)
        self._place = 0
        self.constants: dict[str, tuple[Operand, ...]] = {}

    @property
    def next(self) -> Token:
        """The word that comes next; the last one is the end."""
        return self._tokens[self._place]

    @property
    def after_next(self) -> Token:
        """The word after the next one."""
        return self._tokens[min(self._place + 1, len(self._tokens) - 1)]

    def at(self, *kinds: str) -> bool:
        """Return whether the next word is of one of these kinds."""
        return self.next.kind in kinds

    def sees(self, *texts: str) -> bool:
        """Return whether the next word is one of these; a string never is."""
        return self.next.text in texts

    def pop(self) -> Token:
        """Return the next word and move to the one after it."""
        token = self.next
        self._place += token.kind != END
        return token

    def take_if(self, *texts: str) -> bool:
        """Go on if the next word is one of these; return whether it was."""
        seen = self.sees(*texts)
        if seen:
            self.pop()
        return seen

    def take(self, text: str, more: str = "") -> None:
        """Go on over a word that has to be there."""
        if not self.take_if(text):
            raise self.wrong(f"expected {text!r}{more}, found {self.next.text}")

    def wrong(self, reason: str) -> UsageError:
        """Return the error of a document that is wrong at the next word."""
        return ruleset_error(self.next.line, reason)
