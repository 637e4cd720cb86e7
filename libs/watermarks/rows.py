"""The rows of one job in the watermark table, as plain data.

A job has one head row (`~HEAD`: the current watermarks and their version) and one row per run.
"~" sorts after every run id, so a reader that takes the greatest `runId` finds the head. Every
attribute of ours starts with `wm`, except `expiresAt`; any other name is the caller's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from .errors import WatermarksError
from .values import Attribute, decode

if TYPE_CHECKING:
    from datetime import datetime

Row: TypeAlias = dict[str, Attribute]
"""A row in DynamoDB's form."""

HEAD = "~HEAD"
DEFAULT_KEY = "watermarks"
LAST_AUDIT = "~AUDIT#~"  # sorts after every audit row
_AUDIT_DIGITS = 12
_KEY_NAMES = ("jobName", "runId")


def audit_name(version: int) -> str:
    """Return the sort key of the row of what an operator did, which made a version."""
    return f"~AUDIT#{version:0{_AUDIT_DIGITS}d}"


class Table(NamedTuple):
    """Where the rows are."""

    name: str
    region: str


@dataclass(frozen=True)
class Latest:
    """The current watermarks of a job, and the position in its history that holds them.

    Attributes:
        run_id: the run whose watermarks these are.
        version: counts the commits of the job, without gaps; 0 for a row that has no head yet.
        watermarks: the values, each with the type it was written with.
        key: the attribute of the row that holds them.
        log: sort key of the row that made this version; empty means the run's row.
        prev: sort key of the row before that one; empty at the beginning.
        committed: the windows that the run of this version has committed, by id.
        bounds: which end belongs to the windows of a cursor, by the cursor's name.
        is_typed: whether the types are stored; the original class stores numbers and texts only.
    """

    run_id: str
    version: int
    watermarks: dict[str, Any]
    key: str = field(default=DEFAULT_KEY, repr=False)
    log: str = field(default="", repr=False)
    prev: str = field(default="", repr=False)
    committed: Row = field(default_factory=dict, repr=False)
    bounds: Row = field(default_factory=dict, repr=False, compare=False)
    is_typed: bool = field(default=True, repr=False, compare=False)


def row_key(job_id: str, run_id: str) -> Row:
    """Return the primary key of a row."""
    return {"jobName": {"S": job_id}, "runId": {"S": run_id}}


def run_id_of(row: Row) -> str:
    """Return the run whose watermarks a head row or a run row holds."""
    return str(row.get("wmRunId", row["runId"])["S"])


def latest_of(row: Row) -> Latest:
    """Return what a head row or a run row says about the watermarks of its job.

    A head that has open windows only is version 0, or what a rewind to nothing made it, of no run.

    Raises:
        WatermarksError: a row has attributes of a caller, and they are not watermarks.
    """
    is_empty = not has_watermarks(row)
    run_id = "" if is_empty else run_id_of(row)
    key = DEFAULT_KEY if is_empty else _payload_key(row)
    return Latest(
        run_id=run_id,
        version=int(row.get("wmVersion", {"N": "0"})["N"]),
        watermarks={} if is_empty else decode(row[key], row.get("wmTypes")),
        key=key,
        log=row.get("wmLog", {"S": run_id})["S"],
        prev=row.get("wmPrev", {"S": ""})["S"],
        committed=row.get("wmCommitted", {"M": {}})["M"],
        bounds=row.get("wmBounds", {"M": {}})["M"],
        is_typed="wmTypes" in row,
    )


def has_watermarks(row: Row) -> bool:
    """Return whether a row holds watermarks: a head may have an open window only."""
    return bool(payload_names(row))


def is_expired(row: Row, now: datetime) -> bool:
    """Return whether a row is past its time, which DynamoDB may take days to act on."""
    return "expiresAt" in row and int(row["expiresAt"]["N"]) <= now.timestamp()


def version_of(row: Row) -> int:
    """Return the version that a row made, 0 for a row of the original class."""
    return int(row.get("wmVersion", {"N": "0"})["N"])


def payload_names(row: Row) -> list[str]:
    """Return the attributes of a row that are a caller's: the map of the watermarks."""
    return [name for name in row if _is_payload(name)]


def item_of(row: Row) -> dict[str, Any]:
    """Return a head row or a run row as `create_watermark_item` made it."""
    item = {
        name: decode(value, row.get("wmTypes")) for name, value in row.items() if _is_payload(name)
    }
    return {"jobName": row["jobName"]["S"], "runId": run_id_of(row), **item}


def check_name(parameter: str, value: object) -> None:
    """Raise a ValueError unless a parameter is a non-empty str."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{parameter} is {value!r}: give a non-empty str")


def check_run_id(run_id: object) -> None:
    """Raise a ValueError unless a run id is one that sorts below the library's own rows."""
    check_name("run_id", run_id)
    if str(run_id) >= "~":
        raise ValueError(
            f"run_id is {run_id!r}: the library's own rows start with '~', and a run id must "
            "sort below them; give the job run id of Glue (jr_...), or plain ASCII"
        )


def check_item(item: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return job id, run id and the key of the values, or raise a ValueError."""
    keys = [name for name in item if name not in _KEY_NAMES]
    is_whole = "jobName" in item and "runId" in item and len(keys) == 1
    if not is_whole or not isinstance(item[keys[0]], Mapping):
        raise ValueError(
            f"the watermark item has the attributes {sorted(item)}: it has jobName, runId and "
            "one dict of values; make it with create_watermark_item"
        )
    if not _is_payload(keys[0]):
        raise ValueError(
            f"the watermark key is {keys[0]!r}: names that start with 'wm', and expiresAt, "
            f"belong to the library; use another one, such as {DEFAULT_KEY!r}"
        )
    check_name("job_id", item["jobName"])
    check_run_id(item["runId"])
    return item["jobName"], item["runId"], keys[0]


def _is_payload(name: str) -> bool:
    return not (name in _KEY_NAMES or name == "expiresAt" or name.startswith("wm"))


def _payload_key(row: Row) -> str:
    maps = [name for name, value in row.items() if _is_payload(name) and "M" in value]
    if DEFAULT_KEY in maps or len(maps) == 1:
        return DEFAULT_KEY if DEFAULT_KEY in maps else maps[0]
    job_id, run_id = (row[name]["S"] for name in _KEY_NAMES)
    raise WatermarksError(
        f"the row {run_id!r} of job {job_id!r} has no {DEFAULT_KEY!r} map but "
        f"{sorted(filter(_is_payload, row))}: a row holds its watermarks in one map; "
        "read it with get_watermark, and start anew with advance(..., base=None)"
    )
