"""Tells which events a job or a crawler sends, as far as a template shows it: pure.

A template does not show the actions of a script: it may send such events. Fields of a pattern that
only a run knows, such as a time, count as a match.

Sources: https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-glue.html,
https://docs.aws.amazon.com/glue/latest/dg/data-quality-alerts.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/ev-events.html,
https://docs.aws.amazon.com/AmazonS3/latest/userguide/cloudtrail-logging-s3-info.html,
https://docs.aws.amazon.com/glue/latest/dg/monitor-cloudtrail.html
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from tidemark.checks.graph.folders import overlap
from tidemark.checks.graph.model import CRAWLER, EventRule, GraphJob
from tidemark.model.schedules.event_matching import OR, matches

Event: TypeAlias = Mapping[str, Any]
# An event, and the action of a job that it reports.
Sent: TypeAlias = tuple[Event, str]
JOB, RUN, CRAWL = "Glue Job State Change", "Glue Job Run Status", "Glue Crawler State Change"
ENDS = {"SUCCEEDED": "INFO", "STOPPED": "INFO", "FAILED": "ERROR", "TIMEOUT": "WARN"}
TABLE = "Glue Data Catalog Table State Change"
DATABASE = "Glue Data Catalog Database State Change"  # when tables are created or deleted
QUALITY = "Data Quality Evaluation Results Available"
CREATED, DELETED, CALL = "Object Created", "Object Deleted", "AWS API Call via CloudTrail"
# Of writers; small objects are put, and all else depends on sizes and modes of writing.
PUT = "PutObject"
MAY_CREATE = ("CompleteMultipartUpload", "CopyObject")
MAY_CALL = (PUT, *MAY_CREATE, "DeleteObject", "DeleteObjects")
ANY = " (any)"  # a name that only a pattern which takes any other matches
TABLE_CALLS = (
    "CreateTable",
    "UpdateTable",
    *(
        f"{many}{verb}Partition"
        for verb in ("Create", "Update", "Delete")
        for many in ("", "Batch")
    ),
)
# Fields of events that a template shows, at any depth; only a run knows the others.
KNOWN = {"source", "detail-type", "detail", OR, "jobName", "state", "severity", "crawlerName"}
KNOWN |= {"databaseName", "tableName", "bucket", "name", "object", "key", "reason"}
KNOWN |= {"context", "contextType"}
KNOWN |= {"eventSource", "eventName", "requestParameters", "bucketName", "tableInput"}
ACTOR = set("account requester userIdentity userAgent sourceIPAddress source-ip-address".split())


class EventCause(NamedTuple):
    """The action of a job that sends events of a rule, and whether it is certain."""

    text: str
    is_certain: bool = True


def cause_of(rule: EventRule, job: GraphJob) -> EventCause | None:
    """Return the action of a job or crawler that sends events of a rule, None without one."""
    cause = _cause_of(rule, job)
    if cause and cause.is_certain and _asks_actor(rule.pattern):
        return cause._replace(is_certain=False)  # it may be others only
    return cause


def _asks_actor(pattern: Mapping[str, Any]) -> bool:
    """Return whether a pattern filters by the actor, which no template shows."""
    for name, wanted in pattern.items():
        parts = wanted if isinstance(wanted, list) else [wanted]
        if name in ACTOR or any(_asks_actor(part) for part in parts if isinstance(part, Mapping)):
            return True
    return False


def _cause_of(rule: EventRule, job: GraphJob) -> EventCause | None:
    if both := overlap(rule.folders, (*job.writes, *job.kept.values())):
        return EventCause(f"writes {both[0][1]}, where objects that arrive")
    pattern = _known(rule.pattern)
    if not pattern:
        return None
    for event, text in (*_objects(job, pattern), *_changes(job)):
        if matches(pattern, event):
            return EventCause(text)
    for event, text in _possible(job, pattern):
        if matches(pattern, event):
            is_named = event["detail-type"] == QUALITY and _names_job(pattern, event)
            return EventCause(
                f"may {text}" if not is_named else text.replace("send", "sends", 1), is_named
            )
    return None


def _known(pattern: Mapping[str, Any]) -> dict[str, Any]:
    """Return a pattern with only the fields that a template shows."""
    known: dict[str, Any] = {}
    for name, wanted in pattern.items():
        if name == OR:
            known[name] = [_known(allowed) for allowed in wanted]
        elif name in KNOWN:
            known[name] = _known(wanted) if isinstance(wanted, Mapping) else wanted
    return known


def _changes(job: GraphJob) -> Iterator[Sent]:
    """Yield the events that Glue sends of a job or a crawler, and of the tables it changes."""
    for table in (*job.crawled, *job.changes):
        yield _of_table(table, table.rpartition(".")[2].removesuffix("*"))
    if not job.is_crawler:
        for state, severity in ENDS.items():
            yield _glue(JOB, jobName=job.name, state=state, severity=severity)
        for state in ("STARTING", "RUNNING", "STOPPING"):
            yield _glue(RUN, jobName=job.name, state=state, severity="INFO")
        return
    for state in ("Started", "Succeeded", "Failed"):
        yield _glue(CRAWL, crawlerName=job.name.removeprefix(CRAWLER), state=state)


def _of_table(table: str, name: str) -> Sent:
    return _glue(TABLE, databaseName=table.rpartition(".")[0], tableName=name)


def _glue(detail_type: str, **detail: str) -> Sent:
    event = {"source": "aws.glue", "detail-type": detail_type, "detail": detail}
    return event, f"sends '{detail_type}' {detail.get('state', '')}".rstrip() + "; these"


def _objects(job: GraphJob, pattern: Mapping[str, Any]) -> Iterator[Sent]:
    """Yield the events of objects that a job puts into its folders, whatever their names are."""
    for uri in (*job.writes, *job.kept.values()):
        for bucket, key in _arrivals(uri, pattern):
            if not key.endswith(ANY):
                continue
            text = f"writes {uri}, where objects that arrive"
            yield _object(CREATED, bucket, key, PUT), text
            yield _call("s3", PUT, {"bucketName": bucket, "key": key}), text


def _possible(job: GraphJob, pattern: Mapping[str, Any]) -> Iterator[Sent]:
    """Yield the events that a job or crawler may send: only its script, or a run, shows them."""
    yield from _possible_objects(job, pattern)
    for table in (*job.crawled, *job.changes):
        yield from _possible_of_table(table, pattern)
    crawl, run = {"name": job.name.removeprefix(CRAWLER)}, {"jobName": job.name}
    start = ("StartCrawler", crawl) if job.is_crawler else ("StartJobRun", run)
    for name, parameters in (start, ("NotifyEvent", {})):  # the second one starts its workflow
        yield _call("glue", name, parameters), f"be reported by calls of {name}, which"
    if not job.is_crawler:
        yield from _quality(contextType="GLUE_JOB", jobName=job.name)
        for table in job.changes:
            database, _, name = table.rpartition(".")
            yield from _quality(
                contextType="GLUE_DATA_CATALOG", databaseName=database, tableName=name
            )


def _possible_objects(job: GraphJob, pattern: Mapping[str, Any]) -> Iterator[Sent]:
    for uri in (*job.writes, *job.kept.values()):
        for bucket, key in _arrivals(uri, pattern):
            for reason in (PUT, *MAY_CREATE):
                text = f"write such an object into {uri}, by {reason}; these"
                yield _object(CREATED, bucket, key, reason), text
            deleted = _object(DELETED, bucket, key, "DeleteObject")
            yield deleted, f"delete its output in {uri}; such events"
            for name in MAY_CALL:
                call = _call("s3", name, {"bucketName": bucket, "key": key})
                yield call, f"call {name} in {uri}; such calls"


def _possible_of_table(table: str, pattern: Mapping[str, Any]) -> Iterator[Sent]:
    database, _, name = table.rpartition(".")
    yield _glue(DATABASE, databaseName=database)[0], f"make tables in '{database}'; such events"
    start = name.removesuffix("*")
    names = _samples(start, _wanted(pattern, "tableName")) if name.endswith("*") else {name}
    for one in sorted(names):
        event, _ = _of_table(table, one)
        yield event, f"change the table '{database}.{one}'; such events"
        parameters = {"databaseName": database, "tableName": one, "tableInput": {"name": one}}
        for call in TABLE_CALLS:
            yield (
                _call("glue", call, parameters),
                f"call {call} of '{database}.{one}'; such calls",
            )


def _object(kind: str, bucket: str, key: str, reason: str) -> Event:
    detail = {"bucket": {"name": bucket}, "object": {"key": key}, "reason": reason}
    return {"source": "aws.s3", "detail-type": kind, "detail": detail}


def _call(service: str, called: str, parameters: Mapping[str, object]) -> Event:
    detail = {"eventSource": f"{service}.amazonaws.com", "eventName": called}
    return {
        "source": f"aws.{service}",
        "detail-type": CALL,
        "detail": {**detail, "requestParameters": parameters},
    }


def _quality(**context: str) -> Iterator[Sent]:
    for state in ("SUCCEEDED", "FAILED"):
        detail = {"context": context, "state": state}
        event = {"source": "aws.glue-dataquality", "detail-type": QUALITY, "detail": detail}
        yield event, f"send '{QUALITY}'; these"


def _names_job(pattern: Mapping[str, Any], event: Event) -> bool:
    """Return whether a pattern wants results of just this job, so that it does evaluate rules."""
    context = event["detail"]["context"]
    if "jobName" not in context:
        return False
    others = [{**context, "jobName": ""}, {**context, "jobName": f"{context['jobName']} (other)"}]
    details = [{**event["detail"], "context": context} for context in others]
    return not any(matches(pattern, {**event, "detail": detail}) for detail in details)


def _arrivals(uri: str, pattern: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield buckets and keys of objects in a folder that a pattern may match."""
    bucket, _, folder = uri.partition("://")[2].partition("/")
    for key in sorted(_samples(folder, _wanted(pattern, "key"))):
        yield bucket, key


def _samples(start: str, wanted: set[str]) -> set[str]:
    """Return strings with a start that the pattern's wanted strings may match."""
    samples = {f"{start}x", f"{start}{ANY}"}
    for text in wanted:
        first, _, _ = text.partition("*")
        last = text.rpartition("*")[2]
        samples |= {text, f"{text}x", f"{start}x{text}", f"{start}x{last}", f"{first}x{last}"}
        samples |= {f"{first}{ANY}"}
    return {text for text in samples if text.startswith(start)}


def _wanted(pattern: Mapping[str, Any], field: str) -> set[str]:
    """Return the strings that a pattern has for a field, at any depth."""
    values: set[str] = set()
    for name, wanted in pattern.items():
        if name == field:
            values |= set(_strings(wanted))
        for one in wanted if name == OR else [wanted]:
            if isinstance(one, Mapping):
                values |= _wanted(one, field)
    return values


def _strings(wanted: Any) -> Iterator[str]:
    if isinstance(wanted, str):
        yield wanted
    for one in wanted.values() if isinstance(wanted, Mapping) else ():
        yield from _strings(one)
    for one in wanted if isinstance(wanted, list) else ():
        yield from _strings(one)
