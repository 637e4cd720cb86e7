"""How far a rewind of a stage has come, by what holds there now: what finishing it goes by."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UsageError
from tidemark.local_state.rewinds.records import Steps, WatermarkStep
from tidemark.operate.clients import Glue
from tidemark.operate.rewind.stage_records import (
    BEGUN,
    DONE,
    UNDOING,
    UNDONE,
    StageRecord,
    check_nobody_is_at_work,
    reason_of,
)
from tidemark.operate.rewind.tracks import entry_of
from watermarks import WatermarkAdmin


@dataclass(frozen=True)
class Standing:
    """What a rewind has moved.

    Attributes:
        bookmarks: moved bookmarks: the job, and the run to which it goes back.
        watermarks: that it has moved, as the steps back.
        moved: jobs that somebody else has moved since: a run that committed, as a rule.
    """

    bookmarks: Sequence[tuple[str, str]] = ()
    watermarks: Sequence[WatermarkStep] = ()
    moved: Sequence[str] = ()


def standing(glue: Glue, dynamodb: Any, record: StageRecord) -> Standing:
    """Return how far a rewind has come."""
    bookmarks, watermarks, moved = [], [], []
    for job, from_, to in record.runs:
        run_id = run_in_force(glue, job)
        if run_id == to:
            bookmarks.append((job, from_))
        elif run_id != from_:
            moved.append(job)
    for step in Steps(watermarks=record.watermarks).backwards().watermarks:
        admin = WatermarkAdmin(step.table, dynamodb)
        last = next(admin.history(step.job, 1, source=step.source), None)
        version, _ = admin.head_of(step.job, source=step.source)
        reason = last.reason if last else ""
        if reason == reason_of(record, "rewind"):
            watermarks.append(step)
        elif reason != reason_of(record, "undo of rewind") and version != step.expected - 1:
            moved.append(step.job)
    return Standing(bookmarks, watermarks, list(dict.fromkeys(moved)))


def run_in_force(glue: Glue, job: str) -> str:
    """Return the run whose bookmark holds; empty for none."""
    return str((entry_of(glue, job) or {}).get("RunId", ""))


def check_none_is_open(stage: str | None, records: Sequence[StageRecord], at_ms: int) -> None:
    """Refuse while a rewind is half done, or half taken back."""
    for record in records:
        if record.state not in (BEGUN, UNDOING):
            continue
        check_nobody_is_at_work(record, at_ms)
        if record.state == UNDOING:
            raise UsageError(
                f"taking back rewind {record.number} was interrupted, and it is half undone; "
                f"`tidemark rewind undo {record.number} --deployed {stage}` finishes that"
            )
        raise UsageError(
            f"rewind {record.number} was interrupted and is half done; `tidemark rewind resume "
            f"--deployed {stage}` finishes it, `tidemark rewind undo {record.number} "
            f"--deployed {stage}` takes it back"
        )


def check_is_the_last(
    stage: str | None, record: StageRecord, records: Sequence[StageRecord]
) -> None:
    """Refuse to undo a rewind before a later one of the same jobs."""
    for later in records:
        common = [job for job in record.jobs if job in later.jobs]
        if later.number > record.number and later.state != UNDONE and common:
            raise UsageError(
                f"rewind {later.number} has moved {common[0]} since rewind {record.number}: to "
                "undo that would take both back; nothing was changed: `tidemark rewind undo "
                f"{later.number} --deployed {stage}` first"
            )


def check_may_be_undone(record: StageRecord, now: Standing) -> None:
    """Refuse to undo a finished rewind after which a job has committed."""
    if now.moved and record.state == DONE:
        raise UsageError(
            f"{now.moved[0]} has committed since rewind {record.number}: to undo it would take "
            "that back too; nothing was changed: rewind the job again instead"
        )


def check_may_be_finished(stage: str | None, record: StageRecord, now: Standing) -> None:
    """Refuse to finish a rewind if one of its jobs has moved on since."""
    if now.moved:
        raise UsageError(
            f"{now.moved[0]} has committed since rewind {record.number} began, and to finish it "
            "would take that back too; nothing was changed: `tidemark rewind undo "
            f"{record.number} --deployed {stage}` takes back the rest of it, then plan it again"
        )
