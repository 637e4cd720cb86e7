"""States of jobs as tracks: a deployed bookmark by Glue's one entry, watermarks by their table."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from tidemark.operate.clients import Glue, NotAnsweredError, or_none
from tidemark.operate.job_runs import Run
from tidemark.operate.rewind.facts import BOOKMARK, Move, Track, watermark_string
from watermarks import WatermarkAdmin


def entry_of(glue: Glue, job: str, run_id: str | None = None) -> Mapping[str, Any] | None:
    """Return the JobBookmarkEntry of a job, None if it has no bookmark."""
    request = {"JobName": job, **({"RunId": run_id} if run_id else {})}
    try:
        answer = or_none(glue.glue.get_job_bookmark, **request)
    except NotAnsweredError as error:
        raise NotAnsweredError(
            f"the bookmark of job {job} is not known: {glue.where} does not answer GetJobBookmark, "
            f"as AWS does ({error})"
        ) from error
    return answer and answer["JobBookmarkEntry"]


def bookmark_track(job: str, entry: Mapping[str, Any] | None, runs: Sequence[Run]) -> Track | None:
    """Return the bookmark of a job with its history: the runs that SUCCEEDED, as Glue keeps them.

    Glue lists no versions. A run that SUCCEEDED is taken to have committed, which one that commits
    nothing did not: to rewind to it is to rewind to the last commit before it. One that was started
    with a bookmark that is paused or disabled, as those of a backfill are, is known to have not.
    """
    if entry is None:
        return None
    version, at = int(entry["Version"]), entry.get("RunId", "")
    committed = [
        run
        for run in runs
        if run.state == "SUCCEEDED" and run.ended_at_ms is not None and run.moves_bookmark
    ]
    moves = []
    if (committed and committed[0].run_id != at) or not committed:
        now = committed[0].ended_at_ms if committed else 0
        moves.append(Move(version, "rewind" if at else "reset", at, now or 0))
    # The oldest one is the first there was if Glue has kept as many as have committed.
    is_whole = len(committed) >= int(entry.get("Run", 0) or len(committed))
    for number, run in enumerate(committed):
        left = len(committed) - number - (1 if is_whole else 0)
        moves.append(Move(min(version, left + 1), "commit", run.run_id, run.ended_at_ms or 0))
    first = moves[0]
    return Track(job, BOOKMARK, [Move(version, first.kind, first.run_id, first.at_ms), *moves[1:]])


Windows: TypeAlias = Mapping[tuple[str, str, str], Mapping[str, Any]]
"""Open windows as they are stored, by table, job and source."""


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
                    {name: watermark_string(value) for name, value in entry.watermarks.items()},
                )
                for entry in admin.history(job, source=source)
            ]
            if moves:
                _, items = admin.head_of(job, source=source)
                windows[admin.table_name, job, source] = items
                tracks.append(Track(job, admin.table_name, moves, source, len(items)))
    return tracks, windows
