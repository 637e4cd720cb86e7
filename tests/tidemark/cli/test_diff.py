"""`tidemark diff`: two runs, two homes, and two versions of the code."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from click.testing import CliRunner

from tidemark.cli.main import main
from tidemark.local_state.home import Home
from tidemark.model.assembly.iceberg import iceberg_settings

SCRIPT = """
from io import BytesIO
import boto3, pyarrow as pa
from pyarrow import parquet
file = BytesIO()
parquet.write_table(pa.table({"id": [1, 2], "n": [1, 2]}), file)
boto3.client("s3").put_object(Bucket="lake", Key="out/a.parquet", Body=file.getvalue())
"""
INCREMENT = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
rows = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/in/"]}, "json", transformation_ctx="rows"
).toDF()
rows.coalesce(1).write.mode("append").parquet("s3://lake/out/")
rows.coalesce(1).write.mode("overwrite").json("s3://lake/last/")
job.commit()
"""


@pytest.fixture
def project(home, tmp_path, monkeypatch):
    """A repository with one commit, and a home with a bucket."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    Home.open(home).create_bucket("lake")
    (folder / "load.py").write_text(SCRIPT)
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q", "."], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    return folder


def run(*words):
    return CliRunner().invoke(main, ["diff", *map(str, words)])


def diff(*words):
    done = run("--format", "json", *words)
    assert done.exit_code in (0, 1, 3), (done.output, done.exception)
    told = json.loads(done.stdout)
    assert done.exit_code == {"equal": 0, "differs": 1, "not compared": 3}[told["verdict"]]
    return told


def test_a_script_is_compared_with_its_revision_on_copies_of_the_home(home, project):
    (project / "load.py").write_text(SCRIPT.replace('"n": [1, 2]', '"n": [1, 3]'))

    told = diff("load.py", "--code", "HEAD", "--key", "id", "--html", "page.html")

    (target,) = told["targets"]
    assert (target["target"], target["rows"], target["columns"]) == (
        "s3://lake/out/",
        [2, 2],
        {"n": 1},
    )
    assert target["examples"]["changed"][0]["values"] == ["2", "3"]
    assert [run["state"] for runs in told["runs"] for run in runs] == ["SUCCEEDED"] * 2
    assert told["notes"] == ["the working tree has changes that are not committed: load.py"]
    assert not (home / "lake" / "lake" / "out").exists()
    assert "2 → 3" in (project / "page.html").read_text()


@pytest.mark.nightly
def test_a_revision_that_fails_is_told(project):
    (project / "load.py").write_text("raise ValueError('no rows today')")

    done = run("load.py", "--code", "HEAD")

    assert done.exit_code == 1
    assert "load: FAILED with the working tree: ValueError: no rows today" in done.output
    assert "s3://lake/out/: 2 rows -> not there" in done.output


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["load.py", "--code", "nope"], "--code 'nope' is not a commit that Git knows"),
        (["load.py", "--code", "--help"], "--code '--help' is not a commit that Git knows"),
        (["../elsewhere.py", "--code", "HEAD"], "is not below"),
        (["load", "--from", "jr_1", "--with-home", "x"], "these are several comparisons"),
        (["load", "--anew"], "are for --code REF"),
        (["--with-home", "nowhere"], "--with-home nowhere is not a home"),
        ([], "name a JOB, whose last two runs are compared"),
        (["load"], "job load has fewer than two runs"),
        (["load", "--to", "jr_7"], "there is no run 'jr_7' of job load"),
        (["load", "--where", "a ="], "is not a condition of SQL"),
        (["load", "--where", "a = 1; DROP VIEW b"], "is more than a condition on the columns"),
        (["load", "--where", "rand() < 0.5"], "takes other rows on each side, by RAND()"),
        (["load", "--html", "."], "is not a file in an existing folder"),
    ],
)
def test_wrong_use_is_refused(project, words, told):
    (project.parent / "elsewhere.py").write_text("")

    done = run(*words)

    assert done.exit_code == 2, done.output
    assert told in " ".join(done.output.split())


def test_outside_of_a_repository_there_are_no_revisions(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "load.py").write_text(SCRIPT)

    done = run("load.py", "--code", "HEAD")

    assert (done.exit_code, "is not in a Git repository" in done.output) == (2, True)


@pytest.fixture
def loaded(home, project):
    """Two runs of a job, each of one file."""
    (project / "load.py").write_text(INCREMENT)
    folder = home / "lake" / "lake" / "in"
    folder.mkdir(parents=True)
    for number in range(2):
        (folder / f"{number}.json").write_text(json.dumps({"id": number, "n": number}))
        words = ["submit", "load.py", "--job-bookmark-option", "job-bookmark-enable"]
        assert CliRunner().invoke(main, words).exit_code == 0
    return home


@pytest.mark.nightly
@pytest.mark.spark
def test_two_runs_are_compared_as_far_as_the_home_has_their_rows(loaded):
    told = diff("load", "--key", "id")

    targets = {target["target"]: target for target in told["targets"]}
    assert targets["s3://lake/out/"]["rows"] == [1, 2]
    assert targets["s3://lake/out/"]["only"] == [0, 1]
    assert "has written it later (mode overwrite)" in targets["s3://lake/last/"]["problem"]
    (bookmark,) = told["states"]
    assert bookmark["summary"] == ["version 1", "version 2"]


@pytest.mark.nightly
@pytest.mark.spark
def test_two_homes_are_compared(loaded, tmp_path):
    shutil.copytree(loaded, tmp_path / "other")
    assert diff("--with-home", tmp_path / "other")["verdict"] == "equal"
    next((tmp_path / "other" / "lake" / "lake" / "out").glob("*.parquet")).unlink()

    told = diff("load", "--with-home", tmp_path / "other", "--key", "id")

    assert [
        target["only"] for target in told["targets"] if target["target"] == "s3://lake/out/"
    ] == [[1, 0]]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_key_that_no_target_has_is_refused(loaded, tmp_path):
    shutil.copytree(loaded, tmp_path / "other")

    done = run("--with-home", tmp_path / "other", "--key", "no")

    assert done.exit_code == 2
    assert "no target has the key no; name columns of a target: id, n" in done.output


ICEBERG = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS glue_catalog.mart LOCATION 's3://lake/mart/'")
spark.sql("CREATE TABLE IF NOT EXISTS glue_catalog.mart.t (id INT NOT NULL, n INT) USING iceberg")
count = spark.table("glue_catalog.mart.t").count()
if count:
    spark.sql("ALTER TABLE glue_catalog.mart.t SET IDENTIFIER FIELDS id")
    spark.sql("UPDATE glue_catalog.mart.t SET n = 7 WHERE id = 1")
spark.sql(f"INSERT INTO glue_catalog.mart.t VALUES ({count + 1}, 1)")
"""


@pytest.mark.nightly
@pytest.mark.spark
def test_a_table_of_iceberg_is_compared_by_its_snapshots_and_identifiers(project):
    (project / "load.py").write_text(ICEBERG)
    conf = " --conf ".join(
        f"{k}={v}" for k, v in iceberg_settings("glue_catalog", "s3://lake/").items()
    )
    words = ["submit", "load.py", "--datalake-formats", "iceberg", "--conf", conf]
    for _ in range(3):
        done = CliRunner().invoke(main, words)
        assert done.exit_code == 0, done.output
    runs = CliRunner().invoke(main, ["runs", "load", "--format", "json"])
    last, middle, first = [run["run_id"] for run in json.loads(runs.stdout)]

    told = diff("--from", first, "--to", middle)

    (target,) = told["targets"]
    assert (target["target"], target["key"]) == ("table:mart.t", ["id"])
    assert (target["rows"], target["only"], target["columns"]) == ([1, 2], [0, 1], {"n": 1})
    assert diff("load")["targets"][0]["rows"] == [2, 3]
    assert last
