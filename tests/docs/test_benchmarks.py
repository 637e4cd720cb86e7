"""What the documents quote of the benchmarks is what benchmarks/RESULTS.md says.

A quoted number is followed by a comment that names its row: `19 s<!-- bench: NAME -->`.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.measure import Result
from benchmarks.results import RESULTS, document, medians
from tests.pages import DOCUMENTS

QUOTE = re.compile(r"(?P<number>[\d.,]*\d)\s(?P<unit>\w+)\s*<!-- bench: (?P<row>[^>]+?) -->")
UNITS = {"minutes": 60.0}  # of a row in seconds; other units are those of the row
# A duration in running text that was measured says so, and is none of the settings.
MEASURED = re.compile(
    r"\b(?:takes?|took|within|needs?)\s+(?:about\s+)?[\d.,]+\s(?:s|ms|minutes|MB|GB)\b"
)
FENCED = re.compile(r"```.*?```", re.DOTALL)


def quotes() -> list[tuple[str, re.Match[str]]]:
    return [
        (document.name, quote)
        for document in DOCUMENTS
        for quote in QUOTE.finditer(document.read_text(encoding="utf-8"))
    ]


def is_quoted_rightly(quote: re.Match[str], median: float) -> bool:
    """Return whether a number is the median, rounded to as many digits as it is quoted with."""
    number = quote["number"].replace(",", "")
    digits = len(number.partition(".")[2])
    return round(median / UNITS.get(quote["unit"], 1.0), digits) == float(number)


@pytest.mark.parametrize(
    ("document", "quote"), quotes(), ids=[f"{page}-{quote['row']}" for page, quote in quotes()]
)
def test_a_quoted_number_is_that_of_the_results(document: str, quote: re.Match[str]) -> None:
    found = medians()

    assert quote["row"] in found, f"{document}: no such row in RESULTS.md"
    assert is_quoted_rightly(quote, found[quote["row"]]), f"{document}: {quote[0]}"


def test_every_comment_follows_a_number_and_its_unit() -> None:
    texts = [document.read_text(encoding="utf-8") for document in DOCUMENTS]

    assert sum(text.count("<!-- bench: ") for text in texts) == len(quotes()) >= 3


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_what_was_measured_is_quoted_from_the_results(document: Path) -> None:
    text = FENCED.sub("", document.read_text(encoding="utf-8"))

    unquoted = [
        found[0] for found in MEASURED.finditer(text) if not text[found.end() :].startswith("<!-- ")
    ]
    assert unquoted == []


def test_every_row_says_what_it_was_measured_with() -> None:
    rows = [
        line for line in RESULTS.read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ][1:]

    assert len(rows) == len(medians())
    for row in rows:
        *_, measured_with, _ = row.split("|")
        assert re.search(r"\d{4}-\d\d-\d\d.*commit|[0-9a-f]{7}.*\d cores", measured_with), row


def test_what_is_written_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    results = [Result("a, b", "run a", [1.0, 3.0, 2.0], "fast"), Result("less", "run b", [-3.5])]

    path.write_text(document(results, "abc1234, 2026-01-01, 2 cores"), encoding="utf-8")

    assert medians(path) == {"a, b": 2.0, "less": -3.5}
    assert path.read_text().count("| abc1234, 2026-01-01, 2 cores |") == 2
