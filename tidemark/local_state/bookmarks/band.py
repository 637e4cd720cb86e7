"""The files of a bookmark's band, as one text a folder.

A listing of a folder is compared with its text as a whole. So a folder that did not change costs no
object a file, neither when the bookmark is loaded nor when the folder is listed.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.local_state.bookmarks.files import FileVersion, file_version, with_one_scheme

PARTS = 3  # of a file: its name, which has no "/", its time and its size


def text_of(versions: Iterable[tuple[str, int, int]]) -> str:
    """Return the text of files of one folder: ``a.json/1700000000000/12/b.json/…``."""
    return "/".join(sorted(f"{name}/{ms}/{size}" for name, ms, size in versions))


@dataclass(frozen=True)
class Band:
    """Versions of files by folder.

    Attributes:
        folders: the text of each folder, by its URI with the slash at the end; none is empty.

    Example: ``Band({"s3://b/in/": "a.json/1000/7"})`` is the file s3://b/in/a.json of 7 bytes.
    """

    folders: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, files: Iterable[Any]) -> "Band":
        """Return a band of files, each a path, a time and a size, as older versions kept them."""
        if isinstance(files, Band):
            return files
        folders: dict[str, list[tuple[str, int, int]]] = {}
        for path, modified_ms, size in files:
            folder, slash, name = with_one_scheme(path).rpartition("/")
            folders.setdefault(folder + slash, []).append((name, modified_ms, size))
        return cls({folder: text_of(versions) for folder, versions in folders.items()})

    def __iter__(self) -> Iterator[FileVersion]:
        """Yield the files, sorted within each folder."""
        for folder, text in sorted(self.folders.items()):
            parts = text.split("/")
            for name, modified_ms, size in zip(*[iter(parts)] * PARTS, strict=True):
                yield file_version((folder + name, int(modified_ms), int(size)))

    def __len__(self) -> int:
        """Return how many files there are."""
        return sum(text.count("/") // PARTS + 1 for text in self.folders.values())

    def within(self, folders: Collection[str]) -> "Band":
        """Return the files in these folders."""
        return Band({name: text for name, text in self.folders.items() if name in folders})

    def without(self, folders: Collection[str]) -> "Band":
        """Return the files in other folders than these."""
        return Band({name: text for name, text in self.folders.items() if name not in folders})

    def later_than(self, ms: int) -> "Band":
        """Return the files that were modified after a moment."""
        passed = {name for name, text in self.folders.items() if _oldest_ms(text) <= ms}
        later = Band.of(file for file in self.within(passed) if file.modified_ms > ms)
        return Band({**self.without(passed).folders, **later.folders})


def _oldest_ms(text: str) -> int:
    return min(map(int, text.split("/")[1::PARTS]))
