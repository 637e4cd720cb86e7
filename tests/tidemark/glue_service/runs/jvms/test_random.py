"""Random sequences of runs, kills and restarts: every result is the cold one, nothing is left."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.tidemark.glue_service.runs.jvms.runs import Bench
from tests.waiting import wait_until
from tidemark.glue_job.process.pool import POOL_VARIABLE
from tidemark.glue_service.runs.job_run_process import stop_job_run
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms, jvms_of
from tidemark.glue_service.runs.killed import recover_interrupted_runs
from tidemark.local_state.store.database import Store

pytestmark = [
    pytest.mark.spark,
    pytest.mark.stress,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
BUDGET_S, MAX_STEPS = 20, 14
WORK = """
import sys
from pyspark.sql import SparkSession, functions as F
spark = SparkSession.builder.getOrCreate()
spark.conf.set("spark.sql.shuffle.partitions", "2")
out = sys.argv[sys.argv.index("--out") + 1]
rows = spark.read.json("s3://data/in/").groupBy("kind").agg(F.sum("at").alias("at"))
twice = F.udf(lambda at: 2 * at, "long")
rows.select("kind", twice("at").alias("at")).coalesce(1).write.json(out)
print(sorted(map(tuple, rows.collect())), spark.conf.get("spark.leak", "clean"), flush=True)
spark.conf.set("spark.leak", "leaked")
"""
WAIT = WORK + "import time\ntime.sleep(600)\n"
# An engine of its own, with a pool and a run, for someone to kill.
ENGINE = """
import os, sys, time
from pathlib import Path
from tidemark.local_state.home import Home
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.glue_service.runs.jvms.supply import jvms_of
if __name__ == "__main__":
    home = Home.open(Path(sys.argv[1]))
    with jvms_of(home) as jvms:
        work = Submission(Path(sys.argv[2]), "engine", {"--out": f"s3://data/engine/{os.getpid()}/"})
        submit(work, home, lambda _: None, jvms=jvms)
"""


class Sequence:
    """One command's pool, what a cold run gives, and the things that happen."""

    def __init__(self, bench: Bench, jvms: Jvms, expected: tuple[object, ...]) -> None:
        self.bench, self.jvms, self.expected = bench, jvms, expected

    def run(self) -> None:
        assert outcome(self.bench.run(self.jvms, WORK)) == self.expected

    def two_runs_at_once(self) -> None:
        both = [self.bench.start(self.jvms, WORK) for _ in range(2)]
        assert [outcome(self.bench.finish(process)) for process in both] == [self.expected] * 2

    def kill_a_run(self) -> None:
        process = self.bench.start(self.jvms, WAIT)
        self.printed(process)
        process.process.kill()
        assert self.bench.finish(process).run.state == "FAILED"

    def kill_a_run_at_any_time(self) -> None:
        process = self.bench.start(self.jvms, WAIT)
        time.sleep(random.random() * 3)  # noqa: S311 (no secret)
        process.process.kill()
        assert self.bench.finish(process).run.state == "FAILED"

    def stop_a_run(self) -> None:
        process = self.bench.start(self.jvms, WAIT)
        self.printed(process)
        assert stop_job_run(process).state == "STOPPED"

    def kill_the_jvms(self) -> None:
        for jvm in jvms_in(self.bench.home.root):
            os.kill(jvm, signal.SIGKILL)

    def kill_the_jvm_of_a_run(self) -> None:
        process = self.bench.start(self.jvms, WORK + "while True: spark.range(9).count()\n")
        self.printed(process)
        self.kill_the_jvms()
        assert self.bench.finish(process).run.state == "FAILED"

    def kill_an_engine(self) -> None:
        script = self.bench.home.root.parent / "engine.py"
        script.write_text(WAIT, encoding="utf-8")
        command = [sys.executable, "-c", ENGINE, str(self.bench.home.root), str(script)]
        with subprocess.Popen(command) as engine:
            out = self.bench.home.lake / "data" / "engine" / str(engine.pid) / "_SUCCESS"
            wait_until(lambda: out.exists() or engine.poll() is not None)
            assert engine.poll() is None
            its_jvms = f"{self.bench.home.root}/jvms/{engine.pid}-"
            assert jvms_in(its_jvms)
            engine.kill()
        wait_until(lambda: not jvms_in(its_jvms))

    def printed(self, process: object) -> None:
        out = self.bench.home.runs / process.run.run_id / "stdout.log"
        wait_until(lambda: out.exists() and out.stat().st_size)


STEPS = [name for name in vars(Sequence) if not name.startswith("_") and name != "printed"]


def jvms_in(folder):
    """Return the JVMs that run for a home, in a pool or on their own."""
    found = set()
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = command.read_bytes().split(b"\0")
        except OSError:
            continue
        if words[0].endswith(b"/java") and any(str(folder).encode() in word for word in words):
            found.add(int(command.parent.name))
    return found


def outcome(seen):
    run = seen.run
    return run.state, run.error_message, run.rows_read, run.rows_written, seen.stdout


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 1])
def test_every_result_is_the_cold_one_and_nothing_is_left(seed, tmp_path, monkeypatch):
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv(POOL_VARIABLE, raising=False)
    bench = Bench(tmp_path)
    expected = outcome(bench.run(Jvms(cold_reason="a test wants it so"), WORK))
    assert expected[0] == "SUCCEEDED"
    choice, end = random.Random(seed), time.monotonic() + BUDGET_S  # noqa: S311 (no secret)
    steps: list[str] = []

    while time.monotonic() < end and len(steps) < MAX_STEPS:
        with jvms_of(bench.home) as jvms:
            sequence = Sequence(bench, jvms, expected)
            for _ in range(choice.randint(1, 6)):
                steps.append(choice.choice(STEPS))
                print(steps[-1])  # noqa: T201 (shown if the test fails)
                getattr(sequence, steps[-1])()
                if time.monotonic() > end:
                    break
            sequence.run()
        wait_until(lambda: not jvms_in(bench.home.root))

    with jvms_of(bench.home):
        pass
    assert not (bench.home.root / "jvms").exists()
    assert list(temporary.iterdir()) == []
    with Store(bench.home.database) as store:
        recover_interrupted_runs(store, NO_JVMS)  # as the next command does
    assert not list(bench.home.runs.glob("*/tmp"))
