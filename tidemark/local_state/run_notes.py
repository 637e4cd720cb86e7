"""What a job process notes in the folder of its run: datasets, files, and snapshots of Iceberg."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tidemark.local_state.machine.own_files import append_line, read_lines
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.model.checkpoints.checkpoint import DatasetRead, DatasetWritten

NOTES_FILE, SNAPSHOTS_FILE = "tidemark-datasets.jsonl", "snapshots.jsonl"  # in that folder
FILES_VARIABLE = "TIDEMARK_NOTE_FILES"  # of tests, which ask for the name of each file


def note_read(read: DatasetRead) -> None:
    """Note a dataset that was read; outside of a job run nothing is noted."""
    _note({"read": asdict(read)})


def note_written(written: DatasetWritten) -> None:
    """Note a dataset that was written; outside of a job run nothing is noted."""
    _note({"written": asdict(written)})


def note_files(names: Sequence[str], *, is_bookmarked: bool) -> None:
    """Note the files that a source reads, if a test asks for them."""
    if os.environ.get(FILES_VARIABLE):
        _note({"files": names, "is_bookmarked": is_bookmarked})


def noted_files(run_folder: Path, *, is_bookmarked: bool) -> set[str]:
    """Return the files that a run read: all, or those that it read through its bookmark."""
    names: set[str] = set()
    for note in read_lines(run_folder / NOTES_FILE):
        if note.get("is_bookmarked") or not is_bookmarked:
            names.update(note.get("files", ()))
    return names


def noted_reads(run_folder: Path) -> list[DatasetRead]:
    """Return the noted reads."""
    return [
        DatasetRead(**note["read"])
        for note in read_lines(run_folder / NOTES_FILE)
        if "read" in note
    ]


def noted_writes(run_folder: Path) -> list[DatasetWritten]:
    """Return the noted writes."""
    return [
        DatasetWritten(**note["written"])
        for note in read_lines(run_folder / NOTES_FILE)
        if "written" in note
    ]


def _note(document: dict[str, Any]) -> None:
    if folder := os.environ.get(RUN_FOLDER_VARIABLE):
        append_line(Path(folder) / NOTES_FILE, document)


def note_snapshots(table: str, snapshots: Iterable[Mapping[str, Any]]) -> None:
    """Append the snapshots that a commit of this job run added; nothing outside of a run."""
    if folder := os.environ.get(RUN_FOLDER_VARIABLE):
        for snapshot in snapshots:
            append_line(Path(folder) / SNAPSHOTS_FILE, {"table": table, **snapshot})


def snapshots_of(folder: Path) -> list[dict[str, Any]]:
    """Return the snapshots of a run, in order: table, id, parent, at_ms, operation, summary."""
    return read_lines(folder / SNAPSHOTS_FILE)
