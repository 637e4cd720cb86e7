"""Findings that a script acknowledges: ``# tidemark: ignore[rule-id] the reason``."""

import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tidemark.checks.lint.findings import REMEDIES, Finding, error
from tidemark.checks.script.script_names import ScriptPlace

COMMENT = re.compile(r"#\s*tidemark:\s*ignore(?:\[(?P<rules>[^\]]*)\])?(?P<reason>.*)")


@dataclass(frozen=True)
class Ignore:
    """One such comment."""

    line: int
    rules: tuple[str, ...]
    reason: str

    @property
    def mistake(self) -> str | None:
        """Return the problem with the comment, None if it counts."""
        unknown = [rule for rule in self.rules if rule not in REMEDIES]
        if not self.rules:
            return "the comment names no rule"
        if unknown:
            return f"there is no rule {unknown[0]!r}; the rules are {', '.join(REMEDIES)}"
        return None if self.reason else "the comment gives no reason"


def ignores_of(text: str) -> list[Ignore]:
    """Return the acknowledging comments of a script that parses."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    ignores = []
    for token in tokens:
        if token.type == tokenize.COMMENT and (match := COMMENT.search(token.string)):
            rules = tuple(
                rule.strip() for rule in (match["rules"] or "").split(",") if rule.strip()
            )
            ignores.append(Ignore(token.start[0], rules, match["reason"].strip(" :-#")))
    return ignores


def without_ignored(findings: Iterable[Finding], ignores: list[Ignore]) -> Iterator[Finding]:
    """Yield the findings that no comment on their lines acknowledges, and comments that are wrong.

    A comment counts on every line of the call or statement that was found.
    """
    counting = [ignore for ignore in ignores if ignore.mistake is None]
    for finding in findings:
        lines = range(finding.place.line, finding.place.end_line + 1)
        if not any(i.line in lines and finding.rule in i.rules for i in counting):
            yield finding
    for ignore in ignores:
        if ignore.mistake:
            yield error("ignore-invalid", ScriptPlace(ignore.line, ignore.line), ignore.mistake)
