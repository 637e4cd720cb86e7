"""Extra files, jars and environment variables of a run are where its script looks for them."""

from __future__ import annotations

import json
import os
import zipfile

import pytest

from tests.tidemark.glue_job.process.test_job_process import (
    finish,
    job,
    machine_of,
    put_script,
    run_job,
)
from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_job.iceberg.jars import CLASSES
from tidemark.glue_service.runs.arguments import merge_arguments, variables
from tidemark.glue_service.runs.extra_files import Jars, jar_settings, jars_of, python_path
from tidemark.glue_service.runs.job_run_process import new_run_id, plan_job_run, start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_spark
from tidemark.model.assembly.definitions import JobDefinition

LOOK = """
import json, os, pathlib
files = [p for p in map(pathlib.Path, ("rules.json", "rates.csv", "folder/deep.csv")) if p.exists()]
print(json.dumps({
    "files": {str(file): file.read_text() for file in files},
    "variables": {k: v for k, v in os.environ.items() if k.startswith("CUSTOMER_")},
}))
"""
# A resource that Spark has too, and one that it has not.
THEIRS, OURS = "org/apache/spark/log4j2-defaults.properties", "only/ours.txt"
WHERE = f"""
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
loader = spark._jvm.java.lang.Thread.currentThread().getContextClassLoader()
for name in ("{THEIRS}", "{OURS}"):
    print(loader.getResource(name).toString())
seen = spark.sparkContext.parallelize([1]).map(lambda _: __import__("os").environ["CUSTOMER_E"])
print(seen.collect()[0])
"""


@pytest.fixture
def home(tmp_path):
    return Home.open(tmp_path / "home")


def put(home, name, text):
    path = home.lake / "config" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_files_of_this_machine_are_named_by_their_path(home, tmp_path):
    (tmp_path / "a.py").write_text("A = 1", encoding="utf-8")
    (tmp_path / "b.whl").write_text("", encoding="utf-8")
    arguments = {"--extra-py-files": f"{tmp_path}/a.py,{tmp_path}/b.whl"}
    (tmp_path / "run").mkdir()

    found = python_path(home, JobDefinition("j", "s3://b/j.py", "5.1"), arguments, tmp_path / "run")

    assert found == [tmp_path / "run" / "modules", tmp_path / "b.whl"]
    with pytest.raises(TidemarkError, match="no such file"):
        python_path(
            home,
            JobDefinition("j", "s3://b/j.py", "5.1"),
            {"--extra-py-files": "none.zip"},
            tmp_path,
        )


@pytest.mark.rule("Arguments", source="ARG", choice="refused by name, with the remedy")
@pytest.mark.parametrize("text", ["s3://b/a.py, s3://b/c.py", "s3://b/a.py ,s3://b/c.py"])
def test_a_list_of_files_has_no_spaces(home, tmp_path, text):
    job, arguments = JobDefinition("j", "s3://b/j.py", "5.1"), {"--extra-py-files": text}

    with pytest.raises(UsageError, match=f"--extra-py-files is '{text}'.*with commas only"):
        python_path(home, job, arguments, tmp_path)


@pytest.mark.rule("Arguments", source="ARG", choice="for a folder its content")
def test_extra_files_and_folders_are_in_the_working_folder_of_the_script(home):
    put_script(home, LOOK)
    put(home, "rules.json", "{}")
    put(home, "all/rates.csv", "1")
    put(home, "all/folder/deep.csv", "2")
    arguments = {"--extra-files": "s3://config/rules.json,s3://config/all/"}

    run = run_job(home, job(default_arguments=arguments))

    seen = json.loads((home.runs / run.run_id / "stdout.log").read_text())
    assert seen["files"] == {"rules.json": "{}", "rates.csv": "1", "folder/deep.csv": "2"}


@pytest.mark.rule("Arguments", source="ARG")
def test_variables_of_the_driver_are_in_the_environment_of_the_script(home):
    put_script(home, LOOK)
    arguments = {"--customer-driver-env-vars": 'CUSTOMER_A=1,CUSTOMER_B="2,3 4"'}

    run = run_job(home, job(default_arguments=arguments))

    seen = json.loads((home.runs / run.run_id / "stdout.log").read_text())
    assert seen["variables"] == {"CUSTOMER_A": "1", "CUSTOMER_B": "2,3 4"}


@pytest.mark.parametrize(
    ("argument", "uri"),
    [
        ("--extra-files", "s3://config/gone.json"),
        ("--extra-jars", "s3://config/gone.jar"),
        ("--extra-py-files", "s3://config/gone.py"),
    ],
)
def test_a_file_that_is_not_there_is_named_before_the_script_starts(home, argument, uri):
    put_script(home, LOOK)
    definition = job(default_arguments={argument: uri})
    run = plan_job_run(machine_of(home), definition, {}, "jr_1", attempt=0)

    with pytest.raises(TidemarkError, match=uri):
        start_job_run(machine_of(home), definition, {}, run)


