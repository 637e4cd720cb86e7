"""The requests to DynamoDB: strongly consistent reads, and writes that are sent safely."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from botocore.exceptions import ClientError, ConnectionError, HTTPClientError  # noqa: A004

from .checks import check_head
from .commits import can_succeed_later
from .opens import Opening
from .refusals import named
from .rows import HEAD, LAST_AUDIT, Latest, Row, Table, audit_name, row_key

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import UpdateItemInputTypeDef

    from .audits import Audit
    from .carry_over import CarryOver
    from .commits import Commit

_SENDS = 8
_PASSING_CODES = {
    "ProvisionedThroughputExceededException",
    "RequestLimitExceeded",
    "ThrottlingException",
    "TransactionConflictException",
    "TransactionInProgressException",  # botocore itself has sent the transaction again
}
_FIRST_PAUSE_SECONDS = 0.05
_LONGEST_PAUSE_SECONDS = 2.0
_FIRST_SERVER_ERROR = 500


class Store:
    """One table, through one client.

    Args:
        client: a boto3 DynamoDB client.
        table_name: the table.
        sleep: waits for a number of seconds.
        jitter: returns a number in [0, 1), by which each pause is multiplied.
    """

    def __init__(
        self,
        client: DynamoDBClient,
        table_name: str,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
    ) -> None:
        self._client = client
        self.table = Table(table_name, client.meta.region_name)
        self._sleep = sleep
        self._jitter = jitter

    def read(self, job_id: str, run_id: str) -> Row | None:
        """Return one row as it is now, None if there is none.

        Raises:
            WatermarkCorruptError: it is a head row that cannot be relied on.
            WatermarkCarriedOverError: it is a head row whose watermarks another job has now.
            WatermarkRegionError: it is a head row that was first written in another region.
        """
        row = self.read_unchecked(job_id, run_id)
        if row and run_id == HEAD:
            check_head(row, self.table)
        return row

    def read_unchecked(self, job_id: str, run_id: str) -> Row | None:
        """Return one row as it is now, whatever it holds."""
        with self._naming_errors():
            response = self._client.get_item(
                TableName=self.table.name, Key=row_key(job_id, run_id), ConsistentRead=True
            )
        row: Row = {name: dict(value) for name, value in response.get("Item", {}).items()}
        return row or None

    def read_job(self, job_id: str) -> dict[str, Row]:
        """Return all rows of a job by sort key; as many pages as it takes."""
        rows: dict[str, Row] = {}
        with self._naming_errors():
            for page in self._client.get_paginator("query").paginate(
                TableName=self.table.name,
                KeyConditionExpression="jobName = :job",
                ExpressionAttributeValues={":job": {"S": job_id}},
                ConsistentRead=True,
            ):
                for item in page["Items"]:
                    row: Row = {name: dict(value) for name, value in item.items()}
                    rows[str(row["runId"]["S"])] = row
        return rows

    def read_two_runs(self, job_id: str) -> list[Row]:
        """Return up to two rows of runs: enough to tell none, one and several apart."""
        with self._naming_errors():
            response = self._client.query(
                TableName=self.table.name,
                KeyConditionExpression="jobName = :job AND runId < :first_other",
                ExpressionAttributeValues={":job": {"S": job_id}, ":first_other": {"S": "~"}},
                ConsistentRead=True,
                Limit=2,
            )
        return [{name: dict(value) for name, value in row.items()} for row in response["Items"]]

    def is_set_back_since(self, job_id: str, version: int) -> bool:
        """Return whether somebody has set a job back after it had some version."""
        with self._naming_errors():
            response = self._client.query(
                TableName=self.table.name,
                KeyConditionExpression="jobName = :job AND runId BETWEEN :first AND :last",
                ExpressionAttributeValues={
                    ":job": {"S": job_id},
                    ":first": {"S": audit_name(version + 1)},
                    ":last": {"S": LAST_AUDIT},
                },
                ConsistentRead=True,
                Limit=1,
            )
        return bool(response["Items"])

    def commit(
        self,
        commit: Commit | Audit | CarryOver,
        check_found: Callable[[Latest], None] = lambda _: None,
    ) -> Latest:
        """Apply a commit, exactly once whatever happens to the requests and the responses.

        An outcome that is unknown is found out by sending again: the conditions of the commit
        refuse it if it was applied, and then show it.

        Args:
            commit: what to apply.
            check_found: called with what an earlier send stored, if one got through; may raise.

        Raises:
            WatermarkConflictError: another run moved the watermark first.
            WatermarkTableNotFoundError: there is no such table.
        """
        attempt = 0
        while True:
            try:
                with self._naming_errors():
                    self._client.transact_write_items(TransactItems=commit.transaction(self.table))
            except (ClientError, ConnectionError, HTTPClientError) as error:
                reasons = _cancellation_reasons(error)
                if applied := commit.found_applied(reasons):
                    check_found(applied)
                    return applied
                self._check_found(reasons)
                if moved := commit.moved(reasons):
                    commit = moved
                    continue
                if refusal := commit.refusal(reasons):
                    raise refusal from error
                is_passing = _is_passing(error) or can_succeed_later(reasons)
                if not is_passing or attempt + 1 == _SENDS:
                    raise
            else:
                return commit.latest
            self.pause(attempt)
            attempt += 1

    def find_applied(self, commit: Commit) -> Latest | None:
        """Return what an earlier send of a commit stored, None if none got through."""
        row = self.read(commit.job_id, commit.run_id)
        return commit.found_applied([{"Item": row}])

    def open(self, opening: Opening) -> Row | None:
        """Send the write of an opening; return None if it is applied, else the head in its way.

        Raises:
            WatermarkTableNotFoundError: there is no such table.
        """
        _, found = self.update(opening.update(self.table))
        return None if found is None or opening.is_applied_in(found) else found

    def update(self, update: UpdateItemInputTypeDef) -> tuple[Row, Row | None]:
        """Send a write of one row; it may arrive twice, and must then do no harm.

        Returns:
            What the write asks to be returned, and None; or, if its condition fails, an empty row
            and the row in its way.
        """
        attempt = 0
        while True:
            try:
                with self._naming_errors():
                    response = self._client.update_item(**update)
            except (ClientError, ConnectionError, HTTPClientError) as error:
                if _code_of(error) == "ConditionalCheckFailedException":
                    return {}, cast("Any", error).response.get("Item", {})
                if not _is_passing(error) or attempt + 1 == _SENDS:
                    raise
            else:
                return cast("Row", response.get("Attributes", {})), None
            self.pause(attempt)
            attempt += 1

    def pause(self, attempt: int) -> None:
        """Wait before trying again: longer each time up to a cap, and never in step with others.

        Args:
            attempt: how many tries went before the one that failed.
        """
        longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**attempt)
        self._sleep(longest * self._jitter())

    def _check_found(self, reasons: Sequence[Mapping[str, Any]]) -> None:
        for row in filter(None, (reason.get("Item") for reason in reasons)):
            if row["runId"] == {"S": HEAD}:
                check_head(row, self.table)

    @contextmanager
    def _naming_errors(self) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            if found := named(error, self.table.name, self._client.meta):
                raise found from error
            raise


def _code_of(error: Exception) -> str:
    return str(error.response["Error"]["Code"]) if isinstance(error, ClientError) else ""


def _cancellation_reasons(error: Exception) -> Sequence[Mapping[str, Any]]:
    # One per write of the transaction, in order; none for any other error.
    return error.response.get("CancellationReasons", []) if isinstance(error, ClientError) else []


def _is_passing(error: Exception) -> bool:
    """Tell whether to send again: what became of it is unknown, or AWS asks for it."""
    if not isinstance(error, ClientError):
        return True
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    return status >= _FIRST_SERVER_ERROR or _code_of(error) in _PASSING_CODES
