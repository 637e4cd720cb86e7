"""Reads the graph of jobs and triggers out of synthesized templates."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidemark.checks.graph.duplicate_names import read_names
from tidemark.checks.graph.machines import machine_starts
from tidemark.checks.graph.model import (
    CRAWLER,
    DataContract,
    EventRule,
    Graph,
    GraphCondition,
    GraphJob,
    Retention,
    Timer,
    Trigger,
)
from tidemark.checks.graph.open_secrets import read_open_secrets
from tidemark.checks.graph.table_places import (
    described,
    located,
    made_by_jobs,
    projected,
    registered,
    table_name,
)
from tidemark.model.assembly.definitions import ENABLE, STREAMING
from tidemark.model.assembly.resources import (
    METADATA,
    PIPELINE_TAG,
    REQUEST_SOURCE,
    STARTS_WORKFLOW,
    Templates,
    resources_of,
)
from tidemark.model.assembly.symbolic_names import SymbolicNames, chosen, is_intrinsic

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


def read_graph(templates: Templates) -> Graph:
    """Return the graph of the Glue jobs, triggers and workflows of templates deployed together.

    Resources stand at ``<stack>/<logical id>``. Names that only a deployment knows are replaced by
    strings that are equal if and only if the names will be.
    """
    names = SymbolicNames(templates)
    return Graph(
        jobs=tuple(_job(names, *found) for found in resources_of(templates, "AWS::Glue::Job")),
        crawlers=tuple(
            _crawler(names, *found) for found in resources_of(templates, "AWS::Glue::Crawler")
        ),
        tables=frozenset(
            table_name(names, stack, resource.get("Properties", {}))
            for stack, _, resource in resources_of(templates, "AWS::Glue::Table")
        ).union(made_by_jobs(names, templates)),
        located={table: uri for _, table, uri in located(names, templates)},
        placed=(*described(names, templates), *located(names, templates)),
        parts=(*registered(names, templates), *projected(names, templates)),
        triggers=tuple(
            _trigger(names, stack, id_, properties)
            for stack, id_, resource in resources_of(templates, "AWS::Glue::Trigger")
            # Whom an intrinsic starts only a deployment knows.
            if isinstance(resource.get("Properties", {}).get("Actions"), list)
            and _is_known(properties := chosen(resource["Properties"]))
        ),
        workflows={
            names.own(stack, id_): f"{stack}/{id_}"
            for stack, id_, _ in resources_of(templates, "AWS::Glue::Workflow")
        },
        streamed=frozenset(_streamed(templates)),
        retentions=tuple(_retentions(names, templates)),
        named=tuple(read_names(names, templates)),
        open_secrets=tuple(read_open_secrets(names, templates)),
        timers=tuple(
            _timer(names, stack, id_, resource.get("Properties", {}))
            for stack, id_, resource in resources_of(templates, "AWS::Scheduler::Schedule")
            if _starts_workflow(names, stack, resource.get("Properties", {}).get("Target"))
        ),
        event_rules=tuple(_event_rules(names, templates)),
    )


def _streamed(templates: Templates) -> Iterator[str]:
    """Yield the workflow of each pipeline that has a streaming job."""
    for _, _, resource in resources_of(templates, "AWS::Glue::Job"):
        properties = resource.get("Properties", {})
        command, tags = properties.get("Command"), properties.get("Tags")
        if isinstance(command, Mapping) and command.get("Name") == STREAMING:
            pipeline = tags.get(PIPELINE_TAG) if isinstance(tags, Mapping) else None
            if isinstance(pipeline, str):
                yield pipeline


def _job(names: SymbolicNames, stack: str, id_: str, resource: Mapping[str, Any]) -> GraphJob:
    properties = resource.get("Properties", {})
    known = resource.get("Metadata", {}).get(METADATA, {})
    # The second win over those of a run, and so of a trigger.
    arguments = {
        name: value
        for key in ("DefaultArguments", "NonOverridableArguments")
        for name, value in (properties.get(key) or {}).items()
    }
    concurrent = properties.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1)

    def uris(key: str, flag: str | None = None) -> tuple[str, ...]:
        data = [item for item in known.get(key, []) if flag is None or item.get(flag)]
        return tuple(names.text(stack, item["uri"]) for item in data)

    def contracts(key: str) -> tuple[tuple[str, DataContract], ...]:
        data = [item for item in known.get(key, []) if "schema" in item]
        return tuple((names.text(stack, i["uri"]), DataContract(**i["schema"])) for i in data)

    retries, timeout = properties.get("MaxRetries", 0), properties.get("Timeout")
    return GraphJob(
        at=f"{stack}/{id_}",
        name=names.own(stack, id_),
        has_bookmark=arguments.get("--job-bookmark-option") == ENABLE,
        max_concurrent_runs=_number(concurrent, 1),
        reads=uris("reads"),
        delivered=uris("reads", "delivered"),
        writes=uris("writes"),
        published=uris("writes", "published"),
        declared=str(known.get("name", "")),
        tables=tuple(names.text(stack, table) for table in known.get("tables", [])),
        changes=tuple(names.text(stack, table) for table in known.get("tablesWritten", [])),
        governed=tuple(names.text(stack, table) for table in known.get("tablesGoverned", [])),
        described=tuple(
            names.text(stack, item["table"])
            for item in (*known.get("reads", []), *known.get("writes", []))
            if "table" in item
        ),
        filled=tuple(
            (names.text(stack, item["table"]), names.text(stack, item["uri"]))
            for item in known.get("writes", [])
            if "table" in item
        ),
        kept={
            what: names.text(stack, arguments[name])
            for name, what in KEPT.items()
            if name in arguments
        },
        states=uris("writes", "state"),
        is_incremental=arguments.get("--job-bookmark-option") == ENABLE
        or bool(known.get("watermark")),
        timeout_minutes=timeout if isinstance(timeout, int) else None,
        queues=properties.get("JobRunQueuingEnabled") in (True, "true"),
        is_flex=properties.get("ExecutionClass") == "FLEX",
        max_retries=_number(retries, 0),
        repeats=tuple(
            (names.text(stack, item["uri"]), item["reason"]) for item in known.get("repeats", [])
        ),
        accepts=contracts("reads"),
        allows=contracts("writes"),
        quarantines=uris("writes", "quarantine"),
    )


def _number(value: object, default: int) -> int:
    """Return a number of a template; an intrinsic, and what is none, are left to others."""
    return int(text) if (text := str(value).removesuffix(".0")).isdecimal() else default


def _crawler(names: SymbolicNames, stack: str, id_: str, resource: Mapping[str, Any]) -> GraphJob:
    properties = chosen(resource.get("Properties", {}))
    targets = properties.get("Targets", {})
    known = resource.get("Metadata", {}).get(METADATA, {}).get("reads", [])
    paths = [target["Path"] for target in _listed(targets, "S3Targets") if "Path" in target]
    named = [
        f"{names.text(stack, target.get('DatabaseName', ''))}.{names.text(stack, table)}"
        for target in _listed(targets, "CatalogTargets")
        for table in _listed(target, "Tables")
    ]
    database = names.text(stack, properties.get("DatabaseName", ""))
    prefix = names.text(stack, properties.get("TablePrefix", ""))
    reads = [names.text(stack, path) for path in (*paths, *(item["uri"] for item in known))]
    return GraphJob(
        at=f"{stack}/{id_}",
        name=CRAWLER + names.own(stack, id_),
        reads=tuple(dict.fromkeys(reads)),
        delivered=tuple(names.text(stack, i["uri"]) for i in known if i.get("delivered")),
        crawled=tuple(named) or (f"{database}.{prefix}*",),
    )


def _listed(properties: Mapping[str, Any], key: str) -> list[Any]:
    """Return a list of a template; empty if only a deployment knows it."""
    return value if isinstance(value := properties.get(key), list) else []


def _retentions(names: SymbolicNames, templates: Templates) -> Iterator[Retention]:
    """Yield the optimizers that delete snapshots or files, with AWS's number of days by default."""
    for stack, id_, resource in resources_of(templates, "AWS::Glue::TableOptimizer"):
        properties = resource.get("Properties", {})
        kind = names.text(stack, properties.get("Type"))
        given = properties.get("TableOptimizerConfiguration", {})
        if kind not in KEPT_DAYS or is_intrinsic(given) or not given.get("Enabled"):
            continue
        of_kind, key, default = KEPT_DAYS[kind]
        days = given.get(of_kind, {}).get("IcebergConfiguration", {}).get(key, default)
        parts = (names.text(stack, properties.get(part)) for part in ("DatabaseName", "TableName"))
        if isinstance(days, int):
            yield Retention(f"{stack}/{id_}", ".".join(parts), kind, days)


