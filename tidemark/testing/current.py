"""The test that runs now, for functions that tests call without a fixture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidemark.errors import UsageError

if TYPE_CHECKING:
    from tidemark.testing.kit import GlueTest

_tests: list[GlueTest] = []


def start(test: GlueTest) -> None:
    """Make a test the one that runs."""
    _tests.append(test)


def end(test: GlueTest) -> None:
    """Say that a test is over."""
    _tests.remove(test)


def current_test() -> GlueTest:
    """Return the test that runs now.

    Raises:
        UsageError: it uses no fixture of the test kit.
    """
    if not _tests:
        raise UsageError(
            "no test of Glue runs: ask for the fixture lake or glue_job in the test's arguments"
        )
    return _tests[-1]
