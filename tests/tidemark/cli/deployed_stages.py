"""A stage that is deployed on a port of another home, in the place of AWS, and what asks it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from click.testing import Result

from tests.fixtures.commands import WriteAssembly
from tests.tidemark.cli.test_cli import tidemark
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.deployments import deploy_on_port
from tidemark.glue_service.glue_state import GlueState
from tidemark.local_state.bookmarks.versions import (
    commit_bookmark,
    latest_bookmark,
)
from tidemark.local_state.store.database import JobRun

SHELL = {"Name": "pythonshell", "PythonVersion": "3.9"}


WAITS = "import pathlib, time\nwhile not pathlib.Path({!r}).exists(): time.sleep(0.01)\n"


def forget_runs(glue: GlueState) -> None:
    with glue.store.transaction():
        for table in ("job_run", "flow", "flow_open", "flow_fired", "flow_end", "flow_snapshot"):
            glue.store.query(f"DELETE FROM {table}")  # noqa: S608 (our own names)


class Stage:
    def __init__(self, port: Port, write_assembly: WriteAssembly) -> None:
        self.port = port
        self._write_assembly = write_assembly
        self.app = Path()

    def deploy(
        self,
        scripts: Mapping[str, str],
        after: Mapping[str, list[str]] | None = None,
        name: str = "prod",
    ) -> None:
        """Write the assembly of a stage, and deploy it."""
        self.app = self._write_assembly(scripts, after)
        self.edit(
            lambda resource: (
                resource["Properties"].setdefault("Tags", {}).update({"tidemark:stage": name})
            )
        )
        self.port.engine.ask(lambda glue: deploy_on_port(glue, self.app))

    def edit(self, change: Any) -> None:
        """Change every Glue resource of the assembly; Python shell jobs need no Spark."""
        path = self.app / "template.json"
        template = json.loads(path.read_text(encoding="utf-8"))
        for resource in template["Resources"].values():
            if resource["Type"].startswith("AWS::Glue::"):
                change(resource)
            if resource["Type"] == "AWS::Glue::Job":
                resource["Properties"]["Command"].update(SHELL)
        path.write_text(json.dumps(template), encoding="utf-8")

    def ask(self, *words: str, stage: str = "prod") -> Result:
        return tidemark(*words, "--deployed", stage, "--app", str(self.app))

    def have_run(self, *jobs: str) -> list[str]:
        """Run jobs to their end, one after the other; return the ids of the runs."""
        ids = []
        for job in jobs:
            ids.append(self.port.start(job))
            self.port.ended(job, ids[-1])
        return ids


class ServedHome(Stage):
    """The home of the commands, which a port serves: the same questions, without --deployed."""

    def ask(self, *words: str, stage: str = "") -> Result:
        takes_app = words[0] in ("report", "rewind", "run", "status") and words[:2] != (
            "run",
            "show",
        )
        return tidemark(*words, *(("--app", str(self.app)) if takes_app else ()))


def assert_one_clear_line_after(result: Result, code: int, *parts: str) -> None:
    """Check an error that comes after what was said of the endpoint."""
    assert result.exit_code == code, result.output
    line = result.stderr.strip().splitlines()[-1]
    assert line.startswith("error: ")
    for part in parts:
        assert part in line


def have_run(stage: Stage, job: str, *runs: str) -> None:
    """Record runs of a job that have committed its bookmark, as if they had run there."""

    def record(glue: GlueState) -> None:
        for number, run_id in enumerate(runs):
            at = 1000 * (number + 1)
            run = JobRun(run_id, job, None, None, 0, "SUCCEEDED", at, "", "job-bookmark-enable")
            glue.store.put_job_run(replace(run, completed_at_ms=at + 500))
            latest = latest_bookmark(glue.store, job)
            version = latest.version if latest else 0
            commit_bookmark(glue.store, job, run_id, {"ctx": {"n": number}}, version, at + 400)

    stage.port.engine.ask(record)


def bookmark_of(stage: Stage, job: str) -> tuple[str, str]:
    entry = stage.port.glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]
    return entry.get("RunId", ""), json.loads(entry["JobBookmark"])["states"]
