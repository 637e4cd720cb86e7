"""Measures what `tidemark run` adds to Spark's own start: `python -m benchmarks.job_overhead`.

The same script runs three times in a chain of triggers, and three times through spark-submit with
the same Spark settings and libraries, but without the class archive. The two take turns.
"""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.measure import PROJECT, Result, time_command
from local_glue.home import Home
from local_glue.java import find_java_home
from local_glue.job_runs import SITE
from local_glue.spark import CONF_FILE, write_spark_conf

PAIRS = 3
JOBS = ("first", "second", "third")
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
assert glue_context.spark_session.range(1000).count() == 1000
job.commit()
glue_context.spark_session.stop()
"""


def write_assembly(folder: Path) -> None:
    """Write a cloud assembly with three chained jobs that run SCRIPT."""
    asset = {
        "source": {"path": "script.py", "packaging": "file"},
        "destinations": {"current": {"bucketName": "assets", "objectKey": "script.py"}},
    }
    artifacts = {
        "bench.assets": {"type": "cdk:asset-manifest", "properties": {"file": "assets.json"}},
        "bench": {
            "type": "aws:cloudformation:stack",
            "properties": {"templateFile": "template.json"},
        },
    }
    (folder / "script.py").write_text(SCRIPT, encoding="utf-8")
    for name, document in (
        ("manifest.json", {"artifacts": artifacts}),
        ("assets.json", {"files": {"script": asset}}),
        ("template.json", {"Resources": _resources()}),
    ):
        (folder / name).write_text(json.dumps(document), encoding="utf-8")


def _resources() -> Mapping[str, Any]:
    resources: dict[str, Any] = {"Flow": _resource("Workflow", Name="flow")}
    for name in JOBS:
        command = {"Name": "glueetl", "ScriptLocation": "s3://assets/script.py"}
        resources[name] = _resource("Job", Name=name, Command=command)
    resources["Start"] = _trigger("ON_DEMAND", JOBS[0])
    for before, name in pairwise(JOBS):
        condition = {"JobName": before, "State": "SUCCEEDED", "LogicalOperator": "EQUALS"}
        predicate = {"Logical": "AND", "Conditions": [condition]}
        after = _trigger("CONDITIONAL", name, Predicate=predicate, StartOnCreation=True)
        resources[f"After{before}"] = after
    return resources


def _trigger(kind: str, job: str, **properties: Any) -> Mapping[str, Any]:
    actions = [{"JobName": job}]
    return _resource("Trigger", Type=kind, WorkflowName="flow", Actions=actions, **properties)


def _resource(kind: str, **properties: Any) -> Mapping[str, Any]:
    return {"Type": f"AWS::Glue::{kind}", "Properties": properties}


def measure() -> list[Result]:
    """Return the seconds per job of both ways and their difference, pair by pair."""
    with tempfile.TemporaryDirectory() as folder:
        assembly, root = Path(folder) / "cdk.out", Path(folder) / "home"
        assembly.mkdir()
        write_assembly(assembly)
        home = Home.open(root)
        plain = home.runs / "plain"
        plain.mkdir()
        no_archive = {"spark.driver.defaultJavaOptions": ""}
        variables = write_spark_conf(plain, home, find_java_home(), no_archive)
        pairs = [
            (_tidemark(assembly, root), _spark(assembly, variables, home)) for _ in range(PAIRS)
        ]
    command = "python -m benchmarks.job_overhead"
    return [
        Result("one job, `tidemark run`", command, [a for a, _ in pairs]),
        Result(
            "one job, spark-submit", command, [b for _, b in pairs], "without the class archive"
        ),
        Result("overhead per job", command, [a - b for a, b in pairs], "target 1.0 s"),
    ]


def _tidemark(assembly: Path, root: Path) -> float:
    command = [sys.executable, "-m", "ops", "run", "--app", str(assembly)]
    return time_command(command, PROJECT, {"TIDEMARK_HOME": str(root)}) / len(JOBS)


def _spark(assembly: Path, variables: Mapping[str, str], home: Home) -> float:
    import pyspark

    submit = Path(pyspark.__file__).parent / "bin" / "spark-submit"
    environment = {
        **variables,
        "PYTHONPATH": str(SITE),
        "TIDEMARK_HOME": str(home.root),
        "PATH": os.environ["PATH"],
    }
    folder = home.runs / "plain"
    settings = ["--properties-file", str(folder / CONF_FILE)]
    command = [str(submit), *settings, str(assembly / "script.py"), "--JOB_NAME", "plain"]
    return sum(time_command(command, folder, environment) for _ in JOBS) / len(JOBS)


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
