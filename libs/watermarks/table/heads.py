"""Checks of a head row before anything relies on it."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from watermarks.errors import WatermarkConflictError, WatermarkCorruptError, WatermarkTableError

from .latest import Item
from .schema import Owner, Row, Table
from .values import decode

_CLOCK_TOLERANCE = timedelta(minutes=5)
_TEXTS = {"wmKind", "wmRunId", "wmLog", "wmPrev", "wmDigest", "wmAt", "wmRegion"}
_TEXTS |= {"wmCarriedTo", "wmCarriedFrom", "wmArriving", "wmRefused"}


def check_head(row: Row, table: Table) -> None:
    """Raise an error unless a head row can be relied on: intact, of this job and this region."""
    check_intact(row, table)
    check_not_renamed(row, table)
    region = row.string("wmRegion") or table.region
    if region != table.region:
        raise WatermarkTableError(
            f"the watermarks of {row.owner} in table {table.name!r} were written "
            f"in region {region}, and this client is in {table.region}: the table is a copy, and "
            f"the job may have gone on in {region}; use a client of {region}, or, if this table "
            f"replaces that one for good, rewind the job to its run {row.run_id!r} with this "
            "client, which takes the job over",
            "other_region",
        )


def check_intact(row: Row, table: Table) -> None:
    """Raise a WatermarkCorruptError if a head row cannot be read."""
    try:
        _read_all(row)
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        TypeError,
        ValueError,
        WatermarkCorruptError,
    ) as error:
        raise WatermarkCorruptError(
            f"the row {row.name!r} of {row.owner} in table {table.name!r} is corrupt "
            f"({type(error).__name__}: {error}): it holds a value this library never writes, or "
            "cannot read here; rewind to a run you trust, which writes the row again, or restore "
            "the table to a point in time before the damage"
        ) from error


def check_not_renamed(row: Row, table: Table) -> None:
    """Raise a WatermarkConflictError if a head has given its watermarks to another job."""
    if to_job := row.string("wmCarriedTo"):
        job = row.owner.job_id
        raise WatermarkConflictError(
            f"the watermarks of job {job!r} in table {table.name!r} were carried over to job "
            f"{to_job!r}, which continues from them: nothing was written; run that job, or carry "
            f"them back with rename_job({to_job!r}, {job!r})"
        )


def check_arrived(row: Row, table: Table) -> None:
    """Raise a WatermarkConflictError if the sources of a renamed job have not all arrived yet."""
    if from_job := row.string("wmArriving"):
        job = row.owner.job_id
        raise WatermarkConflictError(
            f"not all sources of job {from_job!r} in table {table.name!r} have been carried over "
            f"to {job!r} yet: nothing was written; call rename_job({from_job!r}, {job!r}) again"
        )


def check_clock(owner: Owner, head: Row | None, now: datetime) -> None:
    """Raise a WatermarkConflictError if the last commit lies over 5 minutes in the future."""
    at = head.string("wmAt") if head else ""
    if not at or now >= datetime.fromisoformat(at) - _CLOCK_TOLERANCE:
        return
    raise WatermarkConflictError(
        f"{owner}: its last commit was at {at}, and the clock here says {now.isoformat()}: "
        "one of the two clocks is wrong by more than 5 minutes, and settle relies on them; set "
        "this machine's clock; if that commit's clock was wrong, rewind the job to its current "
        f"run {head.run_id if head else ''!r}, which notes the time of this machine"
    )


def _read_all(row: Row) -> None:
    """Read each of our attributes with its type; whatever that raises, the row is corrupt."""
    int(row.item["wmVersion"]["N"])
    for name in ("wmEpoch", "wmPrevVersion"):
        row.number(name)
    for name in _TEXTS & row.item.keys():
        row.item[name]["S"]  # a KeyError if it is not a string
    for name in row.payload_names:
        row.item[name]["M"]  # a KeyError if it is not a map
    row.latest()
    for window in (*row.map("wmWindows").values(), *row.map("wmCommitted").values()):
        _read_window(window["M"])
    for bounds in row.map("wmBounds").values():
        _check_one_of(bounds["S"], ("(]", "[)"))
    for seen in row.map("wmSeen").values():
        value, tag, at = json.loads(seen["S"])
        decode(value, tag)
        datetime.fromisoformat(at)
    if at := row.string("wmAt"):
        datetime.fromisoformat(at)


def _read_window(window: Item) -> None:
    int(window["attempt"]["N"])
    _, _, ends, low, high, _, _ = json.loads(window["window"]["S"])
    _check_one_of(ends, ("(]", "[)", "[]"))
    decode(*high)
    if low is not None:
        decode(*low)


def _check_one_of(value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{value!r} is not one of {allowed}")
