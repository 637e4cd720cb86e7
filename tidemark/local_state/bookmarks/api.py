"""GetJobBookmark and ResetJobBookmark: requests and answers as AWS Glue's API has them.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-runs.html
"""

import json
from collections.abc import Mapping
from typing import Any

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.versions import (
    Bookmark,
    bookmark_of_run,
    latest_bookmark,
    plain,
    reset_bookmark,
    rewind_bookmark,
)
from tidemark.local_state.store.database import Store


def get_job_bookmark(store: Store, request: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``{"JobBookmarkEntry": …}`` for ``JobName`` and, optionally, ``RunId``.

    With a run, the entry is the bookmark at the end of that run.
    """
    job_name, run_id = _job_and_run(request)
    if run_id:
        bookmark = bookmark_of_run(store, job_name, run_id)
    else:
        bookmark = latest_bookmark(store, job_name)
    if bookmark is None:
        when = f" when run {run_id} ended" if run_id else ""
        raise EntityNotFoundError(f"job {job_name} had no bookmark{when}: it never committed one")
    return {"JobBookmarkEntry": entry_of(bookmark)}


def reset_job_bookmark(store: Store, request: Mapping[str, Any], at_ms: int) -> dict[str, Any]:
    """Reset the bookmark of ``JobName``, or rewind it to the end of ``RunId``; return the entry.

    Rewound to a run, the next run reads the data after that run, and that run's data is not read
    again. Nothing at the targets changes.
    """
    job_name, run_id = _job_and_run(request)
    if run_id:
        return {"JobBookmarkEntry": entry_of(rewind_bookmark(store, job_name, run_id, at_ms))}
    return {"JobBookmarkEntry": entry_of(reset_bookmark(store, job_name, at_ms))}


def entry_of(bookmark: Bookmark) -> dict[str, Any]:
    """Return a version as a JobBookmarkEntry; its document is the JSON string ``JobBookmark``.

    After a reset there is no run, and no state in the document.
    """
    document = {
        "job_name": bookmark.job_name,
        "run_id": bookmark.run_id,
        "run_number": bookmark.run,
        "attempt_number": bookmark.attempt,
        "states": plain(bookmark.states),
    }
    entry = {
        "JobName": bookmark.job_name,
        "Version": bookmark.version,
        "Run": bookmark.run,
        "Attempt": bookmark.attempt,
        "PreviousRunId": bookmark.previous_run_id,
        "RunId": bookmark.run_id,
        "JobBookmark": json.dumps(document),
    }
    return {name: value for name, value in entry.items() if value not in (None, "")}


def _job_and_run(request: Mapping[str, Any]) -> tuple[str, str | None]:
    unknown = sorted(set(request) - {"JobName", "RunId"})
    job_name, run_id = request.get("JobName"), request.get("RunId")
    if unknown or not job_name or not isinstance(job_name, str):
        raise UsageError(
            f"the request has {sorted(request)}; it needs JobName, a non-empty string, and may "
            "have RunId"
        )
    if run_id is not None and not (isinstance(run_id, str) and run_id):
        raise UsageError(f"RunId is {run_id!r}; give the id of a job run, jr_..., or leave it out")
    return job_name, run_id
