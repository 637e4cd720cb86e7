"""The operations of AWS that this machine answers, and their functions."""

import inspect
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from difflib import get_close_matches
from types import ModuleType
from typing import Any

from tidemark.glue_service import crawlers, jobs, security_configurations, tags, upgrades
from tidemark.glue_service.catalog_api import (
    connections,
    databases,
    partitions,
    table_versions,
    tables,
)
from tidemark.glue_service.catalog_api.requests import check_catalog
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.eventbridge import service as events
from tidemark.glue_service.eventbridge import tags as rule_tags
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.logs import addresses
from tidemark.glue_service.logs import service as logs
from tidemark.glue_service.protocol import pages
from tidemark.glue_service.protocol.models import find_operation
from tidemark.glue_service.protocol.pages import Request
from tidemark.glue_service.protocol.service_errors import ServiceError
from tidemark.glue_service.runs import job_runs
from tidemark.glue_service.sessions import sessions, statements
from tidemark.glue_service.state_machines import executions, machines, redrives
from tidemark.glue_service.workflows import resume, triggers, workflows
from tidemark.model.assembly.intrinsics import ACCOUNT_ID

SINCE = datetime(2020, 1, 1, tzinfo=UTC)  # creation time of every role


def get_caller_identity(_: Mapping[str, str]) -> dict[str, Any]:
    """Return the account of this machine."""
    arn = f"arn:aws:iam::{ACCOUNT_ID}:user/local"
    return {"UserId": "AIDAAAAAAAAAAAAAAAAAA", "Account": ACCOUNT_ID, "Arn": arn}


def get_role(request: Mapping[str, str]) -> dict[str, Any]:
    """Return a role of the given name: jobs here need none, clients need its ARN."""
    name = request["RoleName"]
    role = {
        "Path": "/",
        "RoleName": name,
        "RoleId": "AROAAAAAAAAAAAAAAAAAA",
        "Arn": f"arn:aws:iam::{ACCOUNT_ID}:role/{name}",
        "CreateDate": SINCE,
    }
    return {"Role": role}


Answer = Mapping[str, Any]


def _operations(*modules: ModuleType) -> dict[str, Callable[[Any, Request], Answer]]:
    """Return what answers requests in some modules, by the names of AWS's operations.

    It is every public function that makes an `Answer` of the state and a `request`, such as
    `get_job`. A name that no service of AWS has is refused before it is looked up here.
    """
    return {
        name.title().replace("_", ""): function
        for module in modules
        for name, function in inspect.getmembers(module, inspect.isfunction)
        if function.__module__ == module.__name__ and not name.startswith("_")
        if function.__annotations__.get("return") == pages.Answer
        if function.__code__.co_varnames[1:2] == ("request",)
    }


