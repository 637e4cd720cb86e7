"""The executions that are interpreted now, and how their threads learn that something changed."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

from tidemark.errors import TidemarkError
from tidemark.glue_service.protocol.service_errors import ServiceError

if TYPE_CHECKING:
    from tidemark.glue_service.state_machines.values import Fault

CHECKING = "tidemark.glue_service.state_machines.checking"  # by name: it knows all operations


class Changes:
    """Wakes threads that wait for something to change."""

    def __init__(self) -> None:
        """Start without a change."""
        self._condition = threading.Condition()
        self._number = 0

    def number(self) -> int:
        """Return how many changes there were."""
        return self._number

    def note(self) -> None:
        """Wake those that wait: a run or an execution has ended, or a token came back."""
        with self._condition:
            self._number += 1
            self._condition.notify_all()

    def wait(self, seen: int, seconds: float) -> None:
        """Wait until there was a change after number ``seen``, or for some seconds."""
        with self._condition:
            self._condition.wait_for(lambda: self._number != seen, seconds)


class LiveRecord(Protocol):
    """The record of an execution that is interpreted."""

    is_closed: bool
    beats: dict[str, int]

    def learn(self, step: str, answer: Any) -> None:
        """Take an answer that another thread has recorded."""


class Begins(Protocol):
    """What has threads for executions."""

    def begin_executions(self) -> None:
        """Start a thread for each execution that has none."""


class LiveExecutions:
    """The executions that have a thread, by ARN.

    Attributes:
        begin: makes threads for the executions that have none; returns at once.
        since_ms: when an execution begins at the earliest that has a thread here.
        stand_ins: functions in the place of tasks, by the name of their state.
    """

    def __init__(self, stand_ins: Mapping[str, str] | None = None, since_ms: int = 0) -> None:
        """Start without executions; some tasks call functions of this machine instead.

        Executions that are older than ``since_ms``, in epoch milliseconds, are left alone.
        """
        self.since_ms = since_ms
        self.begin: Callable[[], None] = lambda: None
        self.stand_ins = stand_ins or {}
        self.changes = Changes()
        self.records: dict[str, LiveRecord] = {}

    def faults(self, definition: str, kind: str) -> "list[Fault]":
        """Return what is wrong with a definition of a state machine of a type."""
        faults: list[Fault] = import_module(CHECKING).check(definition, kind, self.stand_ins)
        return faults

    def check(self, definition: str, kind: str) -> None:
        """Raise Step Functions' InvalidDefinition for a definition that has a fault."""
        if faults := self.faults(definition, kind):
            text = f"Invalid State Machine Definition: '{', '.join(map(str, faults))}'"
            raise ServiceError("InvalidDefinition", text)

    def close(self, arn: str) -> None:
        """End the interpretation of an execution."""
        if record := self.records.get(arn):
            record.is_closed = True
        self.changes.note()

    def close_all(self) -> None:
        """End the interpretation of all of them, because the port ends."""
        for arn in list(self.records):
            self.close(arn)


def begin_in_background(application: Callable[[], Begins]) -> None:
    """Begin what executions of state machines have to do, without waiting for it."""

    def begin() -> None:
        with suppress(TidemarkError):  # the engine ends: the next one goes on
            application().begin_executions()

    threading.Thread(target=begin, name="executions", daemon=True).start()
