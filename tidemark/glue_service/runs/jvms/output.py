"""Copies a JVM's output into the files of the run that has borrowed it."""

import contextlib
import os
import threading
from pathlib import Path

CHUNK_BYTES = 65536
# Errors that a JVM may not recover from; one that ends a thread is only printed.
FATAL = ("java.lang.OutOfMemoryError", "java.lang.StackOverflowError", "java.lang.InternalError")
MAX_LENGTH = max(map(len, FATAL))


class Output:
    """One stream of a JVM: between two runs it goes into the JVM's own file.

    A run ends with a mark that the JVM is asked to print; the output before it is the run's.

    Attributes:
        is_fatal: whether the JVM has ever reported an error that it may not recover from.
    """

    def __init__(self, pipe: int, own_file: Path) -> None:
        """Copy the output of ``pipe``, a file descriptor, until its other end is closed."""
        self._pipe = pipe
        self._own_file = own_file
        self._split = Split()
        self.is_fatal = False
        self._lock = threading.Lock()
        self._seen = threading.Event()
        self._target = _open(own_file)
        self._thread = threading.Thread(target=self._copy, daemon=True)
        self._thread.start()

    def begin(self, file: Path, mark: bytes) -> None:
        """Copy into ``file`` from now on, until ``mark`` is printed or the JVM ends."""
        with self._lock:
            self._switch(file)
            self._split = Split(mark)
            self._seen.clear()

    def wait_for_mark(self, timeout_s: float) -> bool:
        """Return whether the mark came, and everything before it is in the file of the run."""
        return self._seen.wait(timeout_s)

    def wait_for_end(self, timeout_s: float) -> None:
        """Wait until the JVM's output before its end is in the file."""
        self._thread.join(timeout_s)

    def _copy(self) -> None:
        last = b""
        while chunk := _read(self._pipe):
            last = last[-MAX_LENGTH:] + chunk
            self.is_fatal = self.is_fatal or any(name.encode() in last for name in FATAL)
            with self._lock:
                self._write(*self._split.feed(chunk))
        with self._lock:
            self._put(self._split.rest())
            self._put_away()
        os.close(self._pipe)

    def _write(self, before: bytes, after: bytes | None) -> None:
        self._put(before)
        if after is not None:
            self._split = Split()
            self._switch(self._own_file)
            self._seen.set()
            self._put(after)

    def _put(self, data: bytes) -> None:
        # On a full disk the run continues without its log.
        with contextlib.suppress(OSError):
            while data and self._target >= 0:
                data = data[os.write(self._target, data) :]

    def _switch(self, file: Path) -> None:
        self._put(self._split.rest())
        self._put_away()
        self._target = _open(file)

    def _put_away(self) -> None:
        if self._target >= 0:
            os.close(self._target)
        self._target = -1


class Split:
    """Separates the bytes before a mark from those after it, in pieces of any size."""

    def __init__(self, mark: bytes = b"") -> None:
        """Look for ``mark``; without one everything is before it."""
        self._mark = mark
        self._held = b""

    def feed(self, data: bytes) -> tuple[bytes, bytes | None]:
        """Return bytes that are certainly before the mark, and those after it once it was found."""
        data, self._held = self._held + data, b""
        if not self._mark:
            return data, None
        before, mark, after = data.partition(self._mark)
        if mark:
            return before, after
        held = next(
            size for size in range(len(self._mark) - 1, -1, -1) if data.endswith(self._mark[:size])
        )
        self._held = data[len(data) - held :]
        return data[: len(data) - held], None

    def rest(self) -> bytes:
        """Return bytes that were held back because they could be the start of the mark."""
        held, self._held = self._held, b""
        return held


def _read(pipe: int) -> bytes:
    try:
        return os.read(pipe, CHUNK_BYTES)
    except OSError:
        return b""


def _open(file: Path) -> int:
    try:
        return os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    except OSError:
        return -1
