"""The lines of the user's own code that make a change now, and whether an error ends the run."""

import ast
import linecache
import sys
import sysconfig
import threading
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import FrameType
from typing import NamedTuple

CALL_OF_JVM = "send_command"  # of Py4J
WAITS = {"awaitTermination", "awaitAnyTermination", "processAllAvailable"}  # in the main thread
# What is in these folders is nobody's own code; the library of watermarks is ours.
LIBRARIES = tuple(
    dict.fromkeys(
        str(path)
        for place in (
            sysconfig.get_path("stdlib"),
            sysconfig.get_path("purelib"),
            Path(__file__).parents[2],
        )
        for path in (Path(place), Path(place).resolve())
    )
)
OURS, INSTALLED = "/watermarks/", "/site-packages/"


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
        frames = list(_outwards(top))
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


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _calls(frames: list[FrameType], script: str, *, is_main: bool) -> Calls:
    """Return the calls of a stack, the outermost first."""
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
    is_library = file.startswith((*LIBRARIES, "<")) or OURS in file or INSTALLED in file
    return not is_library


def _is_guarded(frame: FrameType) -> bool:
    """Return whether a `try` or a `with` is around the line of a frame, or its source is gone."""
    file = frame.f_code.co_filename
    linecache.lazycache(file, frame.f_globals)  # of a module in an archive
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
    found = [node for node in ast.walk(tree) if isinstance(node, guards)]
    return [(node.lineno, node.end_lineno or node.lineno) for node in found] if tree.body else None
