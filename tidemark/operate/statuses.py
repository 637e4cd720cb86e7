"""The jobs of a target with their last runs and bookmarks."""

from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.local_state.run_warnings import leaves_out
from tidemark.local_state.store.stored_warnings import StoredWarning
from tidemark.model.assembly.definitions import BOOKMARK_OPTION, ENABLE, WATERMARK_TABLE
from tidemark.operate.clients import NotAnsweredError
from tidemark.operate.job_runs import Run
from tidemark.operate.target import BookmarkHead, Target, arguments_of


@dataclass(frozen=True)
class Status:
    """One job.

    Attributes:
        job: its name.
        is_there: whether it is deployed.
        last_run: the run that was started last.
        has_bookmark: whether bookmarks are enabled for it.
        bookmark: None if it has none.
        unknown: why its bookmark is not known; empty if it is.
        watermark_table: its table of watermarks; None if it keeps none.
    """

    job: str
    is_there: bool = True
    last_run: Run | None = None
    has_bookmark: bool = False
    bookmark: BookmarkHead | None = None
    unknown: str = ""
    watermark_table: str | None = None


def statuses_of(target: Target, jobs: Sequence[str], runs: Sequence[Run]) -> list[Status]:
    """Return one status for each job, in their order."""
    last = {run.job: run for run in sorted(runs, key=lambda run: run.started_at)}
    statuses = []
    for name in jobs:
        definition = target.definition(name)
        if definition is None:
            statuses.append(Status(name, is_there=False))
            continue
        arguments = arguments_of(definition)
        bookmark, unknown = _bookmark_of(target, name)
        status = Status(
            job=name,
            last_run=last.get(name),
            has_bookmark=arguments.get(BOOKMARK_OPTION) == ENABLE,
            bookmark=bookmark,
            unknown=unknown,
            watermark_table=arguments.get(WATERMARK_TABLE),
        )
        statuses.append(status)
    return statuses


def _bookmark_of(target: Target, job: str) -> tuple[BookmarkHead | None, str]:
    try:
        return target.bookmark(job), ""
    except NotAnsweredError as error:
        return None, str(error)


def jobs_with_input_left_out(warnings: Sequence[StoredWarning]) -> frozenset[str]:
    """Return the jobs that one of these warnings says have left input out of all rows."""
    return frozenset(warning.job_name for warning in warnings if leaves_out(warning.text))
