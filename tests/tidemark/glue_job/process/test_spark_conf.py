"""The Spark configuration that a job process finds."""

from __future__ import annotations

import pytest

from tidemark.glue_job.process import spark
from tidemark.glue_job.process.spark import (
    MAX_LITTLE_BYTES,
    QUICK,
    system_properties,
    write_spark_conf,
)
from tidemark.local_state.home import Home


@pytest.fixture
def settings(tmp_path):
    """Return a maker of the written properties, each line split at its first =."""
    home = Home.open(tmp_path / "a home")

    def write(user_settings=None):
        write_spark_conf(tmp_path, home, tmp_path / "java", user_settings or {})
        text = (tmp_path / "spark.conf").read_text(encoding="utf-8")
        return dict(line.split("=", 1) for line in text.splitlines())

    return write


@pytest.mark.parametrize("scheme", ["s3", "s3a", "s3n"])
def test_every_s3_scheme_is_the_lake(settings, tmp_path, scheme):
    found = settings()

    assert found[f"spark.hadoop.fs.{scheme}.impl"] == "dev.tidemark.lake.LakeFileSystem"
    assert found["spark.hadoop.tidemark.lake"] == f"{tmp_path}/a home/lake"


def test_driver_listens_on_this_machine_only_and_reports_into_the_run_folder(settings, tmp_path):
    found = settings()

    assert found["spark.driver.bindAddress"] == "127.0.0.1"
    assert found["spark.authenticate"] == "true"
    assert found["spark.ui.enabled"] == "false"
    assert found["spark.eventLog.dir"] == f"file://{tmp_path}/spark-events"
    assert (tmp_path / "spark-events").is_dir()


def test_settings_of_the_job_win(settings):
    assert settings({"spark.master": "local[1]"})["spark.master"] == "local[1]"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (r"\d+\s", r"\\d+\\s"),
        ("two\nlines", r"two\nlines"),
        ("a b=c", "a b=c"),
        (" a", "\\ a"),
        ("=a", "=a"),
    ],
    ids=["backslashes", "line end", "spaces", "leading space", "leading ="],
)
def test_value_is_written_as_java_properties_read_it(settings, value, written):
    assert settings({"spark.redaction.regex": value})["spark.redaction.regex"] == written


@pytest.mark.parametrize(("name", "is_its_own"), [("a home", True), ("a, home", False)])
def test_spark_puts_its_files_into_the_run_unless_a_comma_would_cut_the_name(
    tmp_path, name, is_its_own
):
    home = Home.open(tmp_path / name)

    folder = system_properties(home, home.runs / "jr_1")["java.io.tmpdir"]

    assert "," not in folder.removeprefix(str(tmp_path))
    assert (folder == str(home.runs / "jr_1" / "tmp")) is is_its_own


def test_a_lake_with_little_data_gets_jvms_that_compile_quickly(settings, tmp_path, monkeypatch):
    lake = tmp_path / "a home" / "lake" / "b"

    def is_quick():
        return QUICK in settings()["spark.driver.defaultJavaOptions"]

    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    assert is_quick()
    lake.mkdir(parents=True)
    with (lake / "big").open("wb") as file:
        file.truncate(MAX_LITTLE_BYTES)
    assert is_quick()
    (lake / "more").write_text("x")
    assert not is_quick()
    (lake / "big").unlink()
    assert is_quick()
    monkeypatch.setattr(spark, "MAX_LITTLE_FILES", 0)
    assert not is_quick()
    monkeypatch.undo()
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Dx=1")
    assert not is_quick()
