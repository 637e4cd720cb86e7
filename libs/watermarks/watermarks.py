"""The watermarks of Glue jobs in a DynamoDB table: the class that job scripts use."""

from __future__ import annotations

import random
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from .commits import Commit
from .cursors import check_forward, value_at, with_value
from .errors import (
    AmbiguousWatermarkError,
    WatermarkConflictError,
    WatermarkNotFoundError,
    WatermarkRunConflictError,
    WatermarkValueError,
)
from .opens import Head, plan_opening
from .operations import Operations
from .refusals import named
from .reports import commit_report
from .rows import (
    DEFAULT_KEY,
    HEAD,
    Latest,
    Row,
    check_item,
    check_name,
    check_run_id,
    has_watermarks,
    item_of,
    latest_of,
    run_id_of,
    version_of,
)
from .store import Store
from .values import Value
from .windows import OpenWindow, Window, WindowRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import TextIO

    from mypy_boto3_dynamodb import DynamoDBClient

    from .cursors import Cursor, Distance
    from .windows import Bounds, Capture, Nulls

_RACES = 20


class Watermarks(Operations):
    """The watermarks in one DynamoDB table, whose keys are jobName (hash) and runId (range).

    A job reads `latest`, writes its data, and then calls `advance` with what it read as the base:
    of two runs that started from the same base only one can advance.

    Args:
        table_name: the table.
        dynamodb_client: a boto3 DynamoDB client; None makes one with boto3's own settings.
        history_days: how many days the row of a run is kept; the current watermarks never expire.
        sleep: waits for a number of seconds between two tries.
        jitter: returns a number in [0, 1), by which each wait is multiplied.
        now: returns the time, aware: `settle` stays behind it, and commits note it.
        report: gets a line per commit, of which CloudWatch makes the metrics WatermarkCommits and
            WatermarkAge; pass `sys.stdout` in a job. None: no report.

    Raises:
        ValueError: the table name is empty, or `history_days` is less than one.
    """

    def __init__(
        self,
        table_name: str,
        dynamodb_client: DynamoDBClient | None = None,
        *,
        history_days: int = 400,
        sleep: Callable[[float], None] = time.sleep,
        jitter: Callable[[], float] = random.random,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        report: TextIO | None = None,
    ) -> None:
        check_name("table_name", table_name)
        if history_days < 1:
            raise ValueError(f"history_days is {history_days}: give a whole number of at least 1")
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
        self._store = Store(self.dynamodb_client, table_name, sleep, jitter)

    def exists(self, table_name: str) -> bool:
        """Return whether a DynamoDB table of this name exists."""
        try:
            self.dynamodb_client.describe_table(TableName=table_name)
        except ClientError as error:
            if error.response["Error"]["Code"] == "ResourceNotFoundException":
                return False
            if found := named(error, table_name, self.dynamodb_client.meta):
                raise found from error
            raise
        return True

    def latest(self, job_id: str) -> Latest | None:
        """Return the current watermarks of a job, None if there are none.

        There are none before its first commit, and after a rewind to the beginning.

        One strongly consistent read of one row, however long the history. A job that has rows of
        the original class and no head row yet costs two more reads: a single row is taken.

        Raises:
            AmbiguousWatermarkError: there are several rows and no head row.
        """
        row = self._current_row(job_id)
        return latest_of(row) if row else None

    def advance(
        self, *, job_id: str, run_id: str, to: Mapping[str, Value], base: Latest | None
    ) -> Latest:
        """Move the watermarks of a job forward, if nobody has moved them since `base` was read.

        Call it after the data is durable. Calling it again with the same job, run and `to`, after
        a crash too, changes nothing and returns what the first call stored.

        Args:
            job_id: the job.
            run_id: the run that read up to `to`; it sorts below "~", as Glue's run ids do.
            to: the new values by name; names of `base` that are not given keep their values.
            base: what `latest` returned when the run began, or what `advance` returned last;
                None if the job had no watermarks.

        Returns:
            The watermarks as stored.

        Raises:
            WatermarkConflictError: another run moved the watermarks; nothing was written.
            WatermarkRunConflictError: this run already committed something else, or just this,
                and the job was set back afterwards.
            WatermarkTypeError: a value has another type than before.
            WatermarkValueError: a value is before the stored one, or of a type that cannot be a
                watermark.
            ValueError: the job id or the run id is not usable.
        """
        key = base.key if base else DEFAULT_KEY
        state = {**base.watermarks, **to} if base else to
        commit = self._planned({"jobName": job_id, "runId": run_id, key: to}, state, base)
        if base and base.is_typed:
            try:
                check_forward(base.watermarks, to, key)
            except WatermarkValueError:
                if applied := self._store.find_applied(commit):
                    self._check_not_set_back(commit, applied)
                    return applied  # sent again, from a base that has moved on since
                raise
        return self._commit(commit)

    def open_window(
        self,
        *,
        job_id: str,
        run_id: str,
        cursor: str,
        high: Cursor | Capture | None,
        initial: Cursor | None = None,
        bounds: Bounds = "(]",
        nulls: Nulls = "raise",
        settle: Distance | None = None,
        lookback: Distance | None = None,
    ) -> Window:
        """Record the window that a run is about to read, and return it.

        A window that an earlier run left open is taken over with its low, high and id; `high` is
        not asked for then, and that run can no longer commit. Otherwise the window begins where
        the last one ended. One read and one write; only the read if there is nothing new.

        Args:
            job_id: the job.
            run_id: the run.
            cursor: name of the watermark; dotted, such as `orders.updated_at`, for one of several
                sources of a job.
            high: the upper bound, or a function that captures it, given the lower bound. None, or
                a bound that is not after the lower one, means there is nothing new.
            initial: where the first window begins, whatever `bounds` says with the rows at it;
                None reads from the first row.
            bounds: "(]" leaves out rows at low and reads those at high; "[)" the other way round,
                so that rows still arriving with the value `high` are read next time. A cursor
                keeps its bounds: a change would lose the rows at the watermark or read them twice.
            nulls: what readers do with rows whose cursor is NULL.
            settle: stay this far behind the clock (datetimes) or the greatest value (numbers,
                dates), so that rows committed late, up to that much, are never missed.
            lookback: begin reading this far behind low again, for a sink that merges by key.

        Returns:
            The window, empty if there is nothing new.

        Raises:
            WatermarkTypeError: the cursor has another type than before.
            WatermarkValueError: a bound or a distance cannot be used, or `bounds` has changed.
            AmbiguousWatermarkError: there are several rows and no head row.
            WatermarkConflictError: other runs opened windows again and again.
            ValueError: a parameter is not one of what is allowed.
        """
        check_run_id(run_id)
        request = WindowRequest(
            job_id, run_id, cursor, high, initial, bounds, nulls, settle, lookback, self._now
        )
        request.check()
        for attempt in range(_RACES):
            head = self._head(job_id)
            opening = plan_opening(request, head)
            if opening is None:
                low = value_at(head.base.watermarks, cursor) if head.base else None
                return request.empty(initial if low is None else low, head.base)
            if self._store.open(opening) is None:
                return opening.window
            self._store.pause(attempt)
        raise WatermarkConflictError(
            f"job {job_id!r}: {_RACES} times another run opened a window of {cursor!r} between our "
            "read and our write: run one at a time",
            head.base,
            {},
        )

    def commit_window(self, window: Window) -> Latest | None:
        """Make the end of a window the watermark, close it and record the run: all at once.

        Call it after the data is durable. Calling it again, from another process too, changes
        nothing and returns what the first call stored.

        Returns:
            The watermarks as stored; for an empty window those it was opened with.

        Raises:
            WatermarkSupersededError: another run took the window over, or a rewind discarded it.
        """
        if window.is_empty:
            return window.base
        base = window.base
        key = base.key if base else DEFAULT_KEY
        to = with_value({}, window.cursor, window.high)
        state = with_value(base.watermarks if base else {}, window.cursor, window.high)
        item = {"jobName": window.job_id, "runId": window.run_id, key: to}
        return self._commit(self._planned(item, state, base, OpenWindow.of(window)))

    @contextmanager
    def window(self, **request: Any) -> Iterator[Window]:
        """Open a window, run the block, and commit the window if the block ends without an error.

        Takes the arguments of `open_window` and raises what it and `commit_window` raise.
        """
        window = self.open_window(**request)
        yield window
        self.commit_window(window)

    def windows(self, **request: Any) -> Iterator[Window]:
        """Yield the window an earlier run left open, if any, and then what is new, if anything.

        Each is committed when the loop comes back for the next; a body that raises leaves its
        window open for the next run. Takes the arguments of `open_window`.
        """
        is_more_expected = True
        while is_more_expected:
            with self.window(**request) as window:
                if window.is_empty:
                    return
                is_more_expected = window.is_recovered
                yield window

    def add_watermark(self, watermark_item: dict[str, Any]) -> None:
        """Make an item the current watermark of its job, replacing what it had.

        Args:
            watermark_item: what `create_watermark_item` returned.

        Raises:
            WatermarkConflictError: other runs were faster again and again.
            WatermarkRunConflictError: this run committed before, and another run has since, or
                the job was set back.
            WatermarkValueError: a value is of a type that cannot be a watermark.
            ValueError: the item is not of the form that `create_watermark_item` returns.
        """
        job_id, _, key = check_item(watermark_item)
        for attempt in range(_RACES):
            head = self._store.read(job_id, HEAD)
            base = latest_of(head) if head else None
            try:
                self._commit(self._planned(watermark_item, watermark_item[key], base))
            except WatermarkConflictError as error:
                is_last = attempt + 1 == _RACES
                if is_last or isinstance(error, WatermarkRunConflictError):
                    raise
                self._store.pause(attempt)
            else:
                return

    def get_most_recent_run_id(self, job_id: str) -> str:
        """Return the run whose watermarks are the current ones of a job.

        Raises:
            WatermarkNotFoundError: the job has no watermarks yet.
            AmbiguousWatermarkError: there are several rows and no head row.
        """
        return run_id_of(self._existing_row(job_id))

    def get_watermark(self, job_id: str, run_id: str | None = None) -> dict[str, Any]:
        """Return the watermark item of a run, in the form of `create_watermark_item`.

        Args:
            job_id: the job.
            run_id: the run; None means the one that is current.

        Raises:
            WatermarkNotFoundError: there is no such item, or it has expired.
            AmbiguousWatermarkError: no run is named, and there are several rows and no head row.
        """
        if run_id is None:
            return item_of(self._existing_row(job_id))
        check_name("job_id", job_id)
        check_run_id(run_id)
        if row := self._store.read(job_id, run_id):
            return item_of(row)
        head = self._store.read(job_id, HEAD)
        if head and run_id_of(head) == run_id:
            return item_of(head)
        raise WatermarkNotFoundError(
            f"there is no watermark of run {run_id!r} of job {job_id!r} in table "
            f"{self.table_name!r}: it never committed, or its row has expired; "
            "name another run, or none for the current watermark"
        )

    def get_watermark_values(
        self, job_id: str, run_id: str | None = None, key: str = DEFAULT_KEY
    ) -> Any:
        """Return the values of a watermark item: usually a dict, value by name.

        Args:
            job_id: the job.
            run_id: the run; None means the one that is current.
            key: the attribute that holds the values.

        Raises:
            WatermarkNotFoundError: there is no such item, or it has no such attribute.
            AmbiguousWatermarkError: no run is named, and there are several rows and no head row.
        """
        item = self.get_watermark(job_id, run_id)
        if key not in item:
            raise WatermarkNotFoundError(
                f"the watermark of run {item['runId']!r} of job {job_id!r} has no {key!r}: "
                f"it has {sorted(item)}; give one of these as key"
            )
        return item[key]

    @staticmethod
    def create_watermark_item(
        job_id: str, run_id: str, key: str = DEFAULT_KEY, **kwargs: Value
    ) -> dict[str, Any]:
        """Return the item of a job run, for `add_watermark`.

        Args:
            job_id: the job.
            run_id: the run.
            key: the attribute that will hold the values.
            **kwargs: the values by name.
        """
        return {"jobName": job_id, "runId": run_id, key: kwargs}

    def _current_row(self, job_id: str) -> Row | None:
        row = self._head_or_only_row(job_id)
        return row if row and has_watermarks(row) else None

    def _head(self, job_id: str) -> Head:
        row = self._head_or_only_row(job_id)
        base = latest_of(row) if row else None
        is_head = row is not None and row["runId"] == {"S": HEAD}
        return Head.of(row if is_head else None, base, legacy=None if is_head else row)

    def _head_or_only_row(self, job_id: str) -> Row | None:
        check_name("job_id", job_id)
        if head := self._store.read(job_id, HEAD):
            return head
        runs = self._store.read_two_runs(job_id)
        if not runs:
            return None
        if head := self._store.read(job_id, HEAD):
            return head  # the first commit came between the two reads
        if len(runs) > 1 or version_of(runs[0]):  # a row of ours had a head, which is lost
            raise AmbiguousWatermarkError(
                f"job {job_id!r} has watermarks in table {self.table_name!r} and no {HEAD} row "
                "that says which is the most recent, and run ids do not tell: "
                "name a run id explicitly, or make the run that Glue says started last the "
                "current one with adopt(job, run, reason=..., actor=...)"
            )
        return runs[0]

    def _existing_row(self, job_id: str) -> Row:
        row = self._current_row(job_id)
        if row is None:
            raise WatermarkNotFoundError(
                f"job {job_id!r} has no watermark in table {self.table_name!r} yet: check the "
                "job's name, or treat this as the first run (latest() returns None then)"
            )
        return row

    def _commit(self, commit: Commit) -> Latest:
        """Commit, and report what is stored then; after a kill in between nothing is reported."""
        latest = self._store.commit(commit, lambda found: self._check_not_set_back(commit, found))
        if self._report is not None:
            line = commit_report(commit.job_id, latest.watermarks, self._now())
            print(line, file=self._report, flush=True)
        return latest

    def _check_not_set_back(self, commit: Commit, found: Latest) -> None:
        """Refuse to take a commit for done that was applied before the job was set back.

        A window has an id of its own, so a commit of one is never taken for another's.
        """
        if commit.window is None and self._store.is_set_back_since(commit.job_id, found.version):
            raise WatermarkRunConflictError(
                f"job {commit.job_id!r}: run {commit.run_id!r} committed {found.watermarks} as "
                f"version {found.version}, and the job has been set back since: nothing was "
                "written; use a new run id for a new commit",
                found,
                found.watermarks,
            )

    def _planned(
        self,
        item: Mapping[str, Any],
        state: Mapping[str, Value],
        base: Latest | None,
        window: OpenWindow | None = None,
    ) -> Commit:
        now, history = self._now(), self._history
        return Commit.of(item, state, base, now=now, history=history, window=window)
