"""The class archive: used by a job's JVM, and no hindrance where it does not fit."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tidemark.glue_job.process.class_archive import archive
from tidemark.glue_job.process.class_archive.archive import (
    NO_CONF,
    archive_options,
    archive_path,
    archive_prefix,
    may_be_renewed,
)
from tidemark.glue_job.process.class_archive.make import archivable
from tidemark.glue_job.process.spark import write_spark_conf
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_spark

PROGRAM = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.range(10).count()
spark.stop()
"""
LOG = "-Xlog:class+load:file={}"


@pytest.fixture
def classes_of(tmp_path: Path):
    """Return a function that runs a small Spark program and tells where its classes came from."""

    def run(java_options: str = "", **settings: str) -> list[str]:
        home = Home.open(tmp_path / "home")
        log = tmp_path / "classes.log"
        run_folder = home.runs / "jr_1"
        run_folder.mkdir()
        settings["spark.driver.extraJavaOptions"] = f"{LOG.format(log)} {java_options}"
        variables = write_spark_conf(run_folder, home, find_java_home(), settings)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=run_folder,
            env=variables,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == ""
        lines = log.read_text(encoding="utf-8").splitlines()
        return [line.partition(" source: ")[2] for line in lines]

    return run


def shared(sources: list[str]) -> float:
    """Return how many of the classes in files were mapped from the archive, from 0 to 1."""
    mapped = sources.count("shared objects file")
    return mapped / (mapped + sum(source.startswith("file:") for source in sources))


@pytest.mark.nightly
@pytest.mark.spark
def test_set_up_made_an_archive_and_a_job_maps_nearly_all_of_sparks_classes_from_it(classes_of):
    assert archive_path(find_java_home()).is_file()
    assert not list(NO_CONF.iterdir())

    assert shared(classes_of()) > 0.95


@pytest.mark.nightly
@pytest.mark.spark
def test_class_path_that_does_not_fit_costs_the_archive_only(classes_of, tmp_path):
    jar = tmp_path / "driver.jar"
    jar.write_bytes(b"PK\x05\x06" + bytes(18))  # an empty zip file

    assert shared(classes_of(**{"spark.driver.extraClassPath": str(jar)})) < 0.2  # Java's own


def test_java_without_an_archive_gets_no_option(tmp_path):
    assert archive_options(tmp_path) == []


def test_each_build_of_java_has_an_archive_of_its_own(tmp_path):
    before = archive_path(tmp_path)

    (tmp_path / "release").write_text('JAVA_VERSION="17.0.9"', encoding="utf-8")

    assert archive_path(tmp_path) != before


def test_an_archive_of_another_release_is_told_from_none(tmp_path, monkeypatch):
    java, spark = find_java_home(), own_spark()
    monkeypatch.setattr(archive, "FOLDER", tmp_path)
    found = [may_be_renewed(java, spark)]
    (tmp_path / f"{archive_prefix(java, spark)}0123456789abcdef.jsa").touch()
    found.append(may_be_renewed(java, spark))
    archive_path(java, spark).touch()
    found.append(may_be_renewed(java, spark))

    assert found == [False, True, False]


def test_archives_of_two_versions_of_java_are_kept_beside_each_other(tmp_path):
    names = []
    for major in (17, 21):
        java = tmp_path / str(major) / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.touch(0o755)
        (java.parents[1] / "release").write_text(f'JAVA_VERSION="{major}.0.9"\n', "utf-8")
        names.append(archive_prefix(java.parents[1], own_spark()))

    spark = own_spark().version
    assert names == [f"spark-{spark}-java-17-", f"spark-{spark}-java-21-"]


@pytest.mark.nightly
@pytest.mark.spark
def test_job_that_records_itself_runs_with_the_archive(classes_of, tmp_path):
    recording = tmp_path / "recording.jfr"

    classes_of(f"-XX:StartFlightRecording:filename={recording} -Xlog:jfr+startup=off")

    assert recording.is_file()


def test_what_has_no_file_of_its_own_is_left_out_of_a_list():
    kept = ["# made by Java", "a/Kept id: 1", "@lambda-proxy a/Kept run ()V"]
    left_out = ["a/New id: 2", "@lambda-proxy a/New run ()V", "@lambda-form-invoker [LF] a L_L"]

    assert archivable([*kept, *left_out], {"a/New"}) == kept
