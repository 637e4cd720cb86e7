"""What a session of Spark itself says of the settings that let it lose lines."""

from __future__ import annotations

import pytest

from tidemark.local_glue.runs.losing_settings import settings_of_session

pytestmark = pytest.mark.spark


def test_session_that_sets_nothing_loses_nothing(spark):
    assert settings_of_session() == set()


@pytest.mark.parametrize("value", ["true", "TRUE"])
@pytest.mark.parametrize("name", ["ignoreCorruptFiles", "ignoreMissingFiles"])
def test_setting_that_is_on_is_found(spark, name, value):
    spark.conf.set(f"spark.sql.files.{name}", value)
    try:
        assert settings_of_session() == {name}
    finally:
        spark.conf.unset(f"spark.sql.files.{name}")
