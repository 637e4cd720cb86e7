"""Measures what the engine adds to a graph of 1,000 jobs: `python -m benchmarks.graph_overhead`.

A workflow of trivial Python shell jobs runs on a port, whose every job but the first two waits for
two others. Counted is the processor's time of the engine's process, without that of the jobs, by
transition of a job run: STARTING, RUNNING and its end. The first and the last fifth of them tell
whether it grows with the graph.
"""

import resource
import tempfile
import time
from itertools import pairwise
from pathlib import Path

from benchmarks.measure import Result
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.serving import serving
from tidemark.glue_service.jobs import create_job
from tidemark.glue_service.workflows.triggers import create_trigger
from tidemark.glue_service.workflows.workflows import create_workflow, start_workflow_run
from tidemark.local_state.home import Home

COMMAND = "python -m benchmarks.graph_overhead"
JOBS = 1000
TRANSITIONS = 3  # of a run: it is recorded as STARTING, as RUNNING, and as ended
PARTS = 5
POLL_S = 0.5


def measure(jobs: int = JOBS) -> list[Result]:
    """Return the milliseconds per transition: of all, of the first fifth, of the last one."""
    with tempfile.TemporaryDirectory() as folder:
        home = Home.open(Path(folder) / "home")
        home.create_bucket("scripts")
        (home.lake / "scripts" / "job.py").write_text("", encoding="utf-8")
        with serving(home) as (_, engine):
            engine.ask(lambda glue: _define(glue, jobs))
            begin = time.monotonic()
            parts = _run(engine, jobs)
            seconds = time.monotonic() - begin
    note = f"target 20 ms; {jobs:,} runs in {seconds:.0f} s"
    return [
        Result("engine per transition, 1,000 jobs, ms", COMMAND, [sum(parts) / len(parts)], note),
        Result("engine per transition, first fifth, ms", COMMAND, parts[:1]),
        Result("engine per transition, last fifth, ms", COMMAND, parts[-1:], "no more than before"),
    ]


def _define(glue: GlueState, jobs: int) -> None:
    command = {
        "Name": "pythonshell",
        "PythonVersion": "3.9",
        "ScriptLocation": "s3://scripts/job.py",
    }
    create_workflow(glue, {"Name": "graph"})
    for number in range(jobs):
        create_job(glue, {"Name": f"job-{number}", "Role": "anyone", "Command": command})
    first = [{"JobName": f"job-{number}"} for number in range(2)]
    start = {"Name": "start", "Type": "ON_DEMAND", "WorkflowName": "graph", "Actions": first}
    create_trigger(glue, start)
    for number in range(2, jobs):
        watched = [
            {"LogicalOperator": "EQUALS", "JobName": f"job-{other}", "State": "SUCCEEDED"}
            for other in (number - 2, number // 2)
        ]
        create_trigger(
            glue,
            {
                "Name": f"to-{number}",
                "Type": "CONDITIONAL",
                "WorkflowName": "graph",
                "StartOnCreation": True,
                "Predicate": {"Logical": "AND", "Conditions": watched},
                "Actions": [{"JobName": f"job-{number}"}],
            },
        )


def _run(engine: Engine, jobs: int) -> list[float]:
    """Run the workflow; return the milliseconds per transition of each fifth of its runs."""
    marks = [(0, _processor_s())]
    engine.ask(lambda glue: start_workflow_run(glue, {"Name": "graph"}))
    while marks[-1][0] < jobs:
        time.sleep(POLL_S)
        ended = engine.ask(_ended)
        if ended >= jobs * len(marks) / PARTS:
            marks.append((ended, _processor_s()))
    return [
        1000 * (after[1] - before[1]) / TRANSITIONS / (after[0] - before[0])
        for before, after in pairwise(marks)
    ]


def _ended(glue: GlueState) -> int:
    rows = glue.store.query("SELECT state, count(*) AS runs FROM job_run GROUP BY state")
    counts = {row["state"]: row["runs"] for row in rows}
    if failed := set(counts) - {"STARTING", "RUNNING", "SUCCEEDED"}:
        raise RuntimeError(f"runs ended {', '.join(failed)}")
    return int(counts.get("SUCCEEDED", 0))


def _processor_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
