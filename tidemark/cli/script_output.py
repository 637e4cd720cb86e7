"""Passes on the output of a submitted script, byte by byte as it is written."""

import sys
from collections.abc import Callable


class ScriptOutput:
    """Writes to this process's own stdout and stderr; a reader that leaves stops nothing."""

    def __init__(self, before_first: Callable[[], None]) -> None:
        """Call ``before_first`` before anything is written."""
        self._before_first: Callable[[], None] | None = before_first
        self._is_within_line = False
        self._left: set[str] = set()

    def write(self, name: str, data: bytes) -> None:
        """Write bytes to ``stdout`` or ``stderr``; they may have any encoding."""
        if self._before_first is not None:
            self._before_first()
            self._before_first = None
        if name in self._left:
            return
        try:
            stream = sys.stdout if name == "stdout" else sys.stderr
            stream.flush()
            stream.buffer.write(data)
            stream.buffer.flush()
        except BrokenPipeError:  # such as `| head`: the run continues
            self._left.add(name)
        if name == "stdout":
            self._is_within_line = not data.endswith(b"\n")

    def end_line(self) -> None:
        """End the line that the script left open, for another is to follow."""
        if self._is_within_line:
            self.write("stdout", b"\n")
