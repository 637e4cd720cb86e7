"""Rows of runs that write a folder each are those of one target, wherever the folders lie."""

from __future__ import annotations

import pytest

from tidemark.operate.prove.places import _side
from tidemark.operate.rows.spark_rows import read
from tidemark.operate.rows.spark_values import one_line
from tidemark.operate.versions.targets import files_of


def test_an_error_of_java_is_told_without_that_of_py4j():
    text = "An error occurred while calling o69.load.\n: java.lang.AssertionError: two bases\n\tat"

    assert one_line(ValueError(text)) == "java.lang.AssertionError: two bases"
    assert one_line(ValueError("no file\nmore")) == "no file"
    assert one_line(ValueError()) == "ValueError"


@pytest.mark.nightly
@pytest.mark.spark
def test_partitions_in_the_folders_of_runs_are_read_as_columns(spark, tmp_path):
    for where in ("lake/out/1", "lake/out/2", "lake/3/a", "lake/4/a", "lake/5/b"):
        frame = spark.createDataFrame([(1, "2026-11-20"), (2, "2026-11-21")], "id INT, day STRING")
        frame.coalesce(1).write.partitionBy("day").parquet(str(tmp_path / where))
    files = files_of(tmp_path)

    for folder in ("lake/out", "lake/*/a"):
        rows, _ = read(spark, "parquet", _side(tmp_path, files, folder, "parquet"))

        assert rows is not None
        assert sorted((row["id"], str(row["day"])) for row in rows.collect()) == [
            (1, "2026-11-20"),
            (1, "2026-11-20"),
            (2, "2026-11-21"),
            (2, "2026-11-21"),
        ]
