"""Where the rows of a target are, in a home, now or after one of its runs."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tidemark.local_state.catalog.table_metadata import read_metadata
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import stored_checkpoints
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import APPEND, WINDOW, Checkpoint
from tidemark.operate.prove.tables import iceberg_tables
from tidemark.operate.rewind.cleared import Cleared, cleared_here
from tidemark.operate.rows.answers import header_of
from tidemark.operate.versions.targets import ComparedTarget, Files, files_of

TABLE = "table:"
KEEPS_ROWS = (APPEND, WINDOW)
"""Modes of writing after which the files of earlier runs are there as they were."""
WINDOW_OF = re.compile(r"/window=([^/]+)/attempt=(\d+)/")
MERGE_KEYS = "tidemark.keys"  # of a snapshot: the keys that a merge was given


@dataclass(frozen=True)
class Side:
    """The rows of a target on one side of a comparison.

    Attributes:
        folder: the folder of the files.
        files: those of one format in it.
        problem: why the rows can no longer be had; empty if they can.
    """

    folder: str = ""
    files: Sequence[str] = ()
    problem: str = ""

    @property
    def size_bytes(self) -> int:
        """The size of the files."""
        return sum(Path(file).stat().st_size for file in self.files)


@dataclass(frozen=True)
class Pair:
    """A target with both sides.

    Attributes:
        name: `s3://bucket/folder/` or `table:database.name`.
        format: of the files, as the comparers name them.
        sides: old and new.
        key: the columns by which the table says that rows are told apart.
    """

    name: str
    format: str
    sides: tuple[Side, Side]
    key: Sequence[str] = ()


@dataclass(frozen=True)
class HomeAt:
    """A home after a run, or as it is now.

    Attributes:
        home: the home.
        label: what messages call it.
        until_ms: when the run ended, epoch milliseconds; None for now.
        checkpoints: those of all runs of the home.
        cleared: the output of runs that rewinds have deleted.
        taken_back: what rewinds have taken back, with and without deleting it.
    """

    home: Home
    label: str
    until_ms: int | None = None
    checkpoints: Sequence[Checkpoint] = ()
    cleared: Sequence[Cleared] = ()
    taken_back: Sequence[Cleared] = ()
    files: Files = field(default_factory=dict)

    @classmethod
    def of(cls, home: Home, label: str, until_ms: int | None = None) -> "HomeAt":
        """Read what the home has recorded."""
        with Store(home.database) as store:
            records = stored_checkpoints(store)
            cleared, taken_back = cleared_here(store), cleared_here(store, is_of_data=False)
        return cls(home, label, until_ms, records, cleared, taken_back, files_of(home.lake))

    def side(self, target: ComparedTarget) -> Side:
        """Return the files of a target, or why they are there no more."""
        if problem := self._problem(f"s3://{target.folder}/"):
            return Side(problem=problem)
        lake = self.home.lake
        given = target.within(lake, self.files)
        files = [file for file in given["files"] if self._counts(file)]
        return Side(given["folder"], files)

    def snapshot(self, metadata: Mapping[str, Any]) -> int | None:
        """Return the snapshot of a table of Iceberg; None where it had none, or for now.

        Raises:
            LookupError: it has expired.
        """
        if self.until_ms is None:
            return None
        log = metadata.get("snapshot-log") or []
        before = [entry for entry in log if entry["timestamp-ms"] <= self.until_ms]
        snapshots = {one["snapshot-id"]: one for one in metadata.get("snapshots") or ()}
        if before and before[-1]["snapshot-id"] in snapshots:
            return int(before[-1]["snapshot-id"])
        is_first = log and not snapshots.get(log[0]["snapshot-id"], {}).get("parent-snapshot-id")
        if not before and (not log or is_first):
            return None
        raise LookupError

    def _problem(self, place: str) -> str:
        if self.until_ms is None:
            return ""
        writers = set()
        for run in self.checkpoints:
            for write in run.written:
                if not (place.startswith(write.dataset) or write.dataset.startswith(place)):
                    continue
                writers.add(run.job_name)
                if run.committed_at_ms > self.until_ms and write.mode not in KEEPS_ROWS:
                    return (
                        f"run {run.run_id} of {run.job_name} has written it later (mode "
                        f"{write.mode}), and a folder keeps no earlier rows: compare with the last "
                        "run, or keep the rows in a table of Iceberg"
                    )
        for gone in self.cleared:
            if gone.job in writers and gone.after_ms < self.until_ms <= gone.until_ms:
                return f"a rewind has deleted what {gone.job} wrote: tidemark rewind undo"
        return ""

    def _counts(self, file: str) -> bool:
        """Return whether a file was there: written before, and of a window that counted."""
        is_there = self.until_ms is None or Path(file).stat().st_mtime_ns <= self.until_ms * 10**6
        window = WINDOW_OF.search(file)
        if not is_there or window is None or not self.windows:
            return is_there
        return window[1] in self.windows

    @cached_property
    def windows(self) -> set[str]:
        """The ids of the windows that were committed, and not taken back."""
        until = self.until_ms if self.until_ms is not None else float("inf")
        return {
            window["window_id"]
            for run in self.checkpoints
            if run.committed_at_ms <= until and not self._is_taken_back(run, until)
            for move in run.watermarks
            for window in move.windows
        }

    def _is_taken_back(self, run: Checkpoint, until: float) -> bool:
        return any(
            gone.job == run.job_name
            and gone.after_ms < run.committed_at_ms <= gone.until_ms < until
            for gone in self.taken_back
        )


def datasets_of(checkpoints: Iterable[Checkpoint], job: str | None) -> set[str]:
    """Return what the runs of a job, or of all, have written."""
    of_job = [run for run in checkpoints if job in (None, run.job_name)]
    return {write.dataset for run in of_job for write in run.written}


def file_pairs(states: tuple[HomeAt, HomeAt], targets: Iterable[ComparedTarget]) -> list[Pair]:
    """Return targets of files with both sides; lines of CSV with a header as their columns."""
    pairs = []
    for target in targets:
        old, new = (state.side(target) for state in states)
        suffixes = {Path(file).suffix for side in (old, new) for file in side.files}
        sides = [{"files": side.files} for side in (old, new) if side.files]
        kind = target.format
        if kind == "lines" and suffixes in ({".csv"}, {".tsv"}):
            has_header = all(header_of(kind, [side]) is not None for side in sides)
            kind = suffixes.pop().lstrip(".") if has_header else kind
        pairs.append(Pair(target.uri, kind, (old, new)))
    return pairs


def metadata_of(home: Home, tables: Collection[str]) -> dict[str, Mapping[str, Any]]:
    """Return the metadata of some tables of Iceberg in a home, by `database.table`."""
    places = iceberg_tables(home)
    return {name: read_metadata(home, places[name]) for name in tables if name in places}


def key_of(metadata: Mapping[str, Any]) -> list[str]:
    """Return the columns that tell rows apart: of the last merge, else Iceberg's identifiers."""
    for snapshot in reversed(metadata.get("snapshots") or ()):
        if keys := snapshot.get("summary", {}).get(MERGE_KEYS):
            return list(keys.split(","))
    schemas = metadata.get("schemas") or ()
    current = [one for one in schemas if one["schema-id"] == metadata.get("current-schema-id")]
    names = {column["id"]: column["name"] for one in current for column in one["fields"]}
    ids = [number for one in current for number in one.get("identifier-field-ids") or ()]
    return [names[number] for number in ids if number in names]
