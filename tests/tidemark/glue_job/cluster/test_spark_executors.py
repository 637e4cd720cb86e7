"""A job runs on executors in processes of their own, which end with the run in whatever way."""

from __future__ import annotations

import contextlib
import json
import re
import signal
import sys
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from tests.tidemark.cli.processes import read_until, started
from tests.waiting import wait_until
from tidemark.local_state.sparks.installed import installed_spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(sys.platform != "linux", reason="looks at processes in /proc"),
]

SCRIPT = """
import json, os, sys, time
from pathlib import Path
from awsglue.context import GlueContext
from awsglue.dynamicframe import DynamicFrame
from pyspark.context import SparkContext

glue = GlueContext(SparkContext.getOrCreate())
spark = glue.spark_session
rows = spark.range(0, 100, 1, 4)


def look(part):
    import prices

    daemon = os.getppid()
    executor = Path(f"/proc/{daemon}/stat").read_text().rpartition(")")[2].split()[1]
    yield {
        "rows": len(list(part)),
        "words": Path(f"/proc/{executor}/cmdline").read_text().split("\\0"),
        "zone": time.tzname[0],
        "encoding": sys.getfilesystemencoding(),
        "price": prices.PRICE,
    }


found = rows.rdd.mapPartitions(look).collect()
settings = dict(line.split("=", 1) for line in Path("spark.conf").read_text().splitlines())
secret = settings["spark.authenticate.secret"]
commands = [file.read_text() for file in Path("/proc").glob("[0-9]*/cmdline")
            if file.parent.exists()]
rows.write.mode("append").parquet("s3://raw/frame/")
for kind in ("json", "avro"):
    glue.write_dynamic_frame.from_options(
        DynamicFrame.fromDF(rows, glue, "rows"), "s3", {"path": f"s3://raw/{kind}/"}, kind
    )
print(json.dumps({
    "master": spark.sparkContext.master,
    "parts": found,
    "secret on command lines": any(secret in one for one in commands),
    "read": spark.read.parquet("s3://raw/frame/", "s3://raw/frame/").count(),
}))
"""
SLEEP = """
import time
from pyspark.context import SparkContext

context = SparkContext.getOrCreate()
print(context.parallelize(range(4), 4).map(lambda one: one + 1).sum(), flush=True)
END
"""


def of_cluster(home: Path) -> list[int]:
    """Return the processes of masters, workers, executors and drivers of the runs of a home."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes()
            if str(home).encode() in (process / "environ").read_bytes() and b"java" in words:
                found.append(int(process.name))
    return found


def seen_by(run) -> dict:
    return json.loads(run.stdout.splitlines()[-1])


def check_executors(run, lake):
    found = seen_by(run)
    assert found["master"].startswith("spark://127.0.0.1:")
    assert sum(one["rows"] for one in found["parts"]) == 100
    words = found["parts"][0]["words"]
    assert "org.apache.spark.executor.CoarseGrainedExecutorBackend" in words
    assert "-Xmx512M" in words
    for one in found["parts"]:
        assert (one["zone"], one["encoding"], one["price"]) == ("UTC", "utf-8", 7)
    assert found["secret on command lines"] is False
    assert found["read"] == 200
    assert len(lake.names("raw/avro/")) == 4
    assert run.rows_written == 200  # Avro is written by Python


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "on_executors.py"
    file.write_text(SCRIPT, encoding="utf-8")
    return file


def run_on_executors(glue_job, script, lake):
    lake.path("raw/prices.py").parent.mkdir(parents=True, exist_ok=True)
    lake.path("raw/prices.py").write_text("PRICE = 7\n", encoding="utf-8")
    return glue_job(script, extra_py_files="s3://raw/prices.py").check()


@pytest.mark.nightly
@pytest.mark.glue(executors=2, s3_semantics=True)
def test_a_run_has_executors_as_processes_of_their_own(glue_job, script, lake):
    run = run_on_executors(glue_job, script, lake)

    check_executors(run, lake)
    assert run.where == "isolated: --executors 2 was given"


@pytest.mark.nightly
@pytest.mark.skipif(installed_spark("6.0") is None, reason="Glue 6.0 is not installed")
@pytest.mark.glue(executors=2, version="6.0")
def test_a_run_of_glue_6_has_executors_too(glue_job, script, lake):
    check_executors(run_on_executors(glue_job, script, lake), lake)


@pytest.fixture
def sleeping(home, tmp_path):
    """Return a maker of a script that uses its executors, and then does something else."""

    def write(end: str) -> str:
        file = tmp_path / "sleep.py"
        file.write_text(SLEEP.replace("END", end), encoding="utf-8")
        return str(file)

    return write


def pages_of(home: Path) -> list[int]:
    """Return how the pages of the master and of each worker answer."""
    codes = []
    for log in home.glob("runs/*/cluster/*.log"):
        (port,) = re.findall(r"started at http://localhost:(\d+)", log.read_text())
        with pytest.raises(HTTPError) as refused:
            urlopen(f"http://127.0.0.1:{port}/")
        with refused.value as answer:
            codes.append(answer.code)
    return codes


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_a_cluster_outlives_its_command(home, sleeping, number):
    with started("submit", "--executors", "2", sleeping("time.sleep(600)")) as process:
        read_until(process, b"10\n")
        assert len(of_cluster(home)) == 6  # a master, two workers, two executors, the driver
        assert pages_of(home) == [403] * 3
        process.send_signal(number)
        process.wait(60)

        wait_until(lambda: not of_cluster(home))


@pytest.mark.nightly
@pytest.mark.parametrize(
    "end", ["", "1 / 0", "import os; os._exit(3)", "import os; os.kill(os.getpid(), 9)"]
)
def test_nothing_of_a_cluster_outlives_its_run(home, sleeping, end):
    with started("submit", "--executors", "2", sleeping(end)) as process:
        output, errors = process.communicate(timeout=200)

    assert b"10\n" in output, errors
    assert (process.returncode == 0) == (end == "")
    wait_until(lambda: not of_cluster(home))
    assert list(home.glob("runs/*/cluster/worker-1/app-*/*/stderr"))
    assert not list(home.glob("runs/*/tmp"))


@pytest.mark.nightly
def test_a_cluster_that_does_not_start_is_one_line(home, sleeping, monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:NoSuchOption")
    command = ["submit", "--isolated", "--executors", "1", sleeping("")]
    with started(*command) as process:
        output, _ = process.communicate(timeout=200)

    assert b"the master of Spark's cluster does not start: Unrecognized VM option" in output


def test_a_wrong_number_is_one_line(home, sleeping):
    with started("submit", "--executors", "0", sleeping("")) as process:
        _, errors = process.communicate(timeout=60)

    assert process.returncode == 2
    assert errors.decode().splitlines() == [
        "error: the number of executors is '0'; allowed: a whole number from 1; give one to "
        "--executors"
    ]


@pytest.mark.nightly
def test_a_workflow_runs_on_executors(home, write_assembly):
    job = "from pyspark.context import SparkContext\nprint(SparkContext.getOrCreate().master)\n"
    folder = write_assembly({"load": job})

    with started("run", "--executors", "1", "--app", str(folder)) as process:
        output, errors = process.communicate(timeout=300)

    assert process.returncode == 0, output + errors
    (log,) = home.glob("runs/*/stdout.log")
    assert log.read_text().startswith("spark://127.0.0.1:")
