"""Settings with which Spark loses lines, asked of a session that runs."""

from __future__ import annotations

import pytest

from tidemark.glue_job.process.script_warnings import settings_of_session

pytestmark = pytest.mark.spark


def test_a_session_that_was_told_nothing_has_none(spark):
    assert settings_of_session() == set()


@pytest.mark.parametrize("value", ["true", "TRUE"])
def test_a_setting_that_is_on_is_told(spark, value):
    spark.conf.set("spark.sql.files.ignoreMissingFiles", value)
    try:
        assert settings_of_session() == {"ignoreMissingFiles"}
    finally:
        spark.conf.unset("spark.sql.files.ignoreMissingFiles")
