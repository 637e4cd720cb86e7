"""Defines the content of an assembly on the port, like a deployment of its stacks on AWS."""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.commands import App, deploy, load_app, region
from tidemark.glue_service.engine import load
from tidemark.glue_service.entities import (
    Entity,
    EntityKind,
    delete_entity,
    find_entity,
    list_entities,
    put_entity,
)
from tidemark.glue_service.eventbridge.rules import not_local
from tidemark.glue_service.eventbridge.schedules import is_enabled, why_not_here
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.models import as_shape
from tidemark.glue_service.runs.crawls import KEY, SCRIPT
from tidemark.glue_service.state_machines.machines import check_name
from tidemark.glue_service.state_machines.values import ON_AWS_ONLY
from tidemark.glue_service.submission import put_script
from tidemark.glue_service.upgrades import with_upgrade
from tidemark.glue_service.workflows.trigger_forms import initial_state
from tidemark.local_state.deployment.deployed_apps import record_app, replace_deployed_jobs
from tidemark.local_state.deployment.project_files import with_submitted_files
from tidemark.local_state.dynamodb import have_tables
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.local_state.watermark_tables import imported_tables
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.model.assembly.definitions import SPARK, Deployment
from tidemark.model.assembly.glue_shapes import request_of
from tidemark.model.assembly.glue_versions import version_of_job
from tidemark.model.assembly.intrinsics import TOPIC
from tidemark.model.assembly.state_machines import STATE_MACHINE, machine_request, tags_of_list
from tidemark.model.assembly.template import resolve_stacks, stack_resources
from tidemark.model.messages import plural

Definition = tuple[str, EntityKind, str, dict[str, Any]]  # of a stack: kind, name and properties
KINDS = {
    "AWS::Glue::Job": EntityKind.JOB,
    "AWS::Glue::Trigger": EntityKind.TRIGGER,
    "AWS::Glue::Workflow": EntityKind.WORKFLOW,
}
REQUESTS = {
    EntityKind.JOB: "CreateJobRequest",
    EntityKind.TRIGGER: "CreateTriggerRequest",
    EntityKind.WORKFLOW: "CreateWorkflowRequest",
}
CRAWLER, SCHEDULE = "AWS::Glue::Crawler", "AWS::Scheduler::Schedule"
EVENT_TYPES = {
    "AWS::Events::Rule": (EntityKind.RULE, "Name"),
    TOPIC: (EntityKind.TOPIC, "TopicName"),
    STATE_MACHINE: (EntityKind.STATE_MACHINE, "StateMachineName"),
    CRAWLER: (EntityKind.CRAWLER, "Name"),
    SCHEDULE: (EntityKind.SCHEDULE, "Name"),
}
STACK_TAG = "aws:cloudformation:stack-name"
SEPARATE_MEMBERS = ("Name", "Tags", "StartOnCreation")


def deploy_on_port(glue: GlueState, folder: Path) -> str:
    """Define an assembly's content, delete what its stacks dropped; return a summary line."""
    machine = glue.machine
    app = load_app(folder)
    deployment = prepare(app, machine.home, machine.dynamodb_endpoint)
    every = _all_definitions(app.assembly, machine.region)
    definitions, left_out = machines_here(glue, every)
    if refused := [str(machine) for machine in left_out if not machine.is_on_aws]:
        raise UsageError("; ".join(refused))
    _define_all(glue, deployment, definitions, app)
    numbers = Counter(kind for _, kind, *_ in definitions)
    counts = ", ".join(
        plural(numbers[kind], kind.value) for kind in (*KINDS.values(), EntityKind.RULE)
    )
    if machines := numbers[EntityKind.STATE_MACHINE]:
        counts += f", {plural(machines, 'state machine')}"
    rules = [rule for rule in list_entities(glue.store, EntityKind.RULE) if STACK_TAG in rule.tags]
    has_topics = glue.topics is not None and glue.topics.missing_package() is None
    schedules = [
        f"schedule {name} ({why})"
        for _, kind, name, properties in definitions
        if kind == EntityKind.SCHEDULE
        and is_enabled(properties)
        and (why := why_not_here(properties))
    ]
    away = "; ".join([*not_local(rules, has_topics=has_topics), *schedules, *map(str, left_out)])
    return f"{folder} is deployed: {counts}" + (f"; not on this machine: {away}" if away else "")


