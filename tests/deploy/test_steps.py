"""A step that fails is one failure; what needs it is skipped and says why."""

from __future__ import annotations

import pytest

from tests.deploy.story import MIN_LIMIT_SECONDS, limit_seconds

pytest_plugins = ["pytester"]
STORY = """
import pytest
from tests.deploy.conftest import pytest_runtest_makereport
from tests.deploy.story import StepError

@pytest.fixture(scope="session")
def deployed():
    raise StepError("make deploy STAGE=dev", "ended with 1:\\nno more disk")

@pytest.fixture(scope="session")
def grown(deployed):
    raise AssertionError("is never tried")
"""


def test_a_failed_step_is_told_once(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(STORY)
    pytester.makepyfile(
        """
        def test_one(deployed): pass
        def test_two(deployed): pass
        def test_three(grown): pass
        def test_four(): pass
        """
    )

    result = pytester.runpytest_inprocess("-p", "no:cacheprovider", "-rs")

    result.assert_outcomes(errors=1, skipped=2, passed=1)
    result.stdout.fnmatch_lines(["*no more disk*", "*`make deploy STAGE=dev` failed before*"])


def test_the_limit_of_a_command_grows_with_the_load_and_is_never_tight() -> None:
    assert limit_seconds() >= MIN_LIMIT_SECONDS
    assert limit_seconds() == limit_seconds()
