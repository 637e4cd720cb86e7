"""Sees what a run that is proved reaches outside its home: hosts, programs and files.

A proof repeats a run, and can neither take back what it does there nor compare it. So it is refused
and noted, unless it is allowed. What Java code and compiled libraries reach by themselves is not
seen.
"""

import fcntl
import os
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import suppress
from errno import EPERM
from pathlib import Path
from types import FrameType
from typing import IO, Any
from urllib.parse import urlsplit

from tidemark.glue_job.edge.announce import calls_of
from tidemark.local_state.home import Home
from tidemark.local_state.outside import allowed_outside, is_within, note_outside

NAMES, CONNECTS = "socket.getaddrinfo", ("socket.connect", "socket.sendto")
PROGRAMS = ("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec")
MOVES = ("os.rename", "os.link", "os.symlink")  # events with two paths
CHANGES = ("os.remove", "os.rmdir", "os.mkdir", "os.truncate", *MOVES)
WATCHED = frozenset((NAMES, *CONNECTS, *PROGRAMS, *CHANGES, "open"))
WRITES = os.O_WRONLY | os.O_RDWR
ENDPOINT = "AWS_ENDPOINT_URL"  # begins the names of variables
LOOPBACK = ("localhost", "127.0.0.1", "::1")
STDLIB = sysconfig.get_path("stdlib")
# What asks for a run's own doors: Spark's answers come through ports that it opens as it needs.
PACKAGES = tuple(f"{os.sep}site-packages{os.sep}{name}{os.sep}" for name in ("pyspark", "py4j"))
OURS = str(Path(__file__).parents[2]) + os.sep
IMPORTS, CACHES = "<frozen importlib", f"{os.sep}__pycache__{os.sep}"
LOCK = ".temporary-lock"  # beside the homes of a proof: held by the run that uses the folder
PATHS = (str, bytes, os.PathLike)


