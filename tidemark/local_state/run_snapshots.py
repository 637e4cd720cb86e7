"""The snapshots that a job run adds to tables of Iceberg, in a file of its folder."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE

FILE = "snapshots.jsonl"


def note_snapshots(table: str, snapshots: Iterable[Mapping[str, Any]]) -> None:
    """Append the snapshots that a commit of this job run added; nothing outside of a run."""
    lines = [json.dumps({"table": table, **one}) for one in snapshots]
    folder = os.environ.get(RUN_FOLDER_VARIABLE)
    if folder and lines:
        with (Path(folder) / FILE).open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)


def snapshots_of(folder: Path) -> list[dict[str, Any]]:
    """Return the snapshots of a run, in order: table, id, parent, at_ms, operation, summary."""
    file = folder / FILE
    if not file.is_file():
        return []
    # A run that was killed may leave a part of a line.
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]
