"""A run has S3's semantics if its command asks for them, and the next one in its JVM has not."""

from __future__ import annotations

import os

import pytest

from tests.edge import recording
from tests.tidemark.cli.processes import started
from tidemark.cli.run import RunOptions
from tidemark.errors import UsageError
from tidemark.glue_job.process.lake_fs.semantics import (
    OPTIMIZED,
    delete_dead_uploads,
    semantics_of,
)
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.testing.marker import settings_of

pytestmark = pytest.mark.spark

SCRIPT = """
import os
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from pyspark.context import SparkContext

context = SparkContext()
glue = GlueContext(context)
spark = glue.spark_session
hadoop = context._jvm.org.apache.hadoop
path = hadoop.fs.Path("s3://raw/open.txt")
system = path.getFileSystem(context._jsc.hadoopConfiguration())
out = system.create(path, True)
print("sees what grows:", system.exists(path))
out.close()
own = path.getFileSystem(hadoop.conf.Configuration())
print("sees it whole:", system.exists(path), own.exists(path))
rows = spark.range(4)
rows.write.mode("append").parquet("s3://raw/frame/")
glue.write_dynamic_frame.from_options(
    DynamicFrame.fromDF(rows, glue, "rows"), "s3", {"path": "s3://raw/sink/"}, "json"
)
print("success files:", sorted(
    name for name in ("frame", "sink")
    if system.exists(hadoop.fs.Path(f"s3://raw/{name}/_SUCCESS"))
))
print("optimized:", spark.conf.get("OPTIMIZED", "true"))
print("process:", context._jvm.java.lang.ProcessHandle.current().pid())
""".replace("OPTIMIZED", OPTIMIZED)


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "write_both.py"
    file.write_text(SCRIPT, encoding="utf-8")
    return file


@pytest.mark.glue(s3_semantics=True)
@pytest.mark.nightly
def test_runs_of_a_marked_test_have_objects(glue_job, script, lake):
    run = glue_job(script, enable_s3_parquet_optimized_committer="false").check()

    assert run.stdout.splitlines()[:-1] == [
        "sees what grows: False",
        "sees it whole: True True",
        "success files: ['frame']",  # the sinks of DynamicFrames commit nothing
        # Glue 6.0 does not know the argument.
        f"optimized: {'true' if own_glue_version() == '6.0' else 'false'}",
    ]
    assert "S3's semantics" in run.where
    assert lake.names("raw/sink/")


@pytest.mark.nightly
@pytest.mark.glue(s3_semantics=True)
def test_next_run_of_the_jvm_has_a_folder_again(glue_job, script, lake):
    glue_job(script).check()

    # Ended here: the fixture would end it after that of the marker, and leave the variable set.
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TIDEMARK_LAKE_SEMANTICS")
        again = glue_job(script, isolated=True).check()

    assert again.stdout.splitlines()[0] == "sees what grows: True"
    assert "success files: ['frame', 'sink']" in again.stdout


@pytest.mark.nightly
@pytest.mark.glue(s3_semantics=True)
def test_jvm_whose_changes_were_announced_is_lent_again(glue_job, script):
    runs = []
    for _ in range(2):
        with recording() as recorder:
            edge = f"spark.hadoop.tidemark.edge={recorder.path}"
            runs.append(glue_job(script, conf=edge).check().stdout.splitlines()[-1])
            assert recorder.places("put")[0] == "s3://raw/open.txt"
            assert recorder.connections == 1

    assert runs[0] == runs[1]
    assert runs[0].startswith("process: ")


@pytest.mark.nightly
def test_submit_takes_the_option(home, script):
    (home / "lake" / "raw").mkdir(parents=True)

    with started("submit", "--s3-semantics", str(script)) as process:
        output, errors = process.communicate(timeout=200)

    assert b"sees what grows: False\n" in output, errors


def test_option_without_a_yes_or_no_is_refused():
    assert settings_of([pytest.mark.glue(s3_semantics=True).mark]).s3_semantics
    with pytest.raises(UsageError, match="has s3_semantics='s3'; allowed: True, False"):
        settings_of([pytest.mark.glue(s3_semantics="s3").mark])


def test_run_of_another_process_refuses_the_option():
    request = RunOptions(None, None, None, False, True, False, None, "table")

    with pytest.raises(UsageError, match="--s3-semantics and --skip-crawlers, which are for the"):
        request.check_elsewhere("process 7", "")


def test_semantics_that_nobody_knows_are_refused():
    assert semantics_of({}) == "folder"
    with pytest.raises(UsageError, match=r"is 'posix'; allowed: folder, s3; set one of them"):
        semantics_of({"TIDEMARK_LAKE_SEMANTICS": "posix"})


def test_uploads_of_jvms_that_have_ended_are_deleted(tmp_path):
    for name in (f"jvm-{os.getpid()}", "jvm-999999999", "mpu-1"):
        (tmp_path / name).mkdir()

    delete_dead_uploads(tmp_path)

    assert sorted(path.name for path in tmp_path.iterdir()) == [f"jvm-{os.getpid()}", "mpu-1"]
