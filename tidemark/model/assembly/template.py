"""Turns the templates of an assembly into definitions: names given, intrinsics resolved."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from tidemark.errors import UnsupportedError, UsageError
from tidemark.model.assembly.catalog_connections import connection_of_request
from tidemark.model.assembly.catalog_databases import database_of_request
from tidemark.model.assembly.catalog_tables import table_of_request
from tidemark.model.assembly.cloud_assembly import Assembly, Stack
from tidemark.model.assembly.definitions import (
    CRAWLER,
    SHELL,
    SPARK,
    STREAMING,
    TIMEOUT_MINUTES,
    WATERMARK_TABLE,
    Action,
    Deployment,
    JobDefinition,
    ScheduleDefinition,
    TableDefinition,
    TriggerCondition,
    TriggerDefinition,
)
from tidemark.model.assembly.glue_versions import RUN_HERE, version_of_job
from tidemark.model.assembly.iceberg import is_of_iceberg
from tidemark.model.assembly.intrinsics import TOPIC, Scope
from tidemark.model.assembly.resources import (
    DYNAMODB_TABLES,
    NAME_PROPERTIES,
    REQUEST_SOURCE,
    STARTS_WORKFLOW,
    stated_name,
)
from tidemark.model.assembly.state_machines import STATE_MACHINE

SSM_PREFIX = (
    "AWS::SSM::Parameter::"  # prefix of parameter types whose default is the name of the value
)
# NotificationProperty only sets when Glue notifies EventBridge: `tidemark run` notifies nobody.
ACTION_PROPERTIES = {"JobName", "Arguments", "Timeout", "NotificationProperty"}
# What only a port has: topics if rules are followed, and machines. Their names are properties.
NAMED_LATER = {TOPIC: "TopicName", STATE_MACHINE: "StateMachineName"}
TABLE_REQUEST_PROPERTIES = tuple(
    "AttributeDefinitions BillingMode GlobalSecondaryIndexes KeySchema "
    "LocalSecondaryIndexes ProvisionedThroughput".split()
)


def read_deployment(assembly: Assembly, region: str) -> Deployment:
    """Resolve every stack and return the resources that run on this machine."""
    outputs: dict[str, str] = {}
    resources: dict[tuple[str, str], dict[str, Any]] = {}
    stack_of_job: dict[str, str] = {}
    schedules: list[ScheduleDefinition] = []
    for stack, scope in resolve_stacks(assembly, region):
        for _, kind, name, properties in stack_resources(stack, scope):
            if (kind, name) in resources:
                problem = f"the assembly defines two {kind} named {name!r}, the second in stack "
                raise UsageError(assembly.with_stage_named(f"{problem}{stack.name}"))
            resources[kind, name] = properties
            if kind == "AWS::Glue::Job":
                stack_of_job[name] = stack.name
        schedules += _schedules(stack, scope)
        for output_id, output in stack.template.get("Outputs", {}).items():
            outputs[output_id] = scope.resolve(output["Value"])
    deployment = replace(
        _deployment(resources, outputs, region),
        stack_of_job=stack_of_job,
        schedules=tuple(schedules),
    )
    if not deployment.jobs and not deployment.streaming_jobs:
        names = ", ".join(stack.name for stack in assembly.stacks) or "none"
        raise UsageError(
            f"the assembly defines no AWS::Glue::Job (stacks: {names}); "
            "add one with pipeline.add_job(...) and synthesize again"
        )
    return deployment


def resolve_stacks(
    assembly: Assembly, region: str, *, may_guess: bool = False
) -> Iterator[tuple[Stack, Scope]]:
    """Yield every stack with the names it sees, those that stacks before it export among them."""
    exports: dict[str, Any] = {}
    for stack in assembly.stacks:
        scope = scope_of(stack, region, exports, may_guess=may_guess)
        yield stack, scope
        for output in stack.template.get("Outputs", {}).values():
            if "Export" in output:
                exports[scope.resolve(output["Export"]["Name"])] = scope.resolve(output["Value"])


def stack_resources(stack: Stack, scope: Scope) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yield logical id, type, physical name and properties of each resource that runs here."""
    for logical_id, resource in stack.template.get("Resources", {}).items():
        kind = resource["Type"]
        if kind in NAME_PROPERTIES and kind != "AWS::IAM::Role":
            properties = scope.resolve(resource.get("Properties", {}))
            name = scope.physical_names[logical_id]
            # The name of a table is unique only in its database.
            database = properties.get("DatabaseName") if kind == "AWS::Glue::Table" else None
            yield logical_id, kind, f"{database}.{name}" if database else name, properties


