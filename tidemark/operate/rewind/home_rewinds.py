"""The rewinds of this machine: one transaction at the end, and an undo of everything."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import uuid4

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.versions import bookmark_versions
from tidemark.local_state.catalog.table_metadata import (
    next_place,
    read_metadata,
    snapshot_before,
    table_of,
)
from tidemark.local_state.home import Home
from tidemark.local_state.rewinds.records import (
    RewindCause,
    RewindRecord,
    Steps,
    TableStep,
    note_nothing,
    open_rewind,
    refuse_unfinished,
    rewinds,
)
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.iceberg import METADATA
from tidemark.operate.rewind.carry_out import CarryOut
from tidemark.operate.rewind.clear import FileSeen, files_to_clear, not_provable, snapshots_to_clear
from tidemark.operate.rewind.facts import BOOKMARK, Move, RewindFacts, Track
from tidemark.operate.rewind.plan import Clear, RewindPlan, steps_of_plan
from tidemark.operate.rewind.refusals import check_none_in_flight
from tidemark.operate.rewind.sources_now import with_current_sources
from tidemark.operate.rewind.tracks import Windows
from tidemark.operate.rewind.undoing import record_to_undo, undo


@dataclass(frozen=True)
class HomeRewinds(CarryOut):
    """The rewinds of a home; see `Rewinds`."""

    def check_none_is_open(self) -> None:
        """Refuse while a rewind is carried out, or is half done."""
        refuse_unfinished(self.home, self.store)

    def steps_of(
        self, facts: RewindFacts, plan: RewindPlan, windows: Windows
    ) -> tuple[RewindPlan, Steps]:
        """Return a plan with the changes of its sources, and its steps with all files."""
        current = with_current_sources(self.home, self.store, plan)
        return current, steps_of(self.home, facts, current, windows)

    def carry_out(self, plan: RewindPlan, steps: Steps, cause: RewindCause) -> RewindRecord:
        """Do all steps, or nothing."""
        return self.do(steps, cause, plan.to)

    def note_nothing(self, plan: RewindPlan, cause: RewindCause) -> None:
        """Record that a rewind had nothing to do."""
        note_nothing(self.store, cause, plan.to)

    def to_undo(self, number: int | None) -> RewindRecord:
        """Return the rewind of a number, or the last one that is not undone."""
        self._check_no_run()
        return record_to_undo(rewinds(self.store), number)

    def undo(self, number: int, cause: RewindCause) -> tuple[RewindRecord, Sequence[str]]:
        """Undo a rewind, with a separate record unless it was interrupted."""
        return undo(self, number, cause), ()

    def resume(self, at_ms: int) -> RewindRecord:
        """Finish the rewind that was interrupted."""
        self._check_no_run()
        record = open_rewind(self.store)
        if record is None:
            raise UsageError("no rewind was interrupted: there is nothing to finish")
        return self.finish(record, at_ms)

    def records(self) -> list[RewindRecord]:
        """Return every rewind, the newest first."""
        return rewinds(self.store)

    def _check_no_run(self) -> None:
        runs = self.store.unfinished_job_runs() if self.home.is_held() else []
        check_none_in_flight((run.job_name, run.run_id) for run in runs)


def bookmark_track(store: Store, job: str) -> Track | None:
    """Return the bookmark of a job with its history, None if it has none."""
    moves = [
        Move(version.version, version.kind, version.run_id, version.committed_at_ms)  # type: ignore[arg-type]
        for version in bookmark_versions(store, job)
    ]
    return Track(job, BOOKMARK, moves) if moves else None


def steps_of(home: Home, facts: RewindFacts, plan: RewindPlan, windows: Windows) -> Steps:
    """Return the steps of a plan, with every file that is to go."""
    files = [
        (path, "")
        for clear in plan.clears
        if not clear.table
        for path in _paths(home, files_to_clear(facts, clear, _files(home, clear.dataset)))
    ]
    names = dict.fromkeys(clear.table for clear in plan.clears if clear.table)
    tables = [
        table_step(home, facts, [clear for clear in plan.clears if clear.table == name])
        for name in names
    ]
    return replace(
        steps_of_plan(plan, windows), files=tuple(dict.fromkeys(files)), tables=tuple(tables)
    )


def table_step(home: Home, facts: RewindFacts, clears: Sequence[Clear]) -> TableStep:
    """Return the step that takes a table of Iceberg back to before the undone runs of its jobs."""
    table = clears[0].table
    with Store(home.database) as store:
        place = table_of(store, table).parameters[METADATA]
    undone = {snapshot_id for clear in clears for snapshot_id in snapshots_to_clear(facts, clear)}
    try:
        snapshot = snapshot_before(read_metadata(home, place), undone)
    except UsageError as error:
        raise not_provable(clears[0], str(error)) from error
    return TableStep(table, place, next_place(place, str(uuid4())), snapshot)


def _files(home: Home, dataset: str) -> list[FileSeen]:
    if "://" not in dataset or not dataset.startswith("s3"):
        raise UsageError(
            f"--clear deletes files, and {dataset} is not a folder; nothing was changed: delete "
            "its rows yourself, and leave out --clear"
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
