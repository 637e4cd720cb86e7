"""Comparisons of rows in the session of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tidemark.operate.rows.spark_values import SETTINGS


@pytest.fixture
def own_settings(spark) -> Iterator[None]:
    """Give a session that other tests share the settings of a comparison, and take them away."""
    for name, value in SETTINGS.items():
        spark.conf.set(name, value)
    yield
    for name in SETTINGS:
        spark.conf.unset(name)
