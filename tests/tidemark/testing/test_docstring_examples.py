"""The examples in the docstrings of the test kit run, and show what is printed there."""

from __future__ import annotations

import pytest

from tests.examples import assert_examples_run
from tests.tidemark.testing.test_fixtures import COPY, PATHS
from tidemark import testing
from tidemark.testing import assert_incremental
from tidemark.testing.bookmark import BookmarkOfJob
from tidemark.testing.catalog import Catalog
from tidemark.testing.clock import GlueClock
from tidemark.testing.glue_job import GlueJob
from tidemark.testing.lake import Lake

ASSERTIONS = {name: getattr(testing, name) for name in testing.__all__}
# That of assert_proved would take half a minute: test_proved.py calls it.
QUICK = [one for name, one in ASSERTIONS.items() if name != "assert_proved"]
KIT = (Lake, GlueJob, BookmarkOfJob, Catalog, GlueClock, *QUICK)


@pytest.mark.spark
@pytest.mark.parametrize(
    "shown",
    [  # the one that kills jobs takes four seconds: test_fixtures.py calls it
        pytest.param(shown, marks=pytest.mark.nightly if shown is assert_incremental else ())
        for shown in KIT
    ],
    ids=lambda shown: shown.__name__,
)
def test_example_runs(shown, lake, glue_job, bookmark, catalog, glue_clock, tmp_path, monkeypatch):
    quiet = "".join(line for line in COPY.splitlines(keepends=True) if "print" not in line)
    (tmp_path / "copy_orders.py").write_text(quiet, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    fixtures = {"lake": lake, "glue_job": glue_job, "bookmark": bookmark, "catalog": catalog}
    given = {**ASSERTIONS, **fixtures, "glue_clock": glue_clock, "paths": PATHS}

    assert_examples_run(shown.__name__, shown, given)
