"""Submits a script to the Glue that serves a home, and follows its run by the home's records."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from tidemark.errors import TidemarkError
from tidemark.glue_service.served import ServedPort, ask
from tidemark.glue_service.submission import (
    SCRIPTS,
    Echo,
    Submission,
    copy_new,
    followers,
    publish_script,
)
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import FINAL_STATES, JobRun, Store
from tidemark.local_state.store.stored_warnings import ShowWarnings, show_unseen

LOOK_S = 0.02
RUNNING = "RUNNING"
SUBMIT, STOP = "Submit", "StopJobRun"  # operations of the port for commands of the home
Observe = Callable[[JobRun | None], None]


def submit_to(
    port: ServedPort,
    submission: Submission,
    home: Home,
    observe: Observe,
    warn: ShowWarnings,
    echo: Echo,
    meanwhile: Callable[[], None],
) -> JobRun:
    """Let a port run a script once; return the finished run. Ctrl-C stops the run.

    Calls `meanwhile` as soon as the run was asked for, before anything of it is shown.
    """
    with _published(submission, home) as copy, Store(home.database) as store:
        request = {
            "Script": str(submission.script.absolute()),
            "JobName": submission.job_name,
            "Arguments": submission.arguments,
            "GlueVersion": submission.glue_version,
            "Copy": copy,
            "Timeout": submission.timeout_minutes,
        }
        run_id = str(ask(port, SUBMIT, request)["JobRunId"])
        try:
            meanwhile()
            run = _follow(store, home, port, run_id, observe, echo)
        except BaseException:
            # A process that no longer holds the home has ended with its runs.
            if home.holder() == port.pid:
                ask(port, STOP, {"JobRunId": run_id})
                # Showing output may be what has failed.
                with suppress(OSError):
                    observe(_follow(store, home, port, run_id, lambda _: None, lambda *_: None))
            raise
        observe(run)
        show_unseen(store, warn)
    return run


@contextmanager
def _published(submission: Submission, home: Home) -> Iterator[str]:
    # Another script of the job's name may be submitted while this one waits for a core.
    copy = replace(submission, copy=f"{submission.job_name}-{secrets.token_hex(8)}")
    publish_script(copy, home)
    try:
        yield copy.copy
    finally:
        (home.lake / SCRIPTS / copy.key).unlink(missing_ok=True)


def _follow(
    store: Store, home: Home, port: ServedPort, run_id: str, observe: Observe, echo: Echo
) -> JobRun:
    output, is_known = None, False
    while True:
        # This is asked first: then no end can be missed.
        is_served = home.holder() == port.pid
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
