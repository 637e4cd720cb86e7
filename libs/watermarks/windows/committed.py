"""The windows whose data count: found on the way back from the head; each rewind jumps to its run.

    ~HEAD ──wmLog──▶ jr_7 ──wmPrev──▶ ~AUDIT#000000000006 ──wmToRunId──▶ jr_2 ──wmPrev──▶ …

A row that is no longer the last one does not change. So the rows before it are final, and are kept
in blocks `~COMMITTED#`: a reader meets a block and needs no older row, not even one that has
expired.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from watermarks.errors import WatermarkConflictError, WatermarkNotFoundError, WatermarksError
from watermarks.table.latest import Item
from watermarks.table.requests import IS_ABSENT, number, put_request
from watermarks.table.schema import NOWHERE, Owner, Pointer, Row, Table

from .window import OpenWindow

if TYPE_CHECKING:
    from watermarks.table.client import TableClient

AUDITS = {"rewind", "adopt"}
_READ_ONE_BY_ONE = 100  # after that, all rows of the job cost less
_WORTH_A_BLOCK = 100
_MAX_BLOCK_WINDOWS = 1000
_RACES = 20


@dataclass(frozen=True)
class CommittedWindow:
    """A window that a run committed; its range is as `Window` describes it."""

    cursor: str
    window_id: str
    attempt: int
    low: Any
    high: Any


@dataclass(frozen=True)
class Block:
    """The windows that count whenever a row counts.

    Attributes:
        row: that row.
        prev: the row before the block.
        windows: cursor, window id and attempt, oldest first.
    """

    row: Pointer
    prev: Pointer
    windows: list[tuple[str, str, int]]

    @classmethod
    def from_row(cls, row: Row) -> Block:
        """Return the block of a stored row."""
        windows = [(cursor, *rest) for cursor, *rest in json.loads(row.string("wmWindows"))]
        return cls(row.last, row.prev, windows)

    def put(self, table: Table, owner: Owner) -> dict[str, Any]:
        """Return the write of the block; every writer writes the same one."""
        item: Item = {
            **owner.key(owner.block(self.row.version)),
            "wmKind": {"S": "committed"},
            "wmLog": {"S": self.row.name},
            "wmVersion": number(self.row.version),
            "wmPrev": {"S": self.prev.name},
            "wmPrevVersion": number(self.prev.version),
            "wmWindows": {"S": json.dumps(self.windows, separators=(",", ":"))},
        }
        return put_request(table, item, IS_ABSENT)


def committed_windows(
    client: TableClient, owner: Owner, now: datetime
) -> list[tuple[str, str, int]]:
    """Return cursor, id and attempt of the windows whose data count now, oldest first.

    Final windows are kept in blocks, if that is worth a write and the client may write.

    Raises:
        WatermarkNotFoundError: a part of the history has expired, so windows are unknown.
        WatermarkConflictError: the head kept moving.
    """
    head = client.head(owner)
    if head is None:
        return []
    kept = client.rows(owner, owner.block(0), owner.block(None))
    blocks = {block.row: block for block in map(Block.from_row, kept)}
    for _ in range(_RACES):
        back = RowsBack(head, _reader(client, owner), now, _in_force_before)
        rows, met = _rows_until_a_block(back, blocks)
        if not back.was_moved:
            break
        head = client.head(owner) or head
    else:
        raise WatermarkConflictError(f"{owner}: {_RACES} times a run committed while we read")
    if met is None and back.missing:
        _check_complete(owner, rows[-1].version if rows else head.version + 1, back.missing)
    old: list[tuple[str, str, int]] = []
    while met is not None:
        old, before = met.windows + old, met.prev
        if before not in blocks:  # the end, or a deleted block
            _check_complete(owner, before.version + 1, before.name)
        met = blocks.get(before)
    if len(rows) > _WORTH_A_BLOCK:
        # The head's own row may still be replaced.
        _keep_blocks(client, owner, rows[1:])
    return old + [window for row in reversed(rows) for window in _windows(row)]


class RowsBack:
    """The rows of a history, newest first, up to the first one that is gone, or expired by `now`.

    Attributes:
        pointer: the row that comes next.
        missing: the sort key of the row that is gone; empty if the history ended.
        was_moved: whether the head's own row is newer than the head: it was read too early.
    """

    def __init__(
        self,
        head: Row | None,
        read: Callable[[str], Row | None],
        now: datetime,
        before: Callable[[Row], Pointer],
    ) -> None:
        self.pointer = head.last if head else NOWHERE
        self.missing = ""
        self.was_moved = False
        self._newer = head.version + 1 if head else 0
        self._is_first = True
        self._read = read
        self._now = now
        self._before = before

    def __iter__(self) -> Iterator[Row]:
        """Yield the rows; `pointer` names the next one."""
        while self.pointer.name:
            row = self._read(self.pointer.name)
            if row is None or row.version != self.pointer.version or row.is_expired(self._now):
                self.was_moved = self._is_first and row is not None and row.version >= self._newer
                self.missing = self.pointer.name
                return
            self._is_first = False
            self._newer, self.pointer = row.version, self._before(row)
            yield row


def _rows_until_a_block(
    back: RowsBack, blocks: dict[Pointer, Block]
) -> tuple[list[Row], Block | None]:
    rows: list[Row] = []
    for row in back:
        rows.append(row)
        if back.pointer in blocks:
            return rows, blocks[back.pointer]
    return rows, None


def windows_of(row: Row) -> list[CommittedWindow]:
    """Return the windows that a run's row records, oldest first."""
    attributes = row.map("wmCommitted")
    windows = [OpenWindow.from_attribute(attributes[window_id]) for window_id in sorted(attributes)]
    return [CommittedWindow(w.cursor, w.window_id, w.attempt, w.low, w.high) for w in windows]


