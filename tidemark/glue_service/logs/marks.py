"""When the lines of a job run were written: logs have no times, so the engine notes them.

A file of marks has lines ``OFFSET TIME``: at that time (epoch milliseconds) the log had that many
bytes. A line of the log was written at the first mark after it.
"""

import bisect
import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from tidemark.local_state.store.database import JobRun
from tidemark.model.clock import now_ms

OUTPUT, ERROR = "stdout.log", "stderr.log"
LOGS = (OUTPUT, ERROR)
MARKS = ".marks"  # suffix after the name of the log
PERIOD_S = 0.1


class LogMarks:
    """Notes how far the logs of running jobs have grown, at most ten times a second."""

    def __init__(self) -> None:
        self._sizes: dict[Path, int] = {}
        self._last: dict[str, float] = {}

    def note(self, run: JobRun, *, is_last: bool = False) -> None:
        """Note the output of a run since the last call; no time is later than its end."""
        now = time.monotonic()
        if not is_last and now - self._last.get(run.run_id, 0) < PERIOD_S:
            return
        self._last[run.run_id] = now
        for log in LOGS:
            path = Path(run.log_path).with_name(log)
            with contextlib.suppress(OSError):  # missing so far, or a full disk
                size = path.stat().st_size
                if size > self._sizes.get(path, 0):
                    with path.with_name(path.name + MARKS).open("a", encoding="ascii") as marks:
                        marks.write(f"{size} {run.completed_at_ms or now_ms()}\n")
                    self._sizes[path] = size
            if is_last:
                self._sizes.pop(path, None)
        if is_last:
            self._last.pop(run.run_id, None)


def marks_of(log: Path) -> list[tuple[int, int]]:
    """Return the marks of a log, offset and time of each, in order."""
    marks = []
    with contextlib.suppress(FileNotFoundError):
        text = log.with_name(log.name + MARKS).read_text(encoding="ascii", errors="replace")
        for line in text.splitlines():
            with contextlib.suppress(ValueError):  # a mark that a crash cut short
                offset, at_ms = map(int, line.split())
                marks.append((offset, at_ms))
    return marks


def time_of_offset(marks: list[tuple[int, int]], otherwise_ms: int) -> Callable[[int], int]:
    """Return a function that returns when the line at an offset of a log was written."""
    offsets = [offset for offset, _ in marks]

    def time_of(offset: int) -> int:
        number = bisect.bisect_right(offsets, offset)
        return marks[number][1] if number < len(marks) else otherwise_ms

    return time_of
