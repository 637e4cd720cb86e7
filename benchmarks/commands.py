"""Measures commands beside the jobs they run: `python -m benchmarks.commands`.

`tidemark runs` over 5,000 runs; and `tidemark run` of five Python shell jobs in a row, less the
time that the five runs took: the rest is what the command adds.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import Result, time_command
from tidemark.glue_service.entities import Entity, EntityKind, create_entity
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun, Store

COMMAND = "python -m benchmarks.commands"
ROUNDS = 5
RUNS = 5_000
JOBS = 5
TIDEMARK = (sys.executable, "-m", "tidemark")


def measure() -> list[Result]:
    """Return the seconds of `tidemark runs`, and what `tidemark run` adds to five jobs."""
    with tempfile.TemporaryDirectory() as folder:
        return [
            Result("tidemark runs, 5,000 runs", COMMAND, _listings(Path(folder)), "target 2.0 s"),
            Result(
                "tidemark run of five jobs, beside the jobs",
                COMMAND,
                _overheads(Path(folder)),
                "target 3.0 s",
            ),
        ]


def _listings(folder: Path) -> list[float]:
    home = Home.open(folder / "many")
    now_ms = time.time_ns() // 1_000_000
    command = {"Name": "pythonshell", "ScriptLocation": "s3://scripts/job.py"}
    with Store(home.database) as store, store.transaction():
        for job in range(JOBS):
            definition = {"Role": "anyone", "Command": command}
            create_entity(
                store, Entity(EntityKind.JOB, f"job-{job}", definition, {}, now_ms, now_ms)
            )
        for number in range(RUNS):
            begin = now_ms - 60_000 * number
            run_id = f"jr_{number * 0x9E3779B97F4A7C15 % 2**64:016x}"
            store.put_job_run(
                JobRun(
                    run_id,
                    f"job-{number % JOBS}",
                    workflow_run_id=None,
                    trigger_name=None,
                    attempt=0,
                    state="SUCCEEDED",
                    started_at_ms=begin,
                    log_path="",
                    bookmark_option="job-bookmark-enable",
                    completed_at_ms=begin + 5_000,
                    rows_read=number,
                    rows_written=number,
                )
            )
    listing = (*TIDEMARK, "runs", "--limit", str(RUNS))
    return [time_command(listing, folder, _at(home)) for _ in range(ROUNDS)]


def _overheads(folder: Path) -> list[float]:
    app = _app(folder / "cdk.out")
    found = []
    for number in range(ROUNDS):
        home = Home.open(folder / f"home-{number}")
        seconds = time_command((*TIDEMARK, "run", "--app", str(app)), folder, _at(home))
        with Store(home.database) as store:
            runs = store.all_job_runs()
        if [run.state for run in runs] != ["SUCCEEDED"] * JOBS:
            raise RuntimeError(f"the runs ended {[run.state for run in runs]}")
        jobs_ms = sum((run.completed_at_ms or 0) - run.started_at_ms for run in runs)
        found.append(seconds - jobs_ms / 1000)
    return found


def _app(folder: Path) -> Path:
    """Write an app of five jobs; each waits for the one before it; return its folder."""
    resources: dict[str, Any] = {
        "Flow": {"Type": "AWS::Glue::Workflow", "Properties": {"Name": "flow"}}
    }
    for number in range(JOBS):
        command = {
            "Name": "pythonshell",
            "PythonVersion": "3.9",
            "ScriptLocation": "s3://assets/job.py",
        }
        properties = {"Name": f"job-{number}", "Command": command}
        resources[f"Job{number}"] = {"Type": "AWS::Glue::Job", "Properties": properties}
        resources[f"To{number}"] = {"Type": "AWS::Glue::Trigger", "Properties": _trigger(number)}
    documents = {
        "template.json": {"Resources": resources},
        "assets.json": {
            "files": {
                "job": {
                    "source": {"path": "job.py", "packaging": "file"},
                    "destinations": {"here": {"bucketName": "assets", "objectKey": "job.py"}},
                }
            }
        },
        "manifest.json": {
            "artifacts": {
                "assets": {
                    "type": "cdk:asset-manifest",
                    "properties": {"file": "assets.json"},
                },
                "stack": {
                    "type": "aws:cloudformation:stack",
                    "properties": {"templateFile": "template.json"},
                },
            }
        },
    }
    folder.mkdir()
    (folder / "job.py").write_text("", encoding="utf-8")
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    return folder


def _trigger(number: int) -> dict[str, Any]:
    common = {"WorkflowName": "flow", "Actions": [{"JobName": f"job-{number}"}]}
    if number == 0:
        return {"Type": "ON_DEMAND", "Name": "start", **common}
    watched = {"JobName": f"job-{number - 1}", "State": "SUCCEEDED", "LogicalOperator": "EQUALS"}
    return {
        "Type": "CONDITIONAL",
        "Name": f"to-{number}",
        "StartOnCreation": True,
        "Predicate": {"Logical": "AND", "Conditions": [watched]},
        **common,
    }


def _at(home: Home) -> dict[str, str]:
    return {"TIDEMARK_HOME": str(home.root)}


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