def prepare(app: App, home: Home, dynamodb_endpoint: str) -> Deployment:
    """Create buckets, tables and the Data Catalog of an app, and publish its files."""
    deployment = with_submitted_files(deploy(app, home), app.folder, home)
    have_tables(home, dynamodb_endpoint, [*deployment.tables, *imported_tables(deployment)])
    return deployment


def versions_of_runs(app: App, home: Home) -> set[str]:
    """Return the versions of Glue that runs of an app's Spark jobs have once it is in a home.

    A job that is changed to `auto` keeps the one that it has there.
    """
    versions = set()
    with ExitStack() as stack:
        # A home without a database has no jobs, and gets none before a run starts.
        store = stack.enter_context(Store(home.database)) if home.database.is_file() else None
        for _, kind, name, properties in _definitions(app.assembly, region()):
            job = app.deployment.jobs.get(name) if kind == EntityKind.JOB else None
            if job is not None and job.command == SPARK:
                old = find_entity(store, kind, name) if store else None
                definition = with_upgrade(properties, old.definition if old else None)
                versions.add(version_of_job(definition))
    return versions


def define(glue: GlueState, app: App, deployment: Deployment) -> tuple[list[str], list["LeftOut"]]:
    """Define the content of a prepared app; return deleted jobs, and machines left out."""
    # A run of a workflow needs no machine: those that cannot run here are left out.
    wanted, left_out = machines_here(glue, _all_definitions(app.assembly, glue.machine.region))
    return _define_all(glue, deployment, wanted, app), left_out


class LeftOut(NamedTuple):
    """A state machine that this machine does not have, and why; AWS may take it all the same."""

    name: str
    why: str
    is_on_aws: bool

    def __str__(self) -> str:
        return f"the state machine {self.name} cannot be deployed: {self.why}"


def machines_here(
    glue: GlueState, definitions: list[Definition]
) -> tuple[list[Definition], list[LeftOut]]:
    """Return definitions with state machines in the form of requests, and those left out."""
    wanted: list[Definition] = []
    left_out: list[LeftOut] = []
    for stack, kind, name, properties in definitions:
        if kind == EntityKind.STATE_MACHINE:
            try:
                check_name(name)
                request = machine_request(properties, partial(_text_of_object, glue.machine.home))
                request["Tags"] = tags_of_list(properties.get("Tags"))
            except TidemarkError as error:
                left_out.append(LeftOut(name, str(error), is_on_aws=False))
                continue
            if faults := glue.executions.faults(request["definition"], request["type"]):
                is_on_aws = all(fault.code == ON_AWS_ONLY for fault in faults)
                why = "; ".join(fault.text for fault in faults)
                left_out.append(LeftOut(name, why, is_on_aws))
                continue
            properties = request
        wanted.append((stack, kind, name, properties))
    return wanted, left_out


def _text_of_object(home: Home, bucket: str, key: str) -> str:
    try:
        return home.existing_path(f"s3://{bucket}/{key}").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError, TidemarkError) as error:
        raise UsageError(
            f"its DefinitionS3Location s3://{bucket}/{key} cannot be read as UTF-8 "
            f"({error}); put the definition there first"
        ) from error


