"""Watermarks as facts: of each job and each source in every table of watermarks of a home."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint, may_have_tables
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.home import Home
from tidemark.model.messages import plural
from tidemark.operate.versions.facts import Interval, State
from watermarks import HistoryEntry, WatermarkAdmin, WatermarksError, create_table_request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEYS = create_table_request()["KeySchema"]
ROW_KEYS = {key["AttributeName"] for key in KEYS}
Versions = Mapping[str, int]
"""The version of each watermark in the snapshot: later commits are those of the runs."""


def watermark_states(home: Home, runs: Interval, since: Versions | None) -> dict[str, State]:
    """Return the watermarks of a home by table and job; run ids, attempts and times are left out.

    Commits are among them if it is known which were there before. A DynamoDB that the environment
    names has none of a home: both versions use the same one.
    """
    if os.environ.get(ENDPOINT_VARIABLE) or not may_have_tables(home):
        return {}
    with dynamodb_endpoint(home) as url, dynamodb_client(url, region()) as client:
        return {
            name: state
            for table in _tables(client)
            for name, state in _states(client, table, runs, since)
        }


def _tables(client: "DynamoDBClient") -> Iterator[str]:
    for page in client.get_paginator("list_tables").paginate():
        for table in page["TableNames"]:
            if client.describe_table(TableName=table)["Table"]["KeySchema"] == KEYS:
                yield table


def _states(
    client: "DynamoDBClient", table: str, runs: Interval, since: Versions | None
) -> Iterator[tuple[str, State]]:
    rows: dict[str, list[Mapping[str, Any]]] = {}
    for page in client.get_paginator("scan").paginate(TableName=table):
        for item in page["Items"]:
            rows.setdefault(str(item["jobName"]["S"]), []).append(item)
    admin = WatermarkAdmin(table, client)
    for job in sorted(rows):
        for source in ("", *admin.sources(job)):
            name = f"{table}: {job}" + (f", source {source}" if source else "")
            after = None if since is None else since.get(name, 0)
            try:
                state = _state(admin, job, source, runs, after)
            except WatermarksError:  # written without a head, as by the v1 class
                values = [{k: v for k, v in row.items() if k not in ROW_KEYS} for row in rows[job]]
                counts = Counter(json.dumps(value, sort_keys=True, default=str) for value in values)
                facts = {row: str(count) for row, count in counts.items()}
                state = State(facts, plural(len(values), "row"))
            if state is not None:
                yield name, state


def _state(
    admin: WatermarkAdmin, job: str, source: str, runs: Interval, since: int | None
) -> State | None:
    latest = admin.latest(job, source=source)
    windows = admin.open_windows(job, source=source)
    if latest is None and not windows:
        return None
    values = dict(_values(latest.watermarks, runs)) if latest else {}
    opened = {
        f"open {window.cursor}": _range(window.low, window.high, runs, window.bounds)
        for window in windows
    }
    history = () if since is None else admin.history(job, source=source)
    made = takewhile(lambda entry: entry.version > (since or 0), history)
    facts = {
        "version": str(latest.version if latest else 0),
        **values,
        **{f"commit {entry.version}": _commit(entry, runs) for entry in made},
        **{
            f"columns of {target}": ", ".join(map(" ".join, held.columns.items()))
            for target, held in (latest.schemas if latest else {}).items()
        },
        **opened,
    }
    shown = [f"{name} = {value}" for name, value in values.items()]
    return State(facts, "; ".join([*shown, *(f"{name} {ends}" for name, ends in opened.items())]))


def _commit(entry: HistoryEntry, runs: Interval) -> str:
    values = [f"{name} = {value}" for name, value in _values(entry.watermarks, runs)]
    windows = [
        f"window {window.cursor} {_range(window.low, window.high, runs)}"
        for window in entry.windows
    ]
    return "; ".join([*values, *windows])


def _values(values: Mapping[str, Any], runs: Interval) -> Iterator[tuple[str, str]]:
    for name, value in sorted(values.items()):
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _values(value, runs))
        else:
            yield name, runs.value(value)


def _range(low: Any, high: Any, runs: Interval, ends: str = "(]") -> str:
    start = "beginning" if low is None else runs.value(low)
    return f"{ends[0]}{start}, {runs.value(high)}{ends[1]}"
