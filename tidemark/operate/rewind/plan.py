"""The plan of a rewind: what moves, what is read again, and the effect on everything downstream."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemark.local_state.rewinds.records import BookmarkStep, Steps, WatermarkStep
from tidemark.operate.rewind.amounts import Reread
from tidemark.operate.rewind.effects import RIGHT, Effect
from tidemark.operate.rewind.facts import BOOKMARK


@dataclass(frozen=True)
class StateMove:
    """A bookmark or watermark before and after.

    Attributes:
        job: whose it is.
        kind: ``bookmark``, or the table of a watermark.
        source: of a watermark.
        from_version: what holds now; it must still hold when the plan is carried out.
        from_run: whose position that is; empty for the beginning.
        to_run: whose position is to hold; empty for the beginning.
        to_version: the one whose position is to hold; 0 for the beginning.
        before: the watermarks as strings; None for a bookmark.
        after: likewise.
        open_windows: how many are discarded.
        undone: the runs whose input is read again, oldest first.
    """

    job: str
    kind: str
    source: str
    from_version: int
    from_run: str
    to_run: str
    to_version: int
    before: Mapping[str, str] | None = None
    after: Mapping[str, str] | None = None
    open_windows: int = 0
    undone: tuple[str, ...] = ()


@dataclass(frozen=True)
class Clear:
    """What the undone runs of a job have added to a target, to be deleted."""

    job: str
    dataset: str
    mode: str
    runs: tuple[str, ...]

    @property
    def table(self) -> str:
        """The name of a table of Iceberg, which goes back to a snapshot; empty for files."""
        kind, _, name = self.dataset.partition(":")
        return name if kind == "table" else ""


@dataclass(frozen=True)
class JobPlan:
    """What happens to one job.

    Attributes:
        job: its name.
        is_rewound: whether its state goes back; else it is downstream of one whose does.
        states: what moves.
        reads_again: how much; for one whose state stays, nothing is listed.
        sees: for one whose state stays: whether its next run sees what is written again.
        effects: what becomes of its targets.
        is_known: whether its targets are known.
    """

    job: str
    is_rewound: bool
    states: tuple[StateMove, ...] = ()
    reads_again: tuple[Reread, ...] = ()
    sees: str = ""
    effects: tuple[Effect, ...] = ()
    is_known: bool = True


@dataclass(frozen=True)
class RewindPlan:
    """What a rewind does, and what follows from it.

    Attributes:
        to: the requested target.
        jobs: the rewound ones and those downstream of them, in the order of the template.
        clears: files to delete.
        advice: what to do about what would not be right.
        unknown: what cannot be known.
        schedules: what starts runs meanwhile.
    """

    to: str
    jobs: tuple[JobPlan, ...]
    clears: tuple[Clear, ...] = ()
    advice: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    schedules: tuple[str, ...] = field(default=())

    @property
    def states(self) -> list[StateMove]:
        """Everything that moves."""
        return [state for job in self.jobs for state in job.states]

    @property
    def is_right(self) -> bool:
        """Whether every target is correct, as if recomputed, once the jobs have run."""
        verdicts = [effect.verdict for job in self.jobs for effect in job.effects]
        return all(job.is_known for job in self.jobs) and set(verdicts) <= {RIGHT}

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON values."""
        return {**asdict(self), "is_right": self.is_right}


def steps_of_plan(
    plan: RewindPlan, windows: Mapping[tuple[str, str, str], Mapping[str, Any]]
) -> Steps:
    """Return the moves of a plan, with the open windows that an undo restores."""
    bookmarks, watermarks = list[BookmarkStep](), list[WatermarkStep]()
    for move in plan.states:
        version, place = move.from_version, (move.kind, move.job, move.source)
        if move.kind == BOOKMARK:
            bookmarks.append(BookmarkStep(move.job, version, move.to_version))
        else:
            restores = windows.get(place, {})
            runs = (move.from_run, move.to_run)
            watermarks.append(WatermarkStep(*place, version, *runs, restores=restores))
    return Steps(tuple(bookmarks), tuple(watermarks))
