"""What a rewind of this machine moves: a bookmark with its versions, and the steps of a plan."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.versions import bookmark_versions
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.steps import Steps
from tidemark.local_state.store.database import Store
from tidemark.operate.rewind.clear import FileSeen, files_to_clear
from tidemark.operate.rewind.facts import BOOKMARK, Facts, Move, Track
from tidemark.operate.rewind.plan import Plan, steps_of_plan
from tidemark.operate.rewind.watermark_tracks import Windows


def bookmark_track(store: Store, job: str) -> Track | None:
    """Return the bookmark of a job with its history, None if it has none."""
    moves = [
        Move(one.version, one.kind, one.run_id, one.committed_at_ms)  # type: ignore[arg-type]
        for one in bookmark_versions(store, job)
    ]
    return Track(job, BOOKMARK, moves) if moves else None


def steps_of(home: Home, facts: Facts, plan: Plan, windows: Windows) -> Steps:
    """Return the steps of a plan, with every file that is to go."""
    files = [
        (path, "")
        for clear in plan.clears
        for path in _paths(home, files_to_clear(facts, clear, _files(home, clear.dataset)))
    ]
    return replace(steps_of_plan(plan, windows), files=tuple(dict.fromkeys(files)))


def _files(home: Home, dataset: str) -> list[FileSeen]:
    """Return the files of a dataset in the lake."""
    if "://" not in dataset or not dataset.startswith("s3"):
        raise UsageError(
            f"--clear deletes files, and {dataset} is no folder; nothing was changed: delete its "
            "rows yourself, and leave out --clear"
        )
    try:
        folder = home.existing_path(dataset)
    except EntityNotFoundError:
        return []
    base = dataset.rstrip("/")
    return [
        FileSeen(f"{base}/{path.relative_to(folder).as_posix()}", path.stat().st_mtime_ns / 1e6)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
    ]


def _paths(home: Home, uris: Iterable[str]) -> list[str]:
    paths = [home.local_path(uri) for uri in uris]
    check_same_disk(home, paths)
    return [path.relative_to(home.root).as_posix() for path in paths]


def check_same_disk(home: Home, paths: Iterable[Path]) -> None:
    """Refuse files that cannot be moved into the home in one step."""
    disk = home.root.stat().st_dev
    for path in paths:
        if path.stat().st_dev != disk:
            raise UsageError(
                f"--clear: {path} is on another disk than {home.root}, to which it cannot be moved "
                "in one step; nothing was changed: leave out --clear, and delete the partitions "
                "that are written again yourself"
            )