def scope_of(
    stack: Stack, region: str, exports: dict[str, Any], *, may_guess: bool = False
) -> Scope:
    """Return the values of the intrinsics of a stack; resources get their names here."""
    resources = stack.template.get("Resources", {})
    names = _generated_names(stack.name, resources)
    scope = Scope(
        stack_name=stack.name,
        region=region,
        resource_types={key: value["Type"] for key, value in resources.items()},
        physical_names=names,
        parameters={
            key: value["Default"]
            for key, value in stack.template.get("Parameters", {}).items()
            if "Default" in value and not str(value.get("Type")).startswith(SSM_PREFIX)
        },
        exports=exports,
        may_guess=may_guess,
    )
    for logical_id, resource in resources.items():
        stated = stated_name(resource)
        if naming := NAMED_LATER.get(resource["Type"]):
            stated = resource.get("Properties", {}).get(naming)
        if stated is not None:
            names[logical_id] = scope.resolve(stated)
    return scope


def _generated_names(stack_name: str, resources: Mapping[str, Any]) -> dict[str, str]:
    """Name resources ``<stack>-<logical id without CDK's hash>``, with the hash where needed."""
    names: dict[str, str] = {}
    for logical_id in resources:
        short = re.sub(r"[0-9A-F]{8}$", "", logical_id)
        generated = f"{stack_name}-{short}".lower()
        if generated in names.values():
            generated = f"{stack_name}-{logical_id}".lower()
        names[logical_id] = generated
    return names


def _deployment(
    resources: Mapping[tuple[str, str], dict[str, Any]], outputs: dict[str, str], region: str
) -> Deployment:
    def of(kind: str) -> list[tuple[str, dict[str, Any]]]:
        return [(name, value) for (found, name), value in resources.items() if found == kind]

    return Deployment(
        jobs={
            name: runnable_job(name, p) for name, p in of("AWS::Glue::Job") if not _is_streaming(p)
        },
        streaming_jobs=tuple(name for name, p in of("AWS::Glue::Job") if _is_streaming(p)),
        triggers=tuple(_trigger(name, p) for name, p in of("AWS::Glue::Trigger")),
        workflows=tuple(name for name, _ in of("AWS::Glue::Workflow")),
        tables=tuple(_table(name, p) for kind in DYNAMODB_TABLES for name, p in of(kind)),
        buckets=tuple(name for name, _ in of("AWS::S3::Bucket")),
        outputs=outputs,
        region=region,
        catalog_databases=tuple(
            database_of_request({"DatabaseInput": {"Name": name, **p.get("DatabaseInput", {})}})
            for name, p in of("AWS::Glue::Database")
        ),
        catalog_tables=tuple(
            table_of_request(_table_request(name, p))
            for name, p in of("AWS::Glue::Table")
            if not is_of_iceberg(p)
        ),
        iceberg_tables=tuple(
            _table_request(name, p) for name, p in of("AWS::Glue::Table") if is_of_iceberg(p)
        ),
        catalog_connections=tuple(
            connection_of_request(
                {"ConnectionInput": {"Name": name, **p.get("ConnectionInput", {})}}
            )
            for name, p in of("AWS::Glue::Connection")
        ),
    )


def _schedules(stack: Stack, scope: Scope) -> Iterator[ScheduleDefinition]:
    """Yield what starts workflows on AWS; a schedule of anything else is not for this machine."""
    for resource in stack.template.get("Resources", {}).values():
        properties = resource.get("Properties", {})
        if resource["Type"] != "AWS::Scheduler::Schedule" or properties.get("State") == "DISABLED":
            continue
        target = properties.get("Target", {})
        try:
            request = target.get("EventBridgeParameters", {})
            by_event = scope.resolve(request.get("Source")) == REQUEST_SOURCE
            arn = str(scope.resolve(target.get("Arn")))
            if not (by_event or arn.endswith(STARTS_WORKFLOW)):
                continue
            yield ScheduleDefinition(
                workflow_name=json.loads(scope.resolve(target["Input"]))[
                    "pipeline" if by_event else "Name"
                ],
                expression=scope.resolve(properties["ScheduleExpression"]),
                time_zone=scope.resolve(properties.get("ScheduleExpressionTimezone", "UTC")),
            )
        except (UnsupportedError, ValueError, KeyError):
            continue  # only AWS knows its target, or will refuse it


