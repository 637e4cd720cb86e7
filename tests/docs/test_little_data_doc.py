"""What docs/warm-jvms.md says of little data: `make demo` and `make test` set that option."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.little_data import QUICK

PROJECT = Path(__file__).parents[2]


@pytest.mark.parametrize("target", ["demo", "test"])
def test_the_option_of_the_page_is_that_of_the_target_and_of_the_benchmark(target: str) -> None:
    page = (PROJECT / "docs" / "warm-jvms.md").read_text(encoding="utf-8")
    makefile = (PROJECT / "Makefile").read_text(encoding="utf-8")
    (option,) = set(re.findall(r"JAVA_TOOL_OPTIONS=(\S+)`", page))

    targets = re.findall(r"^QUICK := (.+)$", makefile, re.MULTILINE)
    set_by_make = re.findall(
        r"^\$\(QUICK\): export JAVA_TOOL_OPTIONS \?= (.+)$", makefile, re.MULTILINE
    )

    assert [target in names.split() for names in targets] == [True]
    assert [option in options.split() for options in set_by_make] == [True]
    assert QUICK["JAVA_TOOL_OPTIONS"] == option
