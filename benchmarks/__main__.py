"""Runs every benchmark and rewrites benchmarks/RESULTS.md."""

import os
import sys
import time
from unittest.mock import patch

from benchmarks import (
    awsglue,
    bookmarks,
    cold_setup,
    commands,
    diff,
    graph_overhead,
    iceberg,
    job_overhead,
    little_data,
    prove,
    schemas,
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
    schemas,
    prove,
    diff,
    little_data,
    graph_overhead,
    commands,
    unit_tests,
    awsglue,
    cold_setup,
)


def main() -> None:
    """Measure, saying what is measured and how long that took, and write the table.

    With names of modules after the command, only these; the other rows stay as they are.
    """
    measured_with = provenance()  # before RESULTS.md changes
    names = sys.argv[1:]
    known = {module.__name__.rpartition(".")[2]: module for module in MODULES}
    if unknown := set(names) - set(known):
        raise SystemExit(f"{', '.join(unknown)}: no such benchmark; there are {', '.join(known)}")
    results = []
    for module in [known[name] for name in names] or MODULES:
        begin = time.monotonic()
        print(f"{module.__name__} …", flush=True)  # noqa: T201 (a command)
        with patch.dict(os.environ):  # what a module sets there is for itself
            measured = module.measure()
        for result in measured:
            print(result.row(), flush=True)  # noqa: T201 (not lost if a later module fails)
        results += measured
        print(f"  {time.monotonic() - begin:.0f} s", flush=True)  # noqa: T201
    kept = RESULTS.read_text(encoding="utf-8") if names else ""
    text = document(results, measured_with, kept)
    RESULTS.write_text(text, encoding="utf-8")
    print(text)  # noqa: T201


if __name__ == "__main__":
    main()
