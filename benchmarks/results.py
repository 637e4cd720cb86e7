"""The table of RESULTS.md: written by `make bench`, read by the test of the documents."""

import os
import platform
import re
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.measure import PROJECT, Result

RESULTS = PROJECT / "benchmarks" / "RESULTS.md"
COLUMNS = ("what", "median", "range", "note", "command", "measured with")
ROW = re.compile(
    r"^\| (?P<what>[^|]+) \| (?P<median>-?[\d.]+) \| (?P<range>[^|]*) \|", re.MULTILINE
)


def document(results: Iterable[Result], measured_with: str, kept: str = "") -> str:
    """Return the text of RESULTS.md: a row per result, each with what it was measured with.

    Rows of the text ``kept`` stay where they are unless they were measured again.
    """
    rows = {row["what"]: line for line in kept.splitlines() if (row := ROW.match(line))}
    rows |= {result.name: f"{result.row()} {measured_with} |" for result in results}
    lines = [
        "# Results",
        "",
        "Written by `make bench`, which measures every row, or by `python -m benchmarks NAME`.",
        "Seconds of wall clock where nothing else is said; targets are the project's own.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|" + "---|" * len(COLUMNS),
        *rows.values(),
    ]
    return "\n".join(lines) + "\n"


def provenance() -> str:
    """Return what results are measured with: commit, date, machine, Python."""
    git = ["git", "describe", "--always", "--dirty"]
    found = subprocess.run(git, cwd=PROJECT, capture_output=True, text=True)  # noqa: S603
    commit = found.stdout.strip() or "no commit"
    return (
        f"{commit}, {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}, Python {platform.python_version()}"
    )


def medians(path: Path = RESULTS) -> dict[str, float]:
    """Return the medians of a results file by what was measured."""
    text = path.read_text(encoding="utf-8")
    return {row["what"]: float(row["median"]) for row in ROW.finditer(text)}
