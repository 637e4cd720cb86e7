"""The part of the kit that one test has for itself, and the test that runs now."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tidemark.errors import UsageError
from tidemark.glue_job.cluster.asked import EXECUTORS_VARIABLE
from tidemark.glue_job.process.lake_fs.semantics import S3, VARIABLE
from tidemark.local_state.run_notes import FILES_VARIABLE
from tidemark.testing.kit import GlueTest, Kit
from tidemark.testing.marker import Settings

_tests: list[GlueTest] = []  # that run now, for functions that tests call without a fixture


def kept_folder(kit: Kit, test_name: str) -> Path:
    """Return the folder for the files of a failed test."""
    return kit.folder / "failed" / re.sub(r"[^\w.-]+", "_", test_name)[:80]


@contextmanager
def state_of_test(
    request: pytest.FixtureRequest, kit: Kit, settings: Settings
) -> Iterator[GlueTest]:
    """Yield the state of a test, which starts empty; files of a failed one are kept."""
    project, folder = request.config.rootpath, request.path.parent
    test = GlueTest(kit, project, folder, settings.why_isolated, settings.version)
    kit.clear()
    request.node._tidemark_test = test
    _tests.append(test)
    failed_before = request.session.testsfailed
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIDEMARK_HOME", str(kit.home.root))
        patch.setenv("TZ", "UTC")
        patch.setenv(FILES_VARIABLE, "1")
        if settings.executors:
            patch.setenv(EXECUTORS_VARIABLE, str(settings.executors))
        if settings.s3_semantics:
            patch.setenv(VARIABLE, S3)
        time.tzset()
        try:
            yield test
        finally:
            _tests.remove(test)
            test.close()
            has_failed = request.session.testsfailed > failed_before
            kit.clear(kept_folder(kit, request.node.name) if has_failed else None)
    time.tzset()


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
