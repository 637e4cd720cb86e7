"""The output of a run in the test's process, by Python or by a program that it starts."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

_current: list[Output] = []  # of the run of this moment; a debugger takes it away for a while
OUT, ERR = 1, 2  # descriptors


class Output:
    """Sends descriptors 1 and 2 and Python's streams into two files, while it is installed."""

    def __init__(self, out: Path, err: Path) -> None:
        """Open the files; nothing is sent yet."""
        self._files = {OUT: out.open("ab", buffering=0), ERR: err.open("ab", buffering=0)}
        self._own: list[TextIO] = []
        for file in self._files.values():
            raw = io.FileIO(file.fileno(), "w", closefd=False)
            # It writes at once, as Python's own streams do under -u.
            self._own.append(
                io.TextIOWrapper(
                    raw, encoding="utf-8", errors="backslashreplace", write_through=True
                )
            )
        self._streams: tuple[TextIO, TextIO] = (sys.stdout, sys.stderr)
        self._saved: dict[int, int] = {}

    def install(self) -> None:
        """Send all output from now on into the files."""
        _flush(sys.stdout, sys.stderr)
        self._streams = (sys.stdout, sys.stderr)
        self._saved = {number: os.dup(number) for number in self._files}
        self._take()

    def suspend(self, debugger: object) -> None:
        """Give the terminal to a debugger; pytest may have taken captured output before."""
        has_own = sys.stdout is self._own[0]
        for number, file in self._files.items():
            if os.path.samestat(os.fstat(number), os.fstat(file.fileno())):
                os.dup2(self._saved[number], number)
        if has_own:
            sys.stdout, sys.stderr = self._streams
            if hasattr(debugger, "stdout"):
                debugger.stdout = sys.stdout

    def resume(self) -> None:
        """Go on as before a debugger."""
        _flush(sys.stdout, sys.stderr)
        self._streams = (sys.stdout, sys.stderr)
        self._take()

    def remove(self) -> None:
        """Restore the destination of all output."""
        _flush(*self._own)
        for number, saved in self._saved.items():
            os.dup2(saved, number)
            os.close(saved)
        sys.stdout, sys.stderr = self._streams
        for file in self._files.values():
            file.close()

    def _take(self) -> None:
        for number, file in self._files.items():
            os.dup2(file.fileno(), number)
        sys.stdout, sys.stderr = self._own


def _flush(*streams: TextIO) -> None:
    for stream in streams:
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


@contextmanager
def kept_output(out: Path, err: Path) -> Iterator[None]:
    """Keep the output of the block in two files."""
    output = Output(out, err)
    _current.append(output)
    output.install()
    try:
        yield
    finally:
        output.remove()
        _current.remove(output)


def enter_debugger(debugger: object) -> None:
    """Give a debugger that stops in a script the terminal."""
    if _current:
        _current[-1].suspend(debugger)


def leave_debugger() -> None:
    """Go on as before the debugger."""
    if _current:
        _current[-1].resume()
