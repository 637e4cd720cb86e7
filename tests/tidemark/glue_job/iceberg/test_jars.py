"""Jars of Iceberg, Hudi and Delta Lake."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.iceberg import jars
from tidemark.glue_job.iceberg.jars import CLASSES, datalake_jars
from tidemark.local_state.sparks.installed import Spark

DELTA = "io/delta/sql/DeltaSparkSessionExtension.class"


def jar_with(path, name):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, b"")
    return path


def spark_in(folder, version="3.5.6"):
    return Spark(version, Path(sys.executable), folder)


def test_format_is_there_if_a_given_jar_or_one_of_spark_has_it(tmp_path):
    arguments = {"--datalake-formats": "delta"}
    given = jar_with(tmp_path / "any-name.jar", DELTA)
    (tmp_path / "jars").mkdir()
    spark = spark_in(tmp_path)
    (tmp_path / "jars/broken-delta.jar").write_text("no jar")

    assert datalake_jars("j", arguments, [given], spark) == []
    with pytest.raises(UnsupportedError, match=r"job j .* delta-spark_2\.12-….jar into .*/jars"):
        datalake_jars("j", arguments, [], spark)
    of_spark = jar_with(tmp_path / "jars/delta-spark.jar", DELTA)
    assert datalake_jars("j", arguments, [], spark) == [of_spark]


@pytest.mark.parametrize(
    ("classes", "told"),
    [
        (("org/x/Y.class",), "not a jar of Iceberg"),
        ((CLASSES["iceberg"],), "its own Jackson.*snowpark-connect-deps-iceberg==1.0.2"),
        (("",), "not a jar of Iceberg"),
    ],
)
def test_a_jar_that_cannot_work_is_refused_before_anything_starts(
    tmp_path, monkeypatch, classes, told
):
    jar = tmp_path / "named.jar"
    if all(classes):
        for name in classes:
            jar_with(jar, name)
    monkeypatch.setenv("TIDEMARK_ICEBERG_JAR", str(jar))

    with pytest.raises(UsageError, match=told):
        datalake_jars("j", {"--datalake-formats": "iceberg"}, [], spark_in(tmp_path))


def test_iceberg_of_an_installed_wheel_is_added(tmp_path, monkeypatch):
    arguments = {"--datalake-formats": "iceberg"}
    spark = spark_in(tmp_path)

    (jar,) = datalake_jars("j", arguments, [], spark)
    monkeypatch.setattr(jars, "ICEBERG_WHEEL", "no_such_wheel")

    assert jar.name.startswith("iceberg-spark-runtime-3.5_2.12-")
    with pytest.raises(UnsupportedError, match="lacks its jar"):
        datalake_jars("j", arguments, [], spark)


def test_iceberg_of_the_wheel_is_not_for_spark_4(tmp_path):
    arguments = {"--datalake-formats": "iceberg"}

    with pytest.raises(UnsupportedError, match=r"Spark 4\.1\.1.*iceberg-spark-runtime-4\.1_2\.13"):
        datalake_jars("j", arguments, [], spark_in(tmp_path, "4.1.1"))


def test_unknown_format_is_refused_and_none_needs_no_jar(tmp_path):
    spark = spark_in(tmp_path)
    with pytest.raises(UsageError, match="'paimon'; allowed are iceberg, hudi, delta"):
        datalake_jars("j", {"--datalake-formats": "iceberg, paimon"}, [], spark)
    assert datalake_jars("j", {}, [], spark) == []
