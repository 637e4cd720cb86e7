"""Reads the data for the ledger of a job: its runs, bookmark, watermarks and source files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.errors import TidemarkError, UsageError
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.backfill.contract import Fillable, fillable_of, filled_range
from tidemark.operate.backfill.evidence import BookmarkReach, JobFacts, KnownRanges, known_of
from tidemark.operate.backfill.folders import edges_by_source
from tidemark.operate.target import Target
from watermarks import WatermarksError, WatermarkTableError


@dataclass(frozen=True)
class Positions:
    """What a backfill must not move.

    Attributes:
        bookmark: its version; None for none.
        watermarks: version and values by source.
    """

    bookmark: int | None
    watermarks: Mapping[str, tuple[int, Mapping[str, Any]]]


def read_job(target: Target, name: str) -> Fillable:
    """Return a job as far as filling it goes."""
    job = target.job(name)
    definition = target.definition(job)
    if definition is None:
        raise UsageError(f"the job {job} is not deployed in {target.where}")
    return fillable_of({**definition, "Name": job})


def read_positions(target: Target, job: Fillable) -> Positions:
    """Return the current bookmark and watermarks of a job."""
    head = target.bookmark(job.name) if job.has_bookmark else None
    version = head.version if head else None
    if not job.watermark_table:
        return Positions(version, {})
    try:
        with target.watermarks(job.watermark_table) as watermarks:
            sources = ["", *watermarks.sources(job.name)]
            heads = {source: watermarks.latest(job.name, source=source) for source in sources}
    except WatermarksError as error:
        if isinstance(error, WatermarkTableError) and error.reason == "not_found":
            return Positions(version, {})  # nothing has run yet
        raise TidemarkError(str(error)) from error
    values = {name: (head.version, head.watermarks) for name, head in heads.items() if head}
    return Positions(version, values)


def read_known(
    target: Target, job: Fillable, checkpoints: Sequence[Checkpoint], positions: Positions
) -> KnownRanges:
    """Return the known ranges of a job."""
    facts = JobFacts(
        job,
        tuple(target.runs([job.name])),
        tuple(checkpoints),
        _bookmark(target, job.name) if job.has_bookmark else None,
        {source: values for source, (_, values) in positions.watermarks.items()},
    )
    datasets = {read.dataset for read, _ in facts.sources()}
    s3 = target.glue.client("s3") if datasets else None
    return known_of(facts, {dataset: _files(s3, dataset) for dataset in datasets}, target.arrived)


def has_other_runs(target: Target, job: str, known: KnownRanges) -> bool:
    """Return whether an incremental run was in progress since `read_known` looked, or still is."""
    seen = set(known.ended_runs)
    return any(
        filled_range(run.arguments) is None for run in target.runs([job]) if run.run_id not in seen
    )


def _bookmark(target: Target, job: str) -> BookmarkReach | None:
    entry = target.bookmark_entry(job)
    if entry is None:
        return None
    try:
        states = json.loads(entry.get("JobBookmark") or "{}").get("states", {})
    except (AttributeError, ValueError):  # on AWS the document is Glue's own affair
        states = {}
    run_id = entry.get("RunId", "")
    return BookmarkReach(run_id, edges_by_source(states), edges_by_source(states, "low_ms"))


def _files(s3: Any, dataset: str) -> Iterator[tuple[str, int]]:
    from botocore.exceptions import ClientError

    bucket, _, prefix = dataset.removeprefix("s3://").partition("/")
    pages = s3.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix)
    try:
        for page in pages:
            for item in page.get("Contents", []):
                if not item["Key"].endswith("/"):
                    modified_ms = int(item["LastModified"].timestamp() * 1000)
                    yield item["Key"][len(prefix) :], modified_ms
    except ClientError as error:
        if error.response["Error"]["Code"] not in ("NoSuchBucket", "404"):
            raise
