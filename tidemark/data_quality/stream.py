"""The words of a document one after the other, and what is wrong with the next one."""

from tidemark.data_quality.rules import Operand
from tidemark.data_quality.tokens import END, Token, tokens_of, wrong_ruleset
from tidemark.errors import UsageError


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
        """Return the next word and go on to the one after it."""
        token = self.next
        self._place += token.kind != END
        return token

    def take_if(self, *texts: str) -> bool:
        """Go on if the next word is one of these; return whether it was."""
        found = self.sees(*texts)
        if found:
            self.pop()
        return found

    def take(self, text: str, more: str = "") -> None:
        """Go on over a word that has to be there."""
        if not self.take_if(text):
            raise self.wrong(f"expected {text!r}{more}, found {self.next.text}")

    def wrong(self, reason: str) -> UsageError:
        """Return the error of a document that is wrong at the next word."""
        return wrong_ruleset(self.next.line, reason)
