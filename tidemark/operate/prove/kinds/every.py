"""All kinds of experiments, and what is asked of them by their names."""

from collections.abc import Collection, Mapping, Sequence

from tidemark.operate.prove.causes import Cause, Fault, with_notes
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.kinds.arrivals import (
    ArrivesWhileReading,
    ArrivesWhileWriting,
    ArrivesWithEarlierTime,
    InParts,
    ReverseOrder,
)
from tidemark.operate.prove.kinds.crash import Crash
from tidemark.operate.prove.kinds.drift import OtherColumns
from tidemark.operate.prove.kinds.error import FailingRequest
from tidemark.operate.prove.kinds.kind import ExperimentKind, FirstRun
from tidemark.operate.prove.kinds.machines import LostExecutor, NewestVersion, TwoAtOnce
from tidemark.operate.prove.kinds.reruns import DeliveredTwice, NothingNew, Replaced, Rewound

BY_NAME: Mapping[str, ExperimentKind] = {
    kind.name: kind
    for kind in (
        Crash(),
        FailingRequest(),
        NothingNew(),
        InParts(),
        ReverseOrder(),
        ArrivesWhileWriting(),
        ArrivesWhileReading(),
        ArrivesWithEarlierTime(),
        DeliveredTwice(),
        Replaced(),
        OtherColumns(),
        Rewound(),
        TwoAtOnce(),
        LostExecutor(),
        NewestVersion(),
    )
}
KINDS: Sequence[str] = tuple(BY_NAME)
CHANGE_KINDS = tuple(name for name, kind in BY_NAME.items() if kind.is_of_changes)


def kind_of(experiment: Experiment) -> ExperimentKind:
    """Return the kind of an experiment."""
    return BY_NAME[experiment.kind]


def at_once(run: FirstRun) -> list[Experiment]:
    """Return the experiments for which nothing but the first run must be known."""
    kinds = (kind for kind in BY_NAME.values() if not kind.is_of_changes)
    return [experiment for kind in kinds for experiment in kind.experiments(run)]


def not_tried(kind: str, reason: str, *, is_open: bool = False) -> Experiment:
    """Return the experiments of a kind that are not carried out, as one."""
    return Experiment(kind, BY_NAME[kind].title, not_tried=reason, is_open=is_open)


def cause_of(fault: Fault, marks: Collection[str] = (), pointers: Collection[str] = ()) -> Cause:
    """Return the cause of a verdict other than equal.

    Marks are objects and tables that the runs read: what changes one of them, beside the target,
    may note how far the job has got. Pointers name what counts of a target, also within it.
    """
    return kind_of(fault.experiment).cause(with_notes(fault, marks, pointers))
