"""Gathers the data for a plan at a target."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.model.assembly.definitions import WATERMARK_TABLE
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.replaced_partitions import with_whole_tables
from tidemark.operate.rewind.facts import Facts, Track
from tidemark.operate.rewind.tracks import Windows, tracks_of_table
from tidemark.operate.target import Target, arguments_of
from watermarks import WatermarkTableError


def facts_of(
    target: Target,
    reads: Mapping[str, Sequence[str]],
    writes: Mapping[str, Sequence[str]],
    now_ms: int,
) -> tuple[Facts, Windows]:
    """Return the known facts about the jobs of an app, and the open windows.

    ``reads`` and ``writes`` are the datasets that the template declares, by job.
    """
    jobs = list(reads)
    runs = sorted(target.runs(None), key=lambda run: run.started_at)
    checkpoints = with_whole_tables(target.checkpoints(), target.transforms)
    checkpoints.sort(key=lambda one: one.committed_at_ms)
    known = target.rewind_facts(jobs, runs)
    watermarks: list[Track] = []
    windows: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for table, names in _tables(target, jobs, checkpoints).items():
        try:
            with target.watermarks(table) as admin:
                found, items = tracks_of_table(admin, names)
        except WatermarkTableError as error:
            if error.reason != "not_found":
                raise
            continue  # no job has run yet
        watermarks += found
        windows |= items
    if not target.has_positions:
        with_bookmark = {track.job for track in known.tracks}
        checkpoints = [
            _with_positions(one) if one.job_name in with_bookmark else one for one in checkpoints
        ]
    facts = replace(
        known,
        tracks=[*known.tracks, *watermarks],
        checkpoints=checkpoints,
        now_ms=now_ms,
        in_flight=[run for run in runs if not run.is_final and run.job in reads],
        declared_reads=reads,
        declared_writes=writes,
    )
    return facts, windows


def _tables(
    target: Target, jobs: Sequence[str], checkpoints: Iterable[Checkpoint]
) -> dict[str, list[str]]:
    """Return the jobs that keep watermarks, by table: of their argument, or as they have run."""
    found: dict[str, dict[str, None]] = {}
    for job in jobs:
        if table := arguments_of(target.definition(job)).get(WATERMARK_TABLE):
            found.setdefault(table, {})[job] = None
    for one in checkpoints:
        for move in one.watermarks if one.job_name in jobs else ():
            found.setdefault(move.table, {})[one.job_name] = None
    return {table: list(names) for table, names in found.items()}


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
