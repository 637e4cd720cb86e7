"""The target of a verb: a Glue that answers, with all facts about it.

`operate.account` is a stage in an account of AWS, `operate.home` the home of this machine. A verb
asks for facts, and does the same with them at both. What a place does not tell is None, or
missing, and is left out of what is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from tidemark.errors import TidemarkError
from tidemark.local_state.store.stored_warnings import ShowWarnings, StoredWarning
from tidemark.model.assembly.cloud_assembly import Assembly
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetWritten
from tidemark.operate.app_names import Names
from tidemark.operate.clients import Glue
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.cleared import Cleared
from tidemark.operate.rewind.facts import RewindFacts
from tidemark.operate.rewind.rewinds import Rewinds
from tidemark.operate.run_facts import RunFacts
from watermarks import WatermarkAdmin


@dataclass(frozen=True)
class BookmarkHead:
    """The bookmark of a job that holds now.

    Attributes:
        version: counts up.
        until_ms: what arrived before was read, epoch milliseconds; None if that is not known.
    """

    version: int
    until_ms: int | None = None


@dataclass(frozen=True)
class CommittedRun:
    """A run that a bookmark can be rewound to.

    Attributes:
        run_id: ``jr_...``.
        at_ms: when it committed, epoch milliseconds; on AWS when it ended.
        number: of the run, as the bookmark counts them; None where that is not kept.
        state: None if only the bookmark is kept of it.
        rows_read: None if that is not known.
    """

    run_id: str
    at_ms: int
    number: int | None = None
    state: str | None = None
    rows_read: int | None = None


@dataclass(frozen=True)
class RunNotes:
    """The notes about a run.

    Attributes:
        warnings: in the order of their notes.
        lines: the last ones of its log.
        not_skipped: why it was started, although its job is skipped if nothing is new; empty else.
    """

    warnings: Sequence[str] = ()
    lines: Sequence[str] = ()
    not_skipped: str = ""


NO_NOTES = RunNotes()


class Target(Protocol):
    """A Glue that answers, and the records of its jobs.

    What has an answer here is what a place says that does not tell it.

    Attributes:
        where: whose it is, for people.
        option: what to add to a command that is to work on it too; begins with a blank.
        region: of its jobs.
        has_rows: whether runs report the rows that they have read and written.
        has_positions: whether checkpoints record how far a bookmark had read.
        has_streaming: whether streaming jobs run there.
        can_clear: whether what runs have written can be deleted, and brought back.
    """

    where: str
    option: str
    region: str
    has_rows: bool = False
    has_positions: bool = False
    has_streaming: bool = True
    can_clear: bool = False

    @property
    def arrived(self) -> Callable[[str], int | None] | None:
        """A function for the arrival time of a file; None if its last change tells that."""
        return None

    def transforms(self, written: DatasetWritten) -> Sequence[str] | None:
        """Return by what the partitions are that a write to a table of Iceberg has replaced.

        None if it has replaced none, or that is not known.
        """
        return None

    @property
    def glue(self) -> Glue:
        """Its clients."""

    @property
    def assembly(self) -> Assembly:
        """The app whose jobs they are."""

    @property
    def names(self) -> Names:
        """The jobs and workflows that are known."""

    @property
    def submitted(self) -> Sequence[str]:
        """The scripts that were run without a job, by the names of their runs."""
        return ()

    @property
    def known_jobs(self) -> Sequence[str]:
        """The jobs of ``names``, and others that have run or have a bookmark."""

    def job(self, name: str) -> str:
        """Return the name of a job that is known."""
        return self.names.job(name)

    def definition(self, job: str) -> Mapping[str, Any] | None:
        """Return a job of the app, if the command reads one, else its deployed definition."""

    def runs(
        self, jobs: Sequence[str] | None, since: datetime | None = None, limit: int | None = None
    ) -> list[Run]:
        """Return the newest runs of each job, or all that are known, in no certain order."""

    def notes(self, run: Run, line_count: int) -> RunNotes:
        """Return the notes about a run, with this many lines of its log."""

    def checkpoints(self, job: str | None = None) -> list[Checkpoint]:
        """Return the records of the runs of a job, or of all, the last commit first."""

    def checkpoint(self, run: Run) -> Checkpoint | None:
        """Return the record of a run, with its arguments; None without one."""

    def run_facts(self, runs: Sequence[Run]) -> list[RunFacts]:
        """Return the records of runs that have ended."""

    def bookmark(self, job: str) -> BookmarkHead | None:
        """Return the bookmark of a job, None if it has none."""

    def bookmark_entry(self, job: str, run_id: str | None = None) -> Mapping[str, Any] | None:
        """Return the bookmark as a JobBookmarkEntry, now or when a run ended."""

    def committed_runs(self, job: str) -> list[CommittedRun]:
        """Return the runs that the bookmark of a job can be rewound to, the newest first."""

    def no_bookmark_reason(self, job: str) -> TidemarkError:
        """Return the error that tells why a job that is known has no bookmark."""

    def reset_bookmark(self, job: str, run_id: str | None) -> Mapping[str, Any]:
        """Set a bookmark to the beginning, or to the end of a run; return the JobBookmarkEntry."""

    def watermarks(self, table: str) -> AbstractContextManager[WatermarkAdmin]:
        """Open a table of watermarks; its errors are those of the library."""

    def iceberg_metadata(self, table: str) -> Mapping[str, Any] | None:
        """Return the metadata of `database.table`; None if it is not a table of Iceberg."""

    def warnings(self) -> list[StoredWarning] | None:
        """Return the open warnings of runs; None if they are not kept."""
        return None

    def show_unseen(self, show: ShowWarnings) -> None:
        """Show the warnings that no one has seen yet."""
        return

    def starts(self) -> list[str]:
        """Return, for people, what starts the workflows of the app on AWS and not here."""
        return []

    def rewind_facts(self, jobs: Sequence[str], runs: Sequence[Run]) -> RewindFacts:
        """Return what only a rewind asks: bookmarks with their history, and what starts jobs."""

    def cleared(self) -> Sequence[Cleared]:
        """Return the output that rewinds have deleted, and that no undo has brought back."""
        return ()

    @property
    def rewinds(self) -> Rewinds:
        """What was rewound, and what carries a rewind out."""


def arguments_of(definition: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the arguments that every run of a job has."""
    job = definition or {}
    return {**(job.get("DefaultArguments") or {}), **(job.get("NonOverridableArguments") or {})}
