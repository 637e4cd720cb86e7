"""What a script asks of a JVM that is there already."""

from __future__ import annotations

from pyspark import SparkConf

from tidemark.glue_job.process import borrow
from tidemark.local_state.run_warnings import RunWarning


def test_packages_of_a_script_are_left_out_with_a_warning(monkeypatch):
    noted = []
    monkeypatch.setattr(borrow, "note", lambda *warning: noted.append(warning))
    monkeypatch.setattr("pyspark.SparkContext._jvm", None)  # as before a JVM is there
    conf = SparkConf(loadDefaults=False)
    conf.set("spark.jars.packages", "org.example:x:1").set("spark.sql.shuffle.partitions", "3")

    borrow._leave_packages_out(conf)

    assert conf.getAll() == [("spark.sql.shuffle.partitions", "3")]
    assert noted == [(RunWarning.PACKAGES_IGNORED, "spark.jars.packages org.example:x:1")]
