"""Writing a window into a table of Iceberg: all of it or nothing, and not after a later one.

    a branch of this attempt, at the table's snapshot        the write goes to the branch
    one commit: the branch becomes the table, and the window is noted in the table's properties

The commit fails if anything has changed the table since the branch was made: then a later window is
looked for, and the write is repeated. So a run that was superseded changes nothing, whenever it
wakes up.

Iceberg has branches since 1.2: Glue 5.0 and later.
Source: https://iceberg.apache.org/docs/1.10.0/branching/
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from watermarks.errors import (
    AuditFailedError,
    WatermarkConflictError,
    WatermarksError,
    WatermarkSupersededError,
    WatermarkValueError,
)
from watermarks.windows.window import Window

from .audits import Audit, changed_by_audit, check_audits
from .iceberg_tables import LoadedTable
from .window_notes import (
    ATTEMPT,
    CONTRACT,
    KEYS,
    LANE,
    NO_SNAPSHOT,
    RUN,
    WINDOW,
    Note,
    is_written,
    not_known_error,
    rolled_back_error,
)

NOTES = "tidemark.windows."
"""How properties of a table begin that name the last window of a job's cursor."""

_RACES = 10


@dataclass(frozen=True)
class IcebergTarget:
    """A table, and the window to write into it.

    Attributes:
        table: the table.
        window: the window that the run holds.
        part: distinguishes several writes of one window.
        is_merge: whether it is merged: an append of the same window is another write.
        contract: what tells the contract that takes rows out of it from others; else empty.
        keys: the columns by which it is merged.
    """

    table: LoadedTable
    window: Window
    part: str = ""
    is_merge: bool = False
    contract: str = ""
    keys: Sequence[str] = ()

    @property
    def note_name(self) -> str:
        """The table's property that names the last window; each backfill has one of its own."""
        window = self.window
        lane = [window.job_id, self.part, *(["merge"] if self.is_merge else [])]
        if window.window_id.startswith("backfill-"):
            lane.append(window.window_id.rpartition("-")[0])
        else:
            lane += [window.source, window.cursor]
        return NOTES + sha256("\n".join(lane).encode()).hexdigest()[:16]

    @property
    def summary(self) -> dict[str, str]:
        """The properties of a snapshot of the window."""
        window = self.window
        held = {WINDOW: window.window_id, ATTEMPT: str(window.attempt), RUN: window.run_id}
        more = {CONTRACT: self.contract, KEYS: ",".join(self.keys)}
        return {**held, LANE: self._lane, **{name: value for name, value in more.items() if value}}

    def write(
        self, write: Callable[[str], None], audits: Sequence[Audit] = (), *, is_repeatable: bool
    ) -> bool:
        """Write by a function of a branch's name, then make the branch the table.

        Audits look at the branch before. If one does not hold, the branch stays until the next
        attempt.

        Returns:
            False if the window is there already, and was not written again.

        Raises:
            WatermarkSupersededError: a later window or attempt is there; nothing was changed.
            SnapshotExpiredError: whether the window is there is not known any more.
            SnapshotRolledBackError: the window before it, which was committed, is not there.
            WatermarkValueError: the session stages what it writes (spark.wap.id).
            WatermarkConflictError: other writers were faster, time and again.
            WatermarksError: the window is there, and its contract has taken out other rows.
            AuditFailedError: an audit does not hold; nothing was changed.
        """
        java = self.table.java
        self._check_is_not_staged()
        for _ in range(_RACES):
            java.refresh()
            note = self._checked_note()
            if not is_repeatable and self._is_there(note):
                self._check_same_rows(note)
                self._remove(self._left())
                return False
            base, schema = java.currentSnapshot(), int(java.schema().schemaId())
            branch = self._new_branch()
            if not self._is_made(branch, base):
                continue
            place, is_kept = f"{self.table.name}.`branch_{branch}`", False
            try:
                self.table.forget()  # else it may lack the branch
                write(place)
                if audits:
                    self._audit(audits, branch, place)
                if self._is_published(branch, base, schema, note):
                    self.table.forget()
                    return True
            except Exception as error:
                java.refresh()
                self._check_not_superseded(java, branch)
                is_kept = isinstance(error, AuditFailedError)
                raise
            finally:
                if not is_kept:
                    self._remove([branch])
        raise WatermarkConflictError(
            f"{_RACES} times another writer has changed {self.table.name} while window "
            f"{self.window.window_id} of {self.window.owner} was written: nothing of the window is "
            "there; start the job again, when fewer write to the table"
        )

    def _audit(self, audits: Sequence[Audit], branch: str, place: str) -> None:
        """Raise unless the audits hold for the snapshot of a branch, and leave it as it is."""
        java = self.table.java
        java.refresh()
        written = _id_of(java.snapshot(branch))
        self.table.forget()
        reader = self.table.spark.read.option("snapshot-id", str(written))
        check_audits(reader.table(self.table.name), audits, self.window, place)
        java.refresh()
        self._check_not_superseded(java, branch)
        if _id_of(java.snapshot(branch)) != written:
            raise changed_by_audit(self.window, place)

    def _check_same_rows(self, note: Note | None) -> None:
        """Raise if rows would be lost, or double: those that the attempt before has taken out."""
        held = note and note.snapshot and self.table.java.snapshot(note.snapshot)
        if held and (held.summary().get(CONTRACT) or "") != self.contract:
            window = self.window
            raise WatermarksError(
                f"window {window.window_id} of {window.owner} is in {self.table.name} already, and "
                "its contract was another one: rows that one of them takes out would be in no "
                "place, or in two; run the job once with the contract as it was, then change it"
            )

    def _check_is_not_staged(self) -> None:
        if self.table.java.properties().get("write.wap.enabled") != "true":
            return
        for name in ("spark.wap.id", "spark.wap.branch"):
            if self.table.spark.conf.get(name, None) is not None:
                raise WatermarkValueError(
                    f"{name} is set, so what is written to {self.table.name} is published by "
                    f"another step, and a window is not: unset {name} before it is written"
                )

    def _note(self, java: Any) -> Note | None:
        """Return what the table notes of the cursor; raise if it is a later window or attempt."""
        value = java.properties().get(self.note_name)
        if value is None:
            return None
        note = Note.of(value)
        if note.attempt > self.window.attempt:
            is_same = note.window_id == self.window.window_id
            raise self._superseded(
                f"attempt {note.attempt} at it" if is_same else f"window {note.window_id}"
            )
        return note

    def _checked_note(self) -> Note | None:
        """Return the note; raise if its window was committed, and is in the table no more."""
        note, base = self._note(self.table.java), self.window.base
        is_committed = note and base and note.window_id in base.committed
        # That the snapshots of committed windows expire is normal: what is not known is accepted.
        if note and is_committed and self._is_written(note) is False:
            raise rolled_back_error(self.window, note, self.table.name, self.note_name)
        return note

    def _is_there(self, note: Note | None) -> bool:
        """Return whether the window is in the table; raise if that is not known."""
        window = self.window
        if note is None or note.window_id != window.window_id:
            # Unless somebody has made the branch of a dead attempt the table, which notes nothing.
            own = Note(window.attempt, window.window_id, NO_SNAPSHOT)
            versions = [self.table.metadata()] if window.is_recovered else []
            return is_written(own, self._lane, versions) is True
        there = self._is_written(note)
        if there is None:
            raise not_known_error(window, note, self.table.name, self.note_name)
        return there

    def _is_written(self, note: Note) -> bool | None:
        if self.table.has_ancestor(note.snapshot):
            return True
        return is_written(note, self._lane, self.table.versions())

    def _check_not_superseded(self, java: Any, branch: str) -> None:
        """Raise a WatermarkSupersededError if a later attempt has written, or has begun to."""
        note, window = self._note(java), self.window
        is_ours = note and (note.attempt, note.window_id) == (window.attempt, window.window_id)
        if not is_ours and branch not in java.refs().keySet():
            raise self._superseded("a later attempt, which has removed the branch of this one")

    def _superseded(self, by: str) -> WatermarkSupersededError:
        window = self.window
        return WatermarkSupersededError(
            f"attempt {window.attempt} at window {window.window_id} of {window.owner} comes after "
            f"{by}, in {self.table.name}: nothing was changed; stop this run. Only if the "
            "watermark table was lost, or restored to an earlier state, run ALTER TABLE "
            f"{self.table.name} UNSET TBLPROPERTIES ('{self.note_name}')"
        )

    @property
    def _lane(self) -> str:
        return self.note_name.removeprefix(NOTES)

    def _new_branch(self) -> str:
        return f"{self._lane}_{self.window.attempt}_{os.urandom(4).hex()}"

    def _is_made(self, branch: str, base: Any) -> bool:
        """Make a branch at a snapshot; return False if another writer was faster."""
        java = self.table.java
        changes = java.manageSnapshots()
        if base is None:
            changes = changes.createBranch(branch)
        else:
            changes = changes.createBranch(branch, base.snapshotId())
        for left in self._left():
            changes = changes.removeBranch(left)
        return _is_committed(changes.commit)

    def _is_published(self, branch: str, base: Any, schema: int, note: Note | None) -> bool:
        """Make a branch the table; return False if someone has changed its rows or columns."""
        java = self.table.java
        for _ in range(_RACES):
            java.refresh()
            transaction = java.newTransaction()
            table = transaction.table()
            self._note(table)  # raises if a later window is there
            is_same = int(table.schema().schemaId()) == schema
            if not is_same or _id_of(table.currentSnapshot()) != _id_of(base):
                return False
            new = self._new_note(table.snapshot(branch), note)
            transaction.updateProperties().set(self.note_name, str(new)).commit()
            changes = transaction.manageSnapshots()
            changes.fastForwardBranch("main", branch).removeBranch(branch).commit()
            if _is_committed(transaction.commitTransaction):
                return True
        return False

    def _new_note(self, written: Any, old: Note | None) -> Note:
        window, sequence = self.window, int(written.sequenceNumber())
        # Somebody may bring back what an earlier attempt wrote.
        if old and old.window_id == window.window_id and old.snapshot is not None:
            sequence = min(sequence, old.sequence)
        return Note(window.attempt, window.window_id, int(written.snapshotId()), sequence)

    def _left(self) -> list[str]:
        # Earlier attempts have died, or could not remove their branches.
        names = [
            name for name in self.table.java.refs().keySet() if name.startswith(f"{self._lane}_")
        ]
        return [name for name in names if int(name.split("_")[1]) < self.window.attempt]

    def _remove(self, branches: list[str]) -> None:
        java = self.table.java
        with suppress(Exception):  # the next run removes them
            for _ in range(_RACES):
                java.refresh()
                changes, names = java.manageSnapshots(), java.refs().keySet()
                existing = [branch for branch in branches if branch in names]
                for branch in existing:
                    changes = changes.removeBranch(branch)
                if not existing or _is_committed(changes.commit):
                    return


def _id_of(snapshot: Any) -> int | None:
    return None if snapshot is None else int(snapshot.snapshotId())


def _is_committed(commit: Callable[[], None]) -> bool:
    """Commit; return False if another writer was faster."""
    from py4j.protocol import Py4JJavaError

    try:
        commit()
    except Py4JJavaError as error:
        if error.java_exception.getClass().getSimpleName() == "CommitFailedException":
            return False
        raise
    return True
