"""Carries a rewind out so that a crash at any instant leaves it to be finished or taken back.

    1  the record, with every step in it           SQLite, one transaction
    2  the mark: no job run starts from here on    a file
    3  what is deleted moves into a folder;        renames and new files, each of which may be
       metadata of tables that go back             repeated
    4  watermarks                                  DynamoDB, one transaction a table
    5  bookmarks, the tables' places of metadata,  SQLite, one transaction
       and the record is done

Until 5 everything can be taken back; each of the steps may be done again. An error in between, such
as a full disk, takes back what has moved; if that is impossible too, it names what stays moved.
"""

import json
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NoReturn, TypeAlias

from tidemark.errors import BookmarkVersionMismatchError, DiskFullError, TidemarkError, UsageError
from tidemark.local_state.bookmarks.versions import latest_bookmark, restore_version
from tidemark.local_state.catalog.table_metadata import (
    at_snapshot,
    put_metadata,
    read_metadata,
    write_metadata,
)
from tidemark.local_state.home import Home
from tidemark.local_state.machine.disk import full_disk_line, has_room, is_full
from tidemark.local_state.rewinds.records import (
    BEGUN,
    CLEARED,
    DONE,
    GIVEN_UP,
    MARK,
    RewindCause,
    RewindRecord,
    Steps,
    TableStep,
    WatermarkStep,
    check_still_open,
    end,
    record_start,
)
from tidemark.local_state.store.database import Store
from tidemark.model.messages import listed
from watermarks import WatermarkAdmin, WatermarkConflictError, WatermarksError
from watermarks.admin import Rewind

OpenTable: TypeAlias = Callable[[str], AbstractContextManager[WatermarkAdmin]]
"""Opens a table of watermarks by its name."""


class TableChangedError(Exception):
    """A table of Iceberg is not the one that it was when a rewind was planned."""


FAILURES = (TidemarkError, WatermarksError, OSError)


class UnfinishedError(TidemarkError):
    """A rewind, or the taking back of one, is half done; `fact` is what has stopped it."""

    def __init__(
        self, home: Home, record: RewindRecord, error: Exception, moved: Sequence[str]
    ) -> None:
        is_disk = isinstance(error, DiskFullError) or is_full(error) or not has_room(home.root)
        fact = str(error)
        if isinstance(error, OSError):
            fact = f"cannot use {error.filename or home.root}: {error.strerror or error}"
        self.fact = full_disk_line(home.root) if is_disk else fact
        self.remedy = "make room" if is_disk else "repair that"
        self.moved = moved
        what = f"these have moved: {listed(moved)}" if moved else "nothing has moved"
        number = record.rewind_id
        super().__init__(
            f"{self.fact}; rewind {number} is not finished, and {what}; {self.remedy}, then "
            f"`tidemark rewind resume` finishes it, or `tidemark rewind undo {number}` takes "
            "it back"
        )


def perhaps(table: str) -> str:
    """Return what messages call watermarks of which it is not known whether they have moved."""
    return f"perhaps {watermarks_of(table)}"


def watermarks_of(table: str) -> str:
    """Return what messages call the watermarks of a table."""
    return f"the watermarks of table {table}"


def no_step(_: str) -> None:
    """Do nothing before a step."""