def _define_all(
    glue: GlueState, deployment: Deployment, definitions: list[Definition], app: App
) -> list[str]:
    now_ms = glue.now_ms()
    with glue.store.transaction():
        deleted = replace_deployed_jobs(glue.store, deployment.stack_of_job)
        _delete_dropped(glue, definitions)
        for definition in definitions:
            _define(glue, definition, now_ms)
    load(glue)
    glue.machine.submitted_files.update(
        {name: job.submitted_file for name, job in deployment.jobs.items() if job.submitted_file}
    )
    names = tuple(f"{kind.value}/{name}" for _, kind, name, _ in definitions if kind in REQUESTS)
    record_app(glue.machine.home, replace(app.origin, names=names, deployed_at_ms=now_ms))
    return deleted


def _define(glue: GlueState, deployed: Definition, now_ms: int) -> None:
    stack, kind, name, properties = deployed
    old = find_entity(glue.store, kind, name)
    if kind == EntityKind.RULE and old is not None and STACK_TAG not in old.tags:
        raise UsageError(
            f"there is a rule {name} that no deployment has made, which the one of {stack} would "
            "replace with its targets; delete it (aws events remove-targets, delete-rule), or "
            "rename the one of the app, as CloudFormation asks for"
        )
    request = as_shape(REQUESTS[kind], properties) if kind in REQUESTS else properties
    if kind == EntityKind.CRAWLER:  # what its crawl cannot do is said at its start
        request = {**request_of(CRAWLER, properties), "Schedule": ""}
        put_script(glue.machine.home, KEY, SCRIPT)
    definition = {key: value for key, value in request.items() if key not in SEPARATE_MEMBERS}
    if kind == EntityKind.JOB:
        definition = with_upgrade(definition, old.definition if old else None)
    if kind == EntityKind.TRIGGER:
        definition["State"] = initial_state(request)
    stated = properties.get("Tags", {})
    tags = {**(stated if isinstance(stated, dict) else {}), STACK_TAG: stack}
    if old and (old.definition, old.tags) == (definition, tags):
        return
    created_at_ms = old.created_at_ms if old else now_ms
    put_entity(glue.store, Entity(kind, name, definition, tags, created_at_ms, now_ms))


def _delete_dropped(glue: GlueState, definitions: list[Definition]) -> None:
    stacks = {stack for stack, *_ in definitions}
    names = {(kind, name) for _, kind, name, _ in definitions}
    for kind in EntityKind:
        for entity in list_entities(glue.store, kind):
            if entity.tags.get(STACK_TAG) in stacks:
                is_dropped = (kind, entity.name) not in names
            else:
                # Stages give their workflows the same names; in one home the last deployed one has
                # the name, and the triggers of the others go.
                workflow = EntityKind.WORKFLOW, entity.definition.get("WorkflowName", "")
                is_deployed_trigger = kind == EntityKind.TRIGGER and STACK_TAG in entity.tags
                is_dropped = is_deployed_trigger and workflow in names
            if is_dropped:
                delete_entity(glue.store, kind, entity.name)


def _all_definitions(assembly: Assembly, region: str) -> list[Definition]:
    """Return also the rules of EventBridge, and topics; values known only to AWS are in braces."""
    definitions = list(_definitions(assembly, region))
    for stack, scope in resolve_stacks(assembly, region, may_guess=True):
        for id_, resource in stack.template.get("Resources", {}).items():
            if resource["Type"] in EVENT_TYPES:
                kind, naming = EVENT_TYPES[resource["Type"]]
                properties = scope.resolve(resource.get("Properties", {}))
                name = properties.get(naming) or scope.physical_names[id_]
                if kind == EntityKind.SCHEDULE:
                    name = f"{properties.get('GroupName', 'default')}/{name}"
                definitions.append((stack.name, kind, name, properties))
    return definitions


def _definitions(assembly: Assembly, region: str) -> Iterator[Definition]:
    for stack, scope in resolve_stacks(assembly, region):
        for _, kind, name, properties in stack_resources(stack, scope):
            if kind in KINDS:
                yield stack.name, KINDS[kind], name, properties
