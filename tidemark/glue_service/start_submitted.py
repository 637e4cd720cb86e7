"""Starts and stops runs of scripts that a command of the home submits to the port."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tidemark.glue_service.engine import Engine
from tidemark.glue_service.local_glue import LocalGlue
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.glue_service.runs.active import Start
from tidemark.glue_service.runs.job_run_process import new_run_id
from tidemark.glue_service.submission import Submission, job_of, request_of


def start_submitted(engine: Engine, request: Any) -> Mapping[str, Any]:
    """Start a run of a script for a command of the home."""
    submission = _submission(request if isinstance(request, dict) else {})

    def start(glue: LocalGlue) -> str:
        asked = request_of(submission, new_run_id())
        return glue.runner.start(Start(job_of(submission), asked)).run_id

    return {"JobRunId": engine.ask(start)}


def stop_submitted(engine: Engine, request: Any) -> Mapping[str, Any]:
    """Ask a run of a script to stop."""
    run_id = request.get("JobRunId") if isinstance(request, dict) else None
    return {"IsStopped": engine.ask(lambda glue: glue.runner.stop(str(run_id)))}


def _submission(request: Mapping[str, Any]) -> Submission:
    script, name = request.get("Script"), request.get("JobName")
    arguments, version = request.get("Arguments"), request.get("GlueVersion")
    copy, minutes = request.get("Copy", ""), request.get("Timeout")
    if not (
        isinstance(script, str)
        and isinstance(name, str)
        and isinstance(version, str)
        and isinstance(arguments, dict)
        and isinstance(copy, str)
        and (minutes is None or isinstance(minutes, int))
    ):
        raise InvalidInputError(
            f"a submission has Script, JobName, Arguments and GlueVersion, not {sorted(request)}"
        )
    return Submission(Path(script), name, arguments, version, copy, minutes)
