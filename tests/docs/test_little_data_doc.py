"""What docs/warm-jvms.md says of little data is what JVMs, `make` and the benchmark go by."""

from __future__ import annotations

import re
from pathlib import Path

from benchmarks.little_data import PLAIN
from benchmarks.little_data import QUICK as MEASURED
from tidemark.glue_job.process.spark import MAX_LITTLE_BYTES, MAX_LITTLE_FILES, QUICK

PROJECT = Path(__file__).parents[2]
PAGE = (PROJECT / "docs" / "warm-jvms.md").read_text(encoding="utf-8")


def test_the_options_of_the_page_are_those_of_jvms_and_of_the_benchmark() -> None:
    options = set(re.findall(r"`(-XX:TieredStopAtLevel=\d)`", PAGE))

    assert options == {QUICK, PLAIN["JAVA_TOOL_OPTIONS"]}
    assert MEASURED["JAVA_TOOL_OPTIONS"] == QUICK


def test_the_limits_of_the_page_are_those_of_the_code() -> None:
    assert f"at most {MAX_LITTLE_BYTES // 10**6} MB in at most {MAX_LITTLE_FILES:,} files" in PAGE
