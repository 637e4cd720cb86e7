"""Times whole commands."""

import os
import statistics
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Result:
    """One line of the results table; seconds, and the target if the project has one."""

    name: str
    command: str
    seconds: Sequence[float]
    note: str = ""

    def row(self) -> str:
        """Return the line in Markdown: name, median, range, note, command."""
        spread = f"{min(self.seconds):.2f}-{max(self.seconds):.2f}"
        median = statistics.median(self.seconds)
        return f"| {self.name} | {median:.2f} | {spread} | {self.note} | `{self.command}` |"


def time_command(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None
) -> float:
    """Run a command to its end and return its wall-clock seconds.

    Raises:
        RuntimeError: it failed; what it printed last is in the message.
    """
    begin = time.monotonic()
    run = subprocess.run(  # noqa: S603 (our own commands)
        command,
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        text=True,
    )
    seconds = time.monotonic() - begin
    if run.returncode != 0:
        text = (run.stdout + run.stderr)[-2000:]
        raise RuntimeError(f"{' '.join(command)} ended with {run.returncode}:\n{text}")
    return seconds