CATALOG = _operations(connections, databases, partitions, table_versions, tables)
GLUE = CATALOG | _operations(
    *(jobs, triggers, workflows, job_runs, security_configurations, crawlers, upgrades, tags),
    *(resume, sessions, addresses, statements),
)
EVENTS = _operations(events, rule_tags)
STATES = _operations(machines, executions, redrives)
ENGINE_SERVICES = {"glue": GLUE, "events": EVENTS, "states": STATES}
# Their clients ask again after a second: an answer that waits a moment may say the end.
PENDING: Mapping[str, Callable[[Answer], bool]] = {
    "GetSession": sessions.is_pending,
    "GetStatement": statements.is_pending,
}
PATIENCE_S, LOOK_S = 1.0, 0.02
LOGS = _operations(logs)
IDENTITY: Mapping[str, Mapping[str, Callable[[Mapping[str, str]], Answer]]] = {
    "sts": {"GetCallerIdentity": get_caller_identity},
    "iam": {"GetRole": get_role},
}
OPERATIONS = {
    service: tuple(sorted(operations))
    for service, operations in {**ENGINE_SERVICES, "logs": LOGS, **IDENTITY}.items()
}
FEW = 6
_NO_POLICIES = "policies are not evaluated here: any ARN of a role is accepted"
_IDENTITIES: Mapping[tuple[str, ...], str] = {("Role", "User", "Polic"): _NO_POLICIES}
# Words in the names of missing operations of a service -> why, and the alternative.
INSTEAD: Mapping[str, Mapping[tuple[str, ...], str]] = {
    "glue": {
        ("Classifier",): "custom classifiers are on AWS only: define such tables with CreateTable",
        ("Crawler",): "crawlers start by StartCrawler here, not by the clock",
        ("Registr", "Schema"): "schema registries are on AWS only: columns are in tables of the "
        "Data Catalog here",
        ("Policy", "Policies"): _NO_POLICIES,
    },
    "events": {
        ("Archive", "Replay", "Bus"): "there is only the default event bus; others are on AWS only"
    },
    "states": {
        ("Version", "Alias"): "versions and aliases are on AWS only: start the machine itself",
        ("Activit",): "activities are on AWS only: a task that waits for a token may be of SQS",
        ("MapRun",): "distributed maps are on AWS only",
    },
    "iam": _IDENTITIES,
    "sts": _IDENTITIES,
}
_WORD = re.compile("[A-Z][a-z]+|[A-Z]+(?![a-z])")


def unsupported(service: str, operation: str) -> ServiceError:
    """Return the error for an operation that this machine does not answer.

    It names the alternative, or the operations of the service on the same subject.
    """
    code = "UnknownOperationException"
    if find_operation(service, operation) is None:
        return ServiceError(code, f"{service} has no operation {operation!r}")
    instead = INSTEAD.get(service, {}).items()
    why = next((why for words, why in instead if any(word in operation for word in words)), "")
    if not why:
        alike = OPERATIONS[service]
        if len(alike) > FEW:
            same = [name for name in alike if _subject(name) == _subject(operation)]
            alike = tuple(get_close_matches(operation, same, FEW, cutoff=0))
        why = f"it has {', '.join(alike)}" if alike else "no operation here is like it"
    text = f"the local Glue does not have {operation} of {service}; {why}; all that it has: "
    return ServiceError(code, f"{text}docs/reference/local.md")


def _subject(operation: str) -> str:
    """Return the first word after the verb, in the singular: Table of BatchDeleteTables."""
    words = _WORD.findall(operation.removeprefix("Batch"))
    return words[1].removesuffix("s") if len(words) > 1 else operation


def call(engine: Engine, service: str, operation: str, request: Request) -> Answer:
    """Run an operation; return its answer."""
    if service == "logs":
        return LOGS[operation](engine, request)
    if service in IDENTITY:
        return IDENTITY[service][operation](request)

    def answer(glue: GlueState) -> Answer:
        if service == "events":
            events.check_bus(request)
        elif operation in CATALOG:
            check_catalog(glue, request)
        return ENGINE_SERVICES[service][operation](glue, request)

    if service == "states":
        return _call_states(engine, operation, request, answer)
    reply, end_s = engine.ask(answer), time.monotonic() + PATIENCE_S
    while operation in PENDING and PENDING[operation](reply) and time.monotonic() < end_s:
        time.sleep(LOOK_S)
        reply = engine.ask(answer)
    return reply


def _call_states(
    engine: Engine, operation: str, request: Request, answer: Callable[[GlueState], Answer]
) -> Answer:
    live = engine.ask(lambda glue: glue.executions)
    if "definition" in request:
        # The interpreter is imported here, so that the engine waits for no import.
        live.faults(request["definition"], request.get("type", "STANDARD"))
    reply = engine.ask(answer)
    # An execution of EXPRESS ends after five minutes at the latest.
    arn = reply["executionArn"] if operation == "StartSyncExecution" else None
    while arn is not None:
        seen = live.changes.number()
        end = engine.ask(lambda glue: executions.of_sync_execution(glue, arn))
        if end is not None:
            return end
        live.changes.wait(seen, PATIENCE_S)
    return reply
