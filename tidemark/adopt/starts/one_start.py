"""Decides which first jobs one pipeline starts, since it starts them together: pure."""

from collections.abc import Iterable, Mapping
from typing import Any

from tidemark.adopt.model import AdoptedEvent, Wait
from tidemark.model.assembly.definitions import CRAWLER

Reason = tuple[str, str]
# Glue's events for the end of a crawl or a run, and their spelling of a state.
# Source: https://docs.aws.amazon.com/glue/latest/dg/automating-awsglue-with-cloudwatch-events.html
CRAWLER_EVENT, JOB_EVENT = "Glue Crawler State Change", "Glue Job State Change"


def one_start(
    groups: Mapping[str, frozenset[str]], own: Iterable[str] = ()
) -> tuple[frozenset[str], dict[str, Reason]]:
    """Return what starts the first jobs of a pipeline, and which are left out, with the reason."""
    common: frozenset[str] | None = None
    apart: dict[str, Reason] = {}
    first = next(iter(groups), "")
    for job, names in groups.items():
        mine = names & frozenset(own) or names
        both = mine if common is None else common & names
        if common is None or both:
            common = both
            continue
        theirs, ours = (", ".join(sorted(group)) or "nothing" for group in (names, common))
        apart[job] = (
            f"it is started by {theirs}, and {first.removeprefix(CRAWLER)} by {ours}; a pipeline "
            "starts its first jobs together",
            "adopt it in another call, with the jobs that wait for it"
            if not job.startswith(CRAWLER)
            else "keep it with its trigger",
        )
    return common or frozenset(), apart


def extra_triggers(
    groups: Mapping[str, frozenset[str]], common: frozenset[str], apart: Iterable[str]
) -> dict[str, Reason]:
    """Return triggers that start some first jobs of the pipeline alone, with what to do."""
    nodes_by_group: dict[str, list[str]] = {}
    for job, names in groups.items():
        for name in sorted(names - common) if job not in apart else ():
            nodes_by_group.setdefault(name, []).append(job.removeprefix(CRAWLER))
    return {
        name: (
            f"it starts {', '.join(jobs)} alone, and a pipeline starts its first jobs together",
            "start these jobs by hand (aws glue start-job-run), or declare them again in a "
            "separate pipeline",
        )
        for name, jobs in nodes_by_group.items()
    }


def without_undeclared(
    waits: Mapping[str, Wait | None], undeclared: Iterable[str]
) -> dict[str, Wait]:
    """Return what waits only for jobs and crawlers that no pipeline can hold, with what for."""
    out = set(undeclared)
    return {
        node: wait
        for node, wait in waits.items()
        if wait and all(old in out for old, _ in wait.conditions)
    }


def event_of(wait: Wait) -> AdoptedEvent | None:
    """Return Glue's event for the end of a wait; None if no single event is."""
    if len(wait.conditions) != 1:
        return None
    ((node, state),) = wait.conditions
    detail: dict[str, Any] = {"jobName": [node], "state": [state]}
    kind = JOB_EVENT
    if node.startswith(CRAWLER):
        kind = CRAWLER_EVENT
        detail = {"crawlerName": [node.removeprefix(CRAWLER)], "state": [state.capitalize()]}
    pattern = {"source": ["aws.glue"], "detail-type": [kind], "detail": detail}
    return AdoptedEvent(f"{node} {state}", pattern)
