"""The requests to DynamoDB: strongly consistent reads, and writes that are sent safely."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from botocore.exceptions import (
    ChecksumError,
    ClientError,
    ConnectionError,  # noqa: A004
    HTTPClientError,
    IncompleteReadError,
)

from watermarks.errors import AmbiguousWatermarkError, WatermarksError

from .aws_errors import (
    code_of,
    is_passing,
    is_refused,
    place_of,
    rows_found,
    translate_client_error,
)
from .heads import check_head
from .latest import Item, Latest
from .schema import HEAD, Owner, Row, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

_SENDS = 8
_FIRST_PAUSE_SECONDS = 0.05
_MAX_PAUSE_SECONDS = 2.0
# Else the answer to a write, and to a read without a row, has no member: botocore takes what is cut
# for that too.
_CAPACITY = "ConsumedCapacity"
_TELLS_CAPACITY: Any = {"ReturnConsumedCapacity": "TOTAL"}


class NoAnswerError(WatermarksError):
    """What answered a request is not DynamoDB; the outcome is not known."""


# What botocore raises of an answer that is cut, garbled, or JSON of another shape.
UNREADABLE = (UnicodeDecodeError, AttributeError, TypeError, ChecksumError, IncompleteReadError)
UNKNOWN_OUTCOME = (ClientError, ConnectionError, HTTPClientError, NoAnswerError)


class Change(Protocol):
    """A transaction that moves watermarks, and that knows itself when it was applied before."""

    @property
    def latest(self) -> Latest:
        """The state of the head once this is applied."""

    def transaction(self, table: Table) -> list[TransactWriteItemTypeDef]:
        """Return the writes, which are applied together or not at all."""

    def found_applied(self, rows: Sequence[Row | None]) -> Latest | None:
        """Return the state that an earlier send stored, given the rows that refused the writes."""

    def rebased(self, rows: Sequence[Row | None]) -> Change | None:
        """Return the same change on top of the found state, None if that would be wrong."""

    def refusal(self, rows: Sequence[Row | None]) -> Exception:
        """Return the error that these rows in the way mean."""


class TableClient:
    """One table, through one boto3 client; `sleep` waits for seconds, times `jitter` in [0, 1)."""

    def __init__(
        self,
        client: DynamoDBClient,
        table_name: str,
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
    ) -> None:
        self._client: Any = client
        self.table = Table(table_name, client.meta.region_name)
        self._sleep = sleep
        self._jitter = jitter

    def head(self, owner: Owner) -> Row | None:
        """Return the current head of a job or a source, None if it is missing."""
        if row := self.row(owner, owner.head):
            check_head(row, self.table)
        return row

    def head_or_legacy(self, owner: Owner) -> Row | None:
        """Return the head; without one, the only row of the v1 class, if there is just one."""
        if head := self.head(owner):
            return head
        runs = self.rows(owner, *owner.every_run, limit=2)
        if not runs:
            return None
        if head := self.head(owner):
            # The first commit came between the two reads.
            return head
        # A row of ours had a head, which is lost.
        if len(runs) > 1 or runs[0].is_ours:
            raise AmbiguousWatermarkError(
                f"{owner} has watermarks in table {self.table.name!r} and no {HEAD} row that says "
                "which is the most recent, and run ids do not say: name a run id explicitly, or "
                "make the run that Glue says started last the current one with "
                "WatermarkAdmin.adopt(job, run, reason=..., actor=...), with source= for a source"
            )
        return runs[0]

    def row(self, owner: Owner, name: str) -> Row | None:
        """Return one current row, whatever it holds; None if it is missing."""
        request = {"TableName": self.table.name, "Key": owner.key(name), "ConsistentRead": True}
        response = self._read(self._client.get_item, request)
        if response.get("Item"):
            return Row(response["Item"])
        if _CAPACITY in response:
            return None
        # The answer to a query has members, also without a row.
        rows = self.rows(owner, name, name)
        return rows[0] if rows else None

    def rows(self, owner: Owner, first: str, last: str, limit: int | None = None) -> list[Row]:
        """Return the rows of a job from one sort key to another; as many pages as it takes."""
        request: dict[str, Any] = {
            "TableName": self.table.name,
            "KeyConditionExpression": "jobName = :job AND runId BETWEEN :first AND :last",
            "ExpressionAttributeValues": {
                ":job": {"S": owner.job_id},
                ":first": {"S": first},
                ":last": {"S": last},
            },
            "ConsistentRead": True,
        }
        rows: list[Row] = []
        if limit is not None:
            request["Limit"] = limit
        for items in self._pages(self._client.query, request):
            rows += map(Row, items)
            if limit is not None:
                request["Limit"] = limit - len(rows)
                if len(rows) == limit:
                    break
        return rows

    def last_row(self, owner: Owner, run_id: str) -> Row | None:
        """Return the row of the last commit of a run, None if it is missing."""
        own = owner.run(run_id)
        if not (row := self.row(owner, own)) or not row.map("wmCommitted"):
            return row  # only a run with windows has further rows
        rows = self.rows(owner, own, f"{own}#~")
        own_rows = [row for row in rows if row.name == own or row.name.startswith(f"{own}#")]
        return max(own_rows, key=lambda row: row.version)

    def all_rows(self, owner: Owner) -> dict[str, Row]:
        """Return all rows of a job by sort key."""
        return {row.name: row for row in self.rows(owner, "\x01", "\U0010ffff")}

    def jobs_where(self, condition: str, values: Item) -> set[str]:
        """Return the jobs that have a row which fulfils a condition; reads the whole table once."""
        request = {
            "TableName": self.table.name,
            "FilterExpression": condition,
            "ExpressionAttributeValues": values,
            "ProjectionExpression": "jobName",
        }
        pages = self._pages(self._client.scan, request)
        return {item["jobName"]["S"] for items in pages for item in items}

    def commit(
        self, change: Change, check_found: Callable[[Latest], None] = lambda _: None
    ) -> Latest:
        """Apply a change, exactly once whatever happens to the requests and the responses.

        An outcome that is unknown is found out by sending again: the conditions of the change
        refuse it if it was applied, and then show it. `check_found` may refuse that state.
        """
        attempt = 0
        while True:
            items = change.transaction(self.table)
            try:
                with self._translated_errors():
                    self._check_answer(
                        self._client.transact_write_items(TransactItems=items, **_TELLS_CAPACITY)
                    )
            except UNKNOWN_OUTCOME as error:
                stored = [Row(item) if item else None for item in rows_found(error)]
                if applied := change.found_applied(stored):
                    check_found(applied)
                    return applied
                self._check_heads(stored)
                if is_refused(error):
                    if (rebased := change.rebased(stored)) is None:
                        raise change.refusal(stored) from error
                    change = rebased
                    continue
                self._pause_or_raise(error, attempt)
            else:
                return change.latest
            attempt += 1

    def update(self, request: dict[str, Any]) -> tuple[Item, Row | None]:
        """Send a write of one row; it may arrive twice, and must then do no harm.

        Return the attributes it asks for and None; if its condition fails, {} and the row that
        refused.
        """
        return self._sent(self._client.update_item, request)

    def put(self, request: dict[str, Any]) -> Row | None:
        """Send a write of a whole row; return None, or the row in its way."""
        return self._sent(self._client.put_item, request)[1]

    def pause(self, attempt: int) -> None:
        """Wait before trying again: longer each time up to a cap, and never in step with others."""
        longest = min(_MAX_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2**attempt)
        self._sleep(longest * self._jitter())

    def _pages(self, ask: Callable[..., Any], request: dict[str, Any]) -> Iterator[list[Item]]:
        while True:
            page = self._read(ask, request, "Items")
            yield page["Items"]
            if "LastEvaluatedKey" not in page:
                return
            request["ExclusiveStartKey"] = page["LastEvaluatedKey"]

    def _read(self, ask: Callable[..., Any], request: dict[str, Any], *members: str) -> Any:
        """Return the answer to a read that has some members; ask again if it cannot be read."""
        attempt = 0
        while True:
            try:
                with self._translated_errors():
                    response = ask(**request, **_TELLS_CAPACITY)
                if all(name in response for name in members):
                    return response
                raise self._no_answer("without the rows that it asked for")
            except NoAnswerError as error:
                self._pause_or_raise(error, attempt)
            attempt += 1

    def _check_heads(self, rows: Sequence[Row | None]) -> None:
        for row in rows:
            if row and row.is_head:
                check_head(row, self.table)

    def _sent(self, send: Callable[..., Any], request: dict[str, Any]) -> tuple[Item, Row | None]:
        attempt = 0
        while True:
            try:
                with self._translated_errors():
                    response = self._check_answer(send(**request, **_TELLS_CAPACITY))
            except UNKNOWN_OUTCOME as error:
                if code_of(error) == "ConditionalCheckFailedException":
                    answer: Any = getattr(error, "response", {})
                    return {}, Row(answer.get("Item", {}))
                self._pause_or_raise(error, attempt)
            else:
                return response.get("Attributes", {}), None
            attempt += 1

    def _pause_or_raise(self, error: Exception, attempt: int) -> None:
        if not is_passing(error) or attempt + 1 == _SENDS:
            raise error
        self.pause(attempt)

    def _check_answer(self, response: Any) -> Any:
        """Return the answer to a write, if it may be one of DynamoDB."""
        if response.keys() <= {"ResponseMetadata"} and not _is_empty(response):
            raise self._no_answer("by something else than DynamoDB's answer to a write")
        return response

    def _no_answer(self, what: str) -> NoAnswerError:
        endpoint = place_of(self._client.meta.endpoint_url)
        return NoAnswerError(
            f"a request for table {self.table.name!r} was answered {what}: {endpoint} is not "
            "DynamoDB, or something on the way to it changes its answers; look at proxies and at "
            "AWS_ENDPOINT_URL_DYNAMODB, then run again: the new run finds out what was written"
        )

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except ClientError as error:
            if code_of(error).isdecimal():  # botocore's, for an error that it cannot read
                raise self._no_answer(f"by an error {code_of(error)} without a code") from error
            if translated := translate_client_error(error, self.table.name, self._client.meta):
                raise translated from error
            raise
        except UNREADABLE as error:
            raise self._no_answer("by something that is cut, or is not DynamoDB's JSON") from error


def _is_empty(response: Any) -> bool:
    """Return whether an answer without members is the one of DynamoDB: an empty JSON object."""
    # botocore takes a string that is not JSON for an answer without members.
    headers = response.get("ResponseMetadata", {}).get("HTTPHeaders", {})
    if "content-length" not in headers or "content-encoding" in headers:
        return True
    return len("{}") <= int(headers["content-length"]) <= len("{}\r\n")
