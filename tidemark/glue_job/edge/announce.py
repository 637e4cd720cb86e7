"""Announces each change that a job makes outside its process, if its home records them.

Changes of Python are announced where they are made. The JVM announces its own through a socket:
see `LakeFileSystem`.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from tidemark.glue_job.edge.calls import Calls, calls_of
from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.operations import REQUEST, Recorder, records_operations


@dataclass(frozen=True)
class Edge:
    """The recorder of this run, and the name of its script in frames."""

    recorder: Recorder
    script: str

    @contextmanager
    def announced(self, changes: Sequence[tuple[str, str]]) -> Iterator[str]:
        """Announce changes that the body makes; nothing was changed if the body raises.

        Yield how the request is to fail; empty if it is not.
        """
        calls = calls_of(self.script)
        kind, place = changes[0]
        with self.recorder.alone(place if kind == REQUEST else "") as failure:
            yield failure
            for at, (kind, place) in enumerate(changes):
                self.record(kind, (place,), calls, continues=at > 0)

    def record(
        self,
        kind: str,
        places: tuple[str, ...],
        calls: Calls,
        *,
        is_of_jvm: bool = False,
        continues: bool = False,
    ) -> None:
        """Record a change that was just made, and the lines of the script that run."""
        self.recorder.record(kind, places, calls.lines, calls.may_go_on, is_of_jvm, continues)

    def note_read(self, place: str) -> str:
        """Note a request that reads; return how it is to fail, empty if it is not."""
        return self.recorder.note_request(place, *calls_of(self.script))


_edge: Edge | None = None  # of this process, which is one run


def open_edge(home: Home, script: str, run_id: str = "") -> Edge | None:
    """Return the edge of this process if its home records operations; else None."""
    global _edge
    if records_operations(home):
        _edge = Edge(Recorder(home, run_id or os.environ[RUN_ID_VARIABLE]), script)
    return _edge


def recording_home() -> Home | None:
    """Return the home of this process if it records operations; else None."""
    return _edge.recorder.home if _edge is not None else None


@contextmanager
def announced(*changes: tuple[str, str]) -> Iterator[str]:
    """Announce changes that the body makes, as kinds and places, if anybody records them.

    Yield how the request that makes them is to fail; empty if it is not.
    """
    if _edge is None or not changes:
        yield ""
        return
    with _edge.announced(changes) as failure:
        yield failure


def note_request(place: str) -> str:
    """Note a request that reads, if anybody records it; return how it is to fail, or nothing."""
    return _edge.note_read(place) if _edge is not None else ""


def note_read(place: str) -> None:
    """Note what the run reads, if anybody records it."""
    if _edge is not None:
        _edge.recorder.note_opened(place)


def note_listed(prefix: str, *, is_deep: bool) -> None:
    """Note which objects the run has listed, if anybody records it."""
    if _edge is not None:
        _edge.recorder.note_listed(prefix, is_deep=is_deep)
