"""An experiment in which the runs of a home lose an executor: when, and whether one was lost."""

import json
from dataclasses import asdict, dataclass

from tidemark.local_state.home import Home
from tidemark.local_state.operations import FOLDER

MOMENT, LOST = "lose-executor.json", "executor-lost"
EXECUTORS = 2  # of each run


@dataclass(frozen=True)
class Moment:
    """When an executor is killed: at a change that it makes in the lake.

    Attributes:
        number: which change of all executors, from 1.
        is_before: whether it is killed before it makes the change, and not right after it.
    """

    number: int = 1
    is_before: bool = False


def lose_executor(home: Home, moment: Moment) -> None:
    """Let runs of a home, which records operations, have executors until one of them is lost."""
    file = home.root / FOLDER / MOMENT
    file.write_text(json.dumps(asdict(moment)), encoding="utf-8")


def moment_of(home: Home) -> Moment | None:
    """Return when a run of a home loses an executor; None if none does, or one has."""
    file = home.root / FOLDER / MOMENT
    if has_lost(home) or not file.is_file():
        return None
    return Moment(**json.loads(file.read_text(encoding="utf-8")))


def note_lost(home: Home) -> None:
    """Note that an executor is about to be killed."""
    (home.root / FOLDER / LOST).touch()


def has_lost(home: Home) -> bool:
    """Return whether an executor of a run of the home was killed."""
    return (home.root / FOLDER / LOST).is_file()
