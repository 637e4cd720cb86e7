"""Submits a script to the Glue that serves a home, and follows its run by the home's records."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.engine import Engine
from tidemark.glue_service.local_glue import LocalGlue
from tidemark.glue_service.protocol.service_errors import InvalidInputError
from tidemark.glue_service.runs.active import RUNNING, Start
from tidemark.glue_service.runs.job_run_process import new_run_id
from tidemark.glue_service.served import ServedPort, ask
from tidemark.glue_service.submission import (
    Echo,
    Submission,
    copy_new,
    followers,
    job_of,
    publish_script,
    request_of,
)
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import FINAL_STATES, JobRun, Store
from tidemark.local_state.store.stored_warnings import ShowWarnings, show_unseen

LOOK_S = 0.05
SUBMIT, STOP = "Submit", "StopJobRun"  # operations of the port for commands of the home
Observe = Callable[[JobRun | None], None]


def submit_to(
    port: ServedPort,
    submission: Submission,
    home: Home,
    observe: Observe,
    warn: ShowWarnings,
    echo: Echo,
) -> JobRun:
    """Let a port run a script once; return the finished run. Ctrl-C stops the run."""
    publish_script(submission, home)
    request = {
        "Script": str(submission.script.absolute()),
        "JobName": submission.job_name,
        "Arguments": submission.arguments,
        "GlueVersion": submission.glue_version,
    }
    run_id = str(ask(port, SUBMIT, request)["JobRunId"])
    with Store(home.database) as store:
        try:
            run = _follow(store, home, port, run_id, observe, echo)
        except BaseException:
            ask(port, STOP, {"JobRunId": run_id})
            with suppress(OSError):  # showing output may be what failed
                observe(_follow(store, home, port, run_id, lambda _: None, lambda *_: None))
            raise
        observe(run)
        show_unseen(store, warn)
    return run


def _follow(
    store: Store, home: Home, port: ServedPort, run_id: str, observe: Observe, echo: Echo
) -> JobRun:
    """Hand on the output of a run until it has ended; return it."""
    output, is_known = None, False
    while True:
        is_served = home.holder() == port.pid  # asked first: then no end can be missed
        run = store.job_run(run_id)
        if run is None or (run.state not in FINAL_STATES and not is_served):
            raise TidemarkError(
                f"process {port.pid}, which ran {run_id}, has ended; `tidemark runs "
                f"{run.job_name if run else ''}` shows what became of it"
            )
        output = output or followers(run, echo)
        copy_new(output)
        if run.state in FINAL_STATES:
            return run
        observe(run if run.state == RUNNING and not is_known else None)
        is_known = is_known or run.state == RUNNING
        time.sleep(LOOK_S)


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
    if not (
        isinstance(script, str)
        and isinstance(name, str)
        and isinstance(version, str)
        and isinstance(arguments, dict)
    ):
        raise InvalidInputError(
            f"a submission has Script, JobName, Arguments and GlueVersion, not {sorted(request)}"
        )
    return Submission(Path(script), name, arguments, version)
