"""The watermarks of Glue jobs in a DynamoDB table: the class that job scripts use."""

from __future__ import annotations

import random
import re
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from . import run_notes
from .errors import WatermarkConflictError, WatermarksError, WatermarkValueError
from .table.client import TableClient
from .table.heads import check_arrived
from .table.latest import DEFAULT_KEY, Latest
from .table.names import check_job, check_name, check_run_id, check_source
from .table.requests import IS_NOT_OURS, number, put_request
from .table.schema import EXPIRES_AT, TABLE_NAME, Owner, Row
from .v1 import V1Methods
from .windows.bookmark_option import plan_whole
from .windows.commit import Commit, RunConflictError
from .windows.cursors import check_forward
from .windows.days import FUTURE, check_none_ahead
from .windows.held import refusal_request
from .windows.loop import WindowLoop
from .windows.opening import Opening, plan_opening
from .windows.request import WindowOptions, WindowRequest
from .windows.window import DISABLE, ENABLE, OpenWindow, Window, leave

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import TextIO, Unpack

    from mypy_boto3_dynamodb import DynamoDBClient

    from .table.schemas import RefusedSchema
    from .table.values import Value
    from .windows.cursors import Cursor
    from .windows.window import Bounds

_RACES = 20
_MAX_HISTORY_DAYS = 36_500
_TABLE = re.compile(r"[A-Za-z0-9_.:/-]+")  # a name or an ARN


