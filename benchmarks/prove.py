"""Measures proofs: `python -m benchmarks.prove`.

The sample's four jobs with three days of data, and a small job that appends the rows of four files.
Both have all experiments that this machine can try.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.measure import Result
from sample.land import land_delivery_locally
from sample.landing import plan_delivery
from tidemark.glue_service.commands import deploy, load_app
from tidemark.glue_service.served import find_port
from tidemark.local_state.home import Home
from tidemark.model.assembly.synthesis import synthesize

COMMAND = "python -m benchmarks.prove"
DAYS = "1..3"
ROUNDS = 2
FILES = 4
APPEND = """
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
if rows.columns:
    rows.write.mode("append").parquet("s3://lake/out/")
job.commit()
"""


def measure() -> list[Result]:
    """Return the seconds of proofs of the sample and of a small job, on new JVMs and on warm ones.

    The JVMs are those of a Glue that serves the home: the first proof finds new ones.
    """
    results = []
    for name, prepare, target in (
        ("the sample's four jobs", _sample, "target on warm JVMs 90 s"),
        ("a small job that appends", _append, "target on warm JVMs 20 s"),
    ):
        with tempfile.TemporaryDirectory() as folder:
            home, words = prepare(Path(folder))
            with _served(home):
                new, *warm = [_prove(home, *words) for _ in range(1 + ROUNDS)]
        results += [
            Result(f"a proof of {name}, on new JVMs", COMMAND, [new]),
            Result(f"a proof of {name}, on warm JVMs", COMMAND, warm, target),
        ]
    return results


def _sample(folder: Path) -> tuple[Home, list[str]]:
    assembly = synthesize(Path.cwd(), {}, folder / "cdk.out")
    home = Home.open(folder / "home")
    deployment = deploy(load_app(assembly), home)
    land_delivery_locally(plan_delivery(DAYS, None, None), deployment, home)
    return home, ["--app", str(assembly)]


def _append(folder: Path) -> tuple[Home, list[str]]:
    home = Home.open(folder / "home")
    source = home.lake / "lake" / "in"
    source.mkdir(parents=True)
    for number in range(FILES):
        rows = [{"id": 10 * number + at, "amount": at * 1.5} for at in range(3)]
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (source / f"{number}.json").write_text(text, encoding="utf-8")
    script = folder / "append.py"
    script.write_text(APPEND, encoding="utf-8")
    return home, [str(script), "--job-bookmark-option", "job-bookmark-enable"]


@contextmanager
def _served(home: Home) -> Iterator[None]:
    """Serve a home during the block."""
    command = [sys.executable, "-m", "tidemark", "serve", "--port", "0"]
    environment = {**os.environ, "TIDEMARK_HOME": str(home.root)}
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as served:  # noqa: S603 (ours)
        try:
            while find_port(home) is None:
                time.sleep(0.1)
            yield
        finally:
            served.terminate()


def _prove(home: Home, *words: str) -> float:
    """Prove what the words name in a process of its own; return its seconds."""
    command = [sys.executable, "-m", "tidemark", "prove", "--format", "json", *words]
    environment = {**os.environ, "TIDEMARK_HOME": str(home.root)}
    done = subprocess.run(  # noqa: S603 (our own command)
        command, capture_output=True, text=True, env=environment, check=False
    )
    if not done.stdout:
        raise RuntimeError(done.stderr)
    return float(json.loads(done.stdout)["seconds"])


if __name__ == "__main__":
    for result in measure():
        sys.stdout.write(f"{result.row()}\n")
