"""Runs every benchmark and rewrites benchmarks/RESULTS.md."""

import os
import time
from unittest.mock import patch

from benchmarks import (
    awsglue,
    bookmarks,
    cold_setup,
    commands,
    graph_overhead,
    iceberg,
    job_overhead,
    little_data,
    synth,
    two_sparks,
    unit_tests,
    watermarks,
)
from benchmarks.results import RESULTS, document, provenance

MODULES = (
    synth,
    watermarks,
    bookmarks,
    job_overhead,
    two_sparks,
    iceberg,
    little_data,
    graph_overhead,
    commands,
    unit_tests,
    awsglue,
    cold_setup,
)


def main() -> None:
    """Measure, saying what is measured and how long that took, and write the table."""
    measured_with = provenance()  # before RESULTS.md changes
    results = []
    for module in MODULES:
        begin = time.monotonic()
        print(f"{module.__name__} …", flush=True)  # noqa: T201 (a command)
        with patch.dict(os.environ):  # what a module sets there is for itself
            measured = module.measure()
        for result in measured:
            print(result.row(), flush=True)  # noqa: T201 (not lost if a later module fails)
        results += measured
        print(f"  {time.monotonic() - begin:.0f} s", flush=True)  # noqa: T201
    text = document(results, measured_with)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)  # noqa: T201


if __name__ == "__main__":
    main()