class Outside:
    """A hook of `sys.addaudithook` for the run of this process."""

    def __init__(self, home: Home, script: str) -> None:
        """Let the script reach the home, its own folders, and what is allowed."""
        self._home, self._script = home, script
        self._allowed = allowed_outside(home)
        urls = (value for name, value in os.environ.items() if name.startswith(ENDPOINT))
        self._endpoints = set[tuple[str | None, int | None]]()
        for url in map(urlsplit, urls):
            names = LOOPBACK if url.hostname in LOOPBACK else (url.hostname,)
            self._endpoints |= {(name, url.port) for name in names}
        self._own = [os.path.realpath(path) for path in (home.root, Path.cwd(), "/dev", "/proc")]
        self._temporary = os.path.realpath(tempfile.gettempdir())  # each run on AWS has its own
        self._made = list[str]()
        self._lock: IO[str] | None = None
        self._thread = threading.local()  # is_asked, and the host that it has looked up

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Refuse what the script must not reach.

        Raises:
            PermissionError: it reaches outside.
        """
        if event not in WATCHED or getattr(self._thread, "is_asked", False):
            return
        self._thread.is_asked = True
        try:
            self._wait_for_temporary(event, arguments)
            reached, made = self._reached(event, arguments), self._new_temporary(event, arguments)
            if (made or any(reached)) and _is_of_script(sys._getframe(), self._script):
                self._made += made
                for what in filter(None, reached):
                    self._note(what, is_refused=event != "open" or not self._is_temporary(what))
        finally:
            self._thread.is_asked = False

    def _reached(self, event: str, arguments: tuple[Any, ...]) -> list[str]:
        """Return what is reached outside; empty texts for what is the run's own."""
        if event == NAMES:
            return [self._looked_up(arguments)]
        if event in CONNECTS:
            return [self._connected(arguments[-1])]
        if event in PROGRAMS:
            return [f"the program {_text(arguments[0])}"]
        if event != "open":
            return [self._changed(path) for path in arguments[: 2 if event in MOVES else 1]]
        flags = arguments[2] if isinstance(arguments[2], int) else 0
        is_added = bool(flags & os.O_APPEND)
        return [self._changed(arguments[0], is_added=is_added)] if flags & WRITES else []

    def _looked_up(self, arguments: tuple[Any, ...]) -> str:
        host, port = _text(arguments[0] or ""), arguments[1]
        # The thread connects to the address of this host next.
        self._thread.host = f"{host}:{port}"
        is_own = host in ("", *LOOPBACK) or (host, port) in self._endpoints
        return "" if is_own else f"{host}:{port}"

    def _connected(self, address: Any) -> str:
        if not isinstance(address, tuple) or address[:2] in self._endpoints:
            return ""
        looked_up = str(getattr(self._thread, "host", ""))
        is_named = looked_up.endswith(f":{address[1]}")
        return looked_up if is_named else f"{address[0]}:{address[1]}"

    def _changed(self, place: Any, *, is_added: bool = False) -> str:
        """Return a path that is changed outside the run's own folders; empty within them."""
        if isinstance(place, int):  # a file that is open
            return ""
        path = os.path.realpath(_text(place))
        if _is_below(path, self._own) or CACHES in path:
            return ""
        return path if is_added or not self._is_temporary(path) else ""

    def _wait_for_temporary(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Wait until no other run of the proof uses the temporary folder, and keep them out."""
        # A worker of Spark belongs to a run that may keep out others already.
        if self._lock or not self._script or event not in ("open", *CHANGES):
            return
        paths = (
            path for path in arguments[: 2 if event in MOVES else 1] if isinstance(path, PATHS)
        )
        is_shared = any(self._is_shared(_text(path)) for path in paths)
        if is_shared and _is_of_script(sys._getframe(), self._script):
            self._lock = (self._home.root.parent / LOCK).open("w", encoding="utf-8")
            fcntl.flock(self._lock, fcntl.LOCK_EX)

    def _is_shared(self, path: str) -> bool:
        """Return whether a path is in the temporary folder, and not the run's own."""
        path = os.path.realpath(path)
        return self._is_temporary(path) and not _is_below(path, self._own) and CACHES not in path

    def _new_temporary(self, event: str, arguments: tuple[Any, ...]) -> list[str]:
        """Return the temporary file or folder that is about to be made, if it is one."""
        made = arguments[1 if event in MOVES else 0]
        flags = arguments[2] if event == "open" and isinstance(arguments[2], int) else 0
        is_made = event in ("os.mkdir", *MOVES) or flags & os.O_CREAT
        if not is_made or not isinstance(made, PATHS):
            return []
        path = os.path.realpath(_text(made))
        if event == "os.rename" and os.path.realpath(_text(arguments[0])) not in self._made:
            return []  # what another program has made is moved
        is_kept = _is_below(path, self._own) or is_within(path, self._allowed)
        return (
            [path] if self._is_temporary(path) and not is_kept and not Path(path).exists() else []
        )

    def remove_temporary(self) -> None:
        """Remove the temporary files that the script has made: the next run on AWS has none."""
        for path in map(Path, reversed(self._made)):
            with suppress(OSError):  # such as a folder that holds what others have made
                path.rmdir() if path.is_dir() else path.unlink()
        if self._lock:
            self._lock.close()

    def _is_temporary(self, path: str) -> bool:
        return _is_below(path, [self._temporary])

    def _note(self, what: str, *, is_refused: bool) -> None:
        lines = calls_of(self._script).lines
        at = " line ".join(map(str, lines[-1])) if lines else "a function of the script"
        note_outside(self._home, f"{what} ({at})")
        if is_refused and not is_within(what, self._allowed):
            door = what.removeprefix("the program ")
            text = f"{at}: a proof does not let the job reach {what}; --allow {door} does"
            raise PermissionError(EPERM, text)


def watch_outside(home: Home, script: str) -> Outside:
    """Watch what this process reaches from now on; a process is one run.

    Without a script, it is a worker of Spark, which runs functions of the script.
    """
    outside = Outside(home, script)
    sys.addaudithook(outside)
    return outside


def _is_of_script(frame: FrameType | None, script: str) -> bool:
    """Return whether the script asks: not an import, and not a library of the run itself."""
    callers = list(_innermost_first(frame))
    if script:
        callers = callers[: callers.index(script) + 1] if script in callers else []
    is_import = any(file.startswith(IMPORTS) for file in callers)
    if not callers or is_import:
        return False
    asks = callers[0]
    return asks == script or not (asks.startswith(OURS) or any(part in asks for part in PACKAGES))


def _innermost_first(frame: FrameType | None) -> Iterator[str]:
    """Yield the files whose code runs, the innermost first, without the standard library."""
    while frame is not None:
        file = frame.f_code.co_filename
        is_standard = file.startswith(STDLIB) and "site-packages" not in file
        if file != __file__ and not is_standard:
            yield file
        frame = frame.f_back


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path == folder or path.startswith(f"{folder}{os.sep}") for folder in folders)


def _text(given: Any) -> str:
    return os.fsdecode(given) if isinstance(given, (str, bytes, os.PathLike)) else str(given)
