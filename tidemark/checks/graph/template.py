"""Reads the graph of jobs and triggers out of synthesized templates."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidemark.checks.graph import model
from tidemark.checks.graph import table_places as places
from tidemark.checks.graph.duplicate_names import read_names
from tidemark.checks.graph.machines import machine_starts
from tidemark.checks.graph.open_secrets import read_open_secrets
from tidemark.checks.graph.resources import Resource, Resources
from tidemark.model.assembly.definitions import ENABLE, STREAMING
from tidemark.model.assembly.resources import (
    PIPELINE_TAG,
    REQUEST_SOURCE,
    STARTS_WORKFLOW,
    Templates,
)
from tidemark.model.assembly.symbolic_names import chosen, is_intrinsic

# Arguments that name a folder of Glue's own files, and the parameter that sets it.
KEPT = {
    "--TempDir": "temp",
    "--spark-event-logs-path": "spark_ui",
    "--python-virtual-env-storage-prefix": "python_virtual_env_cache",
}
# What deletes files of a table of Iceberg: where its days stand, and AWS's default.
# Source: https://docs.aws.amazon.com/glue/latest/dg/table-optimizers.html
KEPT_DAYS = {
    "retention": ("RetentionConfiguration", "SnapshotRetentionPeriodInDays", 5),
    "orphan_file_deletion": (
        "OrphanFileDeletionConfiguration",
        "OrphanFileRetentionPeriodInDays",
        3,
    ),
}


def read_graph(templates: Templates) -> model.Graph:
    """Return the graph of the Glue jobs, triggers and workflows of templates deployed together.

    Resources stand at ``<stack>/<logical id>``. Names that only a deployment knows are replaced by
    strings that are equal if and only if the names will be.
    """
    resources = Resources(templates)
    tables = map(places.table_name, resources.of("AWS::Glue::Table"))
    located = list(places.located(resources))
    return model.Graph(
        jobs=tuple(map(_job, resources.of("AWS::Glue::Job"))),
        crawlers=tuple(map(_crawler, resources.of("AWS::Glue::Crawler"))),
        tables=frozenset(tables).union(places.made_by_jobs(resources)),
        located={table: uri for _, table, uri in located},
        placed=(*places.described(resources), *located),
        parts=(*places.registered(resources), *places.projected(resources)),
        triggers=tuple(
            _trigger(trigger, properties)
            for trigger in resources.of("AWS::Glue::Trigger")
            # Whom an intrinsic starts only a deployment knows.
            if isinstance(trigger.properties.get("Actions"), list)
            and _is_known(properties := chosen(trigger.properties))
        ),
        workflows={of.name: of.at for of in resources.of("AWS::Glue::Workflow")},
        streamed=frozenset(_streamed(resources)),
        retentions=tuple(_retentions(resources)),
        named=tuple(read_names(resources)),
        open_secrets=tuple(read_open_secrets(resources)),
        timers=tuple(
            _timer(schedule)
            for schedule in resources.of("AWS::Scheduler::Schedule")
            if _starts_workflow(schedule)
        ),
        event_rules=tuple(_event_rules(resources)),
    )


def _streamed(resources: Resources) -> Iterator[str]:
    """Yield the workflow of each pipeline that has a streaming job."""
    for job in resources.of("AWS::Glue::Job"):
        match job.properties:
            case {"Command": {"Name": name}, "Tags": {**tags}} if name == STREAMING:
                if isinstance(pipeline := tags.get(PIPELINE_TAG), str):
                    yield pipeline


def _job(job: Resource) -> model.GraphJob:
    properties, known, text = job.properties, job.known, job.text
    reads, writes = known.get("reads", []), known.get("writes", [])
    with_table = [item for item in writes if "table" in item]
    # The second win over those of a run, and so of a trigger.
    arguments = {
        name: value
        for key in ("DefaultArguments", "NonOverridableArguments")
        for name, value in (properties.get(key) or {}).items()
    }
    has_bookmark = arguments.get("--job-bookmark-option") == ENABLE
    concurrent = properties.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1)
    timeout = properties.get("Timeout")

    def names(key: str) -> tuple[str, ...]:
        return tuple(map(text, known.get(key, [])))

    def uris(data: Sequence[Mapping[str, Any]], flag: str = "uri") -> tuple[str, ...]:
        return tuple(text(item["uri"]) for item in data if item.get(flag))

    def contracts(data: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, model.DataContract], ...]:
        held = [item for item in data if "schema" in item]
        return tuple((text(item["uri"]), model.DataContract(**item["schema"])) for item in held)

    return model.GraphJob(
        at=job.at,
        name=job.name,
        has_bookmark=has_bookmark,
        max_concurrent_runs=_number(concurrent, 1),
        reads=uris(reads),
        delivered=uris(reads, "delivered"),
        writes=uris(writes),
        published=uris(writes, "published"),
        declared=str(known.get("name", "")),
        tables=names("tables"),
        changes=names("tablesWritten"),
        governed=names("tablesGoverned"),
        described=tuple(text(item["table"]) for item in (*reads, *writes) if "table" in item),
        filled=tuple((text(item["table"]), text(item["uri"])) for item in with_table),
        kept={what: text(arguments[name]) for name, what in KEPT.items() if name in arguments},
        states=uris(writes, "state"),
        is_incremental=has_bookmark or bool(known.get("watermark")),
        timeout_minutes=timeout if isinstance(timeout, int) else None,
        queues=properties.get("JobRunQueuingEnabled") in (True, "true"),
        is_flex=properties.get("ExecutionClass") == "FLEX",
        max_retries=_number(properties.get("MaxRetries", 0), 0),
        repeats=tuple((text(item["uri"]), item["reason"]) for item in known.get("repeats", [])),
        accepts=contracts(reads),
        allows=contracts(writes),
        quarantines=uris(writes, "quarantine"),
    )


def _number(value: object, default: int) -> int:
    """Return a number of a template; an intrinsic, and what is none, are left to others."""
    return int(text) if (text := str(value).removesuffix(".0")).isdecimal() else default


def _crawler(crawler: Resource) -> model.GraphJob:
    properties, text = chosen(crawler.properties), crawler.text
    targets = properties.get("Targets", {})
    known = crawler.known.get("reads", [])
    paths = [target["Path"] for target in _listed(targets, "S3Targets") if "Path" in target]
    named = [
        f"{text(target.get('DatabaseName', ''))}.{text(table)}"
        for target in _listed(targets, "CatalogTargets")
        for table in _listed(target, "Tables")
    ]
    database, prefix = (text(properties.get(key, "")) for key in ("DatabaseName", "TablePrefix"))
    return model.GraphJob(
        at=crawler.at,
        name=model.CRAWLER + crawler.name,
        reads=tuple(dict.fromkeys(map(text, (*paths, *(item["uri"] for item in known))))),
        delivered=tuple(text(item["uri"]) for item in known if item.get("delivered")),
        crawled=tuple(named) or (f"{database}.{prefix}*",),
    )


def _listed(properties: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list of a template; empty if only a deployment knows it."""
    return value if isinstance(value := properties.get(key), list) else []


