"""Measures proofs: `python -m benchmarks.prove`.

Two figures: the sample's four jobs with three days of data, and a small job that appends the rows
of four files. Both have all experiments that this machine can try.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import Result
from sample.land import land_delivery_locally
from sample.landing import plan_delivery
from tidemark.glue_service.commands import deploy, load_app
from tidemark.local_state.home import Home
from tidemark.model.assembly.synthesis import synthesize

COMMAND = "python -m benchmarks.prove"
DAYS = "1..3"
ROUNDS = 3
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
    """Return the seconds of the proof of the sample, and of that of a small job."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        sample = [_sample(root / f"sample-{number}") for number in range(ROUNDS)]
        append = [_append(root / f"append-{number}") for number in range(ROUNDS)]
    return [
        Result("a proof of the sample's four jobs", COMMAND, sample, "target 180 s"),
        Result("a proof of a small job that appends", COMMAND, append, "target 60 s"),
    ]


def _sample(folder: Path) -> float:
    assembly = synthesize(Path.cwd(), {}, folder / "cdk.out")
    home = Home.open(folder / "home")
    deployment = deploy(load_app(assembly), home)
    land_delivery_locally(plan_delivery(DAYS, None, None), deployment, home)
    seconds = _prove(home, "--app", str(assembly))
    shutil.rmtree(folder)
    return seconds


def _append(folder: Path) -> float:
    home = Home.open(folder / "home")
    source = home.lake / "lake" / "in"
    source.mkdir(parents=True)
    for number in range(FILES):
        rows = [{"id": 10 * number + at, "amount": at * 1.5} for at in range(3)]
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        (source / f"{number}.json").write_text(text, encoding="utf-8")
    script = folder / "append.py"
    script.write_text(APPEND, encoding="utf-8")
    return _prove(home, str(script), "--job-bookmark-option", "job-bookmark-enable")


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
