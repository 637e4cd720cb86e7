"""Sees what a run that is proved reaches outside its home: hosts, programs and files.

A proof repeats a run, and can neither take back what it does there nor compare it. So it is refused
and noted, unless it is allowed. What Java code reaches by itself is not seen.
"""

import os
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterator
from errno import EPERM
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from tidemark.glue_job.edge.calls import calls_of
from tidemark.local_state.home import Home
from tidemark.local_state.operations import allowed_outside, is_within, note_outside

CONNECTS = ("socket.connect", "socket.sendto")
PROGRAMS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec")
CHANGES = ("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate")
WATCHED = frozenset((*CONNECTS, *PROGRAMS, *CHANGES, "open"))
WRITES = os.O_WRONLY | os.O_RDWR
ENDPOINT = "AWS_ENDPOINT_URL"  # begins the names of variables
STDLIB = sysconfig.get_path("stdlib")
# What asks for a run's own doors: Spark's answers come through ports that it opens as it needs.
OURS = tuple(f"{os.sep}{name}{os.sep}" for name in ("pyspark", "py4j", "tidemark", "debugpy"))
IMPORTS = "<frozen importlib"
DEVICES = ("/dev/", "/proc/")


class Outside:
    """A hook of `sys.addaudithook` for the run of this process."""

    def __init__(self, home: Home, script: str) -> None:
        """Let the script reach the home, its own folders, and what is allowed."""
        self._home, self._script = home, script
        self._allowed = allowed_outside(home)
        urls = (value for name, value in os.environ.items() if name.startswith(ENDPOINT))
        self._endpoints = {(url.hostname, url.port) for url in map(urlsplit, urls)}
        folders = (home.root, Path.cwd(), Path(sys.prefix), *map(Path, DEVICES))
        self._own = tuple({str(path) for one in folders for path in (one, one.resolve())})
        self._temporary = tempfile.gettempdir()  # each run on AWS has its own
        self._is_asked = threading.local()

    def __call__(self, event: str, given: tuple[Any, ...]) -> None:
        """Refuse what the script must not reach.

        Raises:
            PermissionError: it reaches outside.
        """
        if event not in WATCHED or getattr(self._is_asked, "now", False):
            return
        self._is_asked.now = True
        try:
            what, is_kept = self._reached(event, given)
            if what and _is_of_script(sys._getframe(), self._script):
                self._note(what, is_kept=is_kept)
        finally:
            self._is_asked.now = False

    def _reached(self, event: str, given: tuple[Any, ...]) -> tuple[str, bool]:
        """Return what is reached, empty if it is the run's own; and whether a run may keep it."""
        if event in CONNECTS:
            address = given[-1]
            if not isinstance(address, tuple) or address[:2] in self._endpoints:
                return "", False
            return f"{address[0]}:{address[1]}", False
        if event in PROGRAMS:
            return f"the program {_text(given[0])}", False
        if event == "open" and not (isinstance(given[2], int) and given[2] & WRITES):
            return "", False
        path = os.path.abspath(_text(given[0])) if not isinstance(given[0], int) else ""  # noqa: PTH100
        if not path or path.startswith(self._own) or path.endswith(".pyc"):
            return "", False
        if path.startswith(self._temporary):
            is_added = event == "open" and bool(given[2] & os.O_APPEND)
            return (path, True) if is_added else ("", False)
        return path, False

    def _note(self, what: str, *, is_kept: bool) -> None:
        is_allowed = is_kept or is_within(what, self._allowed)
        lines = calls_of(self._script).lines
        at = " line ".join(map(str, lines[-1])) if lines else "a function of the script"
        note_outside(self._home, f"{what} ({at})")
        if not is_allowed:
            door = what.removeprefix("the program ")
            raise PermissionError(
                EPERM, f"{at}: a proof does not let the job reach {what}; --allow {door} does"
            )


def watch_outside(home: Home, script: str) -> None:
    """Watch what this process reaches from now on; a process is one run.

    Without a script, it is a worker of Spark, which runs functions of the script.
    """
    sys.addaudithook(Outside(home, script))


def _is_of_script(frame: FrameType | None, script: str) -> bool:
    """Return whether the script asks: not an import, and not a library of the run itself."""
    callers = list(_innermost_first(frame))
    if script:
        callers = callers[: callers.index(script) + 1] if script in callers else []
    is_import = any(file.startswith(IMPORTS) for file in callers)
    return bool(callers) and not is_import and not any(part in callers[0] for part in OURS)


def _innermost_first(frame: FrameType | None) -> Iterator[str]:
    """Yield the files whose code runs, the innermost first, without the standard library."""
    while frame is not None:
        file = frame.f_code.co_filename
        is_standard = file.startswith(STDLIB) and "site-packages" not in file
        if file != __file__ and not is_standard:
            yield file
        frame = frame.f_back


def _text(given: Any) -> str:
    return os.fsdecode(given) if isinstance(given, (str, bytes, os.PathLike)) else str(given)
