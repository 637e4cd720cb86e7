"""The jobs of a Glue with their last runs and bookmarks."""

from dataclasses import dataclass
from typing import Any

from tidemark.model.assembly.arguments import ENABLE
from tidemark.operate.clients import NOT_FOUND, Glue
from tidemark.operate.job_runs import Run, runs_of_job
from tidemark.operate.names import JOB

BOOKMARK_OPTION, WATERMARK_TABLE = "--job-bookmark-option", "--watermark_table"


@dataclass(frozen=True)
class Status:
    """One job.

    Attributes:
        job: its name.
        is_there: whether it is deployed.
        last_run: the run that was started last.
        has_bookmark: whether bookmarks are enabled for it.
        version: of its bookmark; None if there is none.
        watermark_table: where it keeps watermarks; None if it keeps none.
    """

    job: str
    is_there: bool
    last_run: Run | None = None
    has_bookmark: bool = False
    version: int | None = None
    watermark_table: str | None = None


def statuses_of(glue: Glue) -> list[Status]:
    """Return one status for each job that is known, in their order."""
    for name in glue.names.jobs[:1]:
        glue.check_stage(JOB, name)
    return [_status(glue, name) for name in glue.names.jobs]


def _status(glue: Glue, name: str) -> Status:
    from botocore.exceptions import ClientError

    try:
        job = glue.glue.get_job(JobName=name)["Job"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise
        return Status(name, is_there=False)
    arguments = {**job.get("DefaultArguments", {}), **job.get("NonOverridableArguments", {})}
    has_bookmark = arguments.get(BOOKMARK_OPTION) == ENABLE
    runs = runs_of_job(glue, name, None, 1)
    return Status(
        job=name,
        is_there=True,
        last_run=runs[0] if runs else None,
        has_bookmark=has_bookmark,
        version=bookmark_version(glue, name) if has_bookmark else None,
        watermark_table=arguments.get(WATERMARK_TABLE),
    )


def bookmark_version(glue: Glue, name: str) -> int | None:
    """Return the version of the bookmark of a job; None if it has none."""
    from botocore.exceptions import ClientError

    try:
        entry: dict[str, Any] = glue.glue.get_job_bookmark(JobName=name)["JobBookmarkEntry"]
    except ClientError as error:
        if error.response["Error"]["Code"] not in NOT_FOUND:
            raise
        return None
    return int(entry["Version"])
