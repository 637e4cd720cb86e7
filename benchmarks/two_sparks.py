"""Measures jobs of Glue 6.0 against those of 5.1: `python -m benchmarks.two_sparks`.

The job of `benchmarks.job_overhead` runs on both by turns, on warm JVMs of one pool; then
`tidemark compare-versions` runs it on both.

Where the time of a warm job of 6.0 went, beyond that of 5.1 (the least of six runs on 2 cores):

    seconds                              5.1 before, now    6.0 before, now
    SparkContext.getOrCreate                 0.16, 0.18         0.43, 0.19
    from the script's end to the record      0.17, 0.09         0.34, 0.07

- At the first call of Java with an argument, PySpark 4.1 imports `pyspark.testing`, and with it
  pandas, pyarrow and numpy: 367 modules. The Python that waits for a run imports them before.
- At its end Python looked through all objects of these modules; now they are frozen before the run.
- The JVM does no more than that of 5.1: 30 classes are loaded in a warm run of either, 17,200 and
  20,500 are there before; reading and writing take as long.

The ratio was 1.33; beside other work it is now 1.05 and 1.20. What remains:

- The JVM of 6.0 compiles longer, 4.4 s instead of 3.1 s in a run (medians of nine), and the job
  waits for the cores. With `-XX:TieredStopAtLevel=1` the least of eight runs is the same, 1.4 s.
- A run without a waiting Python, as the first one of a command, has the imports; and its JVM starts
  with a third more classes than that of 5.1: 12,600 by the script, after 9,650.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.job_overhead import land, prepared, tree_bytes
from benchmarks.measure import Result, time_command
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms, jvms_of
from tidemark.glue_service.runs.pythons import REFILL_S
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.make import spark_for

COMMAND = "python -m benchmarks.two_sparks"
ROUNDS = 5
OLD, NEW = "5.1", "6.0"


def measure() -> list[Result]:
    """Return the seconds on both versions, warm; their ratio; memory; and a whole comparison."""
    with tempfile.TemporaryDirectory() as folder:
        home, script = prepared(Path(folder))
        with jvms_of(home) as jvms:
            jvms.want(1, spark_for(NEW))
            for number, version in enumerate((OLD, NEW, OLD, NEW)):
                _run(home, script, version, jvms, number)
            rounds = [
                [_run(home, script, version, jvms, 10 * number + place) for place, version in order]
                for number, order in enumerate([list(enumerate((OLD, NEW)))] * ROUNDS, 1)
            ]
            memory = [tree_bytes(os.getpid()) / 1e9]
        whole, cold = zip(*(_whole(home, script, number) for number in range(3)), strict=True)
    old, new = zip(*rounds, strict=True)
    ratios = [mine / theirs for mine, theirs in zip(new, old, strict=True)]
    times = [mine / theirs for mine, theirs in zip(whole, cold, strict=True)]
    return [
        Result("one job of Glue 6.0, warm JVM", COMMAND, new, ""),
        Result("Glue 6.0, times Glue 5.1, warm", COMMAND, ratios, "target 1.15"),
        Result("memory with a warm JVM of each Spark, GB", COMMAND, memory, "target 2.2 GB"),
        Result("tidemark compare-versions, a small job", COMMAND, whole, ""),
        Result("compare-versions, times a cold run", COMMAND, times, "target 2.5"),
    ]


def _run(home: Home, script: Path, version: str, jvms: Jvms, number: int) -> float:
    """Run the script once on 20 new files; return its seconds."""
    land(home, 100 * number + int(float(version)))
    time.sleep(REFILL_S + 1)
    arguments = {"--job-bookmark-option": "job-bookmark-enable"}
    begin = time.monotonic()
    wanted = Submission(script, f"bench-{version}", arguments, version)
    run, _ = submit(wanted, home, lambda _: None, jvms=jvms)
    seconds = time.monotonic() - begin
    if run.state != "SUCCEEDED" or not run.rows_read:
        raise RuntimeError(f"{run.state}, {run.rows_read} rows read: {run.error_message}")
    return seconds


def _whole(home: Home, script: Path, number: int) -> tuple[float, float]:
    """Return the seconds of `tidemark compare-versions`, and of one cold run of the newer."""
    land(home, 7000 + number)
    environment = {**os.environ, "TIDEMARK_HOME": str(home.root)}
    tidemark = (sys.executable, "-m", "tidemark")
    whole = time_command((*tidemark, "compare-versions", str(script)), home.root, environment)
    begin = time.monotonic()
    submit(Submission(script, "cold", {}, NEW), home, lambda _: None, jvms=NO_JVMS)
    return whole, time.monotonic() - begin


if __name__ == "__main__":
    for result in measure():
        sys.stdout.write(f"{result.row()}\n")
