"""The lines of a job run's log as log events: where each starts, and when it was written."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tidemark.glue_service.logs.marks import marks_of, time_of_offset
from tidemark.local_state.store.database import FINAL_STATES, JobRun

MAX_EVENT_BYTES = 1_000_000  # bytes; a longer line becomes several events
SCANNED = 4_000_000  # bytes of one log that one request reads


@dataclass(frozen=True)
class LogEvent:
    """One line: its offset in the log in bytes, and its time in epoch milliseconds."""

    stream: str
    begin: int
    end: int
    timestamp: int
    message: str

    @property
    def event_id(self) -> str:
        """56 digits, like CloudWatch's, in order of time."""
        return f"{self.timestamp:020}{zlib.crc32(self.stream.encode()):010}{self.begin:026}"


@dataclass(frozen=True)
class LogFile:
    """One log of a job run: a log stream named after the run's id."""

    run: JobRun
    path: Path

    @property
    def size(self) -> int:
        """The readable bytes: in a run that has not ended, those that already have a time."""
        if self.run.state not in FINAL_STATES:
            return max((offset for offset, _ in marks_of(self.path)), default=0)
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def times(self) -> Callable[[int], int]:
        """Return a function that returns when the line at an offset was written."""
        run = self.run
        return time_of_offset(marks_of(self.path), run.completed_at_ms or run.started_at_ms)

    def events(self, begin: int = 0, most_bytes: int = SCANNED) -> Iterator[LogEvent]:
        """Yield the lines from an offset on, at which a line must start.

        The line in progress is left out until its run has ended.
        """
        size = self.size
        if size <= begin:
            return
        time_of = self.times()
        has_ended = self.run.state in FINAL_STATES
        end = begin
        with self.path.open("rb") as file:
            file.seek(begin)
            while end - begin < most_bytes and (line := file.readline(MAX_EVENT_BYTES)):
                is_whole = line.endswith(b"\n") or len(line) == MAX_EVENT_BYTES
                place, end = end, end + len(line)
                if end > size or not (is_whole or has_ended):
                    return
                text = line.rstrip(b"\r\n").decode("utf-8", errors="replace")
                yield LogEvent(self.run.run_id, place, end, time_of(place), text)

    def before(self, end: int, count: int, most_bytes: int = SCANNED) -> list[LogEvent]:
        """Return up to ``count`` lines that end at an offset, the oldest first."""
        begin = 0
        if end > most_bytes and self.size:
            with self.path.open("rb") as file:
                file.seek(end - most_bytes - 1)
                file.readline(MAX_EVENT_BYTES)  # up to the start of a line
                begin = file.tell()
        return [event for event in self.events(begin, most_bytes + 1) if event.end <= end][-count:]
