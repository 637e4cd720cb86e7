"""What a scenario asks of a Glue, be it the local one or AWS's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol


@dataclass(frozen=True)
class ScenarioRun:
    """A finished job run.

    Attributes:
        run_id: its id.
        state: SUCCEEDED, FAILED and so on.
        read: what the script reported that it read; None if it reported nothing.
        error_message: why it failed.
    """

    run_id: str
    state: str
    read: dict[str, Any] | None
    error_message: str | None = None


class Driver(Protocol):
    """One job of a Glue, its data and its bookmark."""

    def put(self, key: str, text: str) -> None:
        """Write an object below the data path of the scripts."""

    def run(self, name: str, script: Path, arguments: Mapping[str, str]) -> ScenarioRun:
        """Make a script the job's, run it with these arguments beside its paths, and wait."""

    def bookmark(self) -> Mapping[str, Any] | None:
        """Return the JobBookmarkEntry, None if the job has none."""

    def reset_bookmark(self, run_id: str | None = None) -> None:
        """Reset the bookmark, or rewind it to a run."""
