"""Which DynamoDB keeps the watermarks of a home, so that no command looks for them elsewhere.

A home whose watermarks another DynamoDB keeps has a mark. That DynamoDB has a row for the home.
Each command counts up in both. A row that is missing, or behind the mark, was lost.
"""

import json
import os
import sqlite3
import sys
import uuid
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.errors import UsageError
from tidemark.local_state.engine.features import HASH, RANGE, TABLE, check_features
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE, OtherEngine
from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import KEPT_BY, TABLES
from tidemark.local_state.machine.own_files import write_own_file
from tidemark.local_state.store.state_record import note

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

CONTINUE = f"continue by `tidemark home accept-loss {KEPT_BY}`"
MESSAGE = "watermarks are kept by the DynamoDB at {url}, as long as that keeps them ({variable})\n"
HAS_TABLES = (
    "warning: the DynamoDB at {url}, which this home uses for the first time, has tables already: "
    "{tables}; jobs continue from the watermarks in them\n"
)


@dataclass(frozen=True)
class KeptBy:
    """The DynamoDB that keeps the watermarks of a home.

    Attributes:
        url: its address when it was last used.
        home: the key of the home's row there.
        starts: how many commands have used it.
    """

    url: str
    home: str
    starts: int


def kept_by(home: Home) -> KeptBy | None:
    """Return which other DynamoDB keeps the watermarks of a home; None if none does."""
    try:
        document = json.loads((home.root / KEPT_BY).read_bytes())
        return KeptBy(str(document["url"]), str(document["home"]), int(document["starts"]))
    except FileNotFoundError:
        return None
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"{home.shown / KEPT_BY}, which says what keeps the watermarks of the home, is damaged "
            f"({error!r}); {CONTINUE}: the next command creates it again, for the DynamoDB that "
            f"{ENDPOINT_VARIABLE} names then"
        ) from error


def check_kept_here(home: Home) -> None:
    """Check that the embedded engine is the one which has a home's watermarks."""
    mark = kept_by(home)
    if mark is not None:
        raise UsageError(
            f"the watermarks of {home.shown} are in the DynamoDB at {mark.url}, and "
            f"{ENDPOINT_VARIABLE} is not set; set it to {mark.url}, or set TIDEMARK_HOME to "
            f"another folder; to start without them, move {home.shown / KEPT_BY} away, and "
            f"{CONTINUE}"
        )


def keep_in(home: Home, engine: OtherEngine, client: "DynamoDBClient") -> None:
    """Check that a DynamoDB has a home's watermarks; one that is new to the home is tried first."""
    mark = kept_by(home)
    tables = [name for name in engine.tables() if name != TABLE]
    if mark is None:
        if has_rows(home.dynamodb_tables):
            raise UsageError(
                f"{ENDPOINT_VARIABLE} is {engine.url}, and the watermarks of {home.shown} are in "
                f"its embedded engine; unset {ENDPOINT_VARIABLE}, or set TIDEMARK_HOME to another "
                f"folder; to start without them, move {home.shown / TABLES} away, and continue by "
                f"`tidemark home accept-loss {TABLES}`"
            )
        check_features(client, engine.url)
        mark = KeptBy(engine.url, uuid.uuid4().hex, 0)
        client.put_item(TableName=TABLE, Item=_row(mark))
        if tables:
            sys.stderr.write(HAS_TABLES.format(url=engine.url, tables=", ".join(tables)))
    _count_up(home, mark, client, engine.url)
    if os.access(home.dynamodb, os.W_OK):
        written = replace(mark, url=engine.url, starts=mark.starts + 1)
        write_own_file(home.root / KEPT_BY, vars(written))
        note(home.root, KEPT_BY, 0)
    _say(MESSAGE.format(url=engine.url, variable=ENDPOINT_VARIABLE))


@cache
def _say(text: str) -> None:
    # Cached: a command may ask for the watermarks several times.
    sys.stderr.write(text)


def _count_up(home: Home, mark: KeptBy, client: "DynamoDBClient", url: str) -> None:
    try:
        client.update_item(
            TableName=TABLE,
            Key=_key(mark),
            UpdateExpression="SET starts = starts + :one",
            ConditionExpression="starts >= :known",
            ExpressionAttributeValues={":one": {"N": "1"}, ":known": {"N": str(mark.starts)}},
        )
    except (
        client.exceptions.ConditionalCheckFailedException,
        client.exceptions.ResourceNotFoundException,
    ) as error:
        raise UsageError(
            f"the DynamoDB at {url} lacks watermarks of {home.shown} that were kept at {mark.url}: "
            "it is another one, or lost them when it ended; start it with its data, then run "
            f"again; to start without them, move {home.shown / KEPT_BY} away, and {CONTINUE}: jobs "
            "then read all again"
        ) from error


def has_rows(database: Path) -> bool:
    """Return whether the embedded engine's file has any row; one that cannot be read counts."""
    if not database.is_file():
        return False
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)) as tables:
            names = [name for (name,) in tables.execute("SELECT table_name FROM _tables")]
            return any(_first(tables, name) for name in names)
    except sqlite3.Error:
        return True


def _first(tables: sqlite3.Connection, name: str) -> Any:
    quoted = name.replace('"', '""')
    return tables.execute(f'SELECT 1 FROM "{quoted}" LIMIT 1').fetchone()  # noqa: S608 (quoted)


def _key(mark: KeptBy) -> dict[str, Any]:
    return {HASH: {"S": mark.home}, RANGE: {"S": "starts"}}


def _row(mark: KeptBy) -> dict[str, Any]:
    return {**_key(mark), "starts": {"N": str(mark.starts)}}
