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
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from watermarks.errors import (
    WatermarkConflictError,
    WatermarkSupersededError,
    WatermarkValueError,
)
from watermarks.windows.window import Window

from .iceberg_tables import LoadedTable

WINDOW, ATTEMPT, RUN = "tidemark.window", "tidemark.attempt", "tidemark.run"
"""Properties of a snapshot: the window that it holds, its attempt, and the run."""

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
    """

    table: LoadedTable
    window: Window
    part: str = ""
    is_merge: bool = False

    @property
    def note(self) -> str:
        """The property that names the last window; attempts of a backfill count by themselves."""
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
        return {WINDOW: window.window_id, ATTEMPT: str(window.attempt), RUN: window.run_id}

    def write(self, write: Callable[[str], None], *, is_repeatable: bool) -> bool:
        """Write by a function of a branch's name, then make the branch the table.

        Returns:
            False if the window is there already, and was not written again.

        Raises:
            WatermarkSupersededError: a later window or attempt is there; nothing was changed.
            WatermarkValueError: the session stages what it writes (spark.wap.id).
            WatermarkConflictError: other writers were faster, time and again.
        """
        java = self.table.java
        self._check_is_not_staged()
        for _ in range(_RACES):
            java.refresh()
            if self._is_noted(java) and not is_repeatable:
                self._remove(self._left())
                return False
            base, branch = java.currentSnapshot(), self._new_branch()
            if not self._is_made(branch, base):
                continue
            try:
                write(f"{self.table.name}.`branch_{branch}`")
                if self._is_published(branch, base):
                    return True
            except Exception:
                java.refresh()
                self._is_noted(java)  # raises if a later run has removed the branch
                raise
            finally:
                self._remove([branch])
        raise WatermarkConflictError(
            f"{_RACES} times another writer has changed {self.table.name} while window "
            f"{self.window.window_id} of {self.window.owner} was written: nothing of the window is "
            "there; start the job again, when fewer write to the table"
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

    def _is_noted(self, java: Any) -> bool:
        """Return whether the window is in the table; raise if a later one is."""
        noted = java.properties().get(self.note)
        if noted is None:
            return False
        attempt, window_id, *snapshot = noted.split(" ")
        if int(attempt) > self.window.attempt and window_id != self.window.window_id:
            raise self._superseded(f"window {window_id}")
        if int(attempt) > self.window.attempt:
            raise self._superseded(f"attempt {attempt} at it")
        return window_id == self.window.window_id and self._may_be_there(java, *snapshot)

    def _may_be_there(self, java: Any, snapshot: str = "", sequence: str = "0") -> bool:
        """Return whether the snapshot of a note is in the table's history, or may have expired."""
        # It is not if the table was rolled back to before it, or replaced.
        head = java.currentSnapshot()
        if head is None:
            return not snapshot
        util: Any = self.table.spark._jvm.org.apache.iceberg.util.SnapshotUtil  # type: ignore[union-attr]
        if not snapshot or util.isAncestorOf(java, head.snapshotId(), int(snapshot)):
            return True
        if java.snapshot(int(snapshot)) is not None:
            return False
        oldest = util.oldestAncestorOf(java, head.snapshotId())
        return oldest.parentId() is not None and oldest.sequenceNumber() > int(sequence)

    def _superseded(self, by: str) -> WatermarkSupersededError:
        window = self.window
        return WatermarkSupersededError(
            f"attempt {window.attempt} at window {window.window_id} of {window.owner} comes after "
            f"{by}, which is in {self.table.name}: nothing was changed; stop this run. Only if the "
            "watermark table was lost, or restored to an earlier state, run ALTER TABLE "
            f"{self.table.name} UNSET TBLPROPERTIES ('{self.note}')"
        )

    @property
    def _prefix(self) -> str:
        return f"{self.note.removeprefix(NOTES)}_"

    def _new_branch(self) -> str:
        return f"{self._prefix}{self.window.attempt}_{os.urandom(4).hex()}"

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

    def _is_published(self, branch: str, base: Any) -> bool:
        """Make a branch the table; return False if another writer has changed the rows."""
        java = self.table.java
        for _ in range(_RACES):
            java.refresh()
            transaction = java.newTransaction()
            table = transaction.table()
            self._is_noted(table)  # raises if a later window is there
            if _id_of(table.currentSnapshot()) != _id_of(base):
                return False
            note, written = f"{self.window.attempt} {self.window.window_id}", table.snapshot(branch)
            if written is not None:
                note += f" {written.snapshotId()} {written.sequenceNumber()}"
            transaction.updateProperties().set(self.note, note).commit()
            changes = transaction.manageSnapshots()
            changes.fastForwardBranch("main", branch).removeBranch(branch).commit()
            if _is_committed(transaction.commitTransaction):
                return True
        return False

    def _left(self) -> list[str]:
        """Return the branches of earlier attempts, which have died or could not remove them."""
        names = [name for name in self.table.java.refs().keySet() if name.startswith(self._prefix)]
        return [name for name in names if int(name.split("_")[1]) < self.window.attempt]

    def _remove(self, branches: list[str]) -> None:
        java = self.table.java
        with suppress(Exception):  # the next run removes them
            for _ in range(_RACES):
                java.refresh()
                changes, names = java.manageSnapshots(), java.refs().keySet()
                found = [branch for branch in branches if branch in names]
                for branch in found:
                    changes = changes.removeBranch(branch)
                if not found or _is_committed(changes.commit):
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
