"""The local Glue as a driver of scenarios: `tidemark submit`, and the API functions."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.scenarios.driver import ScenarioRun
from tidemark.errors import EntityNotFoundError
from tidemark.glue_service.runs.jvms.supply import Jvms
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.bookmarks.api import get_job_bookmark, reset_job_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store

JOB = "scenarios"
ROOT = "s3://scenarios/"


class GlueState:
    """The job `scenarios` in a home of its own."""

    def __init__(self, home: Home, jvms: Jvms) -> None:
        self._home = home
        self._jvms = jvms
        (self._home.lake / "scenarios").mkdir()

    def put(self, key: str, text: str) -> None:
        """Write an object below the data path of the scripts."""
        path = self._home.local_path(f"{ROOT}data/{key}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, name: str, script: Path, arguments: Mapping[str, str]) -> ScenarioRun:
        """Make a script the job's, run it with these arguments beside its paths, and wait."""
        report = f"{ROOT}reports/{name}/"
        paths = {"--data_path": f"{ROOT}data/", "--report_path": report}
        submission = Submission(script, JOB, {**paths, **arguments})
        run, _ = submit(submission, self._home, lambda _: None, jvms=self._jvms)
        parts = self._home.local_path(report).glob("part-*")
        reports = [json.loads(part.read_text(encoding="utf-8")) for part in parts]
        return ScenarioRun(run.run_id, run.state, next(iter(reports), None), run.error_message)

    def bookmark(self) -> Mapping[str, Any] | None:
        """Return the JobBookmarkEntry, None if the job has none."""
        try:
            with Store(self._home.database) as store:
                return get_job_bookmark(store, {"JobName": JOB})["JobBookmarkEntry"]
        except EntityNotFoundError:
            return None

    def reset_bookmark(self, run_id: str | None = None) -> None:
        """Reset the bookmark, or rewind it to a run."""
        request = {"JobName": JOB, **({"RunId": run_id} if run_id else {})}
        with Store(self._home.database) as store:
            reset_job_bookmark(store, request, time.time_ns() // 1_000_000)
