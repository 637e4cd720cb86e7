"""The statements of a session, as files in the folder of its run.

    session/requests      a pipe: the numbers of statements to run, and those to cancel
    session/3.py          the code of a statement, as the port got it
    session/3.json        its record, as the session's process has written it last; none: it waits
    session/ended         the pipe, once the session takes nothing any more
    session/endpoint.json where it serves Spark Connect, with its token
    session/activity      when a client of Spark Connect was active last

The pipe exists as soon as the session is ready. What is here stays when session and port have died.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

FOLDER, REQUESTS, CLOSED = "session", "requests", "ended"
ENDPOINT, ACTIVITY = "endpoint.json", "activity"
CANCEL, END = "cancel", "end"  # words to the process: one before a number, one by itself
# The states of a statement.
# Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-interactive-sessions.html
WAITING, RUNNING, AVAILABLE = "WAITING", "RUNNING", "AVAILABLE"
CANCELLING, CANCELLED, ERROR = "CANCELLING", "CANCELLED", "ERROR"
ENDED_STATES = (AVAILABLE, CANCELLED, ERROR)
Record: TypeAlias = Mapping[str, Any]
"""Members of a Statement of Glue: State, Output, Progress, StartedOn, CompletedOn."""


@dataclass(frozen=True)
class StatementFiles:
    """The folder of the statements of a run's session."""

    folder: Path

    @property
    def requests(self) -> Path:
        """The pipe to the session's process."""
        return self.folder / REQUESTS

    @property
    def is_closed(self) -> bool:
        """Whether the session takes nothing any more."""
        return (self.folder / CLOSED).exists()

    def close(self) -> None:
        """Take nothing any more."""
        with suppress(OSError):  # the code may have removed it
            self.requests.replace(self.folder / CLOSED)

    def add(self, code: str) -> int:
        """Keep the code of the next statement, and return its number, from 0 on."""
        number = len(self.numbers())
        self._write(f"{number}.py", code)
        return number

    def forget(self, number: int) -> None:
        """Remove the code of a statement that the process was not told of."""
        (self.folder / f"{number}.py").unlink(missing_ok=True)

    def numbers(self) -> list[int]:
        """Return the numbers of all statements, in order."""
        return sorted(int(file.stem) for file in self.folder.glob("*.py"))

    def code(self, number: int) -> str:
        """Return the code of a statement."""
        return (self.folder / f"{number}.py").read_text(encoding="utf-8")

    def record(self, number: int) -> Record:
        """Return what is known of a statement."""
        try:
            text = (self.folder / f"{number}.json").read_text(encoding="utf-8")
        except FileNotFoundError:
            return {"State": WAITING}
        record: Record = json.loads(text)
        return record

    def put_record(self, number: int, record: Record) -> None:
        """Replace the record of a statement: a reader sees the old one or the new one."""
        self._write(f"{number}.json", json.dumps(record))

    def put_endpoint(self, endpoint: Mapping[str, str]) -> None:
        """Say where a session serves Spark Connect: members of a SessionEndpoint of Glue."""
        self._write(ENDPOINT, json.dumps(dict(endpoint)))

    def endpoint(self) -> Mapping[str, str]:
        """Return where a session serves Spark Connect."""
        endpoint: Mapping[str, str] = json.loads((self.folder / ENDPOINT).read_text("utf-8"))
        return endpoint

    def put_activity(self, at_ms: int) -> None:
        """Say when a client of Spark Connect was active, in epoch milliseconds."""
        self._write(ACTIVITY, str(at_ms))

    def activity(self) -> int | None:
        """Return when a client of Spark Connect was active last; None if that is not known."""
        try:
            return int((self.folder / ACTIVITY).read_text("utf-8"))
        except FileNotFoundError:
            return None

    def send(self, *words: object) -> None:
        """Tell the process something, in one line; never waits.

        Raises:
            OSError: no process reads it.
        """
        pipe = os.open(self.requests, os.O_WRONLY | os.O_NONBLOCK)
        try:
            os.write(pipe, f"{' '.join(map(str, words))}\n".encode())
        finally:
            os.close(pipe)

    def _write(self, name: str, text: str) -> None:
        unfinished = self.folder / f".{name}"
        unfinished.write_text(text, encoding="utf-8", errors="surrogatepass")
        unfinished.replace(self.folder / name)


def statement_files(run_folder: Path) -> StatementFiles:
    """Return the files of the session of a run."""
    return StatementFiles(run_folder / FOLDER)
