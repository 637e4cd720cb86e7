"""The state of a job's bookmark at a point of its script, on every way there."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from tidemark.checks.script.place import Place


@dataclass(frozen=True)
class Caught:
    """An exception handler on a way, and the names with which it may report that."""

    place: Place
    names: frozenset[str]


@dataclass(frozen=True)
class Path:
    """The state on one way; read and written count from the last commit."""

    is_init: bool = False
    has_read: bool = False
    has_written: bool = False
    caught: Caught | None = None


@dataclass(frozen=True)
class Point:
    """A point of a script with the state on each way there; without a path nothing gets there."""

    paths: frozenset[Path] = frozenset()
    opened: frozenset[tuple[str, int, int]] = frozenset()  # ctx and place, on any way
    asked: frozenset[str] = frozenset()  # arguments that were required, on every way

    @property
    def is_reached(self) -> bool:
        """Return whether any way leads here."""
        return bool(self.paths)

    def each(self, change: Callable[[Path], Path]) -> "Point":
        """Return the point after something that happens on every way."""
        return replace(self, paths=frozenset(change(path) for path in self.paths))


NOWHERE = Point()
START = Point(paths=frozenset({Path()}))


def join(*points: Point) -> Point:
    """Return the point where several ways meet."""
    reached = [point for point in points if point.is_reached]
    if not reached:
        return NOWHERE
    return Point(
        paths=frozenset().union(*(point.paths for point in reached)),
        opened=frozenset().union(*(point.opened for point in reached)),
        asked=frozenset.intersection(*(point.asked for point in reached)),
    )


def initialized(path: Path) -> Path:
    """Return a path after job.init."""
    return replace(path, is_init=True)


def read(path: Path) -> Path:
    """Return a path after a source was opened."""
    return replace(path, has_read=True)


def written(path: Path) -> Path:
    """Return a path after a write: what failed before has been made good, as by a retry."""
    return replace(path, has_written=True, caught=None)


def committed(path: Path) -> Path:
    """Return a path after job.commit."""
    return replace(path, has_read=False, has_written=False, caught=None)


def caught(by: Caught) -> Callable[[Path], Path]:
    """Return the effect of a handler on paths that fail with something read and uncommitted."""
    return lambda path: replace(path, caught=by) if path.has_read else path


def handled(path: Path) -> Path:
    """Return a path after a handler that raises unexpected exceptions."""
    return replace(path, caught=None)


def resolved(names: Iterable[str]) -> Callable[[Path], Path]:
    """Return the effect of a test of names: a failure that one of them reports is handled."""
    asked = frozenset(names)

    def change(path: Path) -> Path:
        is_handled = path.caught is not None and path.caught.names & asked
        return replace(path, caught=None) if is_handled else path

    return change


@dataclass
class Jumps:
    """Where control leaves a block other than at its end."""

    returns: list[Point] = field(default_factory=list)
    breaks: list[Point] = field(default_factory=list)
    continues: list[Point] = field(default_factory=list)
    exits: list[tuple[Place, Point]] = field(default_factory=list)
