"""Serves a home read-only: nothing is started, and nothing is changed."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from tidemark.extras import require
from tidemark.glue_service.access.gate import Gate
from tidemark.glue_service.commands import region
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.http.application import Application
from tidemark.glue_service.http.server import listening
from tidemark.glue_service.lazy import Lazy
from tidemark.glue_service.read_only_store import ReadOnlyStore
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.workflows.flows import Flows
from tidemark.glue_service.workflows.schedules import Schedules
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.local_state.machine.local_requests import LOOPBACK
from tidemark.model.clock import now_ms


@contextmanager
def serving_read_only(home: Home) -> Iterator[str]:
    """Serve a home read-only as long as the block runs; yield the URL."""
    require("waitress")
    with listening(LOOPBACK, 0) as listener, Engine(partial(_open, home, listener.url)) as engine:
        gate = Gate(access_key(home), secrets.token_hex())
        listener.serve(Lazy(lambda: Application(engine, home, region())), gate)
        try:
            yield listener.url
        finally:
            listener.close()


@contextmanager
def _open(home: Home, url: str) -> Iterator[GlueState]:
    machine = Machine(home, Path(), "", region(), port=url)
    with ReadOnlyStore(home.database, is_held=home.is_held()) as store:
        flows = Flows(store, now_ms)
        runner = Runner(machine, store, flows.follow)
        yield GlueState(machine, store, runner, flows, Schedules(), now_ms, lambda _: None)
