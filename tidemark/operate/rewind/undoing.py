"""Takes a rewind of this machine back, also one after which others were carried out and undone."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.versions import latest_bookmark
from tidemark.local_state.rewinds.records import (
    BEGUN,
    DONE,
    NOTHING,
    BookmarkStep,
    RewindCause,
    RewindRecord,
    Steps,
    WatermarkStep,
    rewinds,
)
from tidemark.operate.rewind.carry_out import CarryOut

StateKey: TypeAlias = tuple[str, ...]
"""What a step moves: a bookmark by its job; a watermark by its job, table and source."""


def undo(work: CarryOut, rewind_id: int | None, cause: RewindCause) -> RewindRecord:
    """Take a rewind back, the last one if none is named; return the record of what was done.

    An interrupted one is taken back; a complete one is undone by a separate record.
    """
    records = rewinds(work.store)
    record = record_to_undo(records, rewind_id)
    if record.state == BEGUN:
        return work.take_back(record)
    later = [rewind for rewind in reversed(records) if rewind.rewind_id > record.rewind_id]
    back = Steps.from_json(record.document["steps"]).backwards()
    # The versions are those that hold now: later rewinds and undoings count up.
    steps = replace(
        back,
        bookmarks=tuple(
            replace(step, expected=_version_now(step, record, later)) for step in back.bookmarks
        ),
        watermarks=tuple(
            replace(step, expected=_version_now(step, record, later)) for step in back.watermarks
        ),
    )
    for step in steps.bookmarks:
        latest = latest_bookmark(work.store, step.job)
        if latest is None or latest.version != step.expected:
            raise UsageError(
                f"a run of {step.job} has committed since rewind {record.rewind_id}, or somebody "
                "has set its bookmark: to undo it would take that back too; nothing was changed: "
                f"rewind {step.job} again instead"
            )
    return work.do(steps, cause, f"before rewind {record.rewind_id}", undoes=record.rewind_id)


def _version_now(
    step: BookmarkStep | WatermarkStep, record: RewindRecord, later: Sequence[RewindRecord]
) -> int:
    version, in_force = step.expected, list[int]()
    for rewind in later:
        if rewind.state != DONE or (_key(step), version) not in set(_moved(rewind)):
            continue
        version += 1
        if in_force and rewind.undoes == in_force[-1]:
            in_force.pop()
        else:
            in_force.append(rewind.rewind_id)
    if in_force:
        raise UsageError(
            f"rewind {in_force[-1]} has moved {step.job} since rewind {record.rewind_id}: to undo "
            "that would take both back; nothing was changed: `tidemark rewind undo "
            f"{in_force[-1]}` first"
        )
    return version


def _moved(record: RewindRecord) -> Iterator[tuple[StateKey, int]]:
    steps = Steps.from_json(record.document["steps"])
    yield from ((_key(step), step.expected) for step in steps.bookmarks)
    yield from ((_key(step), step.expected) for step in steps.watermarks)


def _key(step: BookmarkStep | WatermarkStep) -> StateKey:
    if isinstance(step, WatermarkStep):
        return (step.job, step.table, step.source)
    return (step.job,)


def record_to_undo(records: Sequence[RewindRecord], rewind_id: int | None) -> RewindRecord:
    """Return the record to undo: that of an id, without one the last that is not undone."""
    undone = {record.undoes for record in records if record.state == DONE}
    if rewind_id is None:
        found = next(
            (
                record
                for record in records
                if record.state == BEGUN
                or (
                    record.state == DONE
                    and record.undoes is None
                    and record.rewind_id not in undone
                )
            ),
            None,
        )
        if found is None:
            raise UsageError("nothing was rewound here that is not undone already")
        if records[0].state == NOTHING:
            raise UsageError(
                "the last rewind had nothing to rewind, so nothing can be undone; "
                f"`tidemark rewind undo {found.rewind_id}` undoes rewind {found.rewind_id}, the "
                "one before it, which `tidemark rewind list` shows"
            )
        return found
    found = next((candidate for candidate in records if candidate.rewind_id == rewind_id), None)
    if found is None:
        ids = ", ".join(str(record.rewind_id) for record in records[:10]) or "none"
        raise UsageError(f"there is no rewind {rewind_id}; there are {ids}")
    if rewind_id in undone:
        raise UsageError(f"rewind {rewind_id} is undone already")
    if found.state not in (BEGUN, DONE):
        raise UsageError(f"rewind {rewind_id} was {found.state}: there is nothing to undo")
    return found
