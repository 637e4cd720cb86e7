"""The state of a home as the next engine will find it, for read-only commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError
from tidemark.glue_service.runs.active import RUNNING, STOPPING
from tidemark.glue_service.runs.killed import KILLED
from tidemark.local_state.store.database import JobRun, Store

REFUSED = (
    "no command serves this home, so nothing can be started or changed in it: "
    "`tidemark serve --port 4566` serves it"
)

# A view instead of the table of this name: the workflow run of a dead command has STOPPED.
CURRENT_FLOWS = """
CREATE TEMP VIEW flow AS SELECT rowid AS rowid, flow_id, workflow_name,
    is_open AND NOT coalesce(json_extract(document, '$.is_of_command'), 0) AS is_open,
    CASE WHEN is_open AND json_extract(document, '$.is_of_command')
        THEN json_set(document, '$.status', 'STOPPED') ELSE document END AS document
FROM main.flow
"""


class ReadOnlyStore(Store):
    """Reads the state as the next engine will find it, and writes nothing.

    A run that is recorded as running, but whose engine is gone, has FAILED.
    """

    def __init__(self, database: Path, *, is_held: bool) -> None:
        """Open the database file."""
        super().__init__(database)
        self._is_held = is_held
        if not is_held:
            self.query(CURRENT_FLOWS)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Refuse every change."""
        raise UsageError(REFUSED)
        yield

    def _job_runs(self, where: str, values: tuple[Any, ...]) -> list[JobRun]:
        runs = super()._job_runs(where, values)
        return runs if self._is_held else list(map(_current_state, runs))


def _current_state(run: JobRun) -> JobRun:
    if run.state == RUNNING:
        return replace(run, state="FAILED", error_message=KILLED)
    return replace(run, state="STOPPED") if run.state == STOPPING else run
