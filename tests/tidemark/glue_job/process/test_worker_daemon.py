"""Python workers of Spark read no archive of Spark's: each task would read its list anew."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tidemark.glue_job.process import worker_daemon

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_only_what_lies_in_spark_leaves_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    archive, other = "/spark/python/lib/pyspark.zip", "/spark-of-others/watermarks.zip"
    monkeypatch.setenv("SPARK_HOME", "/spark")
    monkeypatch.setattr(sys, "path", [archive, other, "/spark/jars/spark-core.jar"])
    monkeypatch.setattr(sys, "path_importer_cache", {archive: None, other: None})

    worker_daemon.leave_archives_out()

    assert sys.path == [other]
    assert sys.path_importer_cache == {other: None}


@pytest.mark.spark
def test_a_worker_has_pyspark_as_it_is_installed(spark: SparkSession) -> None:
    def archives(_: int) -> tuple[str, list[str]]:
        import sys

        import pyspark

        return pyspark.__file__, [p for p in sys.path_importer_cache if "pyspark" in p]

    import pyspark

    (found,) = spark.sparkContext.parallelize([0], 1).map(archives).collect()

    assert found[0] == pyspark.__file__
    assert not [path for path in found[1] if path.endswith((".zip", ".jar"))]