def _windows(row: Row) -> list[tuple[str, str, int]]:
    return [(window.cursor, window.window_id, window.attempt) for window in windows_of(row)]


def _in_force_before(row: Row) -> Pointer:
    return row.target if row.string("wmKind") in AUDITS else row.prev


def _reader(client: TableClient, owner: Owner) -> Callable[[str], Row | None]:
    """Return a function that reads rows one by one, and all at once when that costs less."""
    count, rows = 0, None

    def read(name: str) -> Row | None:
        nonlocal count, rows
        count += 1
        if count <= _READ_ONE_BY_ONE:
            return client.row(owner, name)
        if rows is None:
            rows = client.all_rows(owner)
        return rows.get(name)

    return read


def _check_complete(owner: Owner, version: int, missing: str) -> None:
    """Raise an error unless the rows before the oldest one that is left had no windows."""
    # Before version 1 there is at most a row of the v1 class, which had no windows.
    if version > 1:
        raise WatermarkNotFoundError(
            f"{owner}: the windows before version {version} are not known any more: the row "
            f"{missing!r} has expired; read the data without asking which windows count, and keep "
            "more with Watermarks(..., history_days=...)"
        )


def _keep_blocks(client: TableClient, owner: Owner, rows: list[Row]) -> None:
    """Write blocks of the windows of rows, newest first, that reach back to a block or the end."""
    blocks: list[Block] = []
    windows: list[tuple[str, str, int]] = []
    prev = _in_force_before(rows[-1])
    for row in reversed(rows):
        windows += _windows(row)
        if len(windows) >= _MAX_BLOCK_WINDOWS or row is rows[0]:
            blocks.append(Block(Pointer(row.name, row.version), prev, windows))
            prev, windows = blocks[-1].row, []
    try:
        for block in blocks:
            client.put(block.put(client.table, owner))
    except (WatermarksError, ClientError, BotoCoreError):
        # A reader may not be allowed to write; the next one tries again.
        return
