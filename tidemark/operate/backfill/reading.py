"""Reads through boto3 what the ledger of a job is made of: its runs, bookmark and source files."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tidemark.errors import UsageError
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.operate.backfill.contract import Fillable, fillable_of, filled_range
from tidemark.operate.backfill.evidence import Arrived, Bookmark, Facts, FilledRun, Known, known_of
from tidemark.operate.backfill.folders import edges_by_source
from tidemark.operate.clients import NOT_FOUND, Glue
from tidemark.operate.names import JOB

PAGE = 200


def read_job(glue: Glue, name: str) -> Fillable:
    """Return a job as far as filling it goes."""
    from botocore.exceptions import ClientError

    job = glue.names.job(name)
    glue.check_stage(JOB, job)
    try:
        return fillable_of(glue.glue.get_job(JobName=job)["Job"])
    except ClientError as error:
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise
        raise UsageError(f"the job {job} is not deployed in {glue.where}") from error


def read_known(
    glue: Glue,
    job: Fillable,
    checkpoints: Sequence[Checkpoint],
    watermarks: Mapping[str, Mapping[str, Any]],
    arrived: Arrived | None = None,
) -> Known:
    """Return what is known of the ranges of a job."""
    facts = Facts(
        job,
        tuple(_runs(glue, job.name)),
        tuple(checkpoints),
        _bookmark(glue, job.name) if job.has_bookmark else None,
        watermarks,
    )
    datasets = {read.dataset for read, _ in facts.sources()}
    s3 = glue.client("s3") if datasets else None
    return known_of(facts, {dataset: _files(s3, dataset) for dataset in datasets}, arrived)


def has_other_runs(glue: Glue, job: str, known: Known) -> bool:
    """Return whether a run that fills no range went on since `read_known` looked, or still does."""
    seen = set(known.ended_runs)
    return any(
        filled_range(run.arguments) is None for run in _runs(glue, job) if run.run_id not in seen
    )


def _runs(glue: Glue, job: str) -> Iterator[FilledRun]:
    for page in glue.glue.get_paginator("get_job_runs").paginate(
        JobName=job, PaginationConfig={"PageSize": PAGE}
    ):
        for run in page["JobRuns"]:
            started_at_ms = int(run["StartedOn"].timestamp() * 1000)
            arguments = run.get("Arguments") or {}
            yield FilledRun(run["Id"], run["JobRunState"], started_at_ms, arguments)


def _bookmark(glue: Glue, job: str) -> Bookmark | None:
    from botocore.exceptions import ClientError

    try:
        entry = glue.glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise
        return None
    try:
        states = json.loads(entry.get("JobBookmark") or "{}").get("states", {})
    except (AttributeError, ValueError):  # on AWS the document is Glue's own affair
        states = {}
    run_id = entry.get("RunId", "")
    return Bookmark(run_id, edges_by_source(states), edges_by_source(states, "low_ms"))


def _files(s3: Any, dataset: str) -> Iterator[tuple[str, int]]:
    """Yield the files below a dataset: key below it, and time of modification in ms."""
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
