"""Two versions of the code: the same jobs, each run on a copy of the same home."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tidemark.local_state.home import Home
from tidemark.operate.diff.comparing import Asked
from tidemark.operate.diff.outcomes import Diff
from tidemark.operate.diff.pairs import Room, compare_pairs
from tidemark.operate.diff.places import HomeAt, file_pairs
from tidemark.operate.diff.recorded import targets_below
from tidemark.operate.diff.tables import table_pairs
from tidemark.operate.prove.anew import start_anew
from tidemark.operate.prove.tables import iceberg_tables
from tidemark.operate.versions.compare import Say
from tidemark.operate.versions.copies import copy_home, copy_of_copy
from tidemark.operate.versions.states import compared_states, read_states
from tidemark.operate.versions.targets import ComparedTarget, Files, changed_targets, files_of
from tidemark.operate.versions.trial import Start, Trial, run_trial

SLACK_S = 1  # before and after a run


@dataclass(frozen=True)
class Code:
    """A version of the code.

    Attributes:
        label: what messages call it.
        start: what runs its jobs.
        version: of Glue, for a script.
    """

    label: str
    start: Start
    version: str = ""


def diff_of_code(
    home: Home,
    codes: tuple[Code, Code],
    asked: Asked,
    room: Room,
    say: Say,
    *,
    anew: Collection[str] | None = None,
) -> Diff:
    """Run both versions on copies of a home, which stays as it is; return what differs.

    The jobs that are to run `anew` forget what they have read, and what they have written to
    folders is deleted, in the copies.
    """
    say("copying the home")
    old = copy_home(home, room.scratch / "home-old")
    if anew:
        start_anew(old, anew)
    new = copy_of_copy(old, room.scratch / "home-new")
    files, before, tables = files_of(old.lake), read_states(old), iceberg_tables(old)
    trials = []
    for code, copy in zip(codes, (old, new), strict=True):
        say(f"running {code.label}")
        trials.append(run_trial(copy, code.start, code.version, room.jvms))
    say("comparing the rows")
    sides = (HomeAt.of(old, codes[0].label), HomeAt.of(new, codes[1].label))
    left = [read_states(trial.home, trial.interval, before) for trial in trials]
    changed = {
        name
        for home in (old, new)
        for name, at in iceberg_tables(home).items()
        if tables.get(name) != at
    }
    pairs = file_pairs(sides, _changed(sides, files))
    pairs += table_pairs(sides, changed, room.scratch, room.jvms)
    return Diff(
        codes[0].label,
        codes[1].label,
        compare_pairs(pairs, replace(asked, times=[_times(trial) for trial in trials]), room),
        compared_states(before, *left),
        (trials[0].runs, trials[1].runs),
        _notes(trials),
    )


def _changed(sides: tuple[HomeAt, HomeAt], before: Files) -> list[ComparedTarget]:
    """Return the targets that one of both versions has changed."""
    changed = {target.folder for target in changed_targets(before, *(side.files for side in sides))}
    return [target for target in targets_below(sides, lambda _: True) if target.folder in changed]


def _times(trial: Trial) -> tuple[float, float]:
    return trial.began_ms / 1000 - SLACK_S, trial.ended_ms / 1000 + SLACK_S


def _notes(trials: Sequence[Trial]) -> list[str]:
    counts = [run.rows_read for trial in trials for run in trial.runs]
    read = [count for count in counts if count is not None]
    if read and not any(read):
        return [
            "the jobs had nothing new to read on either side; --anew runs both from the beginning"
        ]
    return []