def _is_known(properties: Mapping[str, Any]) -> bool:
    """Return whether it is known before a deployment what a trigger watches and starts."""
    predicate = properties.get("Predicate", {})
    if not isinstance(properties.get("Actions"), list) or is_intrinsic(predicate):
        return False
    conditions = predicate.get("Conditions", [])
    if not isinstance(conditions, list):
        return False
    states = [condition.get("State") for condition in conditions]
    return not any(map(is_intrinsic, [*properties["Actions"], *conditions, *states]))


def _trigger(names: SymbolicNames, stack: str, id_: str, properties: Mapping[str, Any]) -> Trigger:
    workflow = properties.get("WorkflowName")
    actions: Sequence[Mapping[str, Any]] = properties.get("Actions", [])
    predicate = properties.get("Predicate", {})
    schedule = properties.get("Schedule")
    return Trigger(
        at=f"{stack}/{id_}",
        name=names.own(stack, id_),
        kind=str(properties.get("Type")),
        workflow=None if workflow is None else names.text(stack, workflow),
        starts=tuple(_node(names, stack, action) for action in actions),
        logical=predicate.get("Logical"),
        conditions=tuple(
            _condition(names, stack, condition) for condition in predicate.get("Conditions", [])
        ),
        is_active=properties.get("StartOnCreation") is True,
        schedule="" if isinstance(schedule, Mapping) else schedule,
        batch=(
            (batch.get("BatchSize"), batch.get("BatchWindow"))
            if (batch := properties.get("EventBatchingCondition"))
            else None
        ),
    )


