"""Measures what a job run costs, cold and warm: `python -m benchmarks.job_overhead`.

The same script reads 20 new JSON files through its bookmark, groups them and writes Parquet: by
`tidemark` with a JVM of its own, with one that ran a job before, and through spark-submit with the
same Spark settings and libraries, but without the class archive. The three take turns.
"""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.measure import Result, time_command
from tidemark.glue_job.process.pool import POOL_VARIABLE
from tidemark.glue_job.process.spark import CONF_FILE, write_spark_conf
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms, jvms_of
from tidemark.glue_service.runs.pythons import REFILL_S
from tidemark.glue_service.served import find_port
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.sites import SITES

ROUNDS = 5
FILES = 20
COMMAND = "python -m benchmarks.job_overhead"
SCRIPT = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext

args = getResolvedOptions(sys.argv, ["JOB_NAME"])
glue_context = GlueContext(SparkContext.getOrCreate())
job = Job(glue_context)
job.init(args["JOB_NAME"], args)
rows = glue_context.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://bench/in/"]}, "json", transformation_ctx="rows"
).toDF()
if rows.columns:
    rows.groupBy("kind").count().write.mode("append").parquet("s3://bench/out/")
job.commit()
glue_context.spark_session.stop()
"""
PARALLEL = """
import time
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
spark.range(5_000_000).selectExpr("id % 1000 AS k", "id").groupBy("k").sum("id").collect()
time.sleep(3)
spark.stop()
"""


def measure() -> list[Result]:
    """Return the seconds of a run by each way, of a run with nothing new, and the peak memory."""
    with tempfile.TemporaryDirectory() as folder:
        home, script = prepared(Path(folder))
        with jvms_of(home) as jvms:
            _run(home, script, jvms, 0)  # the first one is the cold one of its JVM
            rounds = [_round(home, script, jvms, number) for number in range(1, ROUNDS + 1)]
            memory = [_memory_gb(home, Path(folder), jvms)]
        served = _served(home, script)
    cold, warm, nothing, whole, spark = zip(*rounds, strict=True)
    ratios = [mine / theirs for mine, theirs in zip(whole, spark, strict=True)]
    shares = [mine / theirs for mine, theirs in zip(served, spark, strict=True)]
    whole_of = "the whole command"
    return [
        Result("one job, warm JVM", COMMAND, warm, "target 1.0 s"),
        Result("one job, warm JVM, nothing new", COMMAND, nothing, "target 0.6 s"),
        Result("tidemark submit, warm JVM", COMMAND, whole, f"{whole_of}; target 1.0 s"),
        Result("one job, cold JVM", COMMAND, cold, "the first of a command, or --isolated"),
        Result("one job, spark-submit", COMMAND, spark, "without the class archive"),
        Result("tidemark submit, share of spark-submit", COMMAND, ratios, "target 0.125"),
        Result("tidemark submit to a served home", COMMAND, served, f"{whole_of}; target 1.0 s"),
        Result("tidemark submit to a served home, share", COMMAND, shares, "target 0.125"),
        Result("memory of an engine with two JVMs, GB", COMMAND, memory, "peak; target 2.5 GB"),
    ]


def prepared(folder: Path) -> tuple[Home, Path]:
    """Return a home with the bucket of the script, and the script."""
    script = folder / "bench.py"
    script.write_text(SCRIPT, encoding="utf-8")
    home = Home.open(folder / "home")
    home.create_bucket("bench")
    return home, script


def _round(home: Home, script: Path, jvms: Jvms, number: int) -> tuple[float, ...]:
    """Return the seconds of a run: cold, warm, with nothing new, as a command, by spark-submit."""
    numbers = range(4 * number, 4 * number + 4)
    warm = _run(home, script, jvms, numbers[0])
    time.sleep(REFILL_S + 1)
    nothing = _run(home, script, jvms, None)
    time.sleep(REFILL_S + 1)
    whole = _command(home, script, jvms, numbers[1])
    cold = _run(home, script, NO_JVMS, numbers[2])
    return cold, warm, nothing, whole, _spark_submit(home, script, numbers[3])


def _command(home: Home, script: Path, jvms: Jvms, number: int) -> float:
    """Run the script on 20 new files by the command, on a JVM of this process's pool."""
    land(home, number)
    command = [sys.executable, "-m", "tidemark", "submit", str(script), "--JOB_NAME", "bench"]
    environment = {
        **os.environ,
        "TIDEMARK_HOME": str(home.root),
        POOL_VARIABLE: str(jvms.pool_file),
    }
    return time_command(
        [*command, "--job-bookmark-option", "job-bookmark-enable"], home.root, environment
    )


