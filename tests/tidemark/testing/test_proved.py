"""`assert_proved`: the experiments of `tidemark prove` in a test."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.testing import assert_proved

pytestmark = pytest.mark.spark
APPEND = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME", "source", "target"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
rows = glue.create_dynamic_frame.from_options(
    "s3", {"paths": [args["source"]]}, "json", transformation_ctx="rows"
).toDF()
if rows.columns:
    rows.write.mode("append").parquet(args["target"])
job.commit()
"""
PATHS = {"source": "s3://landing/rows/", "target": "s3://raw/rows/"}


@pytest.fixture
def script(tmp_path, lake):
    lake.put("landing/rows/1.json", [{"id": 1}], minutes_ago=20)
    lake.put("landing/rows/2.json", [{"id": 2}], minutes_ago=10)
    file = tmp_path / "load_rows.py"
    file.write_text(APPEND, encoding="utf-8")
    return file


@pytest.mark.nightly
def test_a_job_that_appends_is_told_which_rows_it_doubles(script, lake):
    with pytest.raises(AssertionError) as error:
        assert_proved(script, only=("crash", "again"), **PATHS)

    text = str(error.value)
    assert "doubled" in text
    assert "load_rows.py line 16" in text
    assert lake.names() == ["landing/rows/1.json", "landing/rows/2.json"]  # as they were


@pytest.mark.nightly
def test_a_job_that_says_why_it_appends_passes(script):
    reason = "  # tidemark: ignore[retry-appends] readers keep the newest row"
    call = '.parquet(args["target"])'
    script.write_text(APPEND.replace(call, call + reason), encoding="utf-8")

    assert_proved(script, **PATHS)


@pytest.mark.nightly
def test_drift_is_tried_if_it_is_asked_for(script):
    with pytest.raises(AssertionError, match="nobody reads a column of two types: id"):
        assert_proved(script, only="drift", **PATHS)

    contract = "Contract('id BIGINT', types='rescue', columns='rescue').apply(rows)"
    held = APPEND.replace(
        "    rows.write", f"    from watermarks import Contract\n    {contract}.write"
    )
    script.write_text(held, encoding="utf-8")
    assert_proved(script, only="drift", **PATHS)


def test_a_kind_that_is_not_known_is_refused(script):
    with pytest.raises(UsageError, match=r"\['crashes'\] are not kinds .* allowed: crash, error"):
        assert_proved(script, only="crashes", **PATHS)