def job_definition(name: str, properties: Mapping[str, Any]) -> JobDefinition:
    """Return the job that resolved properties of an ``AWS::Glue::Job`` define."""
    arguments = properties.get("DefaultArguments", {})
    table = arguments.get(WATERMARK_TABLE)
    if isinstance(table, str) and ":table/" in table:
        # DynamoDB takes a name as well as an ARN; a table on this machine has only a name.
        arguments = {**arguments, WATERMARK_TABLE: table.rpartition("/")[2]}
    return JobDefinition(
        name=name,
        script_location=properties["Command"]["ScriptLocation"],
        command=properties["Command"].get("Name", SPARK),
        glue_version=version_of_job(properties),
        default_arguments=arguments,
        non_overridable_arguments=properties.get("NonOverridableArguments", {}),
        timeout_minutes=int(properties.get("Timeout", TIMEOUT_MINUTES)),
        max_retries=int(properties.get("MaxRetries", 0)),
        max_concurrent_runs=int(
            properties.get("ExecutionProperty", {}).get("MaxConcurrentRuns", 1)
        ),
    )


def runnable_job(name: str, properties: Mapping[str, Any]) -> JobDefinition:
    """Return the job that resolved properties define."""
    command = {"Name": SPARK, **properties["Command"]}
    if command["Name"] not in (SPARK, SHELL):
        raise UnsupportedError(
            f"job {name} has the command {command['Name']!r}; only '{SPARK}' (Spark) and '{SHELL}' "
            "run locally"
        )
    job = job_definition(name, properties)
    if job.command == SHELL and command.get("PythonVersion") != "3.9":
        raise UnsupportedError(
            f"job {name} has PythonVersion {command.get('PythonVersion')!r}; of Python shell jobs "
            "those of 3.9 run locally"
        )
    if job.command == SPARK and job.glue_version not in RUN_HERE:
        raise UnsupportedError(
            f"job {name} has GlueVersion {job.glue_version}; this machine runs the Spark of "
            f"{' and '.join(RUN_HERE)}"
        )
    return job


def _is_streaming(properties: Mapping[str, Any]) -> bool:
    return bool(properties["Command"]["Name"] == STREAMING)


def _trigger(name: str, properties: Mapping[str, Any]) -> TriggerDefinition:
    predicate = properties.get("Predicate", {})
    for action in properties["Actions"]:
        if unknown := sorted(set(action) - ACTION_PROPERTIES - {"CrawlerName"}):
            raise UnsupportedError(
                f"trigger {name} sets {', '.join(unknown)} for the job {_node(action)}; a "
                f"local trigger knows {', '.join(sorted(ACTION_PROPERTIES))}"
            )
    kind = properties["Type"]
    return TriggerDefinition(
        name=name,
        type=kind,
        actions=tuple(
            Action(
                _node(action),
                action.get("Arguments", {}),
                None if action.get("Timeout") is None else int(action["Timeout"]),
            )
            for action in properties["Actions"]
        ),
        workflow_name=properties.get("WorkflowName"),
        logical=predicate.get("Logical", "AND"),
        conditions=tuple(
            TriggerCondition(_node(condition), condition.get("State") or condition["CrawlState"])
            for condition in predicate.get("Conditions", [])
        ),
        # ON_DEMAND triggers are fired, never activated.
        is_active=kind == "ON_DEMAND" or properties.get("StartOnCreation", False) is True,
    )


def _node(item: Mapping[str, Any]) -> str:
    """Return the job or crawler that an action or a condition names."""
    return CRAWLER + item["CrawlerName"] if "CrawlerName" in item else str(item["JobName"])


def _table(name: str, properties: Mapping[str, Any]) -> TableDefinition:
    request = {key: properties[key] for key in TABLE_REQUEST_PROPERTIES if key in properties}
    return TableDefinition(
        name=name,
        create_request={"TableName": name, **request},
        ttl_attribute=properties.get("TimeToLiveSpecification", {}).get("AttributeName"),
    )


def _table_request(full_name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return what CreateTable is asked for a resource."""
    definition = {"Name": full_name.rpartition(".")[2], **properties.get("TableInput", {})}
    return {**properties, "TableInput": definition}
