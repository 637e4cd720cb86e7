"""Operations of CloudWatch Logs on the logs of job runs: a stream is a run, by its id.

Source: https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/Welcome.html
Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuous-logging.html
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.glue_service.engine import Engine
from tidemark.glue_service.entities import EntityKind, list_entities
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.logs.files import LogEvent, LogFile
from tidemark.glue_service.logs.marks import ERROR, OUTPUT
from tidemark.glue_service.logs.patterns import matcher
from tidemark.glue_service.protocol.pages import page
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.runs.job_runs import LOG_GROUPS
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import SHELL, SPARK

Request = Mapping[str, Any]
Answer = dict[str, Any]
INVALID = "InvalidParameterException"
GROUPS = {
    f"{group}/{kind}": (command, name)
    for command, group in LOG_GROUPS.items()
    for kind, name in (("output", OUTPUT), ("error", ERROR))
}
PAGE = 50
MAX_EVENTS = 10_000
MAX_BYTES = 1_000_000
TOKEN = re.compile(r"(?P<way>[fb])/(?P<offset>[0-9]{1,18})")


def describe_log_groups(engine: Engine, request: Request) -> Answer:
    """Return the log groups of jobs."""
    prefix, pattern = request.get("logGroupNamePrefix", ""), request.get("logGroupNamePattern", "")
    names = [name for name in sorted(GROUPS) if name.startswith(prefix) and pattern in name]
    shown, token = page(names, request.get("nextToken"), request.get("limit", PAGE), INVALID)
    arns = engine.ask(lambda glue: {name: _group_arn(glue, name) for name in shown})
    groups = [
        {
            "logGroupName": name,
            "creationTime": 0,
            "arn": f"{arns[name]}:*",
            "logGroupArn": arns[name],
            "storedBytes": 0,
        }
        for name in shown
    ]
    return {"logGroups": groups, "nextToken": token}


def _group_arn(glue: GlueState, name: str) -> str:
    return f"arn:aws:logs:{glue.machine.region}:{glue.account}:log-group:{name}"


def describe_log_streams(engine: Engine, request: Request) -> Answer:
    """Return a page of the streams of a group, by name or by the time of their last event."""
    group = _group(request)
    prefix = request.get("logStreamNamePrefix", "")
    by_time = request.get("orderBy") == "LastEventTime"
    if by_time and prefix:
        raise ServiceError(INVALID, "orderBy LastEventTime cannot go with logStreamNamePrefix")
    logs = [log for log in _logs(engine, group) if log.run.run_id.startswith(prefix)]
    arn = engine.ask(lambda glue: _group_arn(glue, group))
    streams = [_stream(log, arn) for log in logs]
    key = "lastEventTimestamp" if by_time else "logStreamName"
    streams.sort(key=lambda stream: stream[key], reverse=request.get("descending", False))
    shown, token = page(streams, request.get("nextToken"), request.get("limit", PAGE), INVALID)
    return {"logStreams": shown, "nextToken": token}


def _stream(log: LogFile, group_arn: str) -> Answer:
    run, time_of = log.run, log.times()
    last_ms = time_of(max(log.size - 1, 0))
    return {
        "logStreamName": run.run_id,
        "creationTime": run.started_at_ms,
        "firstEventTimestamp": time_of(0),
        "lastEventTimestamp": last_ms,
        "lastIngestionTime": last_ms,
        "arn": f"{group_arn}:log-stream:{run.run_id}",
        "storedBytes": 0,
    }


def get_log_events(engine: Engine, request: Request) -> Answer:
    """Return a page of one stream's events: the newest, or from the head, or by a token."""
    (log,) = _logs(engine, _group(request), [request["logStreamName"]])
    limit = request.get("limit", MAX_EVENTS)
    within = _within(request)
    way, offset = _position(request, log)
    if way == "f":
        events = _first([e for e in log.events(offset) if within(e)], limit)
    else:
        events = [event for event in log.before(offset, MAX_EVENTS) if within(event)][-limit:]
    begin = events[0].begin if events else offset
    end = events[-1].end if events else offset
    return {
        "events": [_event(event) for event in events],
        "nextForwardToken": f"f/{end}",
        "nextBackwardToken": f"b/{begin}",
    }


def _position(request: Request, log: LogFile) -> tuple[str, int]:
    token = request.get("nextToken")
    if token is None:
        return ("f", 0) if request.get("startFromHead", False) else ("b", log.size)
    match = TOKEN.fullmatch(token)
    if match is None:
        raise ServiceError(INVALID, "The specified nextToken is invalid.")
    return match["way"], min(int(match["offset"]), log.size)


def _first(events: list[LogEvent], limit: int) -> list[LogEvent]:
    size = 0
    for number, event in enumerate(events[:limit]):
        size += event.end - event.begin
        if size > MAX_BYTES and number:
            return events[:number]
    return events[:limit]


