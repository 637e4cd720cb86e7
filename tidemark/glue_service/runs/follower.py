"""Copies what is written to a file, while it is written; the file keeps everything."""

from collections.abc import Callable
from pathlib import Path

CHUNK_BYTES = 1_000_000


class Follower:
    """Reads a growing file from its beginning."""

    def __init__(self, path: Path, write: Callable[[bytes], None]) -> None:
        """Prepare to follow ``path``, which need not exist yet; ``write`` gets what is in it."""
        self._path = path
        self._write = write
        self._offset = 0

    def copy_new(self) -> None:
        """Hand on everything that came since the last call."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while chunk := file.read(CHUNK_BYTES):
                self._offset += len(chunk)
                self._write(chunk)
