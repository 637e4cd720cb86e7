"""Gathers the data for a plan at a target."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from tidemark.model.assembly.definitions import WATERMARK_TABLE
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.app_jobs import jobs_of
from tidemark.operate.rewind.datasets import with_whole_tables
from tidemark.operate.rewind.facts import RewindFacts, Track
from tidemark.operate.rewind.tracks import Windows, tracks_of_table
from tidemark.operate.target import Target, arguments_of
from watermarks import WatermarkTableError


def facts_of(target: Target, now_ms: int) -> tuple[RewindFacts, Windows]:
    """Return the known facts about the jobs of an app, and the open windows."""
    declared = jobs_of(target)
    jobs = [job.name for job in declared]
    runs = sorted(target.runs(None), key=lambda run: run.started_at)
    checkpoints = with_whole_tables(target.checkpoints(), target.transforms)
    checkpoints.sort(key=attrgetter("committed_at_ms"))
    known = target.rewind_facts(jobs, runs)
    watermarks: list[Track] = []
    windows: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for table, names in _tables(target, jobs, checkpoints).items():
        try:
            with target.watermarks(table) as admin:
                tracks, items = tracks_of_table(admin, names)
        except WatermarkTableError as error:
            if error.reason != "not_found":
                raise
            continue  # no job has run yet
        watermarks += tracks
        windows |= items
    if not target.has_positions:
        with_bookmark = {track.job for track in known.tracks}
        checkpoints = [
            _with_positions(checkpoint) if checkpoint.job_name in with_bookmark else checkpoint
            for checkpoint in checkpoints
        ]
    facts = replace(
        known,
        tracks=[*known.tracks, *watermarks],
        checkpoints=checkpoints,
        now_ms=now_ms,
        in_flight=[run for run in runs if not run.is_final and run.job in jobs],
        declared_reads={job.name: job.reads for job in declared},
        declared_writes={job.name: job.writes for job in declared},
    )
    return facts, windows


def _tables(
    target: Target, jobs: Sequence[str], checkpoints: Iterable[Checkpoint]
) -> dict[str, list[str]]:
    # A job may have had another table when it ran: both count.
    by_table: dict[str, dict[str, None]] = {}
    for job in jobs:
        if table := arguments_of(target.definition(job)).get(WATERMARK_TABLE):
            by_table.setdefault(table, {})[job] = None
    for checkpoint in checkpoints:
        for move in checkpoint.watermarks if checkpoint.job_name in jobs else ():
            by_table.setdefault(move.table, {})[checkpoint.job_name] = None
    return {table: list(names) for table, names in by_table.items()}


def _with_positions(one: Checkpoint) -> Checkpoint:
    # AWS tells no positions: what no watermark keeps, the bookmark does.
    if one.watermarks:
        return one
    return replace(
        one,
        read=tuple(
            replace(read, after={"kind": "files" if read.dataset.startswith("s3") else "keys"})
            for read in one.read
        ),
    )