@dataclass(frozen=True)
class _Scan:
    """The result of one request in one stream: the range it read, and the matching events."""

    log: LogFile
    begin: int
    events: list[LogEvent]
    end: int

    def kept(self, shown: set[LogEvent]) -> int:
        """Return where the next request continues if this one shows some of the events."""
        left = [event for event in self.events if event not in shown]
        return left[0].begin if left else self.end


def filter_log_events(engine: Engine, request: Request) -> Answer:
    """Return a page of the events of several streams, by time."""
    names, prefix = request.get("logStreamNames"), request.get("logStreamNamePrefix", "")
    if names and prefix:
        raise ServiceError(INVALID, "give logStreamNames or logStreamNamePrefix, not both")
    logs = _logs(engine, _group(request), names)
    logs = [log for log in logs if log.run.run_id.startswith(prefix) and _overlaps(log, request)]
    limit, within = request.get("limit", MAX_EVENTS), _within(request)
    matches = matcher(request.get("filterPattern", ""))
    places = _offsets(request.get("nextToken"))
    scans, shown = [], list[LogEvent]()
    for log in logs:
        begin = places.get(log.run.run_id, 0)
        read = list(log.events(begin, MAX_BYTES))
        events = [e for e in read if within(e) and matches(e.message)][:limit]
        is_all = len(events) < limit
        end = (read[-1].end if read else begin) if is_all else events[-1].end
        scans.append(_Scan(log, begin, events, end))
        shown = sorted([*shown, *events], key=lambda event: event.event_id)[:limit]
    shown = _first(shown, limit)
    shown_events = set(shown)
    next_places = {scan.log.run.run_id: scan.kept(shown_events) for scan in scans}
    is_more = any(next_places[scan.log.run.run_id] < _readable_end(scan) for scan in scans)
    return {
        "events": [{**_event(e), "logStreamName": e.stream, "eventId": e.event_id} for e in shown],
        "searchedLogStreams": [],
        "nextToken": json.dumps(places | next_places, separators=(",", ":")) if is_more else None,
    }


def _readable_end(scan: _Scan) -> int:
    # The line in progress is not readable yet.
    following = next(scan.log.events(scan.end), None)
    return scan.end + 1 if following else scan.end


def _event(event: LogEvent) -> Answer:
    times = {"timestamp": event.timestamp, "ingestionTime": event.timestamp}
    return {**times, "message": event.message}


def _within(request: Request) -> Callable[[LogEvent], bool]:
    begin_ms: int = request.get("startTime", 0)
    end_ms: int | None = request.get("endTime")
    return lambda event: (
        begin_ms <= event.timestamp and (end_ms is None or event.timestamp <= end_ms)
    )


def _overlaps(log: LogFile, request: Request) -> bool:
    begin_ms: int = request.get("startTime", 0)
    end_ms: int | None = request.get("endTime")
    last_ms = log.run.completed_at_ms
    is_before = last_ms is not None and last_ms < begin_ms
    return not is_before and (end_ms is None or log.run.started_at_ms <= end_ms)


def _offsets(token: str | None) -> dict[str, int]:
    if token is None:
        return {}
    try:
        places = json.loads(token)
        if all(type(place) is int and place >= 0 for place in places.values()):
            return dict(places)
    except (AttributeError, ValueError, RecursionError):
        pass
    raise ServiceError(INVALID, "The specified nextToken is invalid.")


def _group(request: Request) -> str:
    identifier = request.get("logGroupIdentifier") or request.get("logGroupName")
    if identifier is None:
        raise ServiceError(INVALID, "logGroupName is missing")
    name = str(identifier).rpartition(":log-group:")[2].removesuffix(":*")
    if name not in GROUPS:
        raise ServiceError(
            "ResourceNotFoundException",
            f"The specified log group does not exist: {name!r}; allowed: {', '.join(GROUPS)}",
        )
    return name


def _logs(engine: Engine, group: str, names: list[str] | None = None) -> list[LogFile]:
    command, file = GROUPS[group]
    runs = engine.ask(lambda glue: _runs_of(glue, command, names))
    if missing := sorted(set(names or ()) - {run.run_id for run in runs}):
        raise ServiceError(
            "ResourceNotFoundException",
            f"The specified log stream does not exist: {', '.join(missing)}",
        )
    return [LogFile(run, Path(run.log_path).with_name(file)) for run in runs]


def _runs_of(glue: GlueState, command: str, names: list[str] | None) -> list[JobRun]:
    store = glue.store
    runs = store.all_job_runs() if names is None else [store.job_run(name) for name in names]
    shells = {
        entity.name
        for entity in list_entities(store, EntityKind.JOB)
        if entity.definition["Command"].get("Name", SPARK) == SHELL
    }
    is_shell = command == SHELL
    return [run for run in runs if run and (run.job_name in shells) == is_shell]
