"""Watermarks as facts: of each job and each source in every table of watermarks of a home."""

import os
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint, may_have_tables
from tidemark.local_state.engine.other import ENDPOINT_VARIABLE
from tidemark.local_state.home import Home
from tidemark.operate.versions.facts import Interval, State
from watermarks import WatermarkAdmin, WatermarksError, create_table_request

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

KEYS = create_table_request()["KeySchema"]
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
    pages = client.get_paginator("scan").paginate(TableName=table, ProjectionExpression="jobName")
    jobs = {str(item["jobName"]["S"]) for page in pages for item in page["Items"]}
    admin = WatermarkAdmin(table, client)
    for job in sorted(jobs):
        for source in ("", *admin.sources(job)):
            name = f"{table}: {job}" + (f", source {source}" if source else "")
            if state := _state(
                admin, job, source, runs, None if since is None else since.get(name, 0)
            ):
                yield name, state


def _state(
    admin: WatermarkAdmin, job: str, source: str, runs: Interval, since: int | None
) -> State | None:
    try:
        latest = admin.latest(job, source=source)
        windows = admin.open_windows(job, source=source)
        history = () if since is None else admin.history(job, source=source)
        made = list(takewhile(lambda it: it.version > (since or 0), history))
    except WatermarksError as error:
        return State({"cannot be read": str(error)}, "cannot be read")
    if latest is None and not windows:
        return None
    values = dict(_values(latest.watermarks, runs)) if latest else {}
    opened = {f"open {it.cursor}": _range(it.low, it.high, runs, it.bounds) for it in windows}
    commits = {
        f"commit {it.version}": "; ".join(
            [
                *(f"{name} = {value}" for name, value in _values(it.watermarks, runs)),
                *(f"window {w.cursor} {_range(w.low, w.high, runs)}" for w in it.windows),
            ]
        )
        for it in made
    }
    version = {"version": str(latest.version if latest else 0)}
    shown = [f"{name} = {value}" for name, value in values.items()]
    shown += [f"{name} {ends}" for name, ends in opened.items()]
    return State({**version, **values, **commits, **opened}, "; ".join(shown))


def _values(values: Mapping[str, Any], runs: Interval) -> Iterator[tuple[str, str]]:
    for name, value in sorted(values.items()):
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", text) for inner, text in _values(value, runs))
        else:
            yield name, runs.value(value)


def _range(low: Any, high: Any, runs: Interval, ends: str = "(]") -> str:
    start = "beginning" if low is None else runs.value(low)
    return f"{ends[0]}{start}, {runs.value(high)}{ends[1]}"
