"""Starts `tidemark` as a process of its own, to be watched and killed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Yield a running `tidemark`, and kill it afterwards."""
    with subprocess.Popen(
        [sys.executable, "-m", "tidemark", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # As a shell starts what stands before `&`: with the signal of Ctrl-C ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[bytes], wanted: bytes) -> bytes:
    """Return what a process writes to stdout up to and with the wanted bytes."""
    found = b""
    while wanted not in found:
        part = os.read(process.stdout.fileno(), 65_536)
        assert part, found.decode(errors="replace") + process.stderr.read().decode()
        found += part
    return found
