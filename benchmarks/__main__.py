"""Runs every benchmark and rewrites benchmarks/RESULTS.md."""

import os
import platform
from datetime import UTC, datetime

from benchmarks import bookmarks, cold_setup, job_overhead, synth, watermarks
from benchmarks.measure import PROJECT

RESULTS = PROJECT / "benchmarks" / "RESULTS.md"


def main() -> None:
    """Measure and write the table."""
    modules = (synth, watermarks, bookmarks, job_overhead, cold_setup)
    results = [result for module in modules for result in module.measure()]
    lines = [
        "# Results",
        "",
        f"Written by `make bench` on {datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, "
        f"{platform.system()}, Python {platform.python_version()}. Seconds of wall "
        "clock where nothing else is said.",
        "",
        "| what | median | range | | command |",
        "|---|---|---|---|---|",
        *(result.row() for result in results),
    ]
    text = "\n".join(lines) + "\n"
    RESULTS.write_text(text, encoding="utf-8")
    print(text)  # noqa: T201 (a command)


if __name__ == "__main__":
    main()
