"""Runs a command of Tidemark as a process: bounded, watched, and ended with its caller."""

import os
import re
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import DEVNULL
from tempfile import TemporaryFile
from typing import IO, TypeAlias

import anyio
from anyio.abc import Process

from tidemark.errors import TidemarkError
from tidemark.local_state.machine import child

MAX_BYTES = 64_000_000  # of what a command prints
MAX_BESIDE = 20_000  # of what it says beside
TELLS_EVERY_S = 1.0
# The first Ctrl-C lets a proof finish its experiment, the second one ends it at once.
ASKS_AGAIN_AFTER_S, KILLS_AFTER_S = 5.0, 5.0
OF_ALL = re.compile(rb"\d+ of \d+$", re.MULTILINE)
Tell: TypeAlias = Callable[[float, str], Awaitable[None]]
"""Takes the seconds since the start, and how far the command is: ``3 of 40``, or nothing."""


@dataclass(frozen=True)
class Printed:
    """What a command has printed.

    Attributes:
        words: its words.
        code: its exit code.
        output: its standard output.
        lines: the last lines of its standard error.
    """

    words: Sequence[str]
    code: int
    output: str
    lines: Sequence[str]


async def run_command(words: Sequence[str], folder: Path, tell: Tell) -> Printed:
    """Return what a command prints; where the caller is cancelled, end it and what it started.

    Raises:
        TidemarkError: it prints more than there is room for.
    """
    ends_with_us = (sys.executable, "-S", "-E", child.__file__, str(os.getpid()))
    # -P: a folder of the project that is named as a module is not imported.
    command = [*ends_with_us, sys.executable, "-P", "-m", "tidemark", *words]
    with TemporaryFile() as output, TemporaryFile() as beside:
        process = await anyio.open_process(
            command, stdin=DEVNULL, stdout=output, stderr=beside, cwd=folder, start_new_session=True
        )
        try:
            async with anyio.create_task_group() as teller:
                teller.start_soon(_tell, beside, tell)
                code = await process.wait()
                teller.cancel_scope.cancel()
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)
        if os.fstat(output.fileno()).st_size > MAX_BYTES:
            raise TidemarkError(f"the answer has over {MAX_BYTES // 1_000_000} MB: ask for less")
        text = os.pread(output.fileno(), MAX_BYTES, 0).decode(errors="replace")
        lines = _last_part(beside).decode(errors="replace").splitlines()
        if os.fstat(beside.fileno()).st_size > MAX_BESIDE:  # of half a line nobody knows what it is
            lines = ["[what was said before is left out]", *lines[1:]]
        return Printed(words, code, text, lines)


def _last_part(file: IO[bytes]) -> bytes:
    size = os.fstat(file.fileno()).st_size
    return os.pread(file.fileno(), MAX_BESIDE, max(0, size - MAX_BESIDE))


async def _tell(beside: IO[bytes], tell: Tell) -> None:
    begun = time.monotonic()
    while True:
        await anyio.sleep(TELLS_EVERY_S)
        done = OF_ALL.findall(_last_part(beside)) or [b""]
        await tell(round(time.monotonic() - begun, 1), done[-1].decode())


async def _end(process: Process) -> None:
    """End a process as Ctrl-C does, so that its jobs and Spark end; then whatever is left."""
    for wait_s in (ASKS_AGAIN_AFTER_S, KILLS_AFTER_S):
        if process.returncode is None:
            process.send_signal(signal.SIGINT)
            with anyio.move_on_after(wait_s):
                await process.wait()
    with suppress(ProcessLookupError):  # nobody is left in its group
        os.killpg(process.pid, signal.SIGKILL)
    await process.aclose()
