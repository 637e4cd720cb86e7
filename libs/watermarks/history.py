"""The history of a job, read back from the newest entry, and the windows that are in force.

    ~HEAD ──wmLog──▶ jr_7 ──wmPrev──▶ ~AUDIT#000000000006 ──wmPrev──▶ jr_5 ──▶ … ──▶ expired
                                       rewind to jr_2 ──wmToRunId──▶ jr_2

Every row names the one before it, so one entry costs one read and no index is needed. The
windows in force are those met on the same way back when each rewind jumps to its target.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from .errors import WatermarkNotFoundError
from .rows import Row, has_watermarks, is_expired, latest_of, version_of
from .windows import OpenWindow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

Kind: TypeAlias = Literal["commit", "rewind", "adopt", "legacy"]
"""What made an entry; `legacy` is a row of the original class, the last entry there can be."""

_AUDITS = {"rewind", "adopt"}


@dataclass(frozen=True)
class CommittedWindow:
    """A window that a run committed; its range is as `Window` describes it."""

    cursor: str
    window_id: str
    attempt: int
    low: Any
    high: Any


@dataclass(frozen=True)
class HistoryEntry:
    """One change of a job's watermarks; a run that commits several times in a row keeps its last.

    Attributes:
        version: the version of the job that it made; 0 for a row of the original class.
        kind: what made it.
        run_id: the run whose watermarks held from then on; empty after a rewind to the beginning.
        watermarks: these watermarks; empty after a rewind to the beginning.
        committed_at: by the clock of the machine that wrote it; None for the original class.
        windows: what the run committed, oldest first; none for a rewind and an adoption.
        actor: who asked for a rewind or an adoption; else empty.
        reason: why; else empty.
    """

    version: int
    kind: Kind
    run_id: str
    watermarks: dict[str, Any]
    committed_at: datetime | None
    windows: tuple[CommittedWindow, ...] = ()
    actor: str = ""
    reason: str = ""


def entries(
    head: Row | None, read: Callable[[str], Row | None], now: datetime
) -> Iterator[HistoryEntry]:
    """Yield the history of a job, newest first, up to the first row that is gone.

    Args:
        head: the job's head row.
        read: returns the row of a sort key, None if there is none.
        now: rows that have expired by then count as gone.
    """
    for row in _rows_back(head, read, now, _before):
        yield _entry_of(row)


def windows_in_force(
    head: Row | None, rows: Mapping[str, Row], now: datetime
) -> list[CommittedWindow]:
    """Return the windows whose data count now, oldest first: a rewind undoes what came after.

    Args:
        head: the job's head row.
        rows: all its rows, by sort key.
        now: rows that have expired by then count as gone.

    Raises:
        WatermarkNotFoundError: a part of the history has expired, so windows are unknown.
    """
    found: list[CommittedWindow] = []
    oldest = head or {}
    for oldest in _rows_back(head, rows.get, now, _in_force_before):
        found.extend(reversed(_windows_of(oldest)))
    missing = _in_force_before(oldest)
    is_gone = missing not in rows or is_expired(rows[missing], now)
    # Before version 1 there is at most a row of the original class, which had no windows.
    if missing and is_gone and version_of(oldest) > 1:
        raise WatermarkNotFoundError(
            f"the windows of job {oldest['jobName']['S']!r} before version {version_of(oldest)} "
            f"are not known any more: the row {missing!r} has expired; read the data without "
            "asking which windows count, and keep more with Watermarks(..., history_days=...)"
        )
    return found[::-1]


def _rows_back(
    head: Row | None,
    read: Callable[[str], Row | None],
    now: datetime,
    before: Callable[[Row], str],
) -> Iterator[Row]:
    name, newer = _text(head or {}, "wmLog"), None
    while name and (row := read(name)) and not is_expired(row, now):
        # A run of the original class may have committed anew: that is not the row meant here.
        if newer is not None and version_of(row) >= newer:
            return
        yield row
        name, newer = before(row), version_of(row)


def _before(row: Row) -> str:
    return _text(row, "wmPrev")


def _in_force_before(row: Row) -> str:
    """Return the row that holds the windows in force before those of a row."""
    if _text(row, "wmKind") == "head":
        return _text(row, "wmLog")
    return _text(row, "wmToRunId") if _text(row, "wmKind") in _AUDITS else _before(row)


def _entry_of(row: Row) -> HistoryEntry:
    kind: Any = _text(row, "wmKind") or "legacy"
    at = _text(row, "wmAt")
    return HistoryEntry(
        version=version_of(row),
        kind=kind,
        run_id=_text(row, "wmToRunId" if kind in _AUDITS else "runId"),
        watermarks=latest_of(row).watermarks if has_watermarks(row) else {},
        committed_at=datetime.fromisoformat(at) if at else None,
        windows=tuple(_windows_of(row)),
        actor=_text(row, "wmActor"),
        reason=_text(row, "wmReason"),
    )


def _windows_of(row: Row) -> list[CommittedWindow]:
    attributes = row.get("wmCommitted", {"M": {}})["M"]
    windows = [OpenWindow.from_attribute(attributes[window_id]) for window_id in sorted(attributes)]
    return [CommittedWindow(w.cursor, w.window_id, w.attempt, w.low, w.high) for w in windows]


def _text(row: Row, name: str) -> str:
    return str(row.get(name, {"S": ""})["S"])
