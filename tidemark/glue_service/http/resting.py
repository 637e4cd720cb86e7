"""Serves a home to be looked at: nothing is started, and nothing is changed."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError
from tidemark.extras import require
from tidemark.glue_service.access.gate import Gate
from tidemark.glue_service.commands import region
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.http.application import Application
from tidemark.glue_service.http.server import listening
from tidemark.glue_service.local_glue import LocalGlue
from tidemark.glue_service.runs.active import RUNNING, STOPPING
from tidemark.glue_service.runs.job_run_process import Machine, now_ms
from tidemark.glue_service.runs.runner import Runner
from tidemark.glue_service.workflows.flows import Flows
from tidemark.glue_service.workflows.recovery import KILLED
from tidemark.glue_service.workflows.schedules import Schedules
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import Home
from tidemark.local_state.machine.local_requests import LOOPBACK
from tidemark.local_state.store.database import JobRun, Store

REFUSED = (
    "no command serves this home, so nothing can be started or changed in it: "
    "`tidemark local up --port 4566` serves it"
)

# Stands before the table of this name: the workflow run of a command that is gone has STOPPED.
FLOWS_OF_NOW = """
CREATE TEMP VIEW flow AS SELECT rowid AS rowid, flow_id, workflow_name,
    is_open AND NOT coalesce(json_extract(document, '$.is_of_command'), 0) AS is_open,
    CASE WHEN is_open AND json_extract(document, '$.is_of_command')
        THEN json_set(document, '$.status', 'STOPPED') ELSE document END AS document
FROM main.flow
"""


class RestingStore(Store):
    """Reads the state as the next engine will find it, and writes nothing.

    A run that is recorded as running, and whose engine is gone, has FAILED.
    """

    def __init__(self, database: Path, *, is_held: bool) -> None:
        """Open the database file."""
        super().__init__(database)
        self._is_held = is_held
        if not is_held:
            self.query(FLOWS_OF_NOW)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Refuse to change anything."""
        raise UsageError(REFUSED)
        yield

    def _job_runs(self, where: str, values: tuple[Any, ...]) -> list[JobRun]:
        runs = super()._job_runs(where, values)
        return runs if self._is_held else list(map(_as_it_is, runs))


def _as_it_is(run: JobRun) -> JobRun:
    if run.state == RUNNING:
        return replace(run, state="FAILED", error_message=KILLED)
    return replace(run, state="STOPPED") if run.state == STOPPING else run


@contextmanager
def resting(home: Home) -> Iterator[str]:
    """Serve a home for as long as the block takes, to be read only; yield the URL."""
    require("waitress")
    with listening(LOOPBACK, 0) as listener, Engine(partial(_open, home, listener.url)) as engine:
        gate = Gate(access_key(home), secrets.token_hex())
        listener.serve(Application(engine, home, region()), gate)
        try:
            yield listener.url
        finally:
            listener.close()


@contextmanager
def _open(home: Home, url: str) -> Iterator[LocalGlue]:
    machine = Machine(home, Path(), "", region(), port=url)
    with RestingStore(home.database, is_held=home.is_held()) as store:
        flows = Flows(store, now_ms)
        runner = Runner(machine, store, flows.follow)
        yield LocalGlue(machine, store, runner, flows, Schedules(), now_ms, lambda _: None)
