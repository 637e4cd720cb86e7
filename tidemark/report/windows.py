"""The windows that runs have opened and not committed, from the watermark tables of an app."""

from collections.abc import Iterable, Iterator
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.report.jobs import PipelineJob
from tidemark.report.model import OpenWindow
from watermarks import WatermarkAdmin, WatermarksError, WatermarkTableError


def windows_of(
    jobs: Iterable[PipelineJob], dynamodb: Any
) -> tuple[tuple[OpenWindow, ...], tuple[str, ...]]:
    """Return the open windows of jobs, and a sentence for each job whose cannot be read.

    Args:
        jobs: each keeps watermarks; one whose table is not there has none.
        dynamodb: the client of DynamoDB.

    Raises:
        TidemarkError: a table cannot be read.
    """
    found: list[OpenWindow] = []
    unknown: list[str] = []
    missing: set[str] = set()
    for job in jobs:
        if job.watermark_table in missing:
            continue
        try:
            found += _windows(WatermarkAdmin(job.watermark_table, dynamodb), job.name)
        except WatermarkTableError as error:
            if error.reason != "not_found":
                raise TidemarkError(f"watermarks of {job.name}: {error}") from error
            missing.add(job.watermark_table)
        except WatermarksError:
            unknown.append(f"The watermarks of {job.name} cannot be read.")
    return tuple(found), tuple(unknown)


def _windows(admin: WatermarkAdmin, job: str) -> Iterator[OpenWindow]:
    for source in ("", *admin.sources(job)):
        for window in admin.open_windows(job, source=source):
            yield OpenWindow(
                job=job,
                source=source,
                cursor=window.cursor,
                low="the beginning" if window.low is None else str(window.low),
                high="nothing" if window.high is None else str(window.high),
                run_id=window.run_id,
            )
