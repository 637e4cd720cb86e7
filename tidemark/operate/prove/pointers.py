"""Objects that name the folder that counts: a run writes a new one, then says so in one object."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.operate.prove.changes import pattern_of
from tidemark.operate.versions.targets import Files, changed_targets, files_of

MAX_BYTES = 100_000
MIN_NAME = 8  # characters of a folder's name: a shorter one, such as 1, stands in any text


@dataclass(frozen=True)
class RunFolders:
    """How the folders are named that runs write.

    Attributes:
        vary: whether two equal runs write to folders of different names.
        pointers: the paths of the objects that then name the one that counts.
    """

    vary: bool = False
    pointers: Sequence[str] = ()


SAME = RunFolders()


def run_folders(base: Home, run: Home, control: Home) -> RunFolders:
    """Return how a run and an equal one have named their folders."""
    before, *after = (files_of(home.lake, with_hidden=True) for home in (base, run, control))
    written, written_by_control = (changed_targets(before, files) for files in after)
    if written == written_by_control:
        return SAME
    return RunFolders(vary=True, pointers=pointers_of(run, before, after[0]))


def pointers_of(home: Home, before: Files, files: Files) -> list[str]:
    """Return the paths of the objects that name each folder that a run has made for itself.

    None unless there are such folders, and each of them is named.
    """
    made = {path: of_run for path in files if path not in before if (of_run := _own_folder(path))}
    texts = {
        path: _text(home, path)
        for path, (size, _) in files.items()
        if size <= MAX_BYTES and path not in made and files[path] != before.get(path)
    }
    names = set(made.values())
    naming = [path for path, text in texts.items() if any(name in text for name in names)]
    are_named = all(any(name in texts[path] for path in naming) for name in names)
    return sorted(naming) if names and are_named else []


def forgotten(home: Home, files: Files, pointers: Sequence[str]) -> set[str]:
    """Return the paths of the files in folders of runs that no pointer names."""
    if not pointers:
        return set()
    text = "".join(_text(home, path) for path in pointers if path in files)
    return {path for path in files if (name := _own_folder(path)) and name not in text}


def _own_folder(path: str) -> str:
    """Return the name of the folder that a run has made for itself, by an id or a time."""
    parts = [part for part in path.split("/")[1:-1] if "=" not in part and len(part) >= MIN_NAME]
    return next((part for part in parts if pattern_of(f"s3://b/{part}") != f"s3://b/{part}"), "")


def _text(home: Home, path: str) -> str:
    return Path(home.lake, path).read_text(encoding="utf-8", errors="replace")
