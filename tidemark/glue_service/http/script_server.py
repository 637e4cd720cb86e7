"""Serves the port for one job run, to AWS clients in its script: S3, Glue and others."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from tidemark.glue_service.access.gate import Gate, key_of_port
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.application import Application
from tidemark.glue_service.http.server import listening
from tidemark.glue_service.lazy import Lazy
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.workflows.flows import Flows
from tidemark.glue_service.workflows.schedules import Schedules
from tidemark.local_state.machine.local_requests import LOOPBACK
from tidemark.local_state.store.database import Store
from tidemark.model.clock import now_ms


@contextmanager
def serving_script(machine: Machine) -> Iterator[Machine]:
    """Serve a home that this command holds; yield the machine with the URL of the port.

    No trigger fires by the clock. Job runs that a client starts are stopped at the end.
    """
    with listening(LOOPBACK, 0) as listener:
        served = replace(machine, port=listener.url)
        with Engine(partial(_open, served)) as engine:
            secret = secrets.token_hex(32)  # no other command knows it
            gate = Gate(key_of_port(machine.home), secret)
            application = Lazy(lambda: Application(engine, machine.home, machine.region))
            listener.serve(application, gate)
            try:
                yield served
            finally:
                listener.close()


@contextmanager
def _open(machine: Machine) -> Iterator[GlueState]:
    with Store(machine.home.database) as store:
        flows = Flows(store, now_ms)
        runner = Runner(machine, store, flows.follow, lambda _: None)
        try:
            yield GlueState(machine, store, runner, flows, Schedules(), now_ms, lambda _: None)
        finally:
            runner.close()
