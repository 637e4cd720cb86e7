"""Datasets that a job process reads and writes without Spark naming them: noted as it happens."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.model.checkpoints.checkpoint import DatasetRead, DatasetWritten

NOTES_FILE = "tidemark-datasets.jsonl"  # in the folder of the run
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
    notes = [one for one in _notes(run_folder) if "files" in one]
    return {
        name for one in notes if one["is_bookmarked"] or not is_bookmarked for name in one["files"]
    }


def noted_reads(run_folder: Path) -> list[DatasetRead]:
    """Return the noted reads."""
    return [DatasetRead(**one["read"]) for one in _notes(run_folder) if "read" in one]


def noted_writes(run_folder: Path) -> list[DatasetWritten]:
    """Return the noted writes."""
    return [DatasetWritten(**one["written"]) for one in _notes(run_folder) if "written" in one]


def _note(document: dict[str, Any]) -> None:
    if folder := os.environ.get(RUN_FOLDER_VARIABLE):
        with (Path(folder) / NOTES_FILE).open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(document)}\n")


def _notes(run_folder: Path) -> Iterator[dict[str, Any]]:
    file = run_folder / NOTES_FILE
    if file.is_file():
        yield from map(json.loads, file.read_text(encoding="utf-8").splitlines())
