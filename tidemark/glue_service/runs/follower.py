"""Copies the content of a growing file; the file keeps everything."""

from collections.abc import Callable
from pathlib import Path

CHUNK_BYTES = 1_000_000


class Follower:
    """Reads a growing file from its start."""

    def __init__(self, path: Path, write: Callable[[bytes], None]) -> None:
        """Prepare to follow ``path``, which may not exist yet; ``write`` gets its content."""
        self._path = path
        self._write = write
        self._offset = 0

    def copy_new(self) -> None:
        """Pass on everything that was added since the last call."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while chunk := file.read(CHUNK_BYTES):
                self._offset += len(chunk)
                self._write(chunk)
