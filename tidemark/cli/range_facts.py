"""Reads what the ranges of a job are told by: checkpoints and watermarks, here or of a stage."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rich.console import Console

from tidemark.cli.synth import assembly_folder
from tidemark.cli.where import Where
from tidemark.errors import TidemarkError, UsageError

if TYPE_CHECKING:
    from tidemark.model.checkpoints.checkpoint import Checkpoint
    from tidemark.operate.backfill.contract import Fillable
    from tidemark.operate.backfill.evidence import Arrived, Known
    from tidemark.operate.clients import Glue
    from tidemark.operate.rewind.datasets import Flow
    from watermarks import WatermarkAdmin


@dataclass(frozen=True)
class Positions:
    """What a backfill must not move.

    Attributes:
        bookmark: its version; None for none.
        watermarks: version and values by source.
    """

    bookmark: int | None
    watermarks: Mapping[str, tuple[int, Mapping[str, Any]]]


def read_job_of(glue: "Glue", name: str, where: Where) -> "Fillable":
    """Return a job as far as filling it goes: as deployed, or as the app has it that is named."""
    from tidemark.glue_service.commands import load
    from tidemark.operate.backfill.contract import fillable_of
    from tidemark.operate.backfill.reading import read_job

    found = read_job(glue, name)
    if where.stage is not None or (where.app is None and not where.context):
        return found
    with TemporaryDirectory(prefix="tidemark-") as folder:
        app = assembly_folder(Console(stderr=True), where.app, where.context, Path(folder))
        jobs = load(app).jobs
    if found.name not in jobs:
        raise UsageError(
            f"the app has no job {found.name!r}; it has {', '.join(sorted(jobs)) or 'none'}"
        )
    job = jobs[found.name]
    return fillable_of(
        {
            "Name": job.name,
            "DefaultArguments": job.default_arguments,
            "NonOverridableArguments": job.non_overridable_arguments,
            "ExecutionProperty": {"MaxConcurrentRuns": job.max_concurrent_runs},
        }
    )


def read_positions(glue: "Glue", job: "Fillable", where: Where) -> Positions:
    """Return the bookmark and the watermarks of a job as they are."""
    from tidemark.operate.statuses import bookmark_version
    from watermarks import WatermarksError, WatermarkTableError

    version = bookmark_version(glue, job.name) if job.has_bookmark else None
    if not job.watermark_table:
        return Positions(version, {})
    try:
        with _watermarks(glue, job.watermark_table, where) as watermarks:
            sources = ["", *watermarks.sources(job.name)]
            found = {it: watermarks.latest(job.name, source=it) for it in sources}
    except WatermarkTableError as error:
        if error.reason == "not_found":  # nothing has run yet
            return Positions(version, {})
        raise TidemarkError(str(error)) from error
    except WatermarksError as error:
        raise TidemarkError(str(error)) from error
    values = {it: (latest.version, latest.watermarks) for it, latest in found.items() if latest}
    return Positions(version, values)


def read_checkpoints(glue: "Glue", job: str | None, where: Where) -> "list[Checkpoint]":
    """Return the checkpoints of the runs of a job, or of all jobs, the newest first."""
    if where.stage is not None:
        from tidemark.operate.checkpoints import checkpoints_of_stage

        return checkpoints_of_stage(glue, [job] if job else None)
    from tidemark.local_state.home import Home
    from tidemark.local_state.store.checkpoints import stored_checkpoints
    from tidemark.local_state.store.database import Store

    with Store(Home.from_environment().database) as store:
        return stored_checkpoints(store, job)


def read_blind_readers(glue: "Glue", job: str, where: Where) -> "list[Flow]":
    """Return what the jobs behind one read by a key, of what a backfill of it loads."""
    from tidemark.operate.backfill.behind import blind_readers

    return blind_readers(job, glue.names.jobs, read_checkpoints(glue, None, where))


def read_ranges(
    glue: "Glue",
    job: "Fillable",
    checkpoints: "list[Checkpoint]",
    positions: Positions,
    where: Where,
) -> "Known":
    """Return what is known of the ranges of a job."""
    from tidemark.operate.backfill.reading import read_known

    values = {source: values for source, (_, values) in positions.watermarks.items()}
    arrived = None if where.stage is not None else _arrived_here()
    return read_known(glue, job, checkpoints, values, arrived)


def _arrived_here() -> "Arrived":
    """Return what tells when a file of this machine came to where it is: nothing sets that back.

    A file of S3 has the time of its arrival; one that `cp -p` or `mv` brings here has its own.
    """
    from tidemark.local_state.home import Home

    home = Home.from_environment()

    def arrived(uri: str) -> int | None:
        try:
            return home.local_path(uri).stat().st_ctime_ns // 1_000_000
        except (OSError, TidemarkError):
            return None

    return arrived


@contextmanager
def _watermarks(glue: "Glue", table: str, where: Where) -> "Iterator[WatermarkAdmin]":
    from watermarks import WatermarkAdmin

    if where.stage is not None:
        yield WatermarkAdmin(table, glue.client("dynamodb"))
        return
    from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
    from tidemark.local_state.home import Home

    with (
        dynamodb_endpoint(Home.from_environment()) as endpoint,
        dynamodb_client(endpoint, glue.glue.meta.region_name) as dynamodb,
    ):
        yield WatermarkAdmin(table, dynamodb)
