"""What a job agrees to, so that a range of it can be filled: two arguments that it declares.

A job that can be filled has the arguments ``--backfill_from`` and ``--backfill_to``, with the
default ``none``. Where a run gets others, its script reads that range, from the first point to
before the second, and leaves its bookmark and its watermark as they are.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.assembly.definitions import (
    BOOKMARK_OPTION,
    DISABLE,
    ENABLE,
    FROM,
    NOT_GIVEN,
    TO,
    WATERMARK_TABLE,
)
from tidemark.operate.backfill.ranges import Span, Unit, point_of_string

BY, SOURCE = "--backfill_by", "--backfill_source"
MANUAL = "docs/backfill.md"


@dataclass(frozen=True)
class Fillable:
    """A job, as far as filling it goes.

    Attributes:
        name: its name.
        is_declared: whether it has the two arguments.
        column: the partition column of its source that the days of a range are; empty if the
            only one of days is.
        source: the folder ``s3://...`` that the job's days are files of; empty for the one that
            its runs have read.
        has_bookmark: whether it keeps a bookmark.
        fixed: arguments that no run can change.
        watermark_table: where it keeps its watermarks; empty if it keeps none.
        max_runs: how many of its runs there may be at once.
    """

    name: str
    is_declared: bool
    column: str = ""
    source: str = ""
    has_bookmark: bool = False
    fixed: frozenset[str] = frozenset()
    watermark_table: str = ""
    max_runs: int = 1

    def check(self) -> None:
        """Refuse a job whose runs take no range."""
        if not self.is_declared:
            raise UsageError(
                f"{self.name} takes no range: add 'backfill_from': 'none' and "
                "'backfill_to': 'none' to arguments= of its add_job, and let its script read them; "
                f"{MANUAL} shows how"
            )
        if wrong := sorted(
            self.fixed & {FROM, TO, *([BOOKMARK_OPTION] if self.has_bookmark else [])}
        ):
            raise UsageError(
                f"{self.name} has {wrong[0]} in its NonOverridableArguments, and a backfill sets "
                "it: move it to the DefaultArguments"
            )

    def arguments(self, part: Span, unit: Unit) -> dict[str, str]:
        """Return a run's arguments to fill a range; its bookmark is neither read nor moved."""
        bookmark = {BOOKMARK_OPTION: DISABLE} if self.has_bookmark else {}
        return {FROM: unit.text(part.low), TO: unit.text(part.high), **bookmark}


def fillable_of(member: Mapping[str, Any]) -> Fillable:
    """Return a job from the Job of an answer of GetJob."""
    fixed = member.get("NonOverridableArguments") or {}
    arguments = {**(member.get("DefaultArguments") or {}), **fixed}
    source = arguments.get(SOURCE, "")
    most = (member.get("ExecutionProperty") or {}).get("MaxConcurrentRuns", 1)
    return Fillable(
        name=member["Name"],
        is_declared=FROM in arguments and TO in arguments,
        column=arguments.get(BY, ""),
        source=f"{source.rstrip('/')}/" if source.startswith("s3://") else "",
        has_bookmark=arguments.get(BOOKMARK_OPTION) == ENABLE,
        fixed=frozenset(fixed),
        watermark_table=arguments.get(WATERMARK_TABLE, ""),
        max_runs=most,
    )


def filled_range(arguments: Mapping[str, str]) -> tuple[Unit, Span] | None:
    """Return the range that a run with these arguments fills; None for an incremental run."""
    low, high = arguments.get(FROM, NOT_GIVEN), arguments.get(TO, NOT_GIVEN)
    first, end = point_of_string(low), point_of_string(high)
    if first is None or end is None or first[0] is not end[0] or first[1] >= end[1]:
        return None
    return first[0], Span(first[1], end[1])