def _retentions(resources: Resources) -> Iterator[model.Retention]:
    """Yield the optimizers that delete snapshots or files, with AWS's number of days by default."""
    for optimizer in resources.of("AWS::Glue::TableOptimizer"):
        properties, text = optimizer.properties, optimizer.text
        kind = text(properties.get("Type"))
        given = properties.get("TableOptimizerConfiguration", {})
        if kind not in KEPT_DAYS or is_intrinsic(given) or not given.get("Enabled"):
            continue
        of_kind, key, default = KEPT_DAYS[kind]
        days = given.get(of_kind, {}).get("IcebergConfiguration", {}).get(key, default)
        parts = (text(properties.get(part)) for part in ("DatabaseName", "TableName"))
        if isinstance(days, int):
            yield model.Retention(optimizer.at, ".".join(parts), kind, days)


def _is_known(properties: Mapping[str, Any]) -> bool:
    """Return whether it is known before a deployment what a trigger watches and starts."""
    predicate = properties.get("Predicate", {})
    conditions = () if is_intrinsic(predicate) else predicate.get("Conditions", [])
    if not isinstance(conditions, list):
        return False
    states = [condition.get("State") for condition in conditions]
    return not any(map(is_intrinsic, [*properties["Actions"], *conditions, *states]))


def _trigger(trigger: Resource, properties: Mapping[str, Any]) -> model.Trigger:
    workflow, schedule = properties.get("WorkflowName"), properties.get("Schedule")
    predicate = properties.get("Predicate", {})
    batch = properties.get("EventBatchingCondition")
    conditions = tuple(
        model.GraphCondition(
            _node(trigger, watched),
            watched.get("CrawlState" if "CrawlerName" in watched else "State", ""),
            "LogicalOperator" in watched,
        )
        for watched in predicate.get("Conditions", [])
    )
    return model.Trigger(
        at=trigger.at,
        name=trigger.name,
        kind=str(properties.get("Type")),
        workflow=None if workflow is None else trigger.text(workflow),
        starts=tuple(_node(trigger, action) for action in properties.get("Actions", [])),
        logical=predicate.get("Logical"),
        conditions=conditions,
        is_active=properties.get("StartOnCreation") is True,
        schedule="" if isinstance(schedule, Mapping) else schedule,
        batch=(batch.get("BatchSize"), batch.get("BatchWindow")) if batch else None,
    )


