"""Objects that name what counts: a run writes folders or files, then an object that says so.

A parameter of SSM may name it, too, or an item of DynamoDB whose key stays the same.
"""

import base64
import json
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.home_folder import SERVICES, TABLES
from tidemark.local_state.machine.own_files import read_lines
from tidemark.local_state.operations import DYNAMODB, table_uri
from tidemark.local_state.reads import read_first
from tidemark.operate.prove.changes import pattern_of
from tidemark.operate.prove.contents import items_of
from tidemark.operate.prove.identity import MADE_UP
from tidemark.operate.versions.targets import Files, changed_targets, files_of

MAX_BYTES = 100_000
MANIFEST = "manifest"  # in the name of an object that lists the files that readers read
PARAMETER = "ssm PutParameter "  # begins the place of a request, which its name follows
OF_LOCATION = re.compile(r"/([^/\"\s]+)")  # its parts
MIN_NAME = 8  # characters of a folder's name: a shorter one, such as 1, stands in any text


@dataclass(frozen=True)
class RunFolders:
    """How the folders are named that runs write.

    Attributes:
        vary: whether two equal runs write to folders of different names.
        pointers: the paths of the objects that then name the one that counts; of a parameter of
            SSM or an item, the place of the request that puts it.
        listed: the folders of the files that a manifest names.
    """

    vary: bool = False
    pointers: Sequence[str] = ()
    listed: Collection[str] = ()

    @property
    def places(self) -> list[str]:
        """The pointers as the places of the operations that change them."""
        others = (PARAMETER, f"{DYNAMODB}:")
        return [path if path.startswith(others) else f"s3://{path}" for path in self.pointers]


SAME = RunFolders()


def run_folders(base: Home, run: Home, control: Home) -> RunFolders:
    """Return how a run and an equal one have named their folders."""
    before, *after = (files_of(home.lake, with_hidden=True) for home in (base, run, control))
    manifests = manifests_of(run, before, after[0])
    text = "".join(_text(run, path) for path in manifests)
    own = ((path, _own_file(path)) for path in after[0])
    listed = {path.rpartition("/")[0] for path, name in own if name and name in text}
    written, written_by_control = (changed_targets(before, files) for files in after)
    if written == written_by_control:
        return RunFolders(pointers=manifests, listed=listed)
    pointers = pointers_of(run, before, after[0])
    return RunFolders(vary=True, pointers=sorted({*pointers, *manifests}), listed=listed)


def pointers_of(home: Home, before: Files, files: Files) -> list[str]:
    """Return what names each folder that a run has made for itself: objects and other places.

    None unless there are such folders, and each of them is named.
    """
    made = {path: of_run for path in files if path not in before if (of_run := _own_folder(path))}
    texts = {
        path: _text(home, path)
        for path, (size, _) in files.items()
        if size <= MAX_BYTES and path not in made and files[path] != before.get(path)
    }
    # A mark that the run reads may list the ids of runs: it names a folder as an item does.
    marks = texts.keys() & {uri.removeprefix("s3://") for uri in read_first(home)}
    texts |= {path: _locations(texts[path]) for path in marks}
    texts |= _values(home)
    names = set(made.values())
    naming = [path for path, text in texts.items() if any(name in text for name in names)]
    are_named = all(any(name in texts[path] for path in naming) for name in names)
    return sorted(naming) if names and are_named else []


def manifests_of(home: Home, before: Files, files: Files) -> list[str]:
    """Return the paths of the manifests that name each file that a run has named for itself.

    Another object that names files, such as a mark, does not say which ones readers read.
    """
    made = [path for path in files if path not in before and _own_file(path)]
    manifests = list[str]()
    for path, (size, _) in files.items():
        is_named = MANIFEST in path.rpartition("/")[2].lower() and files[path] != before.get(path)
        # One that each run names anew is not found in what another run has left.
        is_one = is_named and not MADE_UP.search(path) and not _own_folder(path)
        text = _text(home, path) if is_one and size <= MAX_BYTES else ""
        named = [file for file in made if _own_file(file) in text]
        if named and all(file in named for file in _beside(named, made)):
            manifests.append(path)
    return sorted(manifests)


def forgotten(home: Home, files: Files, folders: RunFolders) -> set[str]:
    """Return the paths of the files that no pointer names: in folders of runs, or beside others."""
    if not folders.pointers:
        return set()
    values = _values(home)
    text = "".join(
        values[path] if path in values else _text(home, path)
        for path in folders.pointers
        if path in files or path in values
    )
    names = {
        path: _own_file(path) if path.rpartition("/")[0] in folders.listed else _own_folder(path)
        for path in files
        if path not in folders.pointers
    }
    return {path for path, name in names.items() if name and name not in text}


def _beside(named: Iterable[str], paths: Iterable[str]) -> Iterator[str]:
    """Yield those of some paths that are in the folder of one that is named."""
    folders = {path.rpartition("/")[0] for path in named}
    return (path for path in paths if path.rpartition("/")[0] in folders)


def _own_file(path: str) -> str:
    """Return the name of a file that a run has named for itself, by an id or a time; else empty."""
    name = path.rpartition("/")[2]
    return name if MADE_UP.search(name) else ""


def _own_folder(path: str) -> str:
    """Return the name of the folder that a run has made for itself, by an id or a time."""
    parts = [part for part in path.split("/")[1:-1] if "=" not in part and len(part) >= MIN_NAME]
    return next((part for part in parts if pattern_of(f"s3://b/{part}") != f"s3://b/{part}"), "")


def _values(home: Home) -> dict[str, str]:
    """Return the values of parameters, and items, by the places of the requests that put them."""
    values = dict[str, str]()
    for request in read_lines(home.root / SERVICES):
        if request["headers"].get("x-amz-target") == "AmazonSSM.PutParameter":
            body = json.loads(base64.b64decode(request["body"]))
            values[f"{PARAMETER}{body['Name']}"] = body.get("Value", "")
    for table, key, item in items_of(home.root / TABLES):
        # An item for each run is a log, and a mark may have the id of its run: not as a location.
        if not MADE_UP.search(key):
            place = table_uri(table)
            values[place] = f"{values.get(place, '')} {_locations(item)}"
    return values


def _locations(text: str) -> str:
    return " ".join(OF_LOCATION.findall(text))


def _text(home: Home, path: str) -> str:
    return Path(home.lake, path).read_text(encoding="utf-8", errors="replace")
