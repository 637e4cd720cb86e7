"""Announces each change that a job makes outside its process, if its home records them.

Changes of Python are announced where they are made. The JVM announces its own through a socket:
see `LakeFileSystem`.
"""

import os
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.operations import Recorder, records_operations

CALL_OF_JVM = "send_command"  # of Py4J
WAITS = {"awaitTermination", "awaitAnyTermination", "processAllAvailable"}  # in the main thread


@dataclass(frozen=True)
class Edge:
    """The recorder of this run, and the name of its script in frames."""

    recorder: Recorder
    script: str

    @contextmanager
    def announced(self, changes: Iterable[tuple[str, str]]) -> Iterator[None]:
        """Announce changes that the body makes; nothing was changed if the body raises."""
        line = line_of(self.script)
        with self.recorder.alone():
            yield
            for kind, place in changes:
                self.record(kind, (place,), line)

    def record(self, kind: str, places: tuple[str, ...], line: int | None) -> None:
        """Record a change that was just made, and the line of the script that runs."""
        script = Path(self.script).name if line else ""
        self.recorder.record(kind, places, script, line)


_edge: Edge | None = None  # of this process, which is one run


def open_edge(home: Home, script: str, run_id: str = "") -> Edge | None:
    """Return the edge of this process if its home records operations; else None."""
    global _edge
    if records_operations(home):
        _edge = Edge(Recorder(home, run_id or os.environ[RUN_ID_VARIABLE]), script)
    return _edge


@contextmanager
def announced(*changes: tuple[str, str]) -> Iterator[None]:
    """Announce changes that the body makes, as kinds and places, if anybody records them."""
    if _edge is None or not changes:
        yield
        return
    with _edge.announced(changes):
        yield


def note_read(place: str) -> None:
    """Note what the run reads, if anybody records it."""
    if _edge is not None:
        _edge.recorder.note_opened(place)


def note_listed(prefix: str, *, is_deep: bool) -> None:
    """Note which objects the run has listed, if anybody records it."""
    if _edge is not None:
        _edge.recorder.note_listed(prefix, is_deep=is_deep)


def line_of(script: str) -> int | None:
    """Return the line of a script that makes a change now, whichever thread it runs in.

    It is that of the calling thread, if the script has called it; else of a thread that waits for
    an answer of the JVM, but not for the end of a stream; else of the main thread, or of any.
    """
    own, main = threading.get_ident(), threading.main_thread().ident
    found = []
    for thread, top in sys._current_frames().items():
        frame: FrameType | None = top
        called = set[str]()
        while frame is not None and frame.f_code.co_filename != script:
            called.add(frame.f_code.co_name)
            frame = frame.f_back
        if frame is not None:
            asks = CALL_OF_JVM in called and not called & WAITS
            found.append(((thread != own, not asks, thread != main), frame.f_lineno))
    return min(found)[1] if found else None
