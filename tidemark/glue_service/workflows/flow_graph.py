"""The graph of a workflow: triggers and jobs as nodes, with edges between them.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-workflow.html
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.glue_service.runs.crawls import crawl_state
from tidemark.glue_service.workflows.trigger_forms import node_of, watched_jobs
from tidemark.model.assembly.definitions import CRAWLER

Definitions = Mapping[str, Mapping[str, Any]]  # of triggers, by name
Runs = Mapping[str, list[dict[str, Any]]]  # JobRun members by job
TRIGGER, JOB, CRAWLER_NODE = "TRIGGER", "JOB", "CRAWLER"


def node_id(workflow_name: str, kind: str, name: str) -> str:
    """Return the id of a node, which is the same in every run of its workflow."""
    text = "\0".join((workflow_name, kind, name))
    return f"wnode_{hashlib.sha256(text.encode()).hexdigest()}"


def id_of(workflow_name: str, name: str) -> str:
    """Return the id of the node of a job, or of a crawler."""
    kind = CRAWLER_NODE if name.startswith(CRAWLER) else JOB
    return node_id(workflow_name, kind, name.removeprefix(CRAWLER))


def _details(name: str, runs: list[dict[str, Any]]) -> dict[str, Any]:
    if not name.startswith(CRAWLER):
        return {"JobDetails": {"JobRuns": runs}}
    crawls = [
        {
            "State": crawl_state(run["JobRunState"]) if run.get("CompletedOn") else "RUNNING",
            "StartedOn": run.get("StartedOn"),
            "CompletedOn": run.get("CompletedOn"),
            "ErrorMessage": run.get("ErrorMessage"),
            "LogStream": run["Id"],
        }
        for run in runs
    ]
    return {"CrawlerDetails": {"Crawls": crawls}}


def graph(workflow_name: str, triggers: Definitions, runs: Runs | None = None) -> dict[str, Any]:
    """Return the nodes and edges of a workflow, or of a run of it."""
    nodes: dict[str, dict[str, Any]] = {}
    edges: dict[tuple[str, str], None] = {}

    def node(name: str) -> str:
        id_ = id_of(workflow_name, name)
        details: dict[str, Any] = {}
        if runs is not None:
            details = _details(name, runs.get(name, []))
        kind = CRAWLER_NODE if name.startswith(CRAWLER) else JOB
        member = {"Type": kind, "Name": name.removeprefix(CRAWLER), "UniqueId": id_, **details}
        nodes.setdefault(id_, member)
        return id_

    for name, definition in triggers.items():
        own = node_id(workflow_name, TRIGGER, name)
        details = {"Trigger": {**definition, "Name": name}}
        nodes[own] = {"Type": TRIGGER, "Name": name, "UniqueId": own, "TriggerDetails": details}
        for item in definition["Actions"]:
            edges[own, node(node_of(item))] = None
        for item in definition.get("Predicate", {}).get("Conditions", []):
            edges[node(node_of(item)), own] = None
    return {
        "Nodes": list(nodes.values()),
        "Edges": [{"SourceId": source, "DestinationId": target} for source, target in edges],
    }


def downstream(triggers: Definitions, jobs: Iterable[str]) -> set[str]:
    """Return the jobs and crawlers that triggers start downstream of some, directly or not."""
    jobs_after: set[str] = set()
    todo = list(jobs)
    while todo:
        job = todo.pop()
        for definition in triggers.values():
            if job not in watched(definition):
                continue
            new = started(definition) - jobs_after
            jobs_after |= new
            todo += new
    return jobs_after


def started(definition: Mapping[str, Any]) -> set[str]:
    """Return the jobs and crawlers that a trigger starts."""
    return set(map(node_of, definition["Actions"]))


def watched(definition: Mapping[str, Any]) -> set[str]:
    """Return the jobs and crawlers that a trigger watches."""
    return set(watched_jobs(definition))


def statistics(triggers: Definitions, states: Iterable[str]) -> dict[str, int]:
    """Return the counts of a workflow run."""
    ended = list(states)
    return {
        "TotalActions": sum(len(definition["Actions"]) for definition in triggers.values()),
        **{name: sum(state in of for state in ended) for name, of in COUNTED.items()},
    }


COUNTED = {
    "TimeoutActions": ("TIMEOUT",),
    "FailedActions": ("FAILED",),
    "StoppedActions": ("STOPPED",),
    "SucceededActions": ("SUCCEEDED",),
    "RunningActions": ("STARTING", "RUNNING", "STOPPING"),
    "ErroredActions": ("ERROR",),
    "WaitingActions": ("WAITING",),
}
