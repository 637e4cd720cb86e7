"""Serves a home on a port of one command: to the AWS clients of its script, or read-only."""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from tidemark.extras import require
from tidemark.glue_service.access.gate import Gate, key_of_port
from tidemark.glue_service.commands import region
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.application import Application
from tidemark.glue_service.http.server import listening
from tidemark.glue_service.lazy import Lazy
from tidemark.glue_service.read_only_store import ReadOnlyStore
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.state_machines.live import LiveExecutions, begin_in_background
from tidemark.glue_service.workflows.due import Schedules
from tidemark.glue_service.workflows.flows import Flows
from tidemark.local_state.access_key import AccessKey, access_key
from tidemark.local_state.home import Home
from tidemark.local_state.machine.loopback import LOOPBACK
from tidemark.local_state.store.database import Store
from tidemark.model.clock import now_ms


@contextmanager
def serving_script(machine: Machine) -> Iterator[Machine]:
    """Serve a home that this command holds; yield the machine with the URL of the port.

    No trigger fires by the clock. Job runs that a client starts are stopped at the end.
    """
    home = machine.home
    with _serving(machine, partial(Store, home.database), key_of_port(home)) as served:
        yield served


@contextmanager
def serving_read_only(home: Home) -> Iterator[str]:
    """Serve a home as long as the block runs: nothing is started or changed; yield the URL."""
    require("waitress")
    store = partial(ReadOnlyStore, home.database, is_held=home.is_held())
    with _serving(Machine(home, Path(), "", region()), store, access_key(home)) as served:
        yield served.port or ""


@contextmanager
def _serving(
    machine: Machine, open_store: Callable[[], Store], key: AccessKey | None
) -> Iterator[Machine]:
    with listening(LOOPBACK, 0) as listener:
        served = replace(machine, port=listener.url)
        live = LiveExecutions(since_ms=now_ms())
        with Engine(partial(_open, served, open_store, live)) as engine:
            gate = Gate(key, secrets.token_hex(32))  # no other command knows the secret
            application = Lazy(lambda: Application(engine, machine.home, machine.region))
            live.begin = partial(begin_in_background, application)
            listener.serve(application, gate)
            try:
                yield served
            finally:
                live.close_all()
                listener.close()


@contextmanager
def _open(
    machine: Machine, open_store: Callable[[], Store], live: LiveExecutions
) -> Iterator[GlueState]:
    # SQLite wants a connection to be used by the thread that made it, which is the engine's.
    with open_store() as store:
        flows = Flows(store, now_ms)
        runner = Runner(machine, store, flows.follow, lambda _: live.changes.note())
        glue = GlueState(machine, store, runner, flows, Schedules(), now_ms, lambda _: None)
        glue.executions = live
        try:
            yield glue
        finally:
            runner.close()
