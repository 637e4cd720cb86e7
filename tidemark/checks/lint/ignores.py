"""What a script acknowledges, `# tidemark: ignore[rule] reason`, and which writes by that."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.graph.folders import overlap
from tidemark.checks.lint.findings import RULES, Finding, error
from tidemark.checks.script.appends import possible_appends_in
from tidemark.checks.script.overwrites import written_folders
from tidemark.checks.script.script_names import ScriptPlace, place_of
from tidemark.model.advice import name_of
from tidemark.model.programs import readable_program

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
        unknown = [rule for rule in self.rules if rule not in RULES]
        if not self.rules:
            return "the comment names no rule"
        if unknown:
            return f"there is no rule {unknown[0]!r}; the rules are {', '.join(RULES)}"
        return None if self.reason else "the comment gives no reason"


def ignores_of(text: str) -> list[Ignore]:
    """Return the acknowledging comments of a script that parses."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    ignores = []
    for token in tokens:
        if token.type == tokenize.COMMENT and (match := COMMENT.search(token.string)):
            rules = filter(None, map(str.strip, (match["rules"] or "").split(",")))
            names = tuple(name_of(RULES, rule) for rule in rules)
            ignores.append(Ignore(token.start[0], names, match["reason"].strip(" :-#")))
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


RULE = "retry-appends"


def accepted_lines(text: str) -> dict[int, str]:
    """Return the lines of such writes, with the reason; empty if the script does not parse."""
    return _accepted(text, lambda: (append.place for append in possible_appends_in(text)))


def _accepted(text: str, places: Callable[[], Iterable[ScriptPlace]]) -> dict[int, str]:
    """Return the lines of places at which a comment accepts such writes, with its reason."""
    try:
        counting = (ignore for ignore in ignores_of(text) if not ignore.mistake)
        comments = [ignore for ignore in counting if RULE in ignore.rules]
    except (SyntaxError, tokenize.TokenError):
        return {}
    accepted: dict[int, str] = {}
    for place in places() if comments else ():
        lines = range(place.line, place.end_line + 1)
        for comment in comments:
            if comment.line in lines:
                accepted |= dict.fromkeys(lines, comment.reason)
    return accepted


def repeated(text: str, arguments: Mapping[str, str], uris: Sequence[str]) -> list[tuple[str, str]]:
    """Return in which folders of a job such writes are, with the reason; all if it is not known."""
    accepted, repeated_folders = accepted_lines(text), set[tuple[str, str]]()
    folders = written_folders(text, arguments) if accepted else {}
    for call in possible_appends_in(text) if accepted else ():
        written = folders.get(call.place, ())
        each = [[uri for _, uri in overlap([folder], uris)] for folder in written]
        here = {uri for some in each for uri in some} if each and all(each) else uris
        if reason := accepted.get(call.place.line):
            repeated_folders |= {(uri, reason) for uri in here}
    return sorted(repeated_folders)


def accepted_in(scripts: Mapping[str, Path]) -> dict[tuple[str, int], str]:
    """Return the lines that may write rows twice, with the reason, by the names of scripts.

    They are those of Spark's writes, and of other statements that have such a comment.
    """
    texts = {
        name: script.read_text(encoding="utf-8", errors="replace")
        for name, script in scripts.items()
    }
    return {
        (name, line): reason
        for name, text in texts.items()
        for line, reason in {**_accepted_statements(text), **accepted_lines(text)}.items()
    }


def _accepted_statements(text: str) -> dict[int, str]:
    """Return the lines of such statements that hold no others, with the reason."""
    return _accepted(
        text,
        lambda: (
            place_of(node)
            for node in ast.walk(readable_program(text))
            if isinstance(node, ast.stmt)
            and not (hasattr(node, "body") or isinstance(node, ast.Match))
        ),
    )
