"""State machines of a served home, by a client of AWS."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.tidemark.glue_service.conftest import Port
from tests.waiting import wait_until

ROLE = "arn:aws:iam::000000000000:role/anyone"


class States:
    """Short ways to define state machines, and to run them to their end."""

    def __init__(self, port: Port) -> None:
        self.port = port
        # AWS has StartSyncExecution at another host, which a port on loopback has not.
        self.client: Any = port.client("stepfunctions", inject_host_prefix=False)

    def machine(self, name: str, definition: Any, **members: Any) -> str:
        text = definition if isinstance(definition, str) else json.dumps(definition)
        answer = self.client.create_state_machine(
            name=name, definition=text, roleArn=ROLE, **members
        )
        return str(answer["stateMachineArn"])

    def start(self, machine: str, given: Any = None, **members: Any) -> str:
        answer = self.client.start_execution(
            stateMachineArn=machine, input=json.dumps(given or {}), **members
        )
        return str(answer["executionArn"])

    def ended(self, execution: str) -> dict[str, Any]:
        def look() -> dict[str, Any] | None:
            answer: dict[str, Any] = self.client.describe_execution(executionArn=execution)
            return answer if answer["status"] != "RUNNING" else None

        return wait_until(look)

    def run(self, name: str, definition: Any, given: Any = None) -> dict[str, Any]:
        return self.ended(self.start(self.machine(name, definition), given))

    def events(self, execution: str, **members: Any) -> list[dict[str, Any]]:
        pages = self.client.get_paginator("get_execution_history").paginate(
            executionArn=execution, **members
        )
        return [event for page in pages for event in page["events"]]

    def types(self, execution: str) -> list[str]:
        return [event["type"] for event in self.events(execution)]


@pytest.fixture(scope="module")
def states(port: Port) -> States:
    return States(port)


def steps(start: str, **states: Any) -> dict[str, Any]:
    """Return a machine that starts at a state."""
    return {"StartAt": start, "States": states}


def task(resource: str, **members: Any) -> dict[str, Any]:
    """Return a task; it is the last state unless it names a next one."""
    arn = resource if resource.startswith("arn:") else f"arn:aws:states:::{resource}"
    return {"Type": "Task", "Resource": arn, **members, **({} if "Next" in members else END)}


END = {"End": True}
PASS = {"Type": "Pass", **END}
