"""Announces each change that a job makes outside its process, if its home records them.

Changes of Python are announced where they are made, with the lines of the user's own code that make
them. The JVM announces its own through a socket: see `LakeFileSystem`.
"""

import ast
import linecache
import os
import sys
import sysconfig
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.operations import REQUEST, Recorder, records_operations

CALL_OF_JVM = "send_command"  # of Py4J
WAITS = {"awaitTermination", "awaitAnyTermination", "processAllAvailable"}  # in the main thread
# What is in these folders is nobody's own code; the library of watermarks is ours.
_TOOLKIT = str(Path(__file__).parents[2])
_PLACES = (sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), _TOOLKIT)
LIBRARIES = tuple({str(path) for place in _PLACES for path in (place, Path(place).resolve())})
WATERMARKS, INSTALLED = "/watermarks/", "/site-packages/"


class Calls(NamedTuple):
    """Where a change is made.

    Attributes:
        lines: file names and lines of the user's code, the outermost first.
        may_go_on: whether the run may go on after an error there: a `try`, a `with`, another
            thread, or a library that calls the code may keep it.
    """

    lines: tuple[tuple[str, int], ...] = ()
    may_go_on: bool = True


def calls_of(script: str) -> Calls:
    """Return the lines that make a change now, whichever thread of a script they run in.

    It is the calling thread, if the script has called it; else one that waits for an answer of the
    JVM, but not for the end of a stream; else the main thread, or any.
    """
    own, main = threading.get_ident(), threading.main_thread().ident
    stacks: list[tuple[tuple[bool, bool, bool], int, list[FrameType], bool]] = []
    for thread, top in sys._current_frames().items():
        frames = [frame for frame, _ in traceback.walk_stack(top)]
        names = [frame.f_code.co_filename for frame in frames]
        if script in names:
            called = {frame.f_code.co_name for frame in frames[: names.index(script)]}
            asks = CALL_OF_JVM in called and not called & WAITS
            order = (thread != own, not asks, thread != main)
            stacks.append((order, len(stacks), frames, thread == main))
    if not stacks:
        return Calls()
    _, _, frames, is_main = min(stacks)
    return _calls(frames[::-1], script, is_main=is_main)


def _calls(frames: list[FrameType], script: str, *, is_main: bool) -> Calls:
    names = [frame.f_code.co_filename for frame in frames]
    frames = frames[names.index(script) :]
    places = [at for at, frame in enumerate(frames) if is_own(frame.f_code.co_filename, script)]
    own = [frames[at] for at in places]
    is_direct = places == list(range(len(places)))  # no library calls the code back
    ends = is_main and is_direct and not any(map(_is_guarded, own))
    lines = tuple((Path(frame.f_code.co_filename).name, frame.f_lineno) for frame in own)
    return Calls(lines, may_go_on=not ends)


def is_own(file: str, script: str) -> bool:
    """Return whether a file is the user's own code: the script, or a module that it ships."""
    if file == script:
        return True
    is_library = file.startswith((*LIBRARIES, "<")) or WATERMARKS in file or INSTALLED in file
    return not is_library


def _is_guarded(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    linecache.lazycache(file, frame.f_globals)  # of a module in an archive
    # Without its source, a line may be guarded.
    ranges = _guards(file)
    return ranges is None or any(first <= frame.f_lineno <= last for first, last in ranges)


@cache
def _guards(file: str) -> list[tuple[int, int]] | None:
    """Return the first and last lines of what is guarded in a file; None without its source."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError):
        return None
    guards = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)
    nodes = [node for node in ast.walk(tree) if isinstance(node, guards)]
    return [(node.lineno, node.end_lineno or node.lineno) for node in nodes] if tree.body else None


@dataclass(frozen=True)
class Edge:
    """The recorder of this run, and the name of its script in frames."""

    recorder: Recorder
    script: str

    @contextmanager
    def announced(self, changes: Sequence[tuple[str, str]], in_part: bool) -> Iterator[str]:
        """Announce changes that the body makes; nothing was changed if the body raises.

        Yield how the request is to fail; empty if it is not.
        """
        calls = calls_of(self.script)
        kind, place = changes[0]
        with self.recorder.alone(place if kind == REQUEST else "") as failure:
            yield failure
            for at, (kind, place) in enumerate(changes):
                self.record(kind, (place,), calls, continues=at > 0, in_part=in_part)

    def record(self, kind: str, places: tuple[str, ...], calls: Calls, **facts: bool) -> None:
        """Record a change that was just made, and the lines of the script that run."""
        self.recorder.record(kind, places, calls.lines, calls.may_go_on, **facts)

    def note_opened(self, uri: str) -> str:
        """Note that Spark opens an object; return how that is to fail, empty if it is not."""
        return self.recorder.note_opened(uri, *calls_of(self.script))

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
def announced(*changes: tuple[str, str], in_part: bool = False) -> Iterator[str]:
    """Announce changes that the body makes, as kinds and places, if anybody records them.

    Yield how the request that makes them is to fail; empty if it is not. It may be done `in_part`
    if its answer can name the rest.
    """
    if _edge is None or not changes:
        yield ""
        return
    with _edge.announced(changes, in_part) as failure:
        yield failure


def note_request(place: str) -> str:
    """Note a request that reads, if anybody records it; return how it is to fail, or nothing."""
    return _edge.note_read(place) if _edge is not None else ""


def note_read(place: str) -> None:
    """Note what the run reads, if anybody records it."""
    if _edge is not None:
        _edge.recorder.note_opened(place)


def note_listed(prefix: str, *, is_deep: bool, by_script: bool = False) -> None:
    """Note which objects the run has listed, if anybody records it."""
    if _edge is not None:
        _edge.recorder.note_listed(prefix, is_deep=is_deep, by_script=by_script)
