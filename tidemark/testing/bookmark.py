"""The fixture `bookmark`: the position of a job, and back to an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.api import reset_job_bookmark
from tidemark.local_state.bookmarks.explain import explain_source, sources_of_next_run
from tidemark.local_state.bookmarks.versions import Bookmark, latest_bookmark, plain
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.definitions import ENABLE
from tidemark.model.clock import now_ms
from tidemark.testing.kit import GlueTest
from tidemark.testing.run import SCHEME, GlueRun


class BookmarkOfJob:
    """The bookmark of one job of a test, read at each request.

    Example:
        >>> _ = lake.put("landing/orders/1.json", [{"id": 1}], minutes_ago=5)
        >>> run = glue_job("copy_orders.py", bookmark="enable", **paths)
        >>> bookmark(run).version, bookmark(run).files
        (1, ['landing/orders/1.json'])
    """

    def __init__(self, test: GlueTest, job_name: str) -> None:
        """Take the job's name; a job that never ran has an empty bookmark."""
        self._test = test
        self.job_name = job_name

    def __repr__(self) -> str:
        return f"bookmark of {self.job_name}: version {self.version}, files {self.files}"

    @property
    def version(self) -> int:
        """The number of its changes; 0 if the job never committed one."""
        latest = self._latest()
        return latest.version if latest else 0

    @property
    def run_id(self) -> str | None:
        """The run that set the position; None after a reset and before the first commit."""
        latest = self._latest()
        return latest.run_id or None if latest else None

    @property
    def states(self) -> dict[str, Any]:
        """The state of each transformation_ctx, as plain JSON values."""
        latest = self._latest()
        return plain(latest.states) if latest else {}

    @property
    def files(self) -> list[str]:
        """The files of its sources that the next run leaves out, as read; ``bucket/key``."""
        return self._files(is_read=False)

    @property
    def new_files(self) -> list[str]:
        """The files of its sources that the next run reads."""
        return self._files(is_read=True)

    def reset(self) -> None:
        """Reset the bookmark: the next run reads everything.

        Raises:
            EntityNotFoundError: the job never committed a bookmark.
        """
        self._change({"JobName": self.job_name})

    def rewind(self, run: GlueRun | str) -> None:
        """Go back to the end of a run: the next run reads the data after it.

        Args:
            run: the run, or its id.

        Raises:
            EntityNotFoundError: the job never committed a bookmark, or the run does not exist.
        """
        run_id = run if isinstance(run, str) else getattr(run, "run_id", None)
        if not run_id:
            raise UsageError(f"bookmark.rewind({run!r}): give a run of the job, or its run_id")
        self._change({"JobName": self.job_name, "RunId": run_id})

    def _change(self, request: dict[str, Any]) -> None:
        with Store(self._test.home.database) as store:
            reset_job_bookmark(store, request, now_ms())

    def _latest(self) -> Bookmark | None:
        with Store(self._test.home.database) as store:
            return latest_bookmark(store, self.job_name)

    def _files(self, *, is_read: bool) -> list[str]:
        names = set()
        with Store(self._test.home.database) as store:
            try:
                sources = sources_of_next_run(store, self.job_name, ENABLE)
            except EntityNotFoundError:
                return []
            for source in sources:
                if source.is_of_files and source.is_bookmarked:
                    explained = explain_source(source, self._test.home.existing_path, None)
                    names |= {file.path for file in explained.files if file.is_read == is_read}
        return sorted(name.removeprefix(SCHEME) for name in names)


def bookmark_of(test: GlueTest, job: Any) -> BookmarkOfJob:
    """Return the bookmark of a job of a test, by its name, its script or a run."""
    if isinstance(job, GlueRun):
        return BookmarkOfJob(test, job.job_name)
    text = str(getattr(job, "script", job))
    name = Path(text).stem if text.endswith(".py") else text
    known = {run.job_name for run in test.runs}
    return BookmarkOfJob(test, name if name in known else name.replace("_", "-"))
