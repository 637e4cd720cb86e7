"""Reports events: to a log, and to a command of the user."""

import json
import shlex
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tidemark.errors import UsageError

LOG = "events.jsonl"  # in the home, one document per line


class Events:
    """Writes events into a log, and passes each to a command."""

    def __init__(self, log: Path, command: str | None, say: Callable[[str], None]) -> None:
        """Open nothing yet."""
        self._log = log
        self._say = say
        self._words: list[str] = []
        if command is not None:
            try:
                self._words = shlex.split(command)
            except ValueError as error:
                raise UsageError(f"--on-event {command!r} is not a command: {error}") from error
            if not self._words:
                raise UsageError("--on-event is empty; give a command, such as 'python notify.py'")
        self._worker = ThreadPoolExecutor(1, "on-event")

    def tell(self, event: dict[str, Any]) -> None:
        """Report an event; the command runs in a separate thread."""
        text = json.dumps(event)
        try:
            with self._log.open("a", encoding="utf-8") as log:
                log.write(f"{text}\n")
        except OSError as error:
            # On a full disk the runs continue without their events.
            self._say(f"an event could not be written into {self._log}: {error.strerror}")
        if self._words:
            self._worker.submit(self._run, text)

    def _run(self, text: str) -> None:
        try:
            done = subprocess.run(  # noqa: S603 (the user's own command)
                self._words, input=text, text=True, timeout=60
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            self._say(f"{shlex.join(self._words)} failed on an event: {error}")
            return
        if done.returncode:
            self._say(f"{shlex.join(self._words)} ended with {done.returncode} on an event")

    def close(self) -> None:
        """Wait for the commands of reported events."""
        self._worker.shutdown()
