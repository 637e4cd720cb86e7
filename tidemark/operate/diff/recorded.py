"""Two sides that are recorded: two runs of a home, or two homes."""

import re
from collections.abc import Callable, Mapping, Sequence

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.diff.comparing import Asked
from tidemark.operate.diff.outcomes import Diff
from tidemark.operate.diff.pairs import Room, compare_pairs
from tidemark.operate.diff.places import TABLE, HomeAt, datasets_of, file_pairs
from tidemark.operate.diff.tables import table_pairs
from tidemark.operate.prove.tables import folders_of_tables
from tidemark.operate.versions.facts import State
from tidemark.operate.versions.outcomes import StateOutcome
from tidemark.operate.versions.states import BOOKMARK, WATERMARK, compared_states, read_states
from tidemark.operate.versions.targets import SCRIPTS, ComparedTarget, target_of

S3 = "s3://"
ASSETS = re.compile(r"cdk-\w+-assets-")  # the bucket of the scripts of apps
SHORT = 11  # characters of a run id, as lists of runs show it
SOURCE = ", source "  # of a watermark, in its name


def diff_of_runs(home: Home, runs: tuple[Checkpoint, Checkpoint], asked: Asked, room: Room) -> Diff:
    """Return what differs in the targets of a job after two of its runs."""
    sides = [HomeAt.of(home, f"run {run.run_id[:SHORT]}", _end_of(home, run)) for run in runs]
    states = compared_states({}, _kept_after(runs[0]), _kept_after(runs[1]))
    return _diff((sides[0], sides[1]), runs[0].job_name, states, asked, room)


def diff_of_homes(homes: tuple[Home, Home], job: str | None, asked: Asked, room: Room) -> Diff:
    """Return what differs in the targets of two homes: of a job, or of all that ran."""
    sides = [HomeAt.of(home, str(home.shown)) for home in homes]
    old, new = (
        {
            (kind, name): state
            for (kind, name), state in read_states(home).items()
            if kind in (BOOKMARK, WATERMARK) and job in (None, _job_of(kind, name))
        }
        for home in homes
    )
    return _diff((sides[0], sides[1]), job, compared_states({}, old, new), asked, room)


def _diff(
    sides: tuple[HomeAt, HomeAt],
    job: str | None,
    states: Sequence[StateOutcome],
    asked: Asked,
    room: Room,
) -> Diff:
    names = set().union(*(datasets_of(side.checkpoints, job) for side in sides))
    if not names:
        raise EntityNotFoundError(
            f"no run {f'of {job} ' if job else ''}has recorded what it wrote in "
            f"{sides[0].home.shown} or {sides[1].home.shown}; run it first"
        )
    tables = {name.removeprefix(TABLE) for name in names if name.startswith(TABLE)}
    folders = tuple(
        name.removeprefix(S3).rstrip("/") + "/" for name in names if name.startswith(S3)
    )
    pairs = file_pairs(sides, targets_below(sides, lambda path: path.startswith(folders)))
    pairs += table_pairs(sides, tables, room.scratch, room.jvms)
    others = sorted(name for name in names if not name.startswith((S3, TABLE)))
    notes = [f"{name}: only files and tables of Iceberg are compared" for name in others]
    targets = compare_pairs(pairs, asked, room)
    return Diff(sides[0].label, sides[1].label, targets, states, notes=notes)


def targets_below(
    sides: tuple[HomeAt, HomeAt], is_asked: Callable[[str], bool]
) -> list[ComparedTarget]:
    """Return the targets of files in two lakes, without scripts and tables of Iceberg."""
    left_out = (f"{SCRIPTS}/", *(name for side in sides for name in folders_of_tables(side.home)))
    paths = {path for side in sides for path in side.files}
    targets = {
        target_of(path)
        for path in paths
        if is_asked(path) and not path.startswith(left_out) and not ASSETS.match(path)
    }
    return sorted(targets, key=lambda target: (target.folder, target.format))


def _job_of(kind: str, name: str) -> str:
    """Return the job of a bookmark or of a watermark, whose name begins with its table."""
    return name.partition(": ")[2].partition(SOURCE)[0] if kind == WATERMARK else name


def _end_of(home: Home, run: Checkpoint) -> int:
    with Store(home.database) as store:
        record = store.job_run(run.run_id)
    return max(run.committed_at_ms, (record.completed_at_ms or 0) if record else 0)


def _kept_after(run: Checkpoint) -> dict[tuple[str, str], State]:
    """Return the bookmark and the watermarks of a job after one of its runs."""
    kept = dict[tuple[str, str], State]()
    if run.bookmark is not None:
        positions: Mapping[str, str] = {
            read.source: str(dict(read.after)) for read in run.read if read.after and read.source
        }
        version = f"version {run.bookmark.after}"
        kept[BOOKMARK, run.job_name] = State({"version": version, **positions}, version)
    for move in run.watermarks:
        name = f"{move.table}: {run.job_name}{f'{SOURCE}{move.source}' if move.source else ''}"
        values = ", ".join(f"{key} = {value}" for key, value in move.after.items())
        facts = {"version": str(move.after_version), **move.after}
        kept[WATERMARK, name] = State(facts, values)
    return kept
