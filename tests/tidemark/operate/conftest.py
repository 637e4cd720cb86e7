"""Comparisons of rows in the session of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tidemark.operate.rows.spark_values import SETTINGS


@pytest.fixture
def own_settings(spark) -> Iterator[None]:
    """Take the settings of a comparison away from the session, which other tests share."""
    yield
    for name in SETTINGS:
        spark.conf.unset(name)
