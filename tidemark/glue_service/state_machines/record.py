"""What an execution has done: the answers of its steps and its events, each recorded once.

After a restart an execution is interpreted again from its input. What is recorded answers, until it
reaches what has no answer yet.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.state_machines.execution_rows import (
    RUNNING,
    Execution,
    add_event,
    answer_of,
    answers_of,
    events_of,
    find_execution,
    put_event,
    put_execution,
    settle,
)
from tidemark.glue_service.state_machines.executions import stop_children

SERVER = 500


class CutOffError(BaseException):
    """An execution is interpreted no further: it was stopped, or the port ends.

    It is no `Exception`: the interpreter takes those for failures of a state.
    """


class Record:
    """The record of one execution; used by the threads that interpret it."""

    def __init__(self, engine: Engine, execution: Execution) -> None:
        """Read what earlier interpretations have recorded."""
        self.execution = execution
        self._engine = engine
        self._lock = threading.Lock()
        arn = execution.arn
        self._answers, events = engine.ask(
            lambda glue: (answers_of(glue.store, arn), events_of(glue.store, arn))
        )
        self._events: dict[str, tuple[int, Mapping[str, Any]]] = {
            step: (number, event) for number, step, event in events
        }
        self._last_number = len(events)
        self._unwritten: list[tuple[int, str, Mapping[str, Any]]] = []
        self.beats: dict[str, int] = {}  # epoch milliseconds of the last heartbeat, by step
        self.is_closed = False

    def known(self, step: str) -> Any:
        """Return the answer of a step; None if it has none yet."""
        return self._answers.get(step)

    def learn(self, step: str, answer: Any) -> None:
        """Take an answer that another thread has recorded."""
        with self._lock:
            self._answers.setdefault(step, answer)

    def settle(self, step: str, answer: Any) -> Any:
        """Record an answer; return the one that counts, which is the first."""
        return self.answer(step, lambda _: answer)

    def answer(self, step: str, work: Callable[[GlueState], Any]) -> Any:
        """Return the answer of a step; if it has none, do the work and record it together."""
        arn = self.execution.arn

        def answered(glue: GlueState) -> Any:
            known = answer_of(glue.store, arn, step)
            return settle(glue.store, arn, step, work(glue)) if known is None else known

        if step not in self._answers:
            self.learn(step, self._do(answered))
        return self._answers[step]

    def event(self, step: str, event: Mapping[str, Any]) -> tuple[int, Mapping[str, Any]]:
        """Return id and content of the event of a step.

        A new one is recorded together with what follows: the next answer, a wait, the end.
        """
        with self._lock:
            if self.is_closed:
                raise CutOffError
            if step not in self._events:
                self._last_number += 1
                self._events[step] = self._last_number, event
                self._unwritten.append((self._last_number, step, event))
            return self._events[step]

    def write(self) -> None:
        """Record the events so far, because a wait follows."""
        if self._unwritten:
            self._do(lambda _: None)

    def finish(self, event: Mapping[str, Any], **changes: Any) -> None:
        """Record the end of the execution, with its last event."""

        def ended(glue: GlueState) -> None:
            add_event(glue.store, self.execution.arn, "end", event)
            put_execution(glue.store, replace(self.execution, **changes))
            stop_children(glue, self.execution.arn)

        self._do(ended)

    def _do(self, work: Callable[[GlueState], Any]) -> Any:
        """Do work in one transaction, after the events that are not recorded yet."""

        def done(glue: GlueState) -> Any:
            with self._lock:
                unwritten = list(self._unwritten)
            with glue.store.transaction():
                self._check(glue)
                for number, step, event in unwritten:
                    put_event(glue.store, self.execution.arn, number, step, event)
                result = work(glue)
            with self._lock:  # others may have added some
                del self._unwritten[: len(unwritten)]
            return result

        return self._ask(done)

    def _check(self, glue: GlueState) -> None:
        row = find_execution(glue.store, self.execution.arn)
        if self.is_closed or row is None or row.status != RUNNING:
            raise CutOffError

    def _ask(self, work: Callable[[GlueState], Any]) -> Any:
        try:
            return self._engine.ask(work)
        except TidemarkError as error:
            # A failure of a call is an answer, and so is handled by who calls. What is left is an
            # engine that ends, or cannot write: the next one goes on from what is recorded.
            if self.is_closed or getattr(error, "status", 0) >= SERVER:
                raise CutOffError from error
            raise
