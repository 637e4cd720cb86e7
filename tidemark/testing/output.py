"""What a run in the test's process prints, by Python or by a program that it starts."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_current: list[Output] = []  # of the run of this moment; a debugger takes it away for a while


class Output:
    """Sends descriptors 1 and 2 and Python's streams into two files, while it is installed."""

    def __init__(self, out: Path, err: Path) -> None:
        """Open the files; nothing is sent yet."""
        self._files = [path.open("ab", buffering=0) for path in (out, err)]
        self._saved: list[int] = []
        self._streams = (sys.stdout, sys.stderr)
        self._own = [self._stream(number) for number in (1, 2)]

    @staticmethod
    def _stream(number: int) -> io.TextIOWrapper:
        raw = io.FileIO(number, "w", closefd=False)
        return io.TextIOWrapper(
            io.BufferedWriter(raw), encoding="utf-8", errors="backslashreplace", write_through=True
        )

    def install(self) -> None:
        """Send what is written from now on into the files."""
        if self._saved:
            return
        self._streams = (sys.stdout, sys.stderr)
        for stream in self._streams:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        self._saved = [os.dup(number) for number in (1, 2)]
        for file, number in zip(self._files, (1, 2), strict=True):
            os.dup2(file.fileno(), number)
        sys.stdout, sys.stderr = self._own

    def remove(self) -> None:
        """Send what is written from now on where it went before."""
        if not self._saved:
            return
        for stream in {*self._own, sys.stdout, sys.stderr}:
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        for saved, number in zip(self._saved, (1, 2), strict=True):
            os.dup2(saved, number)
            os.close(saved)
        self._saved = []
        sys.stdout, sys.stderr = self._streams

    def close(self) -> None:
        """Close the files."""
        for file in self._files:
            file.close()


@contextmanager
def kept_output(out: Path, err: Path) -> Iterator[None]:
    """Keep what the block prints in two files."""
    output = Output(out, err)
    _current.append(output)
    output.install()
    try:
        yield
    finally:
        output.remove()
        _current.remove(output)
        output.close()


def enter_debugger(debugger: object) -> None:
    """Give a debugger that stops in a script the terminal."""
    if _current:
        _current[-1].remove()
        if hasattr(debugger, "stdout"):
            debugger.stdout = sys.stdout


def leave_debugger() -> None:
    """Go on as before the debugger."""
    if _current:
        _current[-1].install()
