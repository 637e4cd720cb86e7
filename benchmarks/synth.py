"""Measures synthesis: the app, warm, and a set of 1,000 jobs: `python -m benchmarks.synth`.

Each is measured twice: as `cdk` synthesizes, with the CDK's own validation of the templates, and as
the commands of `tidemark` do, without it.
"""

import json
import os
import subprocess
import sys
import tempfile

from benchmarks.measure import PROJECT, Result, time_command

COMMAND = "python -m benchmarks.synth"
RUNS = 5
PIPELINES, JOBS = 25, 40
HOWS = {"": "true", ", not validated by the CDK": "false"}  # to CDK_VALIDATION
MANY = f"""
import json, os, resource, sys, time
from pathlib import Path
import app
from tidemark.app import find_node, node_options, read_context
os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
os.environ["NODE_OPTIONS"] = node_options(os.environ.get("NODE_OPTIONS"))
begin = time.monotonic()
import aws_cdk as cdk
from tidemark.model.stage.config import StageConfig
from tidemark.constructs.dataset import Dataset
from tidemark.constructs.jobs.job_props import BookmarkOption
from tidemark.constructs.pipeline.pipeline_set import PipelineSet
from infra.storage_stack import StorageStack
context = read_context(app.ROOT / "cdk.json", '{{"stage": "prod"}}')
stage, env = StageConfig.from_context(context, ("flightsSource",)), cdk.Environment()
out = Path(sys.argv[1])
cdk_app = cdk.App(outdir=str(out), analytics_reporting=False, context=context)
lake = StorageStack(cdk_app, "tidemark-prod-storage", stage=stage, env=env).lake
shared = dict(watermarks=lake.watermarks, key=lake.key)
pipelines = PipelineSet(cdk_app, stage=stage, root=app.ROOT, env=env, **shared)
for p in range({PIPELINES}):
    pipeline, before = pipelines.add(f"p{{p}}"), []
    for j in range({JOBS}):
        source = Dataset(lake.landing, f"p{{p}}/{{j}}/", delivered=True)
        target = Dataset(lake.raw, f"p{{p}}/{{j}}/", published=True)
        before = [pipeline.add_job(
            f"p{{p}}-job-{{j}}", script="glue_jobs/ingest_weather.py", after=before,
            bookmark=BookmarkOption.ENABLE, reads=[source], writes=[target],
            arguments={{"source_path": source, "target_path": target}},
        )]
cdk_app.synth()
seconds = time.monotonic() - begin
def below(pid):  # jsii starts Node, and that another Node
    for task in Path("/proc", str(pid), "task").glob("*/children"):
        for child in task.read_text().split():
            yield from (child, *below(child))
peaks = [Path("/proc", pid, "status").read_text().split("VmHWM:")[1] for pid in below(os.getpid())]
node = max([int(peak.split()[0]) for peak in peaks], default=0) / 1024
python = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
templates = [path.read_text() for path in out.glob("*.template.json")]
most = max(len(json.loads(text)["Resources"]) for text in templates)
print(json.dumps([seconds, len(templates), most, max(map(len, templates)), node, python]))
"""


def measure() -> list[Result]:
    """Return the seconds of `python app.py` after one run that is not counted, and of many jobs."""
    return [
        row
        for how, validation in HOWS.items()
        for row in (_app(how, validation), _many(how, validation))
    ]


def _app(how: str, validation: str) -> Result:
    with tempfile.TemporaryDirectory() as output:
        environment = {"CDK_OUTDIR": output, "CDK_VALIDATION": validation}
        command = [sys.executable, "app.py"]
        seconds = [time_command(command, PROJECT, environment) for _ in range(RUNS + 1)]
    return Result(f"synth, warm{how}", COMMAND, seconds[1:], "target 5 s")


def _many(how: str, validation: str) -> Result:
    environment = {**os.environ, "CDK_VALIDATION": validation}
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-c", MANY, output]
        run = subprocess.run(  # noqa: S603 (ourselves)
            command, cwd=PROJECT, env=environment, capture_output=True, text=True, check=True
        )
    seconds, stacks, most, size, node, python = json.loads(run.stdout)
    note = (
        f"target 40 s, 600 MB; {stacks} stacks, at most {most} resources and "
        f"{size / 1024:,.0f} KB each; "
        f"peak of Node {node:,.0f} MB, of Python {python:,.0f} MB"
    )
    return Result(f"synth, {PIPELINES * JOBS:,} jobs{how}", COMMAND, [seconds], note)


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
