"""The tests of docs/test-your-jobs.md pass, in a project that has only its script."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import Page

pytest_plugins = ("pytester",)
pytestmark = [pytest.mark.spark, pytest.mark.nightly]

PROJECT = Path(__file__).parents[2]
SCRIPT = PROJECT / "tidemark/scaffold/templates/new_job/bookmark_files/job.py"
PATHS = {"source_path": "s3://landing/orders/", "target_path": "s3://raw/orders/"}
ELSEWHERE = {"pipeline"}  # needs an app: tests/tidemark/testing/test_pipeline.py


def test_the_tests_of_the_page_pass(pytester):
    found = Page("docs/test-your-jobs.md").blocks
    assert {"first", "others", "columns", "promises", "pipeline"} == set(found)
    folder = pytester.mkdir("glue_jobs")
    script = SCRIPT.read_text(encoding="utf-8").replace('    "updated_at": "timestamp",\n', "")
    (folder / "orders.py").write_text(script, encoding="utf-8")
    texts = [text for name, text in found.items() if name not in ELSEWHERE]
    pytester.makepyfile(test_page=f"PATHS = {PATHS!r}\n" + "\n\n".join(texts))

    done = pytester.runpytest_subprocess("-q")

    done.assert_outcomes(passed=4)
