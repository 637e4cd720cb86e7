"""Glue's own arguments of a job: what the template says, and what the role then allows."""

import pytest

from tidemark.constructs.jobs.glue_arguments import GlueArguments

pytestmark = pytest.mark.synth


def arguments_of(add):
    (job,) = add.properties("AWS::Glue::Job")
    return job["DefaultArguments"]


def test_settings_of_spark_are_chained_as_glue_reads_them(add):
    add("one", glue_arguments=GlueArguments(conf={"spark.a": "1", "spark.b": "x=y"}))

    assert arguments_of(add)["--conf"] == "spark.a=1 --conf spark.b=x=y"
