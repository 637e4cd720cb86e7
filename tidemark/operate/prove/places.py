"""The folders that runs have written, each with its files in the lakes of all experiments."""

from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, TypeAlias

from tidemark.local_state.home import Home
from tidemark.local_state.reads import read_first
from tidemark.operate.prove.changes import is_below, is_hidden_place, pattern_of
from tidemark.operate.prove.pointers import RunFolders, forgotten
from tidemark.operate.prove.tables import folders_of_tables, table_locations
from tidemark.operate.versions.targets import (
    ComparedTarget,
    Files,
    changed_targets,
    files_of,
    target_of,
)

MIN_SHARED = 2  # parts of a path: the bucket and a folder
Place: TypeAlias = tuple[str, str]
"""A folder of the lake, and the format of its files."""


def sides_of_places(
    base: Home, homes: Sequence[Home], folders: RunFolders
) -> dict[str, tuple[str, list[dict[str, Any]]]]:
    """Return the places of the lake that the baseline wrote, each with its files in all homes.

    Folders of runs that no pointer names do not count.
    """
    marks = hidden_marks(homes[0])
    files_of_homes = [data_files(home, marks) for home in homes]
    before, of_tables = files_of(base.lake, with_hidden=True), tuple(folders_of_tables(homes[0]))
    for home, files in zip(homes, files_of_homes, strict=True):
        for path in {*folders.pointers, *forgotten(home, files, folders)} & files.keys():
            del files[path]
    written, *others = [
        [
            (target.folder, target.format)
            for target in changed_targets(before, files)
            if not f"{target.folder}/".startswith(of_tables)
        ]
        for files in files_of_homes
    ]
    found_by_others = [place for of_home in others for place in of_home]
    sides_by_place = {}
    for folder, kind in places_of(written, found_by_others, names_vary=folders.vary):
        shown = _published(homes, files_of_homes, folder)
        sides = zip(homes, shown, strict=True)
        of_homes = [_side(home.lake, files, folder, kind) for home, files in sides]
        if shown is not files_of_homes:  # the folder has more
            of_homes = [{**side, "all": False} for side in of_homes]
        sides_by_place[f"s3://{folder}/"] = (kind, of_homes)
    return sides_by_place


def data_files(home: Home, marks: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the files of a lake, also those of hidden names, without marks of jobs."""
    paths = {uri.partition("://")[2] for uri in marks}
    files = files_of(home.lake, with_hidden=True)
    return {path: facts for path, facts in files.items() if path not in paths}


def hidden_marks(home: Home) -> list[str]:
    """Return the objects of hidden names that runs read before they wrote them.

    They say how far a job has got, which shows in what the next run does.
    """
    return sorted(uri for uri in read_first(home) if is_hidden_place(uri))


def _published(
    homes: Sequence[Home], files_of_homes: Sequence[Files], folder: str
) -> Sequence[Files]:
    """Return the files of each home; where a table shows one of several loads, only those of it."""
    shown = [
        tuple(location for location in table_locations(home) if is_load(location, folder))
        for home in homes
    ]
    loads = tuple(map(pattern_of, shown[0]))
    below = [path for path in files_of_homes[0] if is_below(path, f"{folder}/")]
    if not loads or not all(pattern_of(path).startswith(loads) for path in below):
        # A table that shows a part, such as a year, hides no row of the others.
        return files_of_homes
    return [
        {path: facts for path, facts in files.items() if path.startswith(places)}
        for files, places in zip(files_of_homes, shown, strict=True)
    ]


def is_load(location: str, folder: str) -> bool:
    """Return whether a table's location is a folder of a run, and not a partition, of a target."""
    return location != f"{folder}/" and is_below(location, f"{folder}/") and "=" not in location


def places_of(
    written: Sequence[Place], others: Sequence[Place], *, names_vary: bool
) -> list[Place]:
    """Return the folders to compare: those that the first run wrote, by folder and format.

    Runs that write a folder each, named by their id or a time, write to the folder above. If that
    is a bucket, or two equal runs write the same folders, they write to those whose names differ in
    numbers alone, which a pattern names: others, such as for what is not done, are no targets.
    """
    places = dict.fromkeys(written)
    for folder, kind in others:
        if any(of == kind and is_below(f"{folder}/", f"{known}/") for known, of in places):
            continue
        same = [known for known, of in places if of == kind]
        shared = max((_shared(folder, known) for known in same), key=len, default=[])
        is_above = names_vary and len(shared) >= MIN_SHARED
        root = "/".join(shared) if is_above else pattern_of(folder)
        places = dict.fromkeys(
            (root, kind) if of == kind and is_below(f"{known}/", f"{root}/") else (known, of)
            for known, of in places
        )
    return list(places)


def _shared(folder: str, other: str) -> list[str]:
    """Return the first parts that two folders have in common."""
    pairs = zip(folder.split("/"), other.split("/"), strict=False)
    return [part for part, _ in takewhile(lambda pair: pair[0] == pair[1], pairs)]


def _side(lake: Path, files: Files, folder: str, kind: str) -> dict[str, Any]:
    """Return a folder in a lake, its files of a format, and whether it has no others."""
    # Where runs have written a folder each, the files are also told apart by these.
    side, hidden = (ComparedTarget(folder, kind, of).within(lake, files) for of in (False, True))
    if hidden["files"]:  # Spark reads these only by their names
        side = {**side, "files": sorted(side["files"] + hidden["files"]), "all": False}
    if side["all"] and side["files"]:
        return side
    paths = [path for path in sorted(files) if is_below(path, f"{folder}/")]
    by_folder = dict[str, list[str]]()
    for path in [path for path in paths if target_of(path).format == kind]:
        by_folder.setdefault(str(lake / target_of(path).folder), []).append(str(lake / path))
    if not by_folder.keys() - {side["folder"]}:
        return side
    own = [file for of_folder in by_folder.values() for file in of_folder]
    top = folder.partition("*")[0].rpartition("/")[0] if "*" in folder else folder
    return {**side, "folder": str(lake / top), "files": own, "folders": by_folder, "all": False}
