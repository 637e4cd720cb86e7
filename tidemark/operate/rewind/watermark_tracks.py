"""The watermarks of jobs as tracks: read from their table, here and on AWS."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tidemark.operate.rewind.facts import Move, Track, text_of
from watermarks import WatermarkAdmin

Windows: TypeAlias = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""The stored open windows, by table, job and source."""


def tracks_of_table(
    admin: WatermarkAdmin, jobs: Iterable[str]
) -> tuple[list[Track], dict[tuple[str, str, str], Mapping[str, Any]]]:
    """Return the watermarks of jobs and of their sources, with their histories."""
    tracks: list[Track] = []
    windows: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for job in jobs:
        for source in ["", *admin.sources(job)]:
            moves = [
                Move(
                    entry.version,
                    entry.kind,
                    entry.run_id,
                    int(entry.committed_at.timestamp() * 1000) if entry.committed_at else 0,
                    {name: text_of(value) for name, value in entry.watermarks.items()},
                )
                for entry in admin.history(job, source=source)
            ]
            if moves:
                _, items = admin.head_of(job, source=source)
                windows[admin.table_name, job, source] = items
                tracks.append(Track(job, admin.table_name, moves, source, len(items)))
    return tracks, windows
