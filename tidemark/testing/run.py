"""A job run of a test: its state, its reads and writes, and why it failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_job.process.failures import from_script

SCHEME = "s3://"
LAST_LINES = 10


class JobRunFailedError(TidemarkError):
    """A run that `GlueRun.check` checked did not end as SUCCEEDED."""


class FilesRead(int):
    """The number of files that a run read; iteration and comparison with a list use their names.

    Attributes:
        names: each as ``bucket/key``, in order.
    """

    names: tuple[str, ...]

    def __new__(cls, names: tuple[str, ...], count: int | None = None) -> FilesRead:
        """Return the number of names, or a number whose names are not known."""
        made = super().__new__(cls, len(names) if count is None else count)
        made.names = names
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return int(self)

    def __contains__(self, name: object) -> bool:
        return str(name).removeprefix(SCHEME) in self.names

    def __eq__(self, other: object) -> bool:
        if isinstance(other, list | tuple | set | frozenset):
            return sorted(str(place).removeprefix(SCHEME) for place in other) == list(self.names)
        return int(self) == other

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = int.__hash__

    def __repr__(self) -> str:
        return f"{int(self)} ({', '.join(self.names)})" if self.names else str(int(self))


@dataclass(frozen=True, eq=False)
class GlueRun:
    """A job run that is over.

    Attributes:
        job_name: the job.
        run_id: ``jr_…``.
        state: SUCCEEDED, FAILED and so on, in Glue's words.
        rows_read: rows that the sources handed to the script.
        files_read: number of files that its sources chose; iterate over it for their names.
        rows_written: rows that it wrote.
        stdout: its output.
        stderr: its log and that of its JVM.
        error: why it failed, in one line; None if it did not.
        warnings: warnings for a user of Glue about it, each a sentence.
        files_written: new or changed objects, as ``bucket/key``.
        arguments: its arguments, with the leading ``--``.
        seconds: its duration.
        why_isolated: why it ran in its own process; None if it ran in the test's process.
        exception: the exception of the script, if it ran in the test's process.
        script: the file of the script.
        bookmarked: the files among `files_read` that were read through the bookmark.
        sources: number of sources that it read through the bookmark.
        repeat: runs the job once more, with the same arguments.
    """

    job_name: str
    run_id: str
    state: str
    rows_read: int
    files_read: FilesRead
    rows_written: int
    stdout: str = field(repr=False)
    stderr: str = field(repr=False)
    error: str | None
    warnings: list[str]
    files_written: tuple[str, ...]
    arguments: Mapping[str, str] = field(repr=False)
    seconds: float
    why_isolated: str | None
    exception: BaseException | None = field(repr=False)
    script: str = field(repr=False)
    bookmarked: FilesRead = field(repr=False)
    sources: int = field(repr=False)
    repeat: Callable[[], GlueRun] = field(repr=False)

    @property
    def is_success(self) -> bool:
        """Whether it SUCCEEDED."""
        return self.state == "SUCCEEDED"

    @property
    def is_isolated(self) -> bool:
        """Whether it ran in its own process."""
        return self.why_isolated is not None

    @property
    def where(self) -> str:
        """Where it ran: in the test's process, or isolated and why."""
        return f"isolated: {self.why_isolated}" if self.why_isolated else "in process"

    def check(self) -> GlueRun:
        """Return the run if it SUCCEEDED; else raise its script's exception.

        So pytest shows the script's own lines, and ``--pdb`` stops in them.

        Raises:
            BaseException: the exception of the script in the test's process.
            JobRunFailedError: it failed in its own process.
        """
        __tracebackhide__ = True
        if self.is_success:
            return self
        if isinstance(self.exception, Exception):
            frames = from_script(self.exception.__traceback__, self.script)
            raise self.exception.with_traceback(frames)
        raise JobRunFailedError(f"job {self.job_name} {self.state}: {self.error}")

    def __getattr__(self, name: str) -> Any:
        known = ", ".join(
            field for field in self.__dataclass_fields__ if field not in ("repeat", "script")
        )
        raise AttributeError(f"a run of a job has no {name!r}; it has {known}")
