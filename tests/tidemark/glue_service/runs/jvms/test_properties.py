"""Settings and variables on their way into a JVM: Java reads back what was written."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tries import tries
from tidemark.glue_job.process.spark import as_properties

pytestmark = pytest.mark.spark

# No lone surrogates: a process cannot have them in an argument, and variables go as bytes.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = TEXT.filter(bool)


def read_by_java(spark, text):
    jvm = spark.sparkContext._jvm
    properties = jvm.java.util.Properties()
    properties.load(jvm.java.io.StringReader(text))
    return dict(properties)


def round_trip(spark, values):
    assert read_by_java(spark, as_properties(values)) == values


@pytest.mark.nightly
def test_every_text_comes_back(spark):
    @settings(max_examples=tries(60), suppress_health_check=[HealthCheck.too_slow])
    @given(st.dictionaries(NAMES, TEXT, max_size=6))
    def check(values):
        round_trip(spark, values)

    check()


def test_characters_with_a_meaning_come_back(spark):
    special = "= : # ! \\ \n \r \t \f é € \U0001f600 \x00 \x85 \\u0041 \\n".split(" ")
    values = {f"{one}{two}": f"{two} {one}{two} " for one in special for two in special}

    round_trip(spark, values)
