"""Finds events that start workflows without end: pure, on plain data.

A workflow starts another when a job or crawler of it sends an event that a rule of the other
matches. What only a run knows of an event, such as its time, is taken to match.

Sources: https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-glue.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html
"""

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

from tidemark.checks.graph.folders import overlap
from tidemark.checks.graph.model import CRAWLER, EventRule, Graph, Job, Problem
from tidemark.checks.schedules.event_matching import OR, matches

RULE = "starts-itself"
Event: TypeAlias = Mapping[str, Any]
Edges: TypeAlias = Mapping[str, Mapping[str, tuple[Job, str]]]
JOB, RUN, CRAWL = "Glue Job State Change", "Glue Job Run Status", "Glue Crawler State Change"
ENDS = {"SUCCEEDED": "INFO", "STOPPED": "INFO", "FAILED": "ERROR", "TIMEOUT": "WARN"}
TABLE = "Glue Data Catalog Table State Change"
# Fields of events that a template tells, at whatever depth; of the others only a run does.
KNOWN = {"source", "detail-type", "detail", OR, "jobName", "state", "severity", "crawlerName"}
KNOWN |= {"databaseName", "tableName", "bucket", "name", "object", "key"}


def event_loops(graph: Graph) -> Iterator[Problem]:
    """Yield the workflows whose own events start them again, over any number of others."""
    started = {
        name: {job for trigger in graph.triggers_of(name) for job in trigger.starts}
        for name in {rule.workflow for rule in graph.event_rules} | set(graph.workflows)
    }
    edges: dict[str, dict[str, tuple[Job, str]]] = {name: {} for name in sorted(started)}
    for rule in graph.event_rules:
        for job in graph.nodes:
            owners = [name for name in edges if job.name in started[name]]
            cause = _cause(rule, job) if owners else None
            if cause and rule.workflow in owners:
                yield _direct(job, cause, rule.workflow)
            for owner in owners if cause else []:
                edges[owner].setdefault(rule.workflow, (job, cause or ""))
    yield from _cycles(edges)


def _direct(job: Job, cause: str, workflow: str) -> Problem:
    return Problem(
        RULE,
        job.at,
        f"the {job} {cause} start its workflow '{workflow}' again, without end",
        "start the workflow by events that others send or objects that others deliver, or write "
        "to another folder",
    )


def _cycles(edges: Edges) -> Iterator[Problem]:
    told: set[str] = set()
    for first in edges:
        path = _way_back(edges, first)
        if not path or first in told:
            continue
        told |= set(path)
        steps = [
            f"in '{one}' the {edges[one][other][0]} {edges[one][other][1]} start '{other}'"
            for one, other in zip(path, [*path[1:], first], strict=True)
        ]
        yield Problem(
            RULE,
            edges[first][[*path, first][1]][0].at,
            f"the workflows {' -> '.join([*path, first])} start each other without end: "
            f"{'; '.join(steps)}",
            "start one of them by events that no workflow of the loop sends, or let its jobs write "
            "to another folder",
        )


def _way_back(edges: Edges, first: str) -> list[str]:
    """Return the shortest loop of two or more workflows through one; empty if there is none."""
    waiting = deque([[first]])
    seen: set[str] = set()
    while waiting:
        path = waiting.popleft()
        for other in edges.get(path[-1], {}):
            if other == first and len(path) > 1:
                return path
            if other not in seen and other != first:
                seen.add(other)
                waiting.append([*path, other])
    return []


def _cause(rule: EventRule, job: Job) -> str | None:
    """Return what of a job or crawler sends events of a rule, None if nothing does."""
    written = (*job.writes, *job.kept.values())
    if both := overlap(rule.folders, written):
        return f"writes {both[0][1]}, where objects that arrive"
    pattern = _known(rule.pattern)
    if not pattern:
        return None
    for uri in written:
        if any(matches(pattern, event) for event in _arrivals(uri, pattern)):
            return f"writes {uri}, where objects that arrive"
    for event in _changes(job):
        if matches(pattern, event):
            detail = event["detail"]
            return f"sends '{event['detail-type']}' {detail.get('state', '')}".rstrip() + "; these"
    return None


def _known(pattern: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pattern with the fields only that a template tells of events."""
    known: dict[str, Any] = {}
    for name, wanted in pattern.items():
        if name == OR:
            known[name] = [_known(one) for one in wanted]
        elif name in KNOWN:
            known[name] = _known(wanted) if isinstance(wanted, Mapping) else wanted
    return known


def _changes(job: Job) -> Iterator[Event]:
    """Yield the events that Glue sends of a job or a crawler, and of the tables it changes."""
    for table in (*job.crawled, *job.changes):
        database, _, name = table.rpartition(".")
        yield _glue(TABLE, databaseName=database, tableName=name.removesuffix("*"))
    if not job.name.startswith(CRAWLER):
        for state, severity in ENDS.items():
            yield _glue(JOB, jobName=job.name, state=state, severity=severity)
        for state in ("STARTING", "RUNNING", "STOPPING"):
            yield _glue(RUN, jobName=job.name, state=state, severity="INFO")
        return
    for state in ("Started", "Succeeded", "Failed"):
        yield _glue(CRAWL, crawlerName=job.name.removeprefix(CRAWLER), state=state)


def _glue(detail_type: str, **detail: str) -> Event:
    return {"source": "aws.glue", "detail-type": detail_type, "detail": detail}


def _arrivals(uri: str, pattern: Mapping[str, Any]) -> Iterator[Event]:
    """Yield events of objects that may be written to a folder, such that a pattern may match."""
    bucket, _, folder = uri.partition("://")[2].partition("/")
    keys = {f"{folder}x"}
    for wanted in _wanted_keys(pattern):
        for text in _texts(wanted):
            first, _, _ = text.partition("*")
            last = text.rpartition("*")[2]
            keys |= {text, f"{text}x", f"{folder}x{text}", f"{folder}x{last}", f"{first}x{last}"}
    for key in sorted(key for key in keys if key.startswith(folder)):
        detail = {"bucket": {"name": bucket}, "object": {"key": key}}
        yield {"source": "aws.s3", "detail-type": "Object Created", "detail": detail}


def _wanted_keys(pattern: Mapping[str, Any]) -> Iterator[Any]:
    for name, wanted in pattern.items():
        if name == "key":
            yield wanted
        for one in wanted if name == OR else [wanted]:
            if isinstance(one, Mapping):
                yield from _wanted_keys(one)


def _texts(wanted: Any) -> Iterator[str]:
    if isinstance(wanted, str):
        yield wanted
    for one in wanted.values() if isinstance(wanted, Mapping) else ():
        yield from _texts(one)
    for one in wanted if isinstance(wanted, list) else ():
        yield from _texts(one)
