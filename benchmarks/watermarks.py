"""Measures what watermark state costs a job run: `python -m benchmarks.watermarks`.

Ours reads, opens and commits a window; the peer does what the v1 class does in a run: query
the latest row, get it, put a new one. Both talk to the same engine, in turns.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import PROJECT, Result
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.watermark_tables import watermark_table

sys.path.insert(0, str(PROJECT / "libs"))
from watermarks import Watermarks

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TABLE = "glue-watermarks"
REGION = "us-east-1"
HISTORIES = (10, 100_000)
WARM_UP, PAIRS = 50, 300
IMPORTS = 9
COMMAND = "python -m benchmarks.watermarks"
DEFINITION = watermark_table(TABLE)


class UnitMeter:
    """Adds up the capacity units of each operation that a client sends."""

    def __init__(self, client: "DynamoDBClient") -> None:
        self.units: dict[str, float] = {}
        events = client.meta.events
        events.register("provide-client-params.dynamodb", self._ask)
        events.register("after-call.dynamodb", self._add)

    def _ask(self, params: dict[str, Any], model: Any, **_: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _add(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        capacity = parsed.get("ConsumedCapacity", [])
        parts = capacity if isinstance(capacity, list) else [capacity]
        units = sum(part["CapacityUnits"] for part in parts)
        self.units[model.name] = self.units.get(model.name, 0.0) + units


def measure() -> list[Result]:
    """Return milliseconds per run of ours and the peer by length of history, and the ratio."""
    results = measure_import()
    with _client() as client:
        for rows in HISTORIES:
            job = f"job-{rows}"
            _fill(client, job, rows)
            watermarks, ours = _ours(client, job)
            peer = _peer(client, f"{job}-peer")
            _fill(client, f"{job}-peer", rows)
            runs = range(WARM_UP + PAIRS)
            pairs = [(_milliseconds(ours, n), _milliseconds(peer, n)) for n in runs][WARM_UP:]
            units = _units(watermarks.dynamodb_client, ours)
            watermarks.dynamodb_client.close()
            name = f"{rows:,} rows of history"
            results += [
                Result(f"state of a run, ms, {name}", COMMAND, [a for a, _ in pairs], units),
                Result(f"v1 class, ms, {name}", COMMAND, [b for _, b in pairs]),
                Result(f"ratio, {name}", COMMAND, [_ratio(pairs)], "target 1.5"),
            ]
    return results


def measure_import() -> list[Result]:
    """Return the milliseconds that importing the library takes beyond boto3, in new processes."""
    probe = (
        "import boto3, time; start = time.perf_counter(); import watermarks; "
        "print((time.perf_counter() - start) * 1000)"
    )
    environment = {**os.environ, "PYTHONPATH": str(PROJECT / "libs")}
    taken = [
        float(subprocess.check_output([sys.executable, "-c", probe], env=environment))  # noqa: S603
        for _ in range(IMPORTS)
    ]
    return [Result("import beyond boto3, ms", COMMAND, taken, "target 50 ms")]


def _ratio(pairs: list[tuple[float, float]]) -> float:
    return statistics.median(a for a, _ in pairs) / statistics.median(b for _, b in pairs)


@contextmanager
def _client() -> Iterator["DynamoDBClient"]:
    with (
        tempfile.TemporaryDirectory() as folder,
        dynamodb_endpoint(Home.open(Path(folder) / "home")) as endpoint,
        dynamodb_client(endpoint, REGION) as client,
    ):
        create_tables(client, [DEFINITION])
        yield client


def _fill(client: "DynamoDBClient", job: str, rows: int) -> None:
    for start in range(0, rows, 25):
        put: list[Any] = [
            {"PutRequest": {"Item": _row(job, f"jr_{n:064x}")}}
            for n in range(start, min(start + 25, rows))
        ]
        client.batch_write_item(RequestItems={TABLE: put})


def _row(job: str, run_id: str) -> dict[str, Any]:
    values = {"updated_at": {"S": "2013-01-01T00:00:00.000000Z"}}
    return {"jobName": {"S": job}, "runId": {"S": run_id}, "watermarks": {"M": values}}


def _ours(client: "DynamoDBClient", job: str) -> tuple[Watermarks, Callable[[int], None]]:
    os.environ.update(
        AWS_ENDPOINT_URL_DYNAMODB=client.meta.endpoint_url,
        AWS_ACCESS_KEY_ID="local",
        AWS_SECRET_ACCESS_KEY="local",  # noqa: S106 (not a secret)
        AWS_DEFAULT_REGION=REGION,
    )
    watermarks = Watermarks(TABLE)  # with the client that it makes for itself
    newest = client.query(
        TableName=TABLE,
        KeyConditionExpression="jobName = :job",
        ExpressionAttributeValues={":job": {"S": job}},
        Limit=1,
    )["Items"][0]["runId"]["S"]
    watermarks.advance(job_id=job, run_id=newest, to={"id": 0}, base=None)

    def run(number: int) -> None:
        run_id = _new_run_id(number)
        watermarks.commit_window(
            watermarks.open_window(job_id=job, run_id=run_id, cursor="id", high=number + 1)
        )

    return watermarks, run


def _peer(client: "DynamoDBClient", job: str) -> Callable[[int], None]:
    """Return a run of the v1 class: it also converts every item between Python and AWS."""
    from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

    to_python, to_aws = TypeDeserializer().deserialize, TypeSerializer().serialize

    def run(number: int) -> None:
        latest = client.query(
            TableName=TABLE,
            KeyConditionExpression="jobName = :job",
            ExpressionAttributeValues={":job": {"S": job}},
            ScanIndexForward=False,
            Limit=1,
        )["Items"][0]
        key: Any = {"jobName": latest["jobName"], "runId": latest["runId"]}
        found = client.get_item(TableName=TABLE, Key=key)["Item"]
        item = {name: to_python(value) for name, value in found.items()}
        item |= {"runId": _new_run_id(number)}
        client.put_item(TableName=TABLE, Item={name: to_aws(value) for name, value in item.items()})

    return run


def _new_run_id(number: int) -> str:
    return f"jr_{HISTORIES[-1] + number:064x}"


def _milliseconds(run: Callable[[int], None], number: int) -> float:
    begin = time.perf_counter()
    run(number)
    return (time.perf_counter() - begin) * 1000


def _units(client: "DynamoDBClient", run: Callable[[int], None]) -> str:
    meter = UnitMeter(client)
    run(WARM_UP + PAIRS)
    return ", ".join(f"{name} {units:g}" for name, units in meter.units.items())


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
