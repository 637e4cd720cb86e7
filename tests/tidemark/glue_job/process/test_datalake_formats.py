"""Jars of Iceberg, Hudi and Delta Lake, and a script of Glue that uses Iceberg."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from tests.tidemark.glue_job.process.test_job_process import finish, job, put_script
from tidemark.errors import UnsupportedError, UsageError
from tidemark.glue_job.process import datalake_formats
from tidemark.glue_job.process.datalake_formats import datalake_jars, local_settings
from tidemark.glue_service.runs.job_run_process import (
    Machine,
    new_run_id,
    plan_job_run,
    start_job_run,
)
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import Spark
from tidemark.local_state.store.database import Store

DELTA = "io/delta/sql/DeltaSparkSessionExtension.class"
SCRIPT = """
from pyspark.sql import SparkSession
spark = (
    SparkSession.builder
    .config("spark.sql.extensions",
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
    .config("spark.sql.catalog.glue", "org.apache.iceberg.spark.SparkCatalog")
    .config("spark.sql.catalog.glue.catalog-impl", "org.apache.iceberg.aws.glue.GlueCatalog")
    .config("spark.sql.catalog.glue.io-impl", "org.apache.iceberg.aws.s3.S3FileIO")
    .config("spark.sql.catalog.glue.warehouse", "s3://lake/iceberg/")
    .getOrCreate()
)
spark.conf.set("spark.sql.catalog.later", "org.apache.iceberg.spark.SparkCatalog")
spark.conf.set("spark.sql.catalog.later.type", "glue")
spark.conf.set("spark.sql.catalog.later.warehouse", "s3://lake/iceberg/")
spark.sql("CREATE TABLE glue.db.t (id INT, name STRING) USING iceberg")
spark.sql("INSERT INTO glue.db.t VALUES (1, 'a'), (2, 'b')")
spark.sql("CREATE TEMPORARY VIEW new AS SELECT * FROM VALUES (2, 'c'), (3, 'd') AS v(id, name)")
spark.sql("MERGE INTO glue.db.t USING new ON t.id = new.id "
          "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *")
print(sorted(map(tuple, spark.table("later.db.t").collect())))
spark.sql("CREATE TABLE default.own USING parquet AS SELECT 1 AS a")
print(spark.table("own").count())
"""


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
    jar_with(tmp_path / "jars/delta-spark.jar", DELTA)
    assert datalake_jars("j", arguments, [], spark) == []


def test_iceberg_of_an_installed_wheel_is_added(tmp_path, monkeypatch):
    arguments = {"--datalake-formats": "iceberg"}
    spark = spark_in(tmp_path)

    (jar,) = datalake_jars("j", arguments, [], spark)
    monkeypatch.setattr(datalake_formats, "ICEBERG_WHEEL", "no_such_wheel")

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


def test_catalogs_of_aws_are_folders_here():
    given = {
        "spark.sql.catalog.a.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
        "spark.sql.catalog.a.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        "spark.sql.catalog.b.type": "glue",
        "spark.sql.catalog.c.type": "rest",
        "spark.x": "org.apache.iceberg.aws.s3.S3FileIO",
    }

    assert local_settings(given) == {
        "spark.sql.catalog.a.catalog-impl": "org.apache.iceberg.hadoop.HadoopCatalog",
        "spark.sql.catalog.a.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO",
        "spark.sql.catalog.b.type": "hadoop",
    }


@pytest.mark.nightly
def test_script_of_glue_merges_into_a_table_of_iceberg_beside_the_data_catalog(tmp_path):
    home = Home.open(tmp_path / "home")
    (home.lake / "lake").mkdir()
    Store(home.database).close()
    put_script(home, SCRIPT, "merge.py")
    machine = Machine(home, find_java_home(), "http://127.0.0.1:1", "eu-west-1")
    definition = job(script_location="s3://scripts/merge.py")
    arguments = {"--datalake-formats": "iceberg", "--enable-glue-datacatalog": "true"}
    run = plan_job_run(machine, definition, arguments, new_run_id(), 0)

    finished = finish(start_job_run(machine, definition, arguments, run))

    assert finished.state == "SUCCEEDED", finished.error_message
    printed = (home.runs / run.run_id / "stdout.log").read_text(encoding="utf-8").splitlines()
    assert printed == ["[(1, 'a'), (2, 'c'), (3, 'd')]", "1"]