def _served(home: Home, script: Path) -> list[float]:
    """Return the seconds of commands whose runs `tidemark serve` takes, after as many others."""
    program = [sys.executable, "-m", "tidemark"]
    environment = {**os.environ, "TIDEMARK_HOME": str(home.root)}
    command = [*program, "submit", str(script), "--JOB_NAME", "bench"]
    command += ["--job-bookmark-option", "job-bookmark-enable"]
    up = [*program, "serve", "--port", "0", "--jvms", "1"]
    seconds = []
    with subprocess.Popen(up, env=environment, stdout=subprocess.DEVNULL) as served:  # noqa: S603 (ours)
        try:
            while find_port(home) is None:
                time.sleep(0.1)
            for number in range(2 * ROUNDS):
                land(home, 1_000 + number)
                time.sleep(REFILL_S + 1)
                seconds.append(time_command(command, home.root, environment))
        finally:
            served.terminate()
    return seconds[ROUNDS:]


def land(home: Home, number: int) -> None:
    """Put 20 new files where the script reads."""
    folder = home.lake / "bench" / "in"
    folder.mkdir(exist_ok=True)
    for file in range(FILES):
        rows = "".join(f'{{"kind": {row % 7}, "id": {row}}}\n' for row in range(500))
        (folder / f"{number}-{file}.json").write_text(rows, encoding="utf-8")


def _empty(home: Home) -> None:
    for file in (home.lake / "bench" / "in").iterdir():
        file.unlink()


def _run(home: Home, script: Path, jvms: Jvms, number: int | None) -> float:
    """Run the script once, on 20 new files unless ``number`` is None; return its seconds."""
    if number is not None:
        land(home, number)
    arguments = {"--job-bookmark-option": "job-bookmark-enable"}
    begin = time.monotonic()
    run, _ = submit(Submission(script, "bench", arguments), home, lambda _: None, jvms=jvms)
    seconds = time.monotonic() - begin
    expected = 0 if number is None else FILES * 500
    if run.state != "SUCCEEDED" or run.rows_read != expected:
        raise RuntimeError(f"{run.state}, {run.rows_read} rows read: {run.error_message}")
    return seconds


def _spark_submit(home: Home, script: Path, number: int) -> float:
    """Run the script on 20 new files by spark-submit; return its seconds."""
    folder = home.runs / f"plain-{number}"
    folder.mkdir()
    _empty(home)  # without a bookmark it reads everything
    land(home, number)
    no_archive = {"spark.driver.defaultJavaOptions": ""}
    variables = write_spark_conf(folder, home, find_java_home(), no_archive)
    command = [
        f"{variables['SPARK_HOME']}/bin/spark-submit",
        "--properties-file",
        str(folder / CONF_FILE),
        str(script),
        "--JOB_NAME",
        "plain",
    ]
    environment = {
        **variables,
        "PYTHONPATH": os.pathsep.join(map(str, SITES)),
        "TIDEMARK_HOME": str(home.root),
        "PATH": os.environ["PATH"],
    }
    seconds = time_command(command, folder, environment)
    _empty(home)
    return seconds


def _memory_gb(home: Home, folder: Path, jvms: Jvms) -> float:
    """Run two jobs at once; return the peak of this process and all below it."""
    script = folder / "parallel.py"
    script.write_text(PARALLEL, encoding="utf-8")
    submission = Submission(script, "parallel", {})
    peak = 0
    with ThreadPoolExecutor(2) as threads:
        homes = (home, Home.open(folder / "home-2"))
        runs = [
            threads.submit(submit, submission, each, lambda _: None, jvms=jvms) for each in homes
        ]
        while not all(run.done() for run in runs):
            peak = max(peak, tree_bytes(os.getpid()))
            time.sleep(0.1)
    for run in runs:
        if run.result()[0].state != "SUCCEEDED":
            raise RuntimeError(run.result()[0].error_message)
    return peak / 1e9


def tree_bytes(pid: int) -> int:
    """Return the proportional memory of a process and of all below it; shared pages count once."""
    try:
        children = [file.read_text() for file in Path(f"/proc/{pid}/task").glob("*/children")]
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    except OSError:  # it has just ended
        return 0
    own = next((int(line.split()[1]) for line in rollup.splitlines() if line[:4] == "Pss:"), 0)
    return 1024 * own + sum(tree_bytes(int(child)) for text in children for child in text.split())


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
