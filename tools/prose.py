"""Reads what people read for its language: `python -m tools.prose [FILE…]`, part of `make check`.

Checks pages by proselint, and by our own words: a standard term in place of one that reads as
translated. The messages of the code, and of its data, are checked by our words. Code, names and
comments of a page are left out. Pages of docs/reference are made from help texts and docstrings, so
these are read too.
"""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import proselint.checks
from proselint.registry.checks import Check, types

PROJECT = Path(__file__).parents[1]
PAGES = (*sorted(PROJECT.glob("*.md")), *sorted((PROJECT / "docs").rglob("*.md")))
CODE = ("tidemark", "libs", "infra", "sample")
MIN_SPACES = 3  # of a string that is a message
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')  # of JSON
# Matters of typography, of American letters and of small vocabularies; terms that are ours.
LEFT_OUT = (
    "dates_times",
    "misc.but",
    "misc.capitalization",
    "misc.greylist",
    "misc.preferred_forms",
    "lexical_illusions",  # headings and cells of tables repeat a word rightly
    "misc.composition",  # a run that did not succeed may not have failed either
    "restricted",
    "spelling.consistency",
    "typography",
)
SHOWN = re.compile(
    r"```.*?```|`[^`\n]*`|<!--.*?-->|\]\([^)]*\)|https?://\S+|<[a-z/][^>\n]*>", re.DOTALL
)
INSTEAD = {
    "of which": "start another sentence",
    "by which": "start another sentence, or say with what",
    "is told": "is notified",
    "are told": "are notified",
    "who is told": "who is notified",
    "mend": "fix",
    "mended": "fixed",
    "goes on": "continues",
    "go on": "continue",
    "without a word": "silently",
    "beside it": "in addition to it",
    "that is there": "that exists",
    "that are there": "that exist",
    "comes to": "reaches",
    "carry over": "rename, or keep",
    "a text": "a string",
    "the dearest": "the most expensive",
    "for want of": "because it is missing",
    "in vain": "without success",
    "whosoever": "whoever",
}
# "There is no job" is English; "this job is no stream" is not.
IS_NO = re.compile(r"(?<!there )(?<!here )\b(?:is|are) (?:no (?!more|longer|less)|none\b)")
OURS = Check(
    check_type=types.PreferredFormsSimple(items=INSTEAD),
    path="tidemark.words",
    message="'{1}': {0}",
)


def problems(text: str) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with a page, each with its line."""
    prose = SHOWN.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    known = proselint.checks.__register__
    checks = [one for one in known if not any(map(one.matches_partial, LEFT_OUT))]
    padded = f"\n{prose}\n"  # a check looks for what stands between two characters
    for check in checks:
        for found in check.check_with_flags(padded):
            yield padded.count("\n", 0, found.span[0] + 1), f"{found.check_path}: {found.message}"
    yield from wrong_words(prose)


def wrong_words(text: str) -> Iterator[tuple[int, str]]:
    """Yield our words for those of a string that read as translated, each with its line."""
    padded = f"\n{text}\n"
    for found in OURS.check(padded):
        yield padded.count("\n", 0, found.span[0] + 1), found.message
    for match in IS_NO.finditer(padded):
        line = padded.count("\n", 0, match.start() + 1)
        yield line, f"'{match[0].strip()}': is not a, has no, or is missing"


def problems_of_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with the messages of a module; its docstrings are not read."""
    tree = ast.parse(text)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    strings = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
        if id(node) not in docstrings and node.value.count(" ") >= MIN_SPACES
    )
    for node in strings:
        for line, message in wrong_words(str(node.value)):
            yield node.lineno + line - 1, message


def problems_of_data(text: str) -> Iterator[tuple[int, str]]:
    """Yield what is wrong with the messages in JSON, each with its line."""
    for match in STRING.finditer(text):
        if match[0].count(" ") >= MIN_SPACES:
            for _, message in wrong_words(json.loads(match[0])):
                yield text.count("\n", 0, match.start()) + 1, message


def report(files: Iterable[Path]) -> list[str]:
    """Return a line for each problem of pages and modules."""
    return [
        f"{file.relative_to(PROJECT) if file.is_relative_to(PROJECT) else file}:{line}: {message}"
        for file in files
        for line, message in sorted(set(_problems_of(file)))
    ]


def _problems_of(file: Path) -> Iterator[tuple[int, str]]:
    text = file.read_text(encoding="utf-8")
    readers = {".py": problems_of_code, ".json": problems_of_data}
    return readers.get(file.suffix, problems)(text)


def _all() -> Iterator[Path]:
    yield from PAGES
    for folder in CODE:
        yield from sorted((PROJECT / folder).rglob("*.py"))
        yield from sorted((PROJECT / folder).rglob("*.json"))


if __name__ == "__main__":
    found = report([Path(name) for name in sys.argv[1:]] or _all())
    sys.stdout.write("".join(f"{line}\n" for line in found))
    sys.exit(bool(found))
