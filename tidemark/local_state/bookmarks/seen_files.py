"""The newest files that the runs of a source have seen: another one of such a time came since.

Times alone do not show that. A run while the clock is ahead reads files with times ahead; files
that arrive when the clock is right again have older times, and no run reads them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from heapq import nlargest
from operator import attrgetter
from typing import Any

from tidemark.local_state.bookmarks.files import FileVersion

MAX_SEEN = 100
NAME_BYTES = 6


@dataclass(frozen=True)
class SeenFiles:
    """Files that runs have seen, by time and digest of the path.

    Attributes:
        floor_ms: all that are later than this are in `files`; of others nothing is known.
        files: the newest ones.
    """

    floor_ms: int = -1
    files: frozenset[tuple[int, str]] = frozenset()

    def has(self, file: FileVersion) -> bool:
        """Return whether a file is one of those that are known."""
        return (file.modified_ms, _digest(file.path)) in self.files

    def has_come_since(self, file: FileVersion) -> bool:
        """Return whether a file is later than the floor and runs did not list it."""
        return file.modified_ms > self.floor_ms and not self.has(file)

    def with_files(self, files: Iterable[FileVersion]) -> "SeenFiles":
        """Return the knowledge after a run has seen some more."""
        newest = nlargest(MAX_SEEN + 1, files, key=attrgetter("modified_ms"))
        seen = {(file.modified_ms, _digest(file.path)) for file in newest}
        newest_first = sorted(self.files | seen, reverse=True)
        floor_ms = max([self.floor_ms, *(ms for ms, _ in newest_first[MAX_SEEN : MAX_SEEN + 1])])
        return SeenFiles(
            floor_ms, frozenset((ms, name) for ms, name in newest_first[:MAX_SEEN] if ms > floor_ms)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the knowledge as plain JSON values."""
        return {"floor_ms": self.floor_ms, "files": [list(file) for file in sorted(self.files)]}

    @classmethod
    def of_state(cls, state: Mapping[str, Any] | None) -> "SeenFiles":
        """Return the knowledge in a bookmark's state; in older versions the newest time."""
        if not state:
            return cls()
        if seen := state.get("seen"):
            return cls(seen["floor_ms"], frozenset((ms, name) for ms, name in seen["files"]))
        return cls(min(state["low_ms"], state.get("newest_ms", state["low_ms"])))


def _digest(path: str) -> str:
    return blake2b(path.encode(errors="surrogatepass"), digest_size=NAME_BYTES).hexdigest()
