"""The requests that changed the emulated services, in a file of the home, oldest first.

Several processes may share the file: each first replays the additions of the others.
"""

import base64
import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO

from tidemark.errors import UsageError
from tidemark.local_state.store.state_record import note, read_record, refuse_loss

ONLY_ITS_OWNER = 0o600  # secrets are in it


@dataclass(frozen=True)
class JournalEntry:
    """A request to a service; ``seed`` is that of the identifiers which it makes."""

    service: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    seed: int

    def line(self) -> bytes:
        """Return the request as a line of the file."""
        members = {**asdict(self), "body": base64.b64encode(self.body).decode()}
        return json.dumps(members).encode() + b"\n"


def entry_of(line: bytes) -> JournalEntry:
    """Return the request of a line."""
    members = json.loads(line)
    return JournalEntry(**{**members, "body": base64.b64decode(members["body"], validate=True)})


class Journal:
    """The file, and how far this process has read it; used by one thread at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0  # bytes

    @contextmanager
    def locked(self) -> Iterator["Turn"]:
        """Wait until no other process is at the file; yield the turn to read and to add."""
        opener = os.open(self._path, os.O_RDWR | os.O_CREAT, ONLY_ITS_OWNER)
        with os.fdopen(opener, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            refuse_loss(self._path.parent, self._path.name)
            had = (read_record(self._path.parent) or {}).get(self._path.name, 0)
            turn = Turn(self._path, file, self._read, had)
            try:
                yield turn
            finally:
                self._read = turn.place


class Turn:
    """What may be done with the file while no other process is at it."""

    def __init__(self, path: Path, file: BinaryIO, place: int, had: int = 0) -> None:
        self._path = path
        self._file = file
        self._had = had  # bytes, all of complete lines
        self.place = place

    def is_shorter(self) -> bool:
        """Return whether the file lost content that was read: it was deleted, or replaced."""
        return os.fstat(self._file.fileno()).st_size < self.place

    def unread(self) -> Iterator[JournalEntry]:
        """Yield the additions since the last call; half a line, of a killed process, is ignored."""
        self._file.seek(self.place)
        for line in self._file:
            if not line.endswith(b"\n") and self.place >= self._had:
                return
            try:
                request = entry_of(line)
            except (ValueError, TypeError, KeyError) as error:
                raise UsageError(
                    f"{self._path} has at byte {self.place} a line that is not a request "
                    f"({error}); restore a backup with `tidemark home restore FILE`, or start "
                    "without its secrets, parameters and topics: move the file away, then "
                    f"`tidemark home accept-loss {self._path.name}`"
                ) from error
            self.place += len(line)
            yield request

    def add(self, request: JournalEntry) -> None:
        """Add a request that was done; it is on the disk when this returns."""
        line = request.line()
        self._file.seek(self.place)
        self._file.truncate()
        self._file.write(line)
        self._file.flush()
        os.fsync(self._file.fileno())
        self.place += len(line)
        note(self._path.parent, self._path.name, self.place)
