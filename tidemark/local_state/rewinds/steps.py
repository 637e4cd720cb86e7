"""What a rewind does to the state of a home, as plain data, and the same steps backwards."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class BookmarkStep:
    """A bookmark: the version that holds, and the one whose position is to hold (0: none)."""

    job: str
    expected: int
    version: int


@dataclass(frozen=True)
class WatermarkStep:
    """A watermark: the version that holds and its run, and the run that is to hold (empty: none).

    `windows` are the stored open windows that an undo restores.
    """

    table: str
    job: str
    source: str
    expected: int
    from_run: str
    to_run: str
    windows: Mapping[str, Any] = field(default_factory=dict)
    restores: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TableStep:
    """A table of Iceberg: the place of its metadata that holds, and the one that is to hold.

    `snapshot` is the one to which it goes back, empty for none; the file of `place` is written with
    it if it is missing.
    """

    table: str
    expected: str
    place: str
    snapshot: str


@dataclass(frozen=True)
class Steps:
    """Everything that moves at once; `files` are pairs of paths in the home, from and to."""

    bookmarks: tuple[BookmarkStep, ...] = ()
    watermarks: tuple[WatermarkStep, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    tables: tuple[TableStep, ...] = ()

    def backwards(self) -> "Steps":
        """Return the steps that undo these."""
        return Steps(
            tuple(BookmarkStep(s.job, s.expected + 1, s.expected) for s in self.bookmarks),
            tuple(
                WatermarkStep(
                    s.table,
                    s.job,
                    s.source,
                    s.expected + 1,
                    s.to_run,
                    s.from_run,
                    windows=s.restores,
                    restores=s.windows,
                )
                for s in self.watermarks
            ),
            tuple((to, from_) for from_, to in reversed(self.files)),
            tuple(TableStep(s.table, s.place, s.expected, "") for s in self.tables),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the steps as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Steps":
        """Return what `to_json` gave."""
        return cls(
            tuple(BookmarkStep(**one) for one in document["bookmarks"]),
            tuple(WatermarkStep(**one) for one in document["watermarks"]),
            tuple((one[0], one[1]) for one in document["files"]),
            tuple(TableStep(**one) for one in document.get("tables", ())),
        )
