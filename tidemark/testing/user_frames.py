"""Lets `--pdb` stop in the user's code: not in the library in which an error was raised."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

TIDEMARK = Path(__file__).parents[1]
LIBRARIES = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib", "platlib"))


def stop_in_own_code(call: pytest.CallInfo[Any], scripts: Iterable[str]) -> None:
    """Cut the frames below the user's last one from an error, for a debugger that looks at it."""
    error = call.excinfo.value if call.excinfo else None
    if error is None or error.__traceback__ is None:
        return
    cut = up_to_own(error.__traceback__, set(scripts))
    if cut is not None:
        from _pytest._code import ExceptionInfo

        call.excinfo = ExceptionInfo.from_exception(error.with_traceback(cut))


def up_to_own(trace: TracebackType, scripts: set[str]) -> TracebackType | None:
    """Return a traceback without what is below the last frame of the user; None if it has none."""
    frames = _frames(trace)
    own = []
    for n, frame in enumerate(frames):
        name = frame.tb_frame.f_code.co_filename
        is_installed = any(Path(name).is_relative_to(folder) for folder in (TIDEMARK, *LIBRARIES))
        if name in scripts or (Path(name).is_file() and not is_installed):
            own.append(n)
    if not own:
        return None
    cut: TracebackType | None = None
    for frame in reversed(frames[: own[-1] + 1]):
        cut = TracebackType(cut, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return cut


def _frames(trace: TracebackType | None) -> Sequence[TracebackType]:
    frames_shown = []
    while trace is not None:
        frames_shown.append(trace)
        trace = trace.tb_next
    return frames_shown
