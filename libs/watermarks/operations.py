"""What people do with the watermarks of a job, not its runs: look back, set back, fill in.

Its modules are imported where they are used: a job run, which needs none, starts faster.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .checks import check_intact, check_not_carried
from .errors import (
    AmbiguousWatermarkError,
    WatermarkConflictError,
    WatermarkCorruptError,
    WatermarkNotFoundError,
    WatermarkSupersededError,
)
from .rows import (
    HEAD,
    Latest,
    Row,
    check_name,
    check_run_id,
    has_watermarks,
    is_expired,
    latest_of,
    version_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime, timedelta

    from .audits import Audit
    from .backfill import Backfill
    from .cursors import Cursor
    from .history import HistoryEntry
    from .store import Store
    from .windows import Bounds, OpenWindow, Window

_RACES = 20
_RUNS_NAMED = 10


class Operations:
    """The part of `Watermarks` that is not for every run of a job."""

    _store: Store
    _history: timedelta
    _now: Callable[[], datetime]

    def history(self, job_id: str, limit: int | None = None) -> Iterator[HistoryEntry]:
        """Yield what was done to the watermarks of a job, newest first, until it has expired.

        One strongly consistent read per entry, made as the caller goes on.

        Args:
            job_id: the job.
            limit: how many entries at most; None means all.
        """
        check_name("job_id", job_id)
        head = self._store.read(job_id, HEAD)
        return islice(self._entries(job_id, head), limit)

    def open_windows(self, job_id: str) -> list[OpenWindow]:
        """Return the windows of a job that runs have opened and not committed, by cursor.

        One strongly consistent read. The next run of the job takes each over as it stands.
        """
        from .windows import OpenWindow

        check_name("job_id", job_id)
        head = self._store.read(job_id, HEAD) or {}
        windows = head.get("wmWindows", {"M": {}})["M"]
        return [OpenWindow.from_attribute(windows[cursor]) for cursor in sorted(windows)]

    def committed_windows(self, job_id: str, cursor: str | None = None) -> list[tuple[str, int]]:
        """Return id and attempt of the windows whose data count now, in the order of the commits.

        A rewind undoes the windows that were committed after the run it goes back to. Reads all
        rows of the job. The windows of a backfill are not among them: see `backfilled_windows`.

        Args:
            job_id: the job.
            cursor: only windows of this cursor; None means of all.

        Raises:
            WatermarkNotFoundError: a part of the history has expired, so windows are unknown.
        """
        from .history import windows_in_force

        check_name("job_id", job_id)
        head = self._store.read(job_id, HEAD)
        rows = self._store.read_job(job_id) if head else {}
        found = windows_in_force(head, rows, self._now())
        return [(w.window_id, w.attempt) for w in found if cursor in {None, w.cursor}]

    def rewind(self, job_id: str, *, to_run: str | None, reason: str, actor: str) -> Latest:
        """Make the watermarks of an earlier run those of the job again, and record who and why.

        Runs in flight become stale, and open windows are discarded: they cannot commit any more.
        The same rewind again, with nothing done in between, changes nothing. A corrupt head row
        is written anew.

        Args:
            job_id: the job.
            to_run: the run; None means before the first run, so that the next one loads all.
            reason: why, for people.
            actor: who asks for it.

        Returns:
            The watermarks that hold now.

        Raises:
            WatermarkNotFoundError: there is no such run, or its row has expired.
            WatermarkConflictError: other runs were faster again and again.
            ValueError: a parameter is empty or not usable.
        """
        _check_audit(job_id, to_run, reason, actor)
        attempt = 0
        while True:
            audit = self._rewind(job_id, to_run, reason, actor)
            if audit.is_last_change(self._store.table) and audit.base:
                return audit.base
            try:
                return self._store.commit(audit)
            except WatermarkConflictError:
                attempt += 1
                if attempt == _RACES:
                    raise
            self._store.pause(attempt)

    def adopt(self, job_id: str, run_id: str, *, reason: str, actor: str) -> Latest:
        """Make a run of the original class the most recent one of a job that has no head row.

        Which run that is only Glue knows: take the one that `GetJobRuns` says started last.

        Args:
            job_id: the job.
            run_id: the run.
            reason: why, for people.
            actor: who asks for it.

        Raises:
            WatermarkNotFoundError: there is no such run.
            WatermarkConflictError: the job has a head row.
            ValueError: a parameter is empty or not usable.
        """
        from .audits import Audit, epoch_after, newest_of

        _check_audit(job_id, run_id, reason, actor)
        target, base, epoch = self._target(job_id, run_id, None), None, None
        if version_of(target):  # the head is lost, and there was a history
            rows = self._store.read_job(job_id)
            base, epoch = newest_of(rows), epoch_after(rows)
        audit = Audit("adopt", job_id, target, base, None, actor, reason, self._now(), epoch)
        return self._store.commit(audit)

    def carry_over(self, from_job: str, to_job: str) -> Latest | None:
        """Give the watermarks, open windows and history of a job to another name, and only to it.

        For a job that was renamed, before it runs under its new name. Runs of the old name can
        neither open nor commit a window from then on; a window that one of them left open is
        taken over by the next run of the new name. Doing it again changes nothing, and copies
        history that an attempt which died did not come to.

        Args:
            from_job: the old name.
            to_job: the new name.

        Returns:
            The watermarks of the new name; None if the old one never had any.

        Raises:
            WatermarkConflictError: the new name has watermarks of its own, or runs of the old one
                were faster again and again.
            WatermarkCarriedOverError: they were carried over to another job.
            AmbiguousWatermarkError: one of the two has rows of the original class and no head row.
            ValueError: a name is empty, or both are the same.
        """
        from .carry_over import carry_over

        check_name("from_job", from_job)
        check_name("to_job", to_job)
        if from_job == to_job:
            raise ValueError(f"from_job and to_job are both {from_job!r}: give two names")
        return carry_over(self._store, from_job, to_job, self._now())

    def backfill(
        self,
        job_id: str,
        *,
        backfill_id: str,
        cursor: str,
        low: Cursor,
        high: Cursor,
        run_id: str,
        parts: int = 1,
        bounds: Bounds = "(]",
    ) -> Iterator[Window]:
        """Return windows over a range, to load it again or for the first time.

        The watermarks of the job stay as they are. A part is done when the loop comes back for
        the next one, so do all the work of a window in the body of the loop. After a crash the
        same call goes on with the parts that are not done; when all are, there are no windows.

        Args:
            job_id: the job.
            backfill_id: names the backfill and its output; the same again goes on with it.
            cursor: the column that the range is of.
            low: where the range begins.
            high: where it ends.
            run_id: the run that does the work.
            parts: how many windows of equal range.
            bounds: which end belongs to a window; see `open_window`.

        Raises:
            WatermarksError: the id is that of another backfill.
            WatermarkSupersededError: another run goes on with the same backfill.
            AmbiguousWatermarkError: the job has rows of the original class and no head row.
            ValueError: a parameter is not usable.
        """
        from .backfill import Backfill

        request = Backfill(job_id, backfill_id, cursor, low, high, run_id, parts, bounds)
        request.check()
        request.windows(1)  # refuses what cannot be split, before anything is written
        if not self._store.read(job_id, HEAD) and self._store.read_two_runs(job_id):
            raise AmbiguousWatermarkError(
                f"job {job_id!r} has rows of the original class in table "
                f"{self._store.table.name!r} and no {HEAD} row, and the row of a backfill would "
                "be in the way of its readers: call adopt(job, run, reason=..., actor=...) first"
            )
        return self._parts(request)

    def backfilled_windows(self, job_id: str, backfill_id: str) -> list[tuple[str, int]]:
        """Return id and attempt of the windows of a backfill that are done.

        Raises:
            WatermarkNotFoundError: there is no such backfill, or its row has expired.
        """
        from .backfill import done_parts, token_of, window_id

        check_name("job_id", job_id)
        check_name("backfill_id", backfill_id)
        row = self._store.read(job_id, f"~BACKFILL#{backfill_id}")
        if row is None:
            raise WatermarkNotFoundError(
                f"there is no backfill {backfill_id!r} of job {job_id!r} in table "
                f"{self._store.table.name!r}: it never began, or its row has expired; check the "
                "id, and keep rows longer with Watermarks(..., history_days=...)"
            )
        done = sorted(done_parts(row).items(), key=lambda item: int(item[0]))
        token = token_of(row)
        return [(window_id(backfill_id, token, part), attempt) for part, attempt in done]

    def _entries(self, job_id: str, head: Row | None) -> Iterator[HistoryEntry]:
        from .history import entries

        return entries(head, lambda name: self._store.read(job_id, name), self._now())

    def _rewind(self, job_id: str, to_run: str | None, reason: str, actor: str) -> Audit:
        from .audits import Audit, epoch_after, newest_of

        head = self._store.read_unchecked(job_id, HEAD)
        if head is None:
            raise WatermarkNotFoundError(
                f"job {job_id!r} has no {HEAD} row in table {self._store.table.name!r}, so there "
                "is nothing to rewind: check the job's name, or call adopt(job, run, reason=..., "
                "actor=...) if the job has rows of the original class"
            )
        check_not_carried(head, self._store.table)
        try:
            check_intact(head, self._store.table)
            base, epoch = latest_of(head), None
        except WatermarkCorruptError:
            rows = self._store.read_job(job_id)
            base, epoch = newest_of(rows), epoch_after(rows)
        target = None if to_run is None else self._target(job_id, to_run, base.log)
        return Audit("rewind", job_id, target, base, head, actor, reason, self._now(), epoch)

    def _target(self, job_id: str, run_id: str, log: str | None) -> Row:
        row = self._store.read(job_id, run_id)
        if row and has_watermarks(row) and not is_expired(row, self._now()):
            return row
        last = {"wmLog": {"S": log or ""}}
        found = [e for e in self._entries(job_id, last) if e.kind in {"commit", "legacy"}]
        names = ", ".join(entry.run_id for entry in found[:_RUNS_NAMED]) or "none"
        more = f" and {len(found) - _RUNS_NAMED} older ones" if len(found) > _RUNS_NAMED else ""
        raise WatermarkNotFoundError(
            f"there is no watermark of run {run_id!r} of job {job_id!r} in table "
            f"{self._store.table.name!r}: it never committed, or its row has expired; the runs "
            f"of its history are, newest first, {names}{more}"
        )

    def _parts(self, request: Backfill) -> Iterator[Window]:
        from .backfill import done_parts, token_of

        store, now = self._store, self._now()
        expires_at = int((now + self._history).timestamp())
        row, other = store.update(request.start(store.table, now, expires_at))
        if other is not None:
            raise request.is_another(other)
        attempt, done = int(row["wmAttempt"]["N"]), done_parts(row)
        for part, window in request.windows(attempt, token_of(row)).items():
            if part in done:
                continue
            yield window
            _, later = store.update(request.finish(store.table, part, attempt))
            if later is not None:
                raise WatermarkSupersededError(
                    f"backfill {request.backfill_id!r} of job {request.job_id!r}: run "
                    f"{later.get('wmOwner', {'S': 'nobody'})['S']!r} goes on with it as a later "
                    f"attempt than {attempt}: part {part} is not marked as done, and what this "
                    "run wrote for it does not count; let it end",
                    None,
                    {},
                )


def _check_audit(job_id: str, run_id: str | None, reason: str, actor: str) -> None:
    check_name("job_id", job_id)
    check_name("reason", reason)
    check_name("actor", actor)
    if run_id is not None:
        check_run_id(run_id)
