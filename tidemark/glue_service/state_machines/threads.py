"""The threads that interpret executions: one for each that has not ended."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

from botocore.awsrequest import AWSPreparedRequest

from tidemark.errors import TidemarkError
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.runs.job_runs import batch_stop_job_run
from tidemark.glue_service.state_machines.execution_rows import (
    END,
    FAILED,
    RUNNING,
    find_execution,
    open_executions,
)
from tidemark.glue_service.state_machines.executions import stop_execution
from tidemark.glue_service.state_machines.interpreter import interpret
from tidemark.glue_service.state_machines.local_tasks import with_stand_ins
from tidemark.glue_service.state_machines.places import Run, here
from tidemark.glue_service.state_machines.port_clients import (
    EngineWork,
    PortClients,
    SavedReply,
    Wsgi,
    of_engine,
    refused,
)
from tidemark.glue_service.state_machines.record import CutOffError, Record
from tidemark.glue_service.state_machines.stand_ins import function_of

RETRY_S = 1.0


class ExecutionThreads:
    """Interprets the executions of a home that have not ended."""

    def __init__(self, engine: Engine, application: Wsgi, region: str) -> None:
        """Prepare; `begin` starts threads."""
        # What it logs is an error of a state, which the history of its execution has.
        logging.getLogger("moto.stepfunctions").setLevel(logging.CRITICAL)
        self._engine = engine
        self._live = engine.ask(lambda glue: glue.executions)
        self._now_ms = engine.ask(lambda glue: glue.now_ms)
        self._clients = PortClients(application, region, self._send)
        self.client = self._clients.client
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Start a thread for each execution that has none."""
        with self._lock:
            for execution in self._engine.ask(lambda glue: open_executions(glue.store)):
                begun_ms = execution.redriven_at_ms or execution.started_at_ms
                if execution.arn not in self._live.records and begun_ms >= self._live.since_ms:
                    record = Record(self._engine, execution)
                    self._live.records[execution.arn] = record
                    threading.Thread(
                        target=self._main, args=(record,), name=execution.name, daemon=True
                    ).start()

    def _main(self, record: Record) -> None:
        execution = record.execution
        try:
            while not record.is_closed:
                run = Run(record, self, self._live.changes, self._now_ms)
                try:
                    text = with_stand_ins(execution.definition, self._live.stand_ins)
                    interpret(run, text)
                    break
                except CutOffError:
                    # Stopped, or the home could not be written: on a full disk it goes on later.
                    if not self._goes_on(record):
                        break
                    time.sleep(RETRY_S)
        except Exception as error:  # noqa: BLE001 (a fault of ours must end the execution)
            with suppress(CutOffError, TidemarkError):
                self._fail(record, error)
        finally:
            self._live.records.pop(execution.arn, None)
            self._live.changes.note()

    def _fail(self, record: Record, error: Exception) -> None:
        now_ms, about = self._now_ms(), {"error": "States.Runtime", "cause": str(error)}
        event = {
            "type": "ExecutionFailed",
            "timestamp": now_ms,
            "previousEventId": 0,
            "executionFailedEventDetails": about,
        }
        record.finish(event, status=FAILED, stopped_at_ms=now_ms, **about)

    def _goes_on(self, record: Record) -> bool:
        arn = record.execution.arn
        try:
            row = self._engine.ask(lambda glue: find_execution(glue.store, arn))
        except TidemarkError:
            return False
        return not record.is_closed and row is not None and row.status == RUNNING

    def _send(self, request: AWSPreparedRequest) -> SavedReply:
        place = here.place
        record = place.run.record
        if place.is_looking:
            # What a look finds counts only if it is the end, which is recorded then.
            place.reply = record.known(place.step(END)) or self._reply(request, self._engine.ask)
            return dict(place.reply)
        step = place.next_step("call")
        reply = record.known(step) or self._reply(request, partial(record.answer, step))
        return dict(record.settle(step, reply))

    def _reply(self, request: AWSPreparedRequest, ask: Callable[[EngineWork], Any]) -> SavedReply:
        record, is_awaited = here.place.run.record, here.place.is_awaited
        work = of_engine(request, record.execution, is_awaited=is_awaited)
        if work is None:
            return self._clients.forward(request)
        try:
            reply: SavedReply = ask(work)
        except TidemarkError as error:
            if record.is_closed:
                raise CutOffError from error
            return refused(request, error)
        return reply

    def stand_in(self, name: str, given: Any) -> Any:
        """Return the output of the function that stands in for a task."""
        return function_of(name, self._live.stand_ins[name])(given)

    def stop(self, run: Run, submitted: Mapping[str, Any]) -> None:
        """Stop what a task waits for, unless the execution goes on after a restart."""
        execution = run.record.execution

        def stop(glue: GlueState) -> None:
            row = find_execution(glue.store, execution.arn)
            if run.record.is_closed and row is not None and row.status == RUNNING:
                return
            if "JobRunId" in submitted:
                name, run_id = submitted["JobName"], submitted["JobRunId"]
                batch_stop_job_run(glue, {"JobName": name, "JobRunIds": [run_id]})
            elif "ExecutionArn" in submitted:
                stop_execution(glue, {"executionArn": submitted["ExecutionArn"]})

        with suppress(TidemarkError):
            self._engine.ask(stop)
