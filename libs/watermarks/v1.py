"""The methods of the v1 class, which teams have written jobs with: same names, items and rows.

`from watermarks import Watermarks` has them, as before; nothing else here needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from .errors import WatermarkConflictError, WatermarkNotFoundError
from .table.aws_errors import code_of, translate_client_error
from .table.latest import DEFAULT_KEY, Latest
from .table.names import check_job, check_run_id
from .table.schema import Owner, Row
from .table.values import Value, decode
from .windows.commit import Commit, RunConflictError, check_item

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_dynamodb import DynamoDBClient

    from .table.client import TableClient

_RACES = 20


class V1Methods:
    """The part of `Watermarks` that the v1 class had."""

    table_name: str
    dynamodb_client: DynamoDBClient
    _client: TableClient
    _commit: Callable[[Commit], Latest]
    _planned: Callable[..., Commit]

    def exists(self, table_name: str) -> bool:
        """Return whether a DynamoDB table of this name exists."""
        try:
            self.dynamodb_client.describe_table(TableName=table_name)
        except ClientError as error:
            if code_of(error) == "ResourceNotFoundException":
                return False
            if translated := translate_client_error(error, table_name, self.dynamodb_client.meta):
                raise translated from error
            raise
        return True

    @staticmethod
    def create_watermark_item(
        job_id: str, run_id: str, key: str = DEFAULT_KEY, **kwargs: Value
    ) -> dict[str, Any]:
        """Return the item of a job run, for `add_watermark`: its values by name under a key."""
        return {"jobName": job_id, "runId": run_id, key: kwargs}

    def add_watermark(self, watermark_item: dict[str, Any]) -> None:
        """Make an item of `create_watermark_item` the current watermark of its job.

        Raises:
            WatermarkConflictError: this run committed before, and another run has since, or the
                job was set back; or other runs were faster again and again.
            WatermarkValueError: a value is of a type that cannot be a watermark.
            ValueError: the item is not of the form that `create_watermark_item` returns.
        """
        job_id, _, key = check_item(watermark_item)
        for attempt in range(_RACES):
            head = self._client.head(Owner(job_id))
            base = head.latest() if head else None
            try:
                commit = self._planned(watermark_item, watermark_item[key], base)
                latest = self._commit(commit)
                if base and latest.version <= base.version and latest.log != base.log:
                    raise RunConflictError(
                        f"{commit.owner}: run {commit.run_id!r} committed {latest.watermarks} as "
                        f"version {latest.version}, and run {base.run_id!r} has committed version "
                        f"{base.version} since: nothing was written; use a new run id for a new "
                        "commit",
                        base,
                        latest.watermarks,
                    )
            except WatermarkConflictError as error:
                if attempt + 1 == _RACES or isinstance(error, RunConflictError):
                    raise
                self._client.pause(attempt)
            else:
                return

    def get_most_recent_run_id(self, job_id: str) -> str:
        """Return the run whose watermarks are the current ones of a job.

        Raises:
            WatermarkNotFoundError: the job has no watermarks yet.
            AmbiguousWatermarkError: there are several rows and no head row.
        """
        return self._current_row(job_id).run_id

    def get_watermark(self, job_id: str, run_id: str | None = None) -> dict[str, Any]:
        """Return the watermark item of a run (None: the current one) as stored.

        Raises:
            WatermarkNotFoundError: there is no such item, or it has expired.
            AmbiguousWatermarkError: no run is named, and there are several rows and no head row.
        """
        if run_id is None:
            return _item_of(self._current_row(job_id))
        check_job(job_id)
        check_run_id(run_id)
        if row := self._client.last_row(Owner(job_id), run_id):
            return _item_of(row)
        head = self._client.head(Owner(job_id))
        if head and head.run_id == run_id:
            return _item_of(head)
        raise WatermarkNotFoundError(
            f"there is no watermark of run {run_id!r} of job {job_id!r} in table "
            f"{self.table_name!r}: it never committed, or its row has expired; "
            "name another run, or none for the current watermark"
        )

    def get_watermark_values(
        self, job_id: str, run_id: str | None = None, key: str = DEFAULT_KEY
    ) -> Any:
        """Return the values of the item of `get_watermark`: usually a dict, value by name.

        Raises:
            WatermarkNotFoundError: there is no such item, or it has no attribute of that key.
            AmbiguousWatermarkError: no run is named, and there are several rows and no head row.
        """
        item = self.get_watermark(job_id, run_id)
        if key not in item:
            raise WatermarkNotFoundError(
                f"the watermark of run {item['runId']!r} of job {job_id!r} has no {key!r}: "
                f"it has {sorted(item)}; give one of these as key"
            )
        return item[key]

    def _current_row(self, job_id: str) -> Row:
        check_job(job_id)
        row = self._client.head_or_legacy(Owner(job_id))
        if row is None or not row.has_watermarks:
            raise WatermarkNotFoundError(
                f"job {job_id!r} has no watermark in table {self.table_name!r} yet: check the "
                "job's name, or treat this as the first run (latest() returns None then)"
            )
        return row


def _item_of(row: Row) -> dict[str, Any]:
    tags = row.item.get("wmTypes")
    values = {name: decode(row.item[name], tags) for name in row.payload_names}
    return {"jobName": row.owner.job_id, "runId": row.run_id, **values}


def __getattr__(name: str) -> Any:
    if name == "Watermarks":  # which has these methods, and so imports this module
        return import_module("watermarks").Watermarks
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
