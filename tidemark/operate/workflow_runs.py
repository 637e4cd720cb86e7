"""Workflow runs of a Glue: started, watched until they end, stopped, resumed."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.messages import known_run
from tidemark.operate.app_names import WORKFLOW
from tidemark.operate.clients import Glue
from tidemark.operate.job_runs import Run, run_of

OPEN, COMPLETED = ("RUNNING", "STOPPING"), "COMPLETED"
MAX_EARLIER = 6  # runs that are asked for what they have left
JOB_NODE, CRAWLER_NODE = "JOB", "CRAWLER"


@dataclass(frozen=True)
class WorkflowRun:
    """One workflow run in Glue, with its graph.

    Attributes:
        workflow: its workflow.
        run_id: ``wr_...``.
        status: RUNNING, COMPLETED, STOPPING, STOPPED or ERROR.
        runs: the last job run of each job that was started, in the order of the graph.
        waiting: for each job that was not started, what its trigger waits for, as strings.
        nodes: by job, the id of its node.
        message: why it failed as a whole; empty if it did not.
    """

    workflow: str
    run_id: str
    status: str
    runs: tuple[Run, ...] = ()
    waiting: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    nodes: Mapping[str, str] = field(default_factory=dict)
    message: str = ""

    @property
    def is_open(self) -> bool:
        """Whether something of it may still happen."""
        return self.status in OPEN

    @property
    def is_success(self) -> bool:
        """Whether every job was started, and its last run SUCCEEDED."""
        is_good = self.status == COMPLETED and not self.message and not self.waiting
        return is_good and all(run.state == "SUCCEEDED" for run in self.runs)


def workflow_run_of(member: Mapping[str, Any]) -> WorkflowRun:
    """Return a workflow run from a Run of an answer that includes the graph."""
    nodes = (member.get("Graph") or {}).get("Nodes", [])
    jobs = [node for node in nodes if node["Type"] == JOB_NODE]
    last = {node["Name"]: _last(node) for node in jobs}
    final = {name: run.state for name, run in last.items() if run}
    final |= _crawls(nodes)
    return WorkflowRun(
        workflow=member["Name"],
        run_id=member["WorkflowRunId"],
        status=member["Status"],
        runs=tuple(run for run in last.values() if run),
        waiting={
            name: tuple(_unmet(name, nodes, final)) for name, run in last.items() if run is None
        },
        nodes={node["Name"]: node["UniqueId"] for node in jobs},
        message=member.get("ErrorMessage", ""),
    )


def _last(node: Mapping[str, Any]) -> Run | None:
    runs = [run_of(member) for member in (node.get("JobDetails") or {}).get("JobRuns", [])]
    return max(runs, key=lambda run: run.started_at, default=None)


def _crawls(nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    states = {}
    for node in nodes:
        crawls = (node.get("CrawlerDetails") or {}).get("Crawls", [])
        if node["Type"] == CRAWLER_NODE and crawls:
            states[str(node["Name"])] = str(crawls[-1].get("State", ""))
    return states


def _unmet(job: str, nodes: Sequence[Mapping[str, Any]], final: Mapping[str, str]) -> Iterator[str]:
    for node in nodes:
        trigger = (node.get("TriggerDetails") or {}).get("Trigger", {})
        if all(action.get("JobName") != job for action in trigger.get("Actions", [])):
            continue
        for condition in trigger.get("Predicate", {}).get("Conditions", []):
            name = condition.get("JobName") or condition.get("CrawlerName")
            wanted = condition.get("State") or condition.get("CrawlState")
            if final.get(name) != wanted:
                yield f"{name} {wanted} (is {final.get(name, 'not started')})"


def read_workflow_run(glue: Glue, workflow: str, run_id: str) -> WorkflowRun:
    """Return the current state of a workflow run."""
    answer = glue.glue.get_workflow_run(Name=workflow, RunId=run_id, IncludeGraph=True)
    return workflow_run_of(answer["Run"])


def last_workflow_run(glue: Glue, workflow: str) -> WorkflowRun | None:
    """Return the newest workflow run; None without one."""
    runs = glue.glue.get_workflow_runs(Name=workflow, MaxResults=25)["Runs"]
    newest = max(runs, key=lambda run: run["StartedOn"], default=None)
    return newest and read_workflow_run(glue, workflow, newest["WorkflowRunId"])


def start_workflow_run(glue: Glue, workflow: str) -> str:
    """Start a workflow; return the id of its run."""
    glue.check_stage(WORKFLOW, workflow)
    return str(glue.glue.start_workflow_run(Name=workflow)["RunId"])


def arguments_in(glue: Glue, workflow: str, job: str) -> dict[str, str]:
    """Return the arguments that the triggers of a workflow start a job with."""
    glue.check_stage(WORKFLOW, workflow)
    answer = glue.glue.get_workflow(Name=workflow, IncludeGraph=True)["Workflow"]
    for node in (answer.get("Graph") or {}).get("Nodes", []):
        trigger = (node.get("TriggerDetails") or {}).get("Trigger", {})
        for action in trigger.get("Actions", []):
            if action.get("JobName") == job:
                return dict(action.get("Arguments", {}))
    raise UsageError(f"workflow {workflow} starts no job {job}")


def follow(glue: Glue, workflow: str, run_id: str) -> Iterator[WorkflowRun]:
    """Yield a workflow run again and again until it has ended, then as it ended."""
    while True:
        workflow_run = read_workflow_run(glue, workflow, run_id)
        yield workflow_run
        if not workflow_run.is_open:
            return
        time.sleep(glue.poll_s)


def stop_workflow(glue: Glue, workflow: str, run_id: str | None) -> list[str]:
    """Ask the open runs of a workflow to stop, or one of them; return their ids."""
    glue.check_stage(WORKFLOW, workflow)
    runs = glue.glue.get_workflow_runs(Name=workflow, MaxResults=100)["Runs"]
    meant = None if run_id is None else _run_meant(workflow, run_id, runs)
    ids = [run["WorkflowRunId"] for run in runs if run["Status"] == "RUNNING"]
    stopping = [workflow_run_id for workflow_run_id in ids if meant in (None, workflow_run_id)]
    for workflow_run_id in stopping:
        glue.glue.stop_workflow_run(Name=workflow, RunId=workflow_run_id)
    return stopping


def to_resume(
    glue: Glue, workflow: str, run_id: str | None, jobs: Sequence[str], *, may_be_open: bool = False
) -> tuple[WorkflowRun, list[str]]:
    """Return the workflow run that can be resumed, and from which of its jobs.

    With ``may_be_open`` it may be RUNNING: so is one whose engine died, until the next one begins.
    """
    glue.check_stage(WORKFLOW, workflow)
    if run_id is None:
        run = last_workflow_run(glue, workflow)
        if run is None:
            raise UsageError(f"the workflow {workflow} has not run in {glue.where}")
    else:
        runs = glue.glue.get_workflow_runs(Name=workflow, MaxResults=100)["Runs"]
        run = read_workflow_run(glue, workflow, _run_meant(workflow, run_id, runs))
    if run.status != COMPLETED and not (may_be_open and run.is_open):
        do = "wait for it" if run.is_open else "`tidemark run` starts a new one"
        raise UsageError(
            f"workflow run {run.run_id} is {run.status}; only a COMPLETED run can be resumed: {do}"
        )
    started = {job_run.job: job_run for job_run in run.runs}
    if wrong := [job for job in jobs if job not in started]:
        raise UsageError(
            f"the workflow run {run.run_id} has not started {', '.join(wrong)}; allowed: "
            f"{', '.join(started) or 'none'}{_earlier(glue, run)}"
        )
    chosen = list(jobs) or [
        name for name, job_run in started.items() if job_run.state != "SUCCEEDED"
    ]
    if not chosen:
        raise UsageError(
            f"every job that workflow run {run.run_id} started SUCCEEDED: there is nothing to "
            f"resume; --from JOB runs one again, with what follows it{_earlier(glue, run)}"
        )
    return run, chosen


def resume(
    glue: Glue, workflow: str, run_id: str | None, jobs: Sequence[str]
) -> tuple[str, list[str], WorkflowRun]:
    """Resume a workflow run from jobs of it."""
    run, chosen = to_resume(glue, workflow, run_id, jobs)
    nodes = [run.nodes[name] for name in chosen]
    answer = glue.glue.resume_workflow_run(Name=workflow, RunId=run.run_id, NodeIds=nodes)
    return str(answer["RunId"]), chosen, run


def _earlier(glue: Glue, run: WorkflowRun) -> str:
    """Return how to resume an earlier run whose unsuccessful jobs no later run is of."""
    # A run of a part of the workflow has only that in its graph.
    runs = glue.glue.get_workflow_runs(Name=run.workflow, MaxResults=25)["Runs"]
    ordered = sorted(runs, key=lambda member: member["StartedOn"], reverse=True)
    ids = [str(member["WorkflowRunId"]) for member in ordered]
    before = ids[ids.index(run.run_id) + 1 :] if run.run_id in ids else []
    later = set(run.nodes)
    for run_id in before[:MAX_EARLIER]:
        earlier = read_workflow_run(glue, run.workflow, run_id)
        left = [run for run in earlier.runs if run.state != "SUCCEEDED" and run.job not in later]
        if left and earlier.status == COMPLETED:
            failures = ", ".join(f"{failed.job} {failed.state}" for failed in left)
            return f"; --run {run_id} resumes the earlier run that has {failures}"
        later |= set(earlier.nodes)
    return ""


def _run_meant(workflow: str, text: str, runs: Sequence[Mapping[str, Any]]) -> str:
    ids = [run["WorkflowRunId"] for run in runs]
    return known_run(text, ids, f"of workflow {workflow}", "give the id of a workflow run, wr_...")
