"""The writes at which a script says why a retry may add their rows twice."""

import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path

from tidemark.checks.graph.folders import overlap
from tidemark.checks.lint.ignores import ignores_of
from tidemark.checks.script.appends import possible_appends_in
from tidemark.checks.script.overwrites import written_folders

RULE = "retry-appends"


def accepted_lines(text: str) -> dict[int, str]:
    """Return the lines of such writes, with the reason; empty if the script does not parse."""
    try:
        comments = [
            ignore for ignore in ignores_of(text) if RULE in ignore.rules and not ignore.mistake
        ]
    except (SyntaxError, tokenize.TokenError):
        return {}
    accepted: dict[int, str] = {}
    for call in possible_appends_in(text) if comments else ():
        lines = range(call.place.line, call.place.end_line + 1)
        for comment in comments:
            if comment.line in lines:
                accepted |= dict.fromkeys(lines, comment.reason)
    return accepted


def repeated(text: str, arguments: Mapping[str, str], uris: Sequence[str]) -> list[tuple[str, str]]:
    """Return in which folders of a job such writes are, with the reason; all if it is not known."""
    accepted, found = accepted_lines(text), set[tuple[str, str]]()
    folders = written_folders(text, arguments) if accepted else {}
    for call in possible_appends_in(text) if accepted else ():
        each = [
            [uri for _, uri in overlap([folder], uris)] for folder in folders.get(call.place, ())
        ]
        here = {uri for some in each for uri in some} if each and all(each) else uris
        if reason := accepted.get(call.place.line):
            found |= {(uri, reason) for uri in here}
    return sorted(found)


def accepted_in(scripts: Mapping[str, Path]) -> dict[tuple[str, int], str]:
    """Return the same for scripts by their names: reasons by the name of a script and a line."""
    return {
        (name, line): reason
        for name, script in scripts.items()
        for line, reason in accepted_lines(
            script.read_text(encoding="utf-8", errors="replace")
        ).items()
    }
