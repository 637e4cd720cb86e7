"""The commands of docs/warm-jvms.md: one process keeps JVMs, and others borrow them."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.pages import Page
from tests.waiting import BOUND_S, wait_until
from tidemark.glue_job.process.borrow import read_record
from tidemark.glue_job.process.pool import POOL_VARIABLE
from tidemark.local_state.store.database import Store

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
GUIDE = Page("docs/warm-jvms.md").blocks["warm"].splitlines()
SCRIPT = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
print("counted", spark.range(7).count())
spark.stop()
"""


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.delenv(POOL_VARIABLE)
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    script = tmp_path / "glue_jobs" / "orders.py"
    script.parent.mkdir()
    script.write_text(SCRIPT, encoding="utf-8")
    return tmp_path


@pytest.fixture
def up(folder) -> Iterator[subprocess.Popen[str]]:
    """Start the first command of the guide with one JVM, which has begun to start."""
    command = [*shlex.split(GUIDE[0]), "--jvms", "1"]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            line = process.stdout.readline()
            if "borrow JVMs" not in line:
                process.kill()
                pytest.fail(line + process.stdout.read())
            yield process
        finally:
            process.kill()


def run(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        shlex.split(line), cwd=folder, capture_output=True, text=True, timeout=BOUND_S
    )


def test_a_command_borrows_a_warm_jvm_of_another_until_that_ends(folder, up) -> None:
    home = folder / ".tidemark"
    assert re.match(r"warm JVMs: 1 \(\d+ s\)", up.stdout.readline())

    submitted = run(GUIDE[1], folder)
    second = run(GUIDE[0], folder)

    assert submitted.returncode == 0, submitted.stdout + submitted.stderr
    assert "counted 7" in submitted.stdout
    with Store(home / "glue.sqlite") as store:
        finished = store.latest_job_run("orders")
    assert finished.jvm == "warm"
    record = read_record(Path(finished.log_path).parent)
    assert (record.kind, record.why, record.is_lent) == ("warm", "", False)
    assert record.folder.startswith(f"{home}/jvms/{up.pid}-")
    assert second.returncode == 2
    assert f"process {up.pid} keeps JVMs" in second.stderr

    up.send_signal(signal.SIGINT)
    assert up.wait(BOUND_S) == 0
    assert not (home / "jvm-pool.json").exists()
    assert not (home / "jvms").exists()
    assert jvms_below(home) == []


def jvms_below(home: Path) -> list[str]:
    """Return the command lines of the processes that name the folder of JVMs of a home."""
    processes = subprocess.run(["ps", "-eww", "-o", "args="], capture_output=True, text=True)
    return [line for line in processes.stdout.splitlines() if f"{home}/jvms" in line]


def test_a_killed_pool_is_not_in_the_way_of_the_next_command(folder, up) -> None:
    up.kill()
    up.wait()
    wait_until(lambda: not jvms_below(folder / ".tidemark"))

    submitted = run(GUIDE[1], folder)

    assert submitted.returncode == 0, submitted.stdout + submitted.stderr
    with Store(folder / ".tidemark" / "glue.sqlite") as store:
        assert store.latest_job_run("orders").jvm == "cold"
    assert not (folder / ".tidemark" / "jvms").exists()