@pytest.mark.parametrize("name", ["spark.conf", "probe.py", "tmp/x.json"])
def test_an_extra_file_never_replaces_what_a_run_needs(home, name):
    put_script(home, LOOK)
    put(home, f"all/{name}", "mine")
    definition = job(default_arguments={"--extra-files": "s3://config/all/"})
    run = plan_job_run(machine_of(home), definition, {}, "jr_1", attempt=0)

    with pytest.raises(TidemarkError, match=name):
        start_job_run(machine_of(home), definition, {}, run)


@pytest.mark.parametrize(
    "text",
    ["OTHER=1", "CUSTOMER_A", 'CUSTOMER_A="open', "CUSTOMER_A=1,KEY=2", 'CUSTOMER_A=a"b'],
)
def test_variables_that_glue_would_drop_are_refused_before_anything_starts(text):
    with pytest.raises(UsageError, match="CUSTOMER_A=1,CUSTOMER_B="):
        merge_arguments(job(default_arguments={"--customer-executor-env-vars": text}), {})


def test_a_variable_may_be_empty_and_have_an_equals_sign():
    text = "CUSTOMER_A=,CUSTOMER_B=x=y"

    assert variables({"--v": text}, "--v") == {"CUSTOMER_A": "", "CUSTOMER_B": "x=y"}


def test_jars_stand_beside_those_of_conf_in_the_place_that_the_order_wants(home):
    for name in ("a.jar", "b.jar"):
        put(home, name, "")
    a, b = home.lake / "config/a.jar", home.lake / "config/b.jar"
    arguments = {"--extra-jars": "s3://config/a.jar,s3://config/b.jar"}
    own = {"spark.jars": "/c.jar", "spark.x": "1"}

    jars = jars_of(home, job(), arguments, own_spark())
    behind = jar_settings(jars, arguments, own)
    before = jar_settings(jars, arguments | {"--user-jars-first": "true"}, own)

    assert behind == {"spark.jars": f"/c.jar,{a.as_uri()},{b.as_uri()}", "spark.x": "1"}
    assert before == own | {"spark.driver.extraClassPath": f"{a}{os.pathsep}{b}"}
    assert jar_settings(Jars(), {}, own) == own


@pytest.mark.parametrize("formats", [{}, {"--datalake-formats": "iceberg"}])
def test_a_jar_of_iceberg_that_a_job_brings_is_beside_the_classes_for_aws(home, formats):
    put(home, "x", "")
    for name, entry in (("ice.jar", CLASSES["iceberg"]), ("other.jar", "x/Y.class")):
        with zipfile.ZipFile(home.lake / "config" / name, "w") as jar:
            jar.writestr(entry, "")
    arguments = {"--extra-jars": "s3://config/ice.jar,s3://config/other.jar", **formats}

    jars = jars_of(home, job(), arguments, own_spark())

    own, other = home.lake / "config/ice.jar", home.lake / "config/other.jar"
    assert jars == Jars((own,), (other,), "--extra-jars names ice.jar")


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.rule("Arguments", source="ARG")
@pytest.mark.parametrize("is_first", [pytest.param(False, marks=pytest.mark.nightly), True])
def test_extra_jars_come_after_sparks_unless_they_must_be_first(home, is_first):
    put_script(home, WHERE)
    put(home, "x", "")
    with zipfile.ZipFile(home.lake / "config/extra.jar", "w") as jar:
        jar.writestr(THEIRS, "")
        jar.writestr(OURS, "")
    arguments = {
        "--extra-jars": "s3://config/extra.jar",
        "--customer-executor-env-vars": "CUSTOMER_E=seen",
        **({"--user-jars-first": "true"} if is_first else {}),
    }
    definition = job(default_arguments=arguments)
    machine = Machine(home, find_java_home(), "http://127.0.0.1:9", "eu-west-2")
    run = plan_job_run(machine, definition, {}, new_run_id(), attempt=0)

    run = finish(start_job_run(machine, definition, {}, run))

    said = (home.runs / run.run_id / "stderr.log").read_text()
    assert run.state == "SUCCEEDED", f"{run.error_message}\n{said}"
    theirs, ours, variable = (home.runs / run.run_id / "stdout.log").read_text().splitlines()
    assert ("extra.jar" in theirs) is is_first
    assert "extra.jar" in ours
    assert variable == "seen"
