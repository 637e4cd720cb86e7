"""Where a thread is in an execution: the key of what it records, which is the same after a restart.

The key names the state with its branches and iterations, the visit, and the attempt.
"""

import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidemark.glue_service.state_machines.execution_rows import END, EXPRESS, SECRET, token_of
from tidemark.glue_service.state_machines.formats import MS_PER_S
from tidemark.glue_service.state_machines.live import Changes
from tidemark.glue_service.state_machines.record import CutOffError, Record

LOOK_S = 0.2  # clocks are set, and machines sleep
LOOK_AGAIN_S = 2.0
EXPRESS_S = 300  # an execution of EXPRESS takes five minutes at most
TIMEOUT, HEARTBEAT = "timeout", "heartbeat"


class Tasks(Protocol):
    """What does the work of tasks."""

    def client(self, service: str, *, in_millis: bool) -> Any:
        """Return a client of AWS by botocore's name of a service."""

    def stand_in(self, name: str, given: Any) -> Any:
        """Return the output of a task that runs here in the place of one of AWS, by its state."""

    def stop(self, run: "Run", submitted: Mapping[str, Any]) -> None:
        """End what a task waits for, by the answer of the call that started it."""


class Run:
    """One execution that is interpreted."""

    def __init__(
        self, record: Record, tasks: Tasks, changes: Changes, now_ms: Callable[[], int]
    ) -> None:
        """Prepare to interpret the execution of a record."""
        self.record = record
        self.tasks = tasks
        self.changes = changes
        self.now_ms = now_ms
        self.environment: Any = None  # moto's
        self.last_event: dict[str, Any] = {}
        self.end_ms: int | None = None
        if record.execution.kind == EXPRESS:
            self.set_timeout(EXPRESS_S)

    def set_timeout(self, seconds: int) -> None:
        """Let the execution end after some seconds, as TIMED_OUT."""
        execution = self.record.execution
        end_ms = (execution.redriven_at_ms or execution.started_at_ms) + seconds * MS_PER_S
        self.end_ms = end_ms if self.end_ms is None else min(end_ms, self.end_ms)

    def check(self, environment: Any) -> None:
        """Raise `CutOffError` if a thread has nothing left to do."""
        if self.end_ms is not None and self.now_ms() >= self.end_ms:
            self.environment.set_timed_out()
        if self.record.is_closed or not environment.is_running():
            raise CutOffError

    def pause(self, environment: Any, until_ms: float) -> None:
        """Wait until a time of the home's clock."""
        if until_ms > self.now_ms():
            self.record.write()
        while (left_ms := until_ms - self.now_ms()) > 0:
            self.check(environment)
            seen = self.changes.number()
            self.changes.wait(seen, min(left_ms / MS_PER_S, LOOK_S))
        self.check(environment)


@dataclass
class Place:
    """Where one thread is; a branch or an iteration has a place of its own.

    Attributes:
        path: the states around it, with the index of the branch or iteration of each.
        last_ms: the time of the last event here.
        environment: moto's, of the state that is retried.
        failure: the attempt whose expression failed last, and why.
        at_work: the iterations that have a thread now.
        is_awaited: the task waits for the end of what it starts.
        reply: the answer to the last look at what a task has started.
    """

    run: Run
    path: str = ""
    state: str = ""
    visits: Counter[str] = field(default_factory=Counter)
    attempt: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    events: int = 0
    last_ms: int = 0
    failure: tuple[str, str] = "", ""
    at_work: set[int] = field(default_factory=set)
    environment: Any = None
    is_looking: bool = False
    is_awaited: bool = False
    reply: Any = None

    def enter(self, name: str) -> None:
        """Enter a state."""
        self.visits[name] += 1
        self.state = f"{self.path}{name}#{self.visits[name]}"
        self.attempt = 0
        self.counts.clear()

    def next_attempt(self) -> None:
        """Begin an attempt of the state."""
        self.attempt += 1
        self.counts.clear()

    def step(self, kind: str) -> str:
        """Return the key of a step of this attempt; each kind has its own."""
        return f"{self.state}.{self.attempt}:{kind}"

    def next_step(self, kind: str) -> str:
        """Return the key of the next step of a kind in this attempt."""
        self.counts[kind] += 1
        return self.step(f"{kind}{self.counts[kind]}")

    def token(self) -> str:
        """Return the token of this attempt, which the caller of a task gives back."""
        secret = self.run.record.settle(self.step(SECRET), str(uuid.uuid4()))
        return token_of(self.run.record.execution.arn, f"{self.state}.{self.attempt}", secret)

    def inner(self, index: int) -> "Place":
        """Return the place of a branch or an iteration of the state."""
        return Place(self.run, f"{self.state}.{self.attempt}[{index}]/", last_ms=self.last_ms)

    def seed(self) -> str:
        """Return what chance begins with at the next draw: after a restart, it is the same."""
        execution = self.run.record.execution
        return f"{execution.arn} {execution.started_at_ms} {self.next_step('draw')}"

    def value(self, kind: str, make: Callable[[], Any]) -> Any:
        """Return a value that is made once, such as one of a clock."""
        step = self.next_step(kind)
        known = self.run.record.known(step)
        return self.run.record.settle(step, make()) if known is None else known

    def pause(self, environment: Any, seconds: float) -> None:
        """Wait for some seconds of the home's clock; a restart does not begin again."""
        until_ms = self.value("until", lambda: self.run.now_ms() + seconds * MS_PER_S)
        self.run.pause(environment, until_ms)

    def await_end(
        self,
        environment: Any,
        timeout_s: float | None,
        look: Callable[[], Any],
        heartbeat_s: float | None = None,
    ) -> Any:
        """Wait until a task has its answer, and return it.

        Args:
            environment: moto's, of the task.
            timeout_s: seconds, from the start of the attempt; None without a timeout.
            look: returns the answer once there is one; None before.
            heartbeat_s: the longest time between two heartbeats, in seconds.

        Returns:
            The answer; the text TIMEOUT or HEARTBEAT if the time came first.
        """
        run, step = self.run, self.step(END)
        began_ms = self.value("began", run.now_ms)
        run.record.beats[step] = run.now_ms()
        looked_at, looked_s = -1, 0.0
        while True:
            seen = run.changes.number()
            if (known := run.record.known(step)) in (TIMEOUT, HEARTBEAT):
                return known
            run.check(environment)
            # What ends is noted as a change: without one, a look now and then is enough.
            if seen != looked_at or time.monotonic() >= looked_s + LOOK_AGAIN_S:
                looked_at, looked_s = seen, time.monotonic()
                if (answer := look()) is not None:
                    return answer
            now_ms = run.now_ms()
            if timeout_s is not None and now_ms >= began_ms + timeout_s * MS_PER_S:
                run.record.settle(step, TIMEOUT)
            elif (
                heartbeat_s is not None
                and now_ms >= run.record.beats[step] + heartbeat_s * MS_PER_S
            ):
                run.record.settle(step, HEARTBEAT)
            else:
                run.record.write()
                run.changes.wait(seen, LOOK_S)


class _Here(threading.local):
    place: Place


here = _Here()
