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

from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.operations import Recorder, records_operations


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


def line_of(script: str) -> int | None:
    """Return the line of a script that runs now, in the main thread if it does."""
    frames = sys._current_frames()
    main = threading.main_thread().ident
    for thread in sorted(frames, key=lambda thread: thread != main):
        frame = frames[thread]
        while frame is not None:
            if frame.f_code.co_filename == script:
                return frame.f_lineno
            frame = frame.f_back  # type: ignore[assignment]
    return None
