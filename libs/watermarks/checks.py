"""What is checked of a head row before anything relies on it."""

from __future__ import annotations

from datetime import datetime, timedelta

from .errors import (
    WatermarkCarriedOverError,
    WatermarkClockError,
    WatermarkCorruptError,
    WatermarkRegionError,
)
from .rows import HEAD, Row, Table, latest_of, payload_names
from .windows import OpenWindow

_CLOCK_TOLERANCE = timedelta(minutes=5)


def check_head(row: Row, table: Table) -> None:
    """Raise an error unless a head row can be relied on.

    Raises:
        WatermarkCorruptError: it holds what the library never writes.
        WatermarkCarriedOverError: its watermarks are those of another job now.
        WatermarkRegionError: it was first written in another region.
    """
    check_intact(row, table)
    check_not_carried(row, table)
    region = row.get("wmRegion", {"S": table.region})["S"]
    if region != table.region:
        raise WatermarkRegionError(
            f"the watermarks of job {row['jobName']['S']!r} in table {table.name!r} were written "
            f"in region {region}, and this client is in {table.region}: the table is a copy, and "
            f"the job may have gone on in {region}; use a client of {region}, or, if this table "
            "replaces that one for good, rewind the job to its run "
            f"{row.get('wmRunId', {'S': ''})['S']!r} with this client, which takes the job over"
        )


def check_intact(row: Row, table: Table) -> None:
    """Raise a WatermarkCorruptError if a head row holds what the library never writes."""
    try:
        _read_all(row)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _corrupt(row, table, error) from error
    except WatermarkCorruptError as error:
        raise _corrupt(row, table, error) from error


def carried_to(head: Row) -> str:
    """Return the job that the watermarks of a head row were carried over to, empty if none."""
    return str(head.get("wmCarriedTo", {"S": ""})["S"])


def check_not_carried(row: Row, table: Table) -> None:
    """Raise a WatermarkCarriedOverError if a head row has given its watermarks to another job."""
    if to_job := carried_to(row):
        job = row["jobName"]["S"]
        raise WatermarkCarriedOverError(
            f"the watermarks of job {job!r} in table {table.name!r} were carried over to job "
            f"{to_job!r}, which goes on from them: nothing was written; run that job, or carry "
            f"them back with carry_over({to_job!r}, {job!r})"
        )


def check_clock(job_id: str, head: Row | None, now: datetime) -> None:
    """Raise a WatermarkClockError if the last commit lies in the future by more than 5 minutes."""
    at = (head or {}).get("wmAt")
    if at is None or now >= datetime.fromisoformat(at["S"]) - _CLOCK_TOLERANCE:
        return
    raise WatermarkClockError(
        f"job {job_id!r} last committed at {at['S']}, and the clock here says {now.isoformat()}: "
        "one of the two clocks is wrong by more than 5 minutes, and settle relies on them; set "
        "this machine's clock, or wait until it has passed that time"
    )


def _read_all(row: Row) -> None:
    int(row["wmVersion"]["N"])
    int(row.get("wmEpoch", {"N": "0"})["N"])
    for name in payload_names(row):
        row[name]["M"]  # a KeyError if it is no map
    latest_of(row)
    for name in ("wmWindows", "wmCommitted"):
        for window in row.get(name, {"M": {}})["M"].values():
            OpenWindow.from_attribute(window)
    if "wmAt" in row:
        datetime.fromisoformat(row["wmAt"]["S"])
    for bounds in row.get("wmBounds", {"M": {}})["M"].values():
        bounds["S"]  # a KeyError if it is no text
    row.get("wmRegion", {"S": ""})["S"]


def _corrupt(row: Row, table: Table, error: Exception) -> WatermarkCorruptError:
    return WatermarkCorruptError(
        f"the row {HEAD!r} of job {row['jobName']['S']!r} in table {table.name!r} is corrupt "
        f"({type(error).__name__}: {error}): it holds what this library never writes; rewind the "
        "job to a run you trust, which writes the row anew, or restore the table to a point in "
        "time before the damage"
    )