def _event_rules(names: SymbolicNames, templates: Templates) -> Iterator[EventRule]:
    """Yield the rules of EventBridge that send events to workflows, also over a state machine."""
    machines = dict(machine_starts(names, templates))
    for stack, id_, resource in resources_of(templates, "AWS::Events::Rule"):
        properties = resource.get("Properties", {})
        for target in properties.get("Targets", []):
            arn = names.text(stack, target.get("Arn", "")) if isinstance(target, Mapping) else ""
            _, glue, workflow = arn.partition(":workflow/")
            workflows = [(workflow, "")] if glue and ":glue:" in arn else []
            workflows += [(started, arn) for started in machines.get(arn, ())]
            given = properties.get("EventPattern")
            pattern = _resolved(names, stack, given) if isinstance(given, Mapping) else {}
            is_on = properties.get("State") != "DISABLED"
            for name, machine in workflows:
                folders = tuple(_arrivals(names, stack, given))
                yield EventRule(f"{stack}/{id_}", name, folders, pattern, is_on, machine)


def _resolved(names: SymbolicNames, stack: str, value: Any) -> Any:
    """Return a pattern with its references as strings, so that names can be compared."""
    if isinstance(value, list):
        return [_resolved(names, stack, part) for part in value]
    if not isinstance(value, Mapping):
        return value
    if is_intrinsic(value):
        return names.text(stack, value)
    return {key: _resolved(names, stack, one) for key, one in value.items()}


def _arrivals(names: SymbolicNames, stack: str, pattern: Any) -> Iterator[str]:
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
                        yield f"s3://{names.text(stack, bucket)}/{key['prefix']}"


def _starts_workflow(names: SymbolicNames, stack: str, target: object) -> bool:
    if not isinstance(target, Mapping):
        return False
    request = target.get("EventBridgeParameters")
    if isinstance(request, Mapping):
        return request.get("Source") == REQUEST_SOURCE
    return names.text(stack, target.get("Arn")).endswith(STARTS_WORKFLOW)


def _timer(names: SymbolicNames, stack: str, id_: str, properties: Mapping[str, Any]) -> Timer:
    try:
        request = json.loads(names.text(stack, properties["Target"].get("Input")))
        named = "pipeline" if "EventBridgeParameters" in properties["Target"] else "Name"
        workflow = request.get(named) if isinstance(request, Mapping) else None
    except ValueError:
        workflow = None
    expression = properties.get("ScheduleExpression", "")
    zone = properties.get("ScheduleExpressionTimezone", "UTC")
    is_known = isinstance(expression, str) and isinstance(zone, str)
    return Timer(f"{stack}/{id_}", workflow, *((expression, zone) if is_known else ("",)))


def _condition(names: SymbolicNames, stack: str, condition: Mapping[str, Any]) -> GraphCondition:
    state = condition.get("CrawlState" if "CrawlerName" in condition else "State", "")
    return GraphCondition(_node(names, stack, condition), state, "LogicalOperator" in condition)


def _node(names: SymbolicNames, stack: str, item: Mapping[str, Any]) -> str:
    """Return the job or crawler that an action or a condition names."""
    if "CrawlerName" in item:
        return CRAWLER + names.text(stack, item["CrawlerName"])
    return names.text(stack, item.get("JobName", ""))
