"""The operations of people, not of runs, on the watermarks of a job: history, rewind, rename."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarkConflictError, WatermarkNotFoundError, WatermarksError
from watermarks.table.heads import check_intact, check_not_renamed
from watermarks.table.latest import Latest
from watermarks.table.names import check_job, check_name, check_run_id
from watermarks.table.schema import SOURCE_HEADS, Owner, Row
from watermarks.watermarks import Watermarks, owner_of
from watermarks.windows.committed import RowsBack
from watermarks.windows.window import OpenWindow

from .accept import Acceptance
from .changes import ManualChange, converted, epoch_after, newest_of
from .history import HistoryEntry, entry_of
from .rename_job import rename_job
from .run_records import RunRecord, records_of_job, records_of_run
from .together import MAX_REWINDS, Rewind, Together, moved_since

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from watermarks.table.schemas import RefusedSchema
    from watermarks.table.values import Value

_RACES = 20
_HAS_WINDOWS = "attribute_type(wmWindows, :map) AND size(wmWindows) > :none"  # of a head, not a run
_RUNS_NAMED = 10


class WatermarkAdmin(Watermarks):
    """`Watermarks` plus the operations of an operator; takes the same arguments."""

    def sources(self, job_id: str) -> list[str]:
        """Return the sources of a job that have their own watermarks or open windows.

        Example:
            >>> _ = admin.advance(
            ...     job_id="orders", run_id="jr_1", to={"id": 7}, base=None, source="customers"
            ... )
            >>> admin.sources("orders")
            ['customers']
        """
        check_job(job_id)
        return [row.owner.source for row in self._client.rows(Owner(job_id), *SOURCE_HEADS)]

    def history(
        self, job_id: str, limit: int | None = None, *, source: str = ""
    ) -> Iterator[HistoryEntry]:
        """Yield the changes of a job's watermarks, newest first, until their rows have expired.

        One strongly consistent read per entry, made on demand; at most `limit` entries.

        Example:
            >>> for id_ in (100, 120):
            ...     for window in admin.windows("orders", run_id=f"jr{id_}", cursor="id", high=id_):
            ...         _ = window.high  # read and write
            >>> [(entry.kind, entry.run_id, entry.watermarks) for entry in admin.history("orders")]
            [('commit', 'jr120', {'id': 120}), ('commit', 'jr100', {'id': 100})]
        """
        owner = owner_of(job_id, source)
        return islice(self._entries(owner, self._client.head(owner)), limit)

    def run_records(self, job_id: str, run_id: str | None = None) -> list[RunRecord]:
        """Return the records of a job's runs, the one that committed last first.

        A run of a job with several sources has a record for each source that it moved, and one for
        each call of `checkpoint`.

        For one run it costs some reads; without a run id it reads all rows of the job.

        Example:
            >>> _ = admin.advance(job_id="orders", run_id="jr_1", to={"id": 7}, base=None)
            >>> [record.run_id for record in admin.run_records("orders")]
            ['jr_1']
        """
        check_job(job_id)
        if run_id is None:
            return records_of_job(self._client, job_id, self._now())
        check_run_id(run_id)
        return records_of_run(self._client, job_id, run_id)

    def open_windows(self, job_id: str, *, source: str = "") -> list[OpenWindow]:
        """Return the windows of a job that runs have opened and not committed, by cursor.

        One strongly consistent read. The next run of the job takes each over unchanged.

        Example:
            >>> _ = admin.open_window("orders", run_id="jr_1", cursor="id", high=100)
            >>> [(open.run_id, open.low, open.high) for open in admin.open_windows("orders")]
            [('jr_1', None, 100)]
            >>> admin.jobs_with_open_windows()
            {'orders'}
        """
        head = self._client.head(owner_of(job_id, source))
        windows = head.map("wmWindows") if head else {}
        return [OpenWindow.from_attribute(windows[cursor]) for cursor in sorted(windows)]

    def jobs_with_open_windows(self) -> set[str]:
        """Return the jobs that have an open window, themselves or in one of their sources.

        One scan of the table, eventually consistent: cheaper than requests for many jobs.
        """
        return self._client.jobs_where(_HAS_WINDOWS, {":map": {"S": "M"}, ":none": {"N": "0"}})

    def watermarks_of(self, job_id: str, run_id: str, *, source: str = "") -> dict[str, Any]:
        """Return the watermarks that a run left, which a rewind to it would restore.

        Raises:
            WatermarkNotFoundError: the run does not exist, or its row has expired.

        Example:
            >>> _ = admin.advance(job_id="orders", run_id="jr_1", to={"id": 7}, base=None)
            >>> admin.watermarks_of("orders", "jr_1")
            {'id': 7}
        """
        check_run_id(run_id)
        owner = owner_of(job_id, source)
        return self._target(owner, run_id).latest().watermarks

    def rewind(
        self, job_id: str, *, to_run: str | None, reason: str, actor: str, source: str = ""
    ) -> Latest:
        """Restore the watermarks of an earlier run, and record actor and reason.

        Runs in flight become stale, and open windows are discarded: they cannot commit any more.
        An immediate repetition changes nothing. A head row that
        cannot be read is written again.

        Args:
            job_id: the job.
            to_run: the run; None means before the first run, so that the next one loads all.
            reason: why; shown to people.
            actor: the person or program that asks.
            source: one source of a job with several; the others stay unchanged.

        Returns:
            The current watermarks.

        Raises:
            WatermarkNotFoundError: the run does not exist, or its row has expired.
            WatermarkConflictError: other runs kept committing first, or the job was renamed.

        Example:
            >>> base = None
            >>> for run_id, to in (("jr_100", {"id": 100}), ("jr_120", {"id": 120})):
            ...     base = admin.advance(job_id="orders", run_id=run_id, to=to, base=base)
            >>> admin.rewind("orders", to_run="jr_100", reason="bad prices", actor="ana").watermarks
            {'id': 100}
            >>> admin.rewind("orders", to_run=None, reason="load all again", actor="ana").watermarks
            {}
        """
        owner = _checked(job_id, source, to_run, reason, actor)
        attempt = 0
        while True:
            change = self._rewinding(owner, to_run, reason, actor)
            if change.is_last_change(self._client.table) and change.base:
                return change.base
            try:
                return self._client.commit(change)
            except WatermarkConflictError:
                attempt += 1
                if attempt == _RACES:
                    raise
            self._client.pause(attempt)

    def rewind_together(self, rewinds: Sequence[Rewind], *, reason: str, actor: str) -> None:
        """Rewind several jobs and sources in one transaction; record actor and reason of each.

        A repetition changes nothing, so a caller that died may repeat it. Otherwise like `rewind`.

        Args:
            rewinds: at most 50, each of another job or source.
            reason: why; shown to people. Give a new one each time: the same again is a repetition.
            actor: the person or program that asks.

        Raises:
            WatermarkNotFoundError: the run does not exist, or its row has expired.
            WatermarkConflictError: a job has moved on from the given version.
            ValueError: a parameter is empty or not usable, or there are too many.
        """
        if len(rewinds) > MAX_REWINDS:
            raise ValueError(
                f"{len(rewinds)} rewinds are more than one transaction of DynamoDB has room for, "
                f"{MAX_REWINDS}: rewind fewer jobs at once"
            )
        todo = []
        for rewind in rewinds:
            owner = _checked(rewind.job_id, rewind.source, rewind.to_run, reason, actor)
            change = self._rewinding(owner, rewind.to_run, reason, actor)
            head = change.head or Row({})
            if head.string("wmDigest") == change.digest and head.version == rewind.version + 1:
                continue
            if head.version != rewind.version:
                raise moved_since(str(owner))
            todo.append(replace(change, windows=rewind.windows))
        if not todo:
            return
        if len(todo) < len(rewinds):
            # They are written together or not at all.
            raise moved_since(str(todo[0].owner))
        try:
            self._client.commit(Together(todo))
        except WatermarkConflictError as error:
            raise moved_since(str(todo[0].owner)) from error

    def head_of(self, job_id: str, *, source: str = "") -> tuple[int, dict[str, Any]]:
        """Return the version of a job (0 without a head) and its open windows as stored.

        `Rewind` takes both. One strongly consistent read.

        Example:
            >>> admin.head_of("orders")
            (0, {})
        """
        owner = owner_of(job_id, source)
        head = self._client.row(owner, owner.head)
        return (head.version, dict(head.map("wmWindows"))) if head else (0, {})

    def adopt(
        self,
        job_id: str,
        run_id: str,
        *,
        reason: str,
        actor: str,
        source: str = "",
        as_type: Mapping[str, Callable[[Any], Value]] | None = None,
    ) -> Latest:
        """Make a run the most recent one of a job that has no head row: of the v1 class, or lost.

        Only Glue knows that run: take the one that started last by `GetJobRuns`.

        Args:
            job_id: the job.
            run_id: the run.
            reason: why; shown to people.
            actor: the person or program that asks.
            source: the source of the job whose head row was lost.
            as_type: functions by watermark name. Each turns the number or string that the v1 class
                stored into the value from which windows continue: {"updated_at": lambda text:
                datetime.fromisoformat(text).replace(tzinfo=UTC)}.

        Raises:
            WatermarkNotFoundError: the run does not exist, or it has no watermark of such a name.
            WatermarkConflictError: the job has a head row.
        """
        owner = _checked(job_id, source, run_id, reason, actor)
        target, base, epoch = self._target(owner, run_id), None, None
        # The head is lost, and there was a history.
        if target.is_ours:
            rows = self._client.all_rows(owner)
            base, epoch = newest_of(owner, rows), epoch_after(owner, rows)
        if as_type:
            target = converted(target, as_type)
        return self._client.commit(
            ManualChange("adopt", owner, target, base, None, actor, reason, self._now(), epoch)
        )

    def refused(self, job_id: str, *, source: str = "") -> RefusedSchema | None:
        """Return what a contract has refused since the last commit; None if nothing. One read.

        Example:
            >>> admin.refused("orders") is None
            True
        """
        head = self._client.head(owner_of(job_id, source))
        return head.refused if head else None

    def accept_schema(
        self,
        job_id: str,
        *,
        reason: str,
        actor: str,
        target: str = "",
        source: str = "",
        dry_run: bool = False,
    ) -> Latest:
        """Accept the columns that a contract has refused last, and record actor and reason.

        The next run starts from them, and takes the open window over. Watermarks stay. A rewind to
        a run before forgets it.

        Args:
            job_id: the job.
            reason: why; shown to people.
            actor: the person or program that asks.
            target: the target that it has to be, such as `s3://bucket/folder/` or `table:db.name`;
                empty for whichever it is.
            source: one source of a job with several.
            dry_run: whether nothing is written.

        Returns:
            The watermarks then; `schemas` has the accepted columns.

        Raises:
            WatermarkNotFoundError: nothing was refused since the last commit, or of another target.
            WatermarkValueError: it cannot be accepted, such as a value that fits no type.
            WatermarkConflictError: a run has committed, or was refused something else, meanwhile.

        Example:
            >>> admin.accept_schema("orders", reason="tips are new", actor="ana")
            Traceback (most recent call last):
            watermarks.errors.WatermarkNotFoundError: ...
        """
        owner = _checked(job_id, source, None, reason, actor)
        head = self._client.head(owner) or Row({})
        change = Acceptance.of(owner, head, target, actor, reason, self._now())
        return change.latest if dry_run else self._client.commit(change)

    def rename_job(self, from_job: str, to_job: str) -> Latest | None:
        """Give the watermarks, open windows and history of a job to another name, and only to it.

        For a job that was renamed, before it runs under its new name. Runs of the old name can
        neither open nor commit a window from then on; a window that one of them left open is
        taken over by the next run of the new name. Doing it again changes nothing, and copies
        history that an attempt which died did not come to.

        Args:
            from_job: the old name.
            to_job: the new name.

        Returns:
            The watermarks of the new name; those of its first source if the job itself has none;
            None if the old one never had any.

        Raises:
            WatermarkConflictError: the new name has its own watermarks, the old one's already
                belong to another job, or its runs were faster again and again.
            AmbiguousWatermarkError: one of the two has rows of the v1 class and no head row.

        Example:
            >>> _ = admin.advance(job_id="orders", run_id="jr_1", to={"id": 7}, base=None)
            >>> admin.rename_job("orders", "load-orders").watermarks
            {'id': 7}
        """
        check_name("from_job", from_job, 2048)
        check_name("to_job", to_job, 2048)
        if from_job == to_job:
            raise ValueError(f"from_job and to_job are both {from_job!r}: give two names")
        return rename_job(self._client, from_job, to_job, self._now())

    def _entries(self, owner: Owner, head: Row | None) -> Iterator[HistoryEntry]:
        for _ in range(_RACES):
            read = partial(self._client.row, owner)
            back = RowsBack(head, read, self._now(), lambda row: row.prev)
            yield from map(entry_of, back)
            if not back.was_moved:  # then nothing was yielded
                return
            head = self._client.head(owner)

    def _rewinding(self, owner: Owner, to_run: str | None, reason: str, actor: str) -> ManualChange:
        # The head last: the less time until the write, the fewer runs can come between.
        target = None if to_run is None else self._target(owner, to_run)
        head = self._client.row(owner, owner.head)
        if head is None:
            raise self._nothing_to_rewind(owner)
        check_not_renamed(head, self._client.table)
        base, epoch = self._base(owner, head)
        return ManualChange("rewind", owner, target, base, head, actor, reason, self._now(), epoch)

    def _base(self, owner: Owner, head: Row) -> tuple[Latest, int | None]:
        """Return the state of a head; if it cannot be read, that of its rows, and an epoch."""
        try:
            check_intact(head, self._client.table)
            return head.latest(), None
        except WatermarksError:
            rows = self._client.all_rows(owner)
            return newest_of(owner, rows), epoch_after(owner, rows)

    def _target(self, owner: Owner, run_id: str) -> Row:
        row = self._client.last_row(owner, run_id)
        if row and row.has_watermarks and not row.is_expired(self._now()):
            return row
        head = self._client.row(owner, owner.head)
        if head is None and not self._client.rows(owner, *owner.every_run, limit=1):
            raise self._nothing_to_rewind(owner)
        names: list[str] = []
        if head is not None:
            base, _ = self._base(owner, head)
            last = {"wmLog": {"S": base.log}, "wmVersion": {"N": str(base.version)}}
            entries = self._entries(owner, Row({**owner.key(owner.head), **last}))
            runs = (entry.run_id for entry in entries if entry.kind in {"commit", "legacy"})
            names = list(islice(runs, _RUNS_NAMED + 1))
        more = " and older ones" if len(names) > _RUNS_NAMED else ""
        raise WatermarkNotFoundError(
            f"there is no watermark of run {run_id!r} of {owner} in table "
            f"{self.table_name!r}: it never committed, or its row has expired; the runs "
            f"of its history are, newest first, {', '.join(names[:_RUNS_NAMED]) or 'none'}{more}"
        )

    def _nothing_to_rewind(self, owner: Owner) -> WatermarkNotFoundError:
        sources = ", ".join(self.sources(owner.job_id))
        hint = f"it has the sources {sources}: name one" if sources else "check the job's name"
        return WatermarkNotFoundError(
            f"{owner} has no {owner.head} row in table {self.table_name!r}, so there "
            f"is nothing to rewind: {hint}, or call adopt(job, run, reason=..., "
            "actor=...) if the job has rows of the v1 class"
        )


def _checked(job_id: str, source: str, run_id: str | None, reason: str, actor: str) -> Owner:
    check_name("reason", reason, 10_000)
    check_name("actor", actor, 1_000)
    if run_id is not None:
        check_run_id(run_id)
    return owner_of(job_id, source)


__all__ = ["HistoryEntry", "Rewind", "RunRecord", "WatermarkAdmin"]
