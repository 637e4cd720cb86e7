"""The targets of a test's jobs, by their arguments and the files of their runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tidemark.model.assembly.glue_arguments import GLUE_ARGUMENTS
from tidemark.testing.comparison import names_of
from tidemark.testing.lake_files import WRITABLE, suffixes_of
from tidemark.testing.state_of_test import current_test

if TYPE_CHECKING:
    from tidemark.testing.lake import Lake
    from tidemark.testing.run import GlueRun


def targets_of(lake: Lake, target: str | Sequence[str] | None) -> list[str]:
    """Return the targets of this test's jobs: the given ones, or those that their runs wrote to.

    That is a folder among the arguments, or else the folder of the files, above its partitions.
    Tables of Iceberg, Delta Lake and Hudi are not targets, nor files that `lake.rows` cannot read.
    """
    if target is not None:
        return [name.partition("://")[2] or name for name in names_of(target)]
    places: set[str] = set()
    for run in current_test().runs:
        for name in filter(lambda place: _is_readable(lake, place), run.files_written):
            places.update(_target_of(run, name))
    return sorted(
        place
        for place in places
        if not any(place != outer and place.startswith(outer) for outer in places)
    )


def folders_written(run: GlueRun, among: Sequence[str]) -> set[str]:
    """Return the folders of a run's files, above their partitions.

    Args:
        run: the run.
        among: places that count; none is all.
    """
    left_out = tuple(_glue_places(run))
    names = [name for name in run.files_written if not name.startswith(left_out)]
    return {_folder(name) for name in names if not among or name.startswith(tuple(among))}


def _target_of(run: GlueRun, name: str) -> Iterator[str]:
    """Yield the widest place around a file in which the run has read nothing."""
    if name.startswith(tuple(_glue_places(run))):
        return
    own = [value for key, value in run.arguments.items() if key not in GLUE_ARGUMENTS]
    places = [place for place in _places(own) if name.startswith(place)]
    for place in [*sorted(places, key=len), _folder(name)]:
        if not any(read.startswith(place) for read in run.files_read):
            yield place
            return


def _glue_places(run: GlueRun) -> list[str]:
    return list(_places(value for key, value in run.arguments.items() if key in GLUE_ARGUMENTS))


def _places(values: Iterable[str]) -> Iterator[str]:
    for value in values:
        if place := value.partition("://")[2].rstrip("/"):
            yield f"{place}/"


def _folder(name: str) -> str:
    parts = name.split("/")[:-1]
    while len(parts) > 1 and "=" in parts[-1]:
        parts.pop()
    return f"{'/'.join(parts)}/"


def _is_readable(lake: Lake, name: str) -> bool:
    parts = name.split("/")[:-1]
    above = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    return suffixes_of(name)[0] in WRITABLE and not any(map(lake.table_format, above))
