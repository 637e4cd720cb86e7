"""How the tests of the linter write scripts and look at findings."""

from collections.abc import Callable

import pytest

from tidemark.checks.lint.linter import lint_source

Found = list[tuple[str, str, int]]


@pytest.fixture
def find() -> Callable[..., Found]:
    """Return a function that lints a text and returns rule, severity and line of each finding."""

    def find(text: str, option: str | None = "job-bookmark-enable", starts: tuple = ()) -> Found:
        linted = lint_source(text, "job.py", option, starts, is_local=False)
        return [(found.rule, found.severity, found.place.line) for found in linted.findings]

    return find
