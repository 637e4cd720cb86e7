"""What Glue tells of the jobs of a deployed stage, as the facts of a plan."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.clients import NOT_FOUND, Glue, all_of
from tidemark.operate.job_runs import runs_of_job
from tidemark.operate.names import JOB
from tidemark.operate.rewind.facts import BOOKMARK, Facts, KnownRun, Move, Start, Track


def facts_of_stage(
    glue: Glue,
    checkpoints: Sequence[Checkpoint],
    watermark_tracks: Sequence[Track],
    now_ms: int,
) -> Facts:
    """Return what Glue and the watermark tables of a stage tell."""
    jobs = list(glue.names.jobs)
    for name in jobs[:1]:
        glue.check_stage(JOB, name)
    runs: list[KnownRun] = []
    tracks: list[Track] = []
    for job in jobs:
        found = [
            KnownRun(
                run.run_id,
                job,
                int(run.started_at.timestamp() * 1000),
                run.state if run.is_final else "RUNNING",
                int(run.ended_at.timestamp() * 1000) if run.ended_at else None,
                run.arguments,
            )
            for run in runs_of_job(glue, job, None, None)
        ]
        runs += found
        if track := bookmark_track(job, entry_of(glue, job), found):
            tracks.append(track)
    return Facts(
        jobs=jobs,
        starts=_starts(glue),
        tracks=[*tracks, *watermark_tracks],
        checkpoints=[
            _with_positions(one) if one.job_name in {track.job for track in tracks} else one
            for one in sorted(checkpoints, key=lambda one: one.committed_at_ms)
        ],
        runs=sorted(runs, key=lambda one: one.started_at_ms),
        now_ms=now_ms,
        in_flight=[run for run in runs if run.ended_at_ms is None],
        schedules=["a schedule or an event of the stage may start runs: none is paused"],
        can_clear=False,
    )


def _with_positions(one: Checkpoint) -> Checkpoint:
    """Return a checkpoint of a job with a bookmark: it reads by that what no watermark keeps."""
    if one.watermarks:
        return one
    return replace(
        one,
        read=tuple(
            replace(r, after={"kind": "files" if r.dataset.startswith("s3") else "keys"})
            for r in one.read
        ),
    )


def entry_of(glue: Glue, job: str) -> Mapping[str, Any] | None:
    """Return the JobBookmarkEntry of a job, None if it has no bookmark."""
    from botocore.exceptions import ClientError

    try:
        entry: Mapping[str, Any] = glue.glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise
        return None
    return entry


def bookmark_track(
    job: str, entry: Mapping[str, Any] | None, runs: Sequence[KnownRun]
) -> Track | None:
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


def _starts(glue: Glue) -> list[Start]:
    jobs, found = set(glue.names.jobs), []
    for member in all_of(glue.glue.get_triggers, "Triggers"):
        started = tuple(it.get("JobName", "") for it in member.get("Actions", []))
        conditions = member.get("Predicate", {}).get("Conditions", [])
        after = tuple(it.get("JobName", "") for it in conditions)
        if jobs & {*started}:
            found.append(Start(member["Name"], started, after, member.get("WorkflowName", "")))
    return found
