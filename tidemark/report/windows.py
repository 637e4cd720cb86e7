"""The windows that runs have opened and not committed, from the watermark tables of an app."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager

from botocore.exceptions import ClientError

from tidemark.operate.app_jobs import PipelineJob
from tidemark.report.model import OpenWindow
from watermarks import WatermarkAdmin, WatermarksError, WatermarkTableError

MAX_JOBS = 100  # whose windows are read


def windows_of(
    jobs: Sequence[PipelineJob], open_table: Callable[[str], AbstractContextManager[WatermarkAdmin]]
) -> tuple[tuple[OpenWindow, ...], tuple[str, ...]]:
    """Return the open windows of jobs, and a line for each table or job that cannot be read."""
    windows_of_jobs: list[OpenWindow] = []
    unknown: list[str] = []
    for table in dict.fromkeys(job.watermark_table for job in jobs):
        names = [job.name for job in jobs if job.watermark_table == table]
        try:
            with open_table(table) as admin:
                windows, unread = _windows_of(admin, names)
        except WatermarkTableError as error:
            if error.reason != "not_found":
                unknown.append(f"The open windows of the table {table} cannot be read: {error}.")
        except ClientError as error:
            code = error.response["Error"]["Code"]
            unknown.append(f"The open windows of the table {table} cannot be read: {code}.")
        else:
            windows_of_jobs += windows
            unknown += unread
    return tuple(windows_of_jobs), tuple(unknown)


def _windows_of(admin: WatermarkAdmin, jobs: Sequence[str]) -> tuple[list[OpenWindow], list[str]]:
    # One scan for all jobs: most have no open window, and are not asked.
    having = admin.jobs_with_open_windows()
    names = [name for name in jobs if name in having]
    windows: list[OpenWindow] = []
    unknown: list[str] = []
    if len(names) > MAX_JOBS:
        unknown.append(f"{len(names)} jobs have open windows; those of {MAX_JOBS} are shown.")
    for name in names[:MAX_JOBS]:
        try:
            windows += _windows(admin, name)
        except WatermarksError:
            unknown.append(f"The watermarks of {name} cannot be read.")
    return windows, unknown


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