def _event_rules(resources: Resources) -> Iterator[model.EventRule]:
    """Yield the rules of EventBridge that send events to workflows and to state machines."""
    machines = dict(machine_starts(resources))
    for rule in resources.of("AWS::Events::Rule"):
        given = rule.properties.get("EventPattern")
        folders = tuple(_arrivals(rule, given))
        pattern = _resolved(rule, given) if isinstance(given, Mapping) else {}
        is_on = rule.properties.get("State") != "DISABLED"
        for target in rule.properties.get("Targets", []):
            arn = rule.text(target.get("Arn", "")) if isinstance(target, Mapping) else ""
            _, glue, workflow = arn.partition(":workflow/")
            if glue and ":glue:" in arn:
                yield model.EventRule(rule.at, workflow, folders, pattern, is_on)
            if arn not in machines:
                continue
            for started in machines[arn].workflows:
                yield model.EventRule(rule.at, started, folders, pattern, is_on, arn)
            if jobs := machines[arn].jobs:
                yield model.EventRule(rule.at, "", folders, pattern, is_on, arn, jobs)


def _resolved(rule: Resource, value: Any) -> Any:
    """Return a pattern with its references as strings, so that names can be compared."""
    if isinstance(value, list):
        return [_resolved(rule, part) for part in value]
    if not isinstance(value, Mapping):
        return value
    if is_intrinsic(value):
        return rule.text(value)
    return {key: _resolved(rule, part) for key, part in value.items()}


def _arrivals(rule: Resource, pattern: Any) -> Iterator[str]:
    """Yield the URIs below which an object that arrives matches a pattern of S3's events."""
    match pattern:
        case {
            "source": ["aws.s3"],
            "detail": {"bucket": {"name": list(buckets)}, "object": {"key": list(keys)}} as detail,
        } if "Object Created" in pattern.get("detail-type", ["Object Created"]) and (
            "reason" not in detail
        ):
            for bucket in buckets:
                for key in keys:
                    if isinstance(key, Mapping) and isinstance(key.get("prefix"), str):
                        yield f"s3://{rule.text(bucket)}/{key['prefix']}"


def _starts_workflow(schedule: Resource) -> bool:
    match schedule.properties.get("Target"):
        case {"EventBridgeParameters": {**request}}:
            return request.get("Source") == REQUEST_SOURCE
        case {**target}:
            return schedule.text(target.get("Arn")).endswith(STARTS_WORKFLOW)
    return False


def _timer(schedule: Resource) -> model.Timer:
    properties = schedule.properties
    try:
        request = json.loads(schedule.text(properties["Target"].get("Input")))
        named = "pipeline" if "EventBridgeParameters" in properties["Target"] else "Name"
        workflow = request.get(named) if isinstance(request, Mapping) else None
    except ValueError:
        workflow = None
    expression = properties.get("ScheduleExpression", "")
    zone = properties.get("ScheduleExpressionTimezone", "UTC")
    is_known = isinstance(expression, str) and isinstance(zone, str)
    return model.Timer(schedule.at, workflow, *((expression, zone) if is_known else ("",)))


def _node(trigger: Resource, item: Mapping[str, Any]) -> str:
    """Return the job or crawler that an action or a condition names."""
    if "CrawlerName" in item:
        return model.CRAWLER + trigger.text(item["CrawlerName"])
    return trigger.text(item.get("JobName", ""))
