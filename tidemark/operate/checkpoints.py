"""The checkpoints of runs on AWS: what the library `watermarks` has recorded where they ran.

Rows, files and bookmarks are not among it: Glue does not tell a job of them.
"""

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from tidemark.errors import TidemarkError, UsageError
from tidemark.model.checkpoints.checkpoint import Checkpoint
from tidemark.model.checkpoints.from_watermarks import checkpoints_of_job
from tidemark.operate.clients import NOT_FOUND, Glue
from tidemark.operate.names import JOB
from tidemark.operate.statuses import WATERMARK_TABLE
from watermarks import WatermarkAdmin, WatermarksError, WatermarkTableError


def checkpoints_of_stage(
    glue: Glue, jobs: Iterable[str] | None = None, since: datetime | None = None
) -> list[Checkpoint]:
    """Return the checkpoints of jobs of a stage, the one that committed last first."""
    import boto3
    from botocore.exceptions import BotoCoreError, ClientError

    names = list(glue.names.jobs if jobs is None else jobs)
    for name in names[:1]:
        glue.check_stage(JOB, name)
    dynamodb = boto3.client("dynamodb", region_name=glue.glue.meta.region_name)
    found: list[Checkpoint] = []
    for job in names:
        table = None
        try:
            table = watermark_table_of(glue, job)
            records = WatermarkAdmin(table, dynamodb).run_records(job) if table else []
        except WatermarkTableError as error:
            raise UsageError(f"{error}; job {job} names the table in {WATERMARK_TABLE}") from error
        except WatermarksError as error:
            raise UsageError(str(error)) from error
        except (BotoCoreError, ClientError) as error:
            raise TidemarkError(f"{glue.where} refuses: {error}") from error
        found += checkpoints_of_job(job, records, table or "")
    since_ms = int(since.timestamp() * 1000) if since else 0
    kept = [one for one in found if one.committed_at_ms >= since_ms]
    return sorted(kept, key=lambda one: one.committed_at_ms, reverse=True)


def watermark_table_of(glue: Glue, job: str) -> str | None:
    """Return the table that a job keeps watermarks in; None if it keeps none, or is not there."""
    from botocore.exceptions import ClientError

    try:
        definition = glue.glue.get_job(JobName=job)["Job"]
    except ClientError as error:
        if error.response["Error"]["Code"] in NOT_FOUND:
            return None
        raise
    arguments: dict[str, Any] = {
        **definition.get("DefaultArguments", {}),
        **definition.get("NonOverridableArguments", {}),
    }
    return arguments.get(WATERMARK_TABLE)


def checkpoint_of_stage(glue: Glue, job: str, run_id: str) -> Checkpoint | None:
    """Return the checkpoint of one run of a stage, with its arguments; None if it has none."""
    found = [one for one in checkpoints_of_stage(glue, [job]) if one.run_id == run_id]
    if not found:
        return None
    run = glue.glue.get_job_run(JobName=job, RunId=run_id)["JobRun"]
    return replace(found[0], arguments=run.get("Arguments", {}))