class Watermarks(V1Methods):
    """The watermarks in one DynamoDB table, whose keys are jobName (hash) and runId (range).

    A job loops over `windows`, or reads `latest`, writes its data, and then calls `advance` with
    the watermark it read as the base: if two runs start from the same base, only one can advance.

    Args:
        table_name: the table.
        dynamodb_client: a boto3 DynamoDB client; None creates one with boto3's defaults.
        history_days: days that the row of a run is kept; the current watermarks never expire.
        sleep: waits for a number of seconds between two tries.
        jitter: returns a number in [0, 1), a factor for each wait.
        now: returns the time, aware: `settle` stays behind it, and commits note it.
        report: gets a line per commit, from which CloudWatch makes the metrics WatermarkCommits and
            WatermarkAge; pass `sys.stdout` in a job. None: no report.

    Raises:
        ValueError: the table name is not valid, or `history_days` is not an integer of 1 to
            36,500.

    Example:
        >>> watermarks = Watermarks("glue-watermarks", client)
        >>> for window in watermarks.windows("load-orders", run_id="jr_1", cursor="id", high=120):
        ...     print(window.low, window.high)  # read these rows and write them
        None 120
        >>> watermarks.latest("load-orders").watermarks
        {'id': 120}
    """

    def __init__(
        self,
        table_name: str = TABLE_NAME,
        dynamodb_client: DynamoDBClient | None = None,
        *,
        history_days: int = 400,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        report: TextIO | None = None,
    ) -> None:
        check_name("table_name", table_name)
        if not _TABLE.fullmatch(table_name):
            raise ValueError(
                f"table_name is {table_name!r}: give the name or the ARN of a DynamoDB table"
            )
        if type(history_days) is not int or not 1 <= history_days <= _MAX_HISTORY_DAYS:
            raise ValueError(
                f"history_days is {history_days!r}: give an integer of 1 to {_MAX_HISTORY_DAYS}"
            )
        if dynamodb_client is None:
            import boto3  # here: importing boto3 takes a while, and a caller may bring a client
            from botocore.config import Config

            # The library makes its own requests and has checked what goes into them.
            config = Config(parameter_validation=False)
            dynamodb_client = boto3.client("dynamodb", config=config)
        self.table_name = table_name
        self.dynamodb_client = dynamodb_client
        self._history = timedelta(days=history_days)
        self._now = now
        self._report = report
        self._client = TableClient(self.dynamodb_client, table_name, sleep, jitter)

    def windows(self, job_id: str, **options: Unpack[WindowOptions]) -> Iterator[Window]:
        """Return the windows to read: the one a dead run left open, if any, then the new rows.

        Each is committed when the loop comes back for the next; a body that raises leaves its
        window open for the next run. New rows are one window, or with `max_span` or `max_rows` as
        many as needed. To stop early, call `commit_window(window)` before `break`. With another
        `job_bookmark_option` than enable the loop has one window, and commits nothing.

        Takes the arguments of `open_window`; raises the errors of it and of `commit_window`, and
        WatermarksError if the body does not use its window, as in `list(windows())`: nothing is
        committed then.

        Example:
            A run that dies in the loop leaves its window open; the next run reads it first.

            >>> for window in watermarks.windows("orders", run_id="jr_1", cursor="id", high=100):
            ...     raise RuntimeError("the job died")
            Traceback (most recent call last):
            RuntimeError: the job died
            >>> for window in watermarks.windows("orders", run_id="jr_2", cursor="id", high=120):
            ...     print(window.low, window.high)
            None 100
            100 120
        """
        request = self._request(job_id, options)
        return WindowLoop(lambda: self._open(request), self.commit_window)

    @contextmanager
    def window(self, job_id: str, **options: Unpack[WindowOptions]) -> Iterator[Window]:
        """Open a window, run the block, and commit the window if the block ends without an error.

        The block runs for an empty window too: test `window.is_empty`. Takes the arguments of
        `open_window`; raises the errors of it and of `commit_window`.

        Example:
            >>> with watermarks.window("orders", run_id="jr_1", cursor="id", high=100) as window:
            ...     window.is_empty
            False
            >>> with watermarks.window("orders", run_id="jr_2", cursor="id", high=100) as window:
            ...     window.is_empty
            True
        """
        window = self.open_window(job_id, **options)
        yield window
        self.commit_window(window)

    def open_window(self, job_id: str, **options: Unpack[WindowOptions]) -> Window:
        """Record the window that a run is about to read, and return it.

        A window that an earlier run left open is taken over with its low, high and id; `high` is
        not evaluated then, and that run can no longer commit. Otherwise the window starts where
        the last one ended. One read and one write; only the read if there is nothing new.

        Args:
            job_id: the job.
            **options: as follows; `run_id` and `cursor` must be given.
                run_id: the run.
                cursor: name of the watermark; without a dot.
                high: the upper bound: a value; `newest(frame)` or `newest_jdbc(...)`; or a function
                    that returns one of these, given the lower bound. None, or a bound that is not
                    after the lower one, means there is nothing new. Not given: the clock.
                source: one source of a job with several; each has its own watermarks.
                initial: where the first window starts, always with the rows at it;
                    None reads from the first row.
                bounds: "(]" leaves out rows at low and reads those at high; "[)" the other way
                    round, so that rows still arriving with the value `high` are read next time. A
                    cursor keeps its bounds: a change would lose the rows at the watermark or read
                    them twice. None takes its present ones; at first "(]", but "[)" for dates,
                    and strings that are dates, without `settle`.
                nulls: what readers do with rows whose cursor is NULL: "raise", "include" or
                    "exclude".
                settle: how long a row may take to become visible. A window of aware datetimes
                    stays this far behind the clock, 5 minutes if None. A bound of any other type
                    is read once an earlier open has seen it this long ago; None reads it at once
                    (a day with the bounds "(]" after a day), and is refused for `newest_jdbc`.
                    timedelta(0): rows come in order, so nothing is held back.
                lookback: start reading this far behind low, for a sink that merges by key.
                future: how far ahead of the clock a bound that is a time may lie, one day if not
                    given: a date of 9999 would hide all later rows.
                max_span: the longest range of a window: a timedelta or a number.
                max_rows: approximate number of rows of a window: rows with equal values stay
                    together. `high` must be `newest(frame)` or `newest_jdbc(...)`.
                job_bookmark_option: that of the run, as `args["job_bookmark_option"]` of
                    getResolvedOptions. "job-bookmark-enable"; "job-bookmark-pause": the next window
                    is not committed, and the next run takes it over; "job-bookmark-disable": one
                    window over everything there is, from `initial`, if given, to the bound, and the
                    table of watermarks is neither read nor written.

        Returns:
            The window, empty if there is nothing new.

        Raises:
            WatermarkValueError: the cursor has another type than before, a bound or a distance
                cannot be used or lies in the future, or `bounds` has changed; nothing was written.
            AmbiguousWatermarkError: there are several rows and no head row.
            WatermarkConflictError: other runs kept opening windows; the clock is behind
                that of an earlier run; or the job was renamed.
            ValueError: a parameter is not allowed.

        Example:
            >>> window = watermarks.open_window("orders", run_id="jr_1", cursor="id", high=100)
            >>> (window.low, window.high, window.bounds)
            (None, 100, '(]')
            >>> watermarks.commit_window(window).watermarks
            {'id': 100}
            >>> watermarks.open_window("orders", run_id="jr_2", cursor="id", high=150).low
            100

        Source:
            https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html
        """
        return self._open(self._request(job_id, options)).window

    def commit_window(self, window: Window) -> Latest | None:
        """Make the end of a window the watermark, close it and record the run: all at once.

        Call it after the data is durable. Calling it again, from another process too, changes
        nothing and returns the result of the first call. A window of a run with job-bookmark-pause
        or job-bookmark-disable is left as it is, as `Job.commit` leaves a bookmark.

        Returns:
            The watermarks as stored; for a window that is empty or left as it is those of its
            opening.

        Raises:
            WatermarkSupersededError: another run took the window over, or a rewind discarded it.

        Example:
            >>> window = watermarks.open_window("orders", run_id="jr_1", cursor="id", high=100)
            >>> takes_over = watermarks.open_window("orders", run_id="jr_2", cursor="id", high=120)
            >>> watermarks.commit_window(takes_over).watermarks
            {'id': 100}
            >>> watermarks.commit_window(window)
            Traceback (most recent call last):
            watermarks.errors.WatermarkSupersededError: ...
        """
        if window.is_empty:
            return window.base
        if window.job_bookmark_option != ENABLE:
            leave(window, "committed")
            return window.base
        base = window.base
        key = base.key if base else DEFAULT_KEY
        to = {window.cursor: window.high}
        state = {**(base.watermarks if base else {}), **to}
        item = {"jobName": window.job_id, "runId": window.run_id, key: to}
        commit = self._planned(item, state, base, window.source, OpenWindow.of(window))
        latest = self._commit(replace(commit, schemas=window.schemas))
        leave(window, "committed")
        return latest

    def latest(self, job_id: str, *, source: str = "") -> Latest | None:
        """Return the current watermarks of a job, or of one of its sources; None if not set.

        That is so before the first commit and after a rewind to the beginning.

        One strongly consistent read of one row, however long the history. A job that has rows of
        the v1 class and no head row yet costs two more reads: a single row is taken.

        Raises:
            AmbiguousWatermarkError: there are several rows and no head row.

        Example:
            >>> watermarks.latest("orders") is None
            True
            >>> _ = watermarks.advance(job_id="orders", run_id="jr_1", to={"id": 100}, base=None)
            >>> watermarks.latest("orders")
            Latest(run_id='jr_1', version=1, watermarks={'id': 100})
        """
        row = self._head_row(owner_of(job_id, source))
        return row.latest() if row and row.has_watermarks else None

    def advance(
        self,
        *,
        job_id: str,
        run_id: str,
        to: Mapping[str, Value],
        base: Latest | None,
        source: str = "",
        future: timedelta = FUTURE,
    ) -> Latest:
        """Move the watermarks of a job forward, if nobody has moved them since `base` was read.

        For a job without windows. Call it after the data is durable. Calling it again
        with the same job, run and `to`, after a crash too, changes nothing and returns the result
        of the first call.

        Args:
            job_id: the job.
            run_id: the run that read up to `to`; it sorts below "~", as Glue's run ids do.
            to: the new values by name; names of `base` that are not given keep their values.
            base: the result of `latest` at the start of the run, or of the last `advance`;
                None if the job had no watermarks.
            source: one source of a job with several.
            future: how far ahead of the clock a new time may lie: as a watermark it would hide
                every row until then.

        Returns:
            The watermarks as stored.

        Raises:
            WatermarkConflictError: another run moved the watermarks; or this run already committed
                something else, or the same and the job was rewound afterwards. Nothing was written.
            WatermarkValueError: a value is before the stored one, has another type than before,
                is of a type that cannot be a watermark, or lies in the future.

        Example:
            >>> base = watermarks.latest("orders")
            >>> watermarks.advance(job_id="orders", run_id="jr_1", to={"id": 100}, base=base)
            Latest(run_id='jr_1', version=1, watermarks={'id': 100})
            >>> watermarks.advance(job_id="orders", run_id="jr_2", to={"id": 200}, base=base)
            Traceback (most recent call last):
            watermarks.errors.WatermarkConflictError: ...
        """
        check_source(source)
        check_none_ahead(to, base.watermarks if base else {}, self._now(), future)
        if source and base is None:
            # This refuses a name that the job no longer has.
            self._head_row(owner_of(job_id, source))
        if base and base.source != source:
            raise ValueError(
                f"source is {source!r}, and base is of {base.source!r}: give latest(job, "
                f"source={source!r})"
            )
        key = base.key if base else DEFAULT_KEY
        state = {**base.watermarks, **to} if base else to
        commit = self._planned({"jobName": job_id, "runId": run_id, key: to}, state, base, source)
        if base and base.is_typed:
            try:
                check_forward(base.watermarks, to, key)
            except WatermarkValueError:
                row = self._client.row(commit.owner, commit.owner.run(run_id))
                if applied := commit.found_applied([row]):
                    self._check_not_set_back(commit, applied)
                    # The commit was sent again, from a base that has moved on since.
                    return applied
                raise
        return self._commit(commit)

    def checkpoint(
        self,
        job_id: str,
        run_id: str,
        *,
        read: Iterable[str] = (),
        written: Mapping[str, str] | None = None,
    ) -> None:
        """Record the data that a run has read and written, for a job without watermarks here.

        Call it right after `job.commit()`. One write; a repetition by the same run changes only its
        time. A job with watermarks needs no call: its commits record this too.

        Args:
            job_id: the job.
            run_id: the run.
            read: datasets, such as `s3://bucket/folder/`.
            written: the write mode of a repetition, by dataset: `append`, `overwrite`,
                `overwrite_partitions`, `window`, `merge` or `unknown`.

        Raises:
            ValueError: a name is not usable, or a mode is not one of these.

        Example:
            >>> watermarks.checkpoint(
            ...     "orders", "jr_1", read=["s3://lake/in/"], written={"s3://lake/out/": "append"}
            ... )
            >>> [record.run_id for record in admin.run_records("orders")]
            ['jr_1']
        """
        check_job(job_id)
        check_run_id(run_id)
        modes = dict(written or {})
        for name, mode in modes.items():
            if mode not in run_notes.MODES:
                raise ValueError(
                    f"written[{name!r}] is {mode!r}: allowed are {', '.join(run_notes.MODES)}"
                )
        owner, now = Owner(job_id), self._now()
        row = {
            **owner.key(owner.checkpoint(run_id)),
            "wmKind": {"S": "checkpoint"},
            "wmAt": {"S": now.isoformat(timespec="microseconds")},
            EXPIRES_AT: number(int((now + self._history).timestamp())),
        }
        row |= run_notes.attribute(job_id, run_id, row, dict.fromkeys(read), modes)
        self._client.put(put_request(self._client.table, row, IS_NOT_OURS))

    def committed_windows(
        self, job_id: str, cursor: str | None = None, *, source: str = ""
    ) -> list[tuple[str, int]]:
        """Return id and attempt of the windows whose data count now, in the order of the commits.

        A rewind undoes the windows committed after its target run. Final windows
        are kept in blocks of the table, so that later calls read little. The windows of a backfill
        are not among them: see `backfilled_windows`.

        Args:
            job_id: the job.
            cursor: only windows of this cursor; None means all.
            source: one source of a job with several.

        Raises:
            WatermarkNotFoundError: a part of the history has expired, so windows are unknown.

        Example:
            >>> for window in watermarks.windows("orders", run_id="jr_1", cursor="id", high=100):
            ...     written = window.window_id, window.attempt
            >>> watermarks.committed_windows("orders") == [written]
            True
        """
        from .windows.committed import committed_windows

        windows = committed_windows(self._client, owner_of(job_id, source), self._now())
        return [
            (window_id, attempt) for name, window_id, attempt in windows if cursor in {None, name}
        ]

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

        The watermarks of the job stay unchanged. A part is done when the loop comes back for
        the next one, so do all the work of a window in the body of the loop. After a crash the
        same call continues with the parts that are not done; when all are, there are no windows.

        Args:
            job_id: the job.
            backfill_id: names the backfill and its output; the same id continues it.
            cursor: the column of the range.
            low: where the range starts.
            high: where it ends.
            run_id: the run that does the work.
            parts: number of windows of equal range.
            bounds: which end belongs to a window; see `open_window`.

        Raises:
            WatermarksError: the id is that of another backfill.
            WatermarkSupersededError: another run continues the same backfill.
            AmbiguousWatermarkError: the job has rows of the v1 class and no head row.
            ValueError: a parameter is not usable.

        Example:
            >>> for window in watermarks.backfill(
            ...     "orders", backfill_id="may", cursor="id", low=0, high=100, run_id="jr", parts=2
            ... ):
            ...     print(window.low, window.high)
            0 50
            50 100
            >>> watermarks.latest("orders") is None
            True
        """
        from .windows.backfill import Backfill, base_of_backfill

        request = Backfill(job_id, backfill_id, cursor, low, high, run_id, parts, bounds)
        request.check()
        base = base_of_backfill(self._client, Owner(job_id))
        return request.run(self._client, self._now(), self._history, base)

    def backfilled_windows(self, job_id: str, backfill_id: str) -> list[tuple[str, int]]:
        """Return id and attempt of the windows of a backfill that are done.

        Raises:
            WatermarkNotFoundError: the backfill does not exist, or its row has expired.

        Example:
            >>> part = {"backfill_id": "may", "cursor": "id", "low": 0, "high": 9, "run_id": "jr_9"}
            >>> for window in watermarks.backfill("orders", **part):
            ...     written = window.window_id, window.attempt
            >>> watermarks.backfilled_windows("orders", "may") == [written]
            True
        """
        from .windows.backfill import backfilled_windows

        return backfilled_windows(self._client, job_id, backfill_id)

    def _request(self, job_id: str, options: WindowOptions) -> WindowRequest:
        request = WindowRequest(job_id, now=self._now, refuse=self._note_refused, **options)
        request.check()
        return request

    def _open(self, request: WindowRequest) -> Opening:
        """Write the next window, or the bound to remember, and return it."""
        if request.job_bookmark_option == DISABLE:
            return plan_whole(request)
        owner, high = request.owner, request.high
        for attempt in range(_RACES):
            request.high = high  # asked for again, if another run has moved the watermark
            opening = plan_opening(request, self._head_row(owner))
            if opening.opened is None and opening.seen is None:
                return opening
            _, refused = self._client.update(opening.update(self._client.table))
            if refused is None or opening.is_applied_in(refused):
                return opening
            self._client.pause(attempt)
        raise WatermarkConflictError(
            f"{owner}: {_RACES} times another run opened a window of {request.cursor!r} between "
            "our read and our write: run one at a time",
            opening.base,
        )

    def _head_row(self, owner: Owner) -> Row | None:
        row = self._client.head_or_legacy(owner)
        if row is None and owner.source and (job_head := self._client.head(Owner(owner.job_id))):
            check_arrived(job_head, self._client.table)
        return row

    def _commit(self, commit: Commit) -> Latest:
        """Commit, and report the stored state; after a kill in between nothing is reported."""
        latest = self._client.commit(commit, partial(self._check_not_set_back, commit))
        if self._report is not None:
            from .metrics import commit_report

            line = commit_report(commit.owner.job_id, latest.watermarks, self._now())
            print(line, file=self._report, flush=True)
        return latest

    def _check_not_set_back(self, commit: Commit, latest: Latest) -> None:
        """Refuse to take a commit for done that was applied before the job was rewound."""
        owner = commit.owner
        # A window has its own id, so its commit is never taken for another's.
        if commit.window is not None:
            return
        if self._client.rows(owner, owner.audit(latest.version + 1), owner.last_audit, limit=1):
            raise RunConflictError(
                f"{owner}: run {commit.run_id!r} committed {latest.watermarks} as "
                f"version {latest.version}, and the job has been set back since: nothing was "
                "written; use a new run id for a new commit",
                latest,
                latest.watermarks,
            )

    def _planned(
        self,
        item: Mapping[str, Any],
        state: Mapping[str, Value],
        base: Latest | None,
        source: str = "",
        window: OpenWindow | None = None,
    ) -> Commit:
        now, history = self._now(), self._history
        return Commit.of(item, state, base, now=now, history=history, source=source, window=window)

    def _note_refused(self, window: Window, refused: RefusedSchema) -> None:
        at = self._now().isoformat(timespec="microseconds")
        refused = replace(refused, run_id=window.run_id, at=at)
        # That the frame is refused matters, and not that somebody may accept it.
        with suppress(WatermarksError, ClientError, BotoCoreError):
            self._client.update(refusal_request(self._client.table, window, refused))


def owner_of(job_id: str, source: str) -> Owner:
    """Return the owner of the watermarks; refuse an invalid name."""
    check_job(job_id)
    check_source(source)
    return Owner(job_id, source)