@dataclass(frozen=True)
class CarryOut:
    """Does rewinds in a home, and takes them back.

    Attributes:
        home: the home.
        store: its state.
        open_table: opens a table of watermarks.
        before: called with the name of each step before that is done.
    """

    home: Home
    store: Store
    open_table: OpenTable
    before: Callable[[str], None] = no_step

    def do(
        self, steps: Steps, cause: RewindCause, to: str, undoes: int | None = None
    ) -> RewindRecord:
        """Do all steps, or nothing; return the record."""
        self.before("record")
        # A full disk would stop it half way: better to begin with room.
        if not has_room(self.home.root):
            raise DiskFullError(
                f"{full_disk_line(self.home.root)}; nothing was changed: make room, then rewind "
                "again"
            )
        with self.home.alone_to_rewind():
            with self.store.transaction():
                _check_bookmarks(self.store, steps)
                document = {"to": to, "steps": steps.to_json()}
                record = record_start(self.store, cause, document, undoes)
                folder = Path(CLEARED, str(record.rewind_id))  # for what goes away
                files = tuple((from_, at or str(folder / from_)) for from_, at in steps.files)
                if files != steps.files:
                    document = {"to": to, "steps": replace(steps, files=files).to_json()}
                    record = replace(record, document=document)
                    self.store.query(
                        "UPDATE rewind SET document = ? WHERE rewind_id = ? AND state = ?",
                        (json.dumps(document), record.rewind_id, BEGUN),
                    )
            try:
                return self._finish(record, cause.at_ms)
            except UnfinishedError as error:
                return self._give_up(record, error)

    def finish(self, record: RewindRecord, at_ms: int) -> RewindRecord:
        """Finish a rewind that has started; return its record."""
        with self.home.alone_to_rewind():
            check_still_open(self.store, record)
            return self._finish(record, at_ms)

    def _finish(self, record: RewindRecord, at_ms: int) -> RewindRecord:
        steps = Steps.from_json(record.document["steps"])
        mark = self.home.root / MARK
        moved: list[str] = []
        try:
            self.before("mark")
            mark.touch()
            self.before("files")
            for from_, to in steps.files:
                self.before(f"file {from_}")
                _move(self.home, from_, to)
                moved.append(from_)
            for table in steps.tables:
                self.before(f"table {table.table}")
                _write_metadata(self.home, table, at_ms)
            for table, group in groupby(steps.watermarks, key=lambda step: step.table):
                self.before(f"watermarks {table}")
                moved.append(perhaps(table))  # its answer may not arrive
                with self.open_table(table) as admin:
                    _rewind(admin, list(group), record, "rewind")
                moved[-1] = watermarks_of(table)
            self.before("bookmarks")
            # Last: this transaction cannot be taken back, and all before it can.
            with self.store.transaction():
                for step in steps.bookmarks:
                    restore_version(self.store, step.job, step.expected, step.version, at_ms)
                for table_step in steps.tables:
                    _put_metadata(self.store, table_step)
                end(self.store, record.rewind_id, DONE)
        except (
            WatermarkConflictError,
            BookmarkVersionMismatchError,
            TableChangedError,
            FileNotFoundError,
            FileExistsError,
        ) as error:
            replace(self, before=no_step)._take_back(record)
            raise UsageError(
                f"something has moved since the rewind was planned ({error}); everything is as it "
                "was: plan it again"
            ) from error
        except FAILURES as error:
            raise UnfinishedError(self.home, record, error, moved) from error
        self.before("unmark")
        mark.unlink(missing_ok=True)
        return replace(record, state=DONE)

    def _give_up(self, record: RewindRecord, error: UnfinishedError) -> NoReturn:
        """Take back what has moved, and raise what says so; or what stays moved."""
        try:
            replace(self, before=no_step)._take_back(record, error.moved)
        except UnfinishedError as stays:
            raise stays from error
        raise TidemarkError(
            f"{error.fact}; everything is as it was: {error.remedy}, then rewind again"
        ) from error

    def take_back(self, record: RewindRecord) -> RewindRecord:
        """Undo a rewind that has started but not finished.

        May be repeated, as each of its steps may.
        """
        with self.home.alone_to_rewind():
            check_still_open(self.store, record)
            return self._take_back(record)

    def _take_back(
        self, record: RewindRecord, reached: Collection[str] | None = None
    ) -> RewindRecord:
        """Take back what has moved; of the watermarks those that were reached, if it is known."""
        steps = Steps.from_json(record.document["steps"])
        back = steps.backwards()
        root = self.home.root
        pairs = [
            pair
            for pair in zip(steps.watermarks, back.watermarks, strict=True)
            if reached is None
            or {watermarks_of(pair[0].table), perhaps(pair[0].table)} & {*reached}
        ]
        moved = list(dict.fromkeys(perhaps(step.table) for step, _ in pairs))
        moved += [from_ for from_, to in steps.files if (root / to).exists()]
        try:
            for table, group in groupby(pairs, key=lambda pair: pair[0].table):
                self.before(f"watermarks back {table}")
                with self.open_table(table) as admin:
                    _rewind_back(admin, list(group), record)
                moved.remove(perhaps(table))
            for to, from_ in back.files:
                self.before(f"file back {from_}")
                if (root / to).exists() and not (root / from_).exists():  # it was moved
                    _move(self.home, to, from_)
                    moved.remove(from_)
            for step in steps.tables:
                self.home.local_path(step.place).unlink(missing_ok=True)
            self.before("given up")
            with self.store.transaction():
                end(self.store, record.rewind_id, GIVEN_UP)
        except UsageError:
            raise
        except FAILURES as error:
            raise UnfinishedError(self.home, record, error, moved) from error
        (root / MARK).unlink(missing_ok=True)
        return replace(record, state=GIVEN_UP)


def _write_metadata(home: Home, step: TableStep, at_ms: int) -> None:
    if not home.local_path(step.place).exists():
        metadata = read_metadata(home, step.expected)
        changed = at_snapshot(metadata, step.snapshot, at_ms, step.expected)
        write_metadata(home, step.place, changed)


def _put_metadata(store: Store, step: TableStep) -> None:
    if not put_metadata(store, step.table, step.expected, step.place):
        raise TableChangedError(f"another writer has changed {step.table}")


def _check_bookmarks(store: Store, steps: Steps) -> None:
    for step in steps.bookmarks:
        latest = latest_bookmark(store, step.job)
        if (latest.version if latest else 0) != step.expected:
            raise UsageError(
                f"the bookmark of {step.job} is at version {latest.version if latest else 0}, not "
                f"at {step.expected} as when it was planned: a run has committed since, or "
                "somebody has set it; nothing was changed: plan it again"
            )


def _move(home: Home, from_: str, to: str) -> None:
    # A rename keeps the time of modification, by which a bookmark would find the file again.
    source, target = home.root / from_, home.root / to
    if target.exists():
        if source.exists():  # a crash leaves it at one place: this is another file
            raise FileExistsError(f"{to} exists, and {from_} would replace it")
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    source.rename(target)
    for folder in source.parents:  # S3 has no empty folders; a bucket stays
        if folder.parent in (home.lake, home.root) or folder == home.root or any(folder.iterdir()):
            return
        folder.rmdir()


def _rewind(
    admin: WatermarkAdmin, steps: list[WatermarkStep], record: RewindRecord, what: str
) -> None:
    admin.rewind_together(
        [
            Rewind(step.job, step.to_run or None, step.expected, step.source, step.windows)
            for step in steps
        ],
        reason=_reason(record, what),
        actor=record.actor,
    )


def _reason(record: RewindRecord, what: str) -> str:
    return f"{record.why} ({what} {record.rewind_id})"


def _rewind_back(
    admin: WatermarkAdmin, pairs: list[tuple[WatermarkStep, WatermarkStep]], record: RewindRecord
) -> None:
    # A step that was not applied has another reason in its history, and stays.
    moved = []
    for step, back in pairs:
        last = next(admin.history(step.job, 1, source=step.source), None)
        if last is not None and last.reason == _reason(record, "rewind"):
            moved.append(back)
    if moved:
        try:
            _rewind(admin, moved, record, "taking back of rewind")
        except WatermarkConflictError as error:
            raise UsageError(str(error)) from error
