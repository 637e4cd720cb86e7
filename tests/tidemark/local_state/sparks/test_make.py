"""The environment of a Spark: all of it is there, or none of it. Nothing is installed here."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.sparks import installed, make
from tidemark.local_state.sparks.installed import (
    Spark,
    environment_prefix,
    environment_spark,
    installed_spark,
    own_glue_version,
    own_spark,
    requirements_of,
)

PYSPARK = "4.1.1"
# Stands in for uv: makes the folders that uv makes, or does what `does` says.
UV = """#!{python}
import os, sys, time
from pathlib import Path
words = sys.argv[1:]
{does}
if words[0] == "venv":
    folder = Path(words[-1])
    (folder / "lib" / "python3.13" / "site-packages").mkdir(parents=True)
    (folder / "bin").mkdir()
    python = folder / "bin" / "python"
    python.write_text("#!/bin/sh\\nexit 0\\n")
    python.chmod(0o755)
elif words[:2] == ["pip", "install"]:
    folder = Path(words[words.index("--python") + 1]).parents[1]
    (folder / "lib" / "python3.13" / "site-packages" / "pyspark").mkdir(exist_ok=True)
"""


@pytest.fixture
def places(tmp_path, monkeypatch):
    folder = tmp_path / "sparks"
    for module in (installed, make):
        monkeypatch.setattr(module, "ENVIRONMENTS", folder)
    return folder


@pytest.fixture
def uv(tmp_path, monkeypatch):
    def stand_in(does: str = "") -> Path:
        file = tmp_path / "uv"
        file.write_text(UV.format(python=sys.executable, does=does))
        file.chmod(0o755)
        monkeypatch.setattr(make, "_uv", lambda: str(file))
        return file

    return stand_in


def left_in(places):
    return sorted(path.name for path in places.iterdir() if not path.name.endswith(".lock"))


def test_an_environment_is_made_once_and_found_by_what_is_in_it(places, uv):
    uv()
    assert installed_spark("6.0") is None

    spark = make.spark_for("6.0")

    assert installed_spark("6.0") == spark
    assert (spark.version, spark.python_version, spark.is_own) == (PYSPARK, (3, 13), False)
    assert spark.home.name == "pyspark"
    for package in ("tidemark", "watermarks"):
        assert (spark.home.parent / package / "__init__.py").is_file()
    uv("sys.exit('asked again')")
    assert make.spark_for("6.0") == spark
    assert left_in(places) == [f"{environment_prefix(PYSPARK)}3.13"]


def test_versions_that_the_installed_pyspark_runs_need_no_environment(places):
    version = own_glue_version()

    assert make.spark_for(version) == own_spark()
    assert own_spark().is_own
    assert own_spark().python_version == sys.version_info[:2]
    assert not places.exists()


def test_another_version_is_refused_with_those_that_run(places):
    with pytest.raises(UsageError, match=r"GlueVersion 4\.0 .*allowed: 5\.0, 5\.1, 6\.0"):
        make.spark_for("4.0")


@pytest.mark.parametrize("words", ['words[0] == "venv"', '"-r" in words'])
def test_a_step_that_fails_leaves_nothing_and_says_what_uv_said(places, uv, words):
    uv(f"if {words}: print('no route to the index'); sys.exit(2)")

    with pytest.raises(TidemarkError, match=r"(?s)6\.0 could not.*no route to the index"):
        make.spark_for("6.0")

    assert left_in(places) == []


def test_a_full_disk_is_named(places, uv, monkeypatch):
    uv("sys.exit(1)")
    monkeypatch.setattr(make, "has_room", lambda _: False)

    with pytest.raises(TidemarkError, match=r"could not be made: .*disk"):
        make.spark_for("6.0")


def test_an_installation_that_cannot_be_written_to_is_named(places):
    places.parent.chmod(0o755)
    places.write_text("in the way")

    with pytest.raises(TidemarkError, match="cannot write there"):
        make.spark_for("6.0")


def made_in(places: Path, uv_file: str, started: multiprocessing.Event) -> None:
    installed.ENVIRONMENTS = make.ENVIRONMENTS = places
    make._uv = lambda: uv_file
    started.set()
    make.spark_for("6.0")


@pytest.mark.nightly
def test_what_a_killed_command_had_half_made_is_not_used_and_goes(places, uv):
    slow = uv("if '-r' in words: time.sleep(5)")
    started = multiprocessing.get_context("spawn").Event()
    command = multiprocessing.get_context("spawn").Process(
        target=made_in, args=(places, str(slow), started)
    )
    command.start()
    assert started.wait(60)
    end = time.monotonic() + 60
    while not list(places.glob(".unfinished-*/environment/builders.txt")):
        assert time.monotonic() < end
        time.sleep(0.02)
    os.kill(command.pid, signal.SIGKILL)
    command.join()

    assert environment_spark(PYSPARK) is None
    uv()
    make.spark_for("6.0")

    assert left_in(places) == [f"{environment_prefix(PYSPARK)}3.13"]


def test_two_commands_make_one(places, uv, tmp_path):
    count = tmp_path / "count"
    file = uv(f"open({str(count)!r}, 'a').write(words[0] + ' '); time.sleep(0.1)")
    spawn = multiprocessing.get_context("spawn")
    started = spawn.Event()
    commands = [spawn.Process(target=made_in, args=(places, str(file), started)) for _ in range(3)]
    for command in commands:
        command.start()
    for command in commands:
        command.join()

    assert [command.exitcode for command in commands] == [0, 0, 0]
    assert count.read_text().split() == ["python", "venv", "pip", "pip"]


@pytest.mark.nightly
def test_an_environment_of_other_packages_is_replaced(places, uv):
    uv()
    old = places / f"{PYSPARK}-00000000-py3.11"
    old.mkdir(parents=True)

    make.spark_for("6.0")

    assert not old.exists()
    assert make.remove_environment("6.0")
    assert not make.remove_environment("6.0")
    assert installed_spark("6.0") is None


def test_every_package_is_pinned_by_hash_and_what_builds_comes_first():
    lines = requirements_of(PYSPARK).read_text(encoding="utf-8")

    names = [line.partition("==")[0] for line in lines.splitlines() if line[:1].isalnum()]
    builders = make._lines_of(lines, make.BUILDERS)

    assert {"pyspark", "py4j", "numpy", "boto3", "fastavro", "lxml", "amazon-ion"} <= set(names)
    assert lines.count("==") >= len(names)
    assert [line.partition("==")[0] for line in builders.splitlines() if line[:1].isalnum()] == [
        "setuptools",
        "wheel",
    ]
    assert builders.count("--hash=sha256:") >= 4


def test_the_line_of_a_spark_is_what_changes_results():
    spark = Spark("4.1.1", Path(sys.executable), Path("/pyspark"))

    assert (spark.line, spark.major) == ("4.1", 4)


@pytest.mark.nightly
@pytest.mark.parametrize("deletes", ["remove_environment", "make_environment"])
def test_a_deletion_that_is_killed_leaves_no_part_that_is_taken_for_all(
    places, uv, monkeypatch, deletes
):
    uv()
    made = make.spark_for("6.0").python.parents[1]
    made.rename(old := made.with_name(f"{PYSPARK}-00000000-py3.13"))

    def killed(_: Path, **options: bool) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(make.shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            getattr(make, deletes)("6.0")

    assert not old.exists()
    assert installed_spark("6.0") is None
    make.spark_for("6.0")
    assert len(left_in(places)) == 1


@pytest.mark.nightly
def test_an_environment_whose_python_is_uninstalled_is_made_again(places, uv):
    uv()
    python = make.spark_for("6.0").python
    python.unlink()
    python.symlink_to("/nowhere/python3.13")

    assert installed_spark("6.0") is None
    assert make.spark_for("6.0").python.is_file()
    assert len(left_in(places)) == 1
