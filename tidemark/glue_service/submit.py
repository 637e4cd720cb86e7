"""Runs one script as a job run: without a template, with lake, state and logs of the local home."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from tidemark.glue_service.commands import open_machine
from tidemark.glue_service.logs.marks import LogMarks
from tidemark.glue_service.runs.end_record import record_end
from tidemark.glue_service.runs.job_run_process import (
    failed_run,
    new_run_id,
    plan_job_run,
    start_job_run,
    stop_job_run,
    wait_for_end,
)
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.killed import record_warnings
from tidemark.glue_service.runs.run_effects import read_effects
from tidemark.glue_service.runs.run_requests import put_run_request
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.submission import (
    EXTRA_MODULES,
    Echo,
    Submission,
    copy_new,
    followers,
    publish_script,
    request_of,
)
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import JobRun
from tidemark.local_state.store.stored_warnings import ShowWarnings
from tidemark.model.assembly.definitions import JobDefinition

CLIENTS = re.compile(r"\b(boto3|botocore|aiobotocore|awswrangler|s3fs)\b")


def submit(
    submission: Submission,
    home: Home,
    observe: Callable[[JobRun | None], None],
    warn: ShowWarnings | None = None,
    echo: Echo | None = None,
    jvms: Jvms = NO_JVMS,
) -> tuple[JobRun, JobDefinition]:
    """Run the script once; return the finished run and its job."""
    with (
        open_machine(home, warn=warn, jvms=jvms) as (opened, store),
        served_to(opened, submission) as machine,
    ):
        # This command holds the home: no other one runs a job of this name now.
        job = publish_script(submission, home)
        run = plan_job_run(machine, job, submission.arguments, new_run_id(), 0)
        with store.transaction():
            store.put_job_run(run)
            put_run_request(store, request_of(submission, run.run_id))
        try:
            process = start_job_run(machine, job, submission.arguments, run)
        except BaseException as error:
            store.put_job_run(failed_run(run, str(error)))
            raise
        output, marks = followers(run, echo), LogMarks()

        def end(finished: JobRun) -> JobRun:
            place = (machine.dynamodb_endpoint, machine.region)
            effects = read_effects(store, finished, process.counts, place)
            marks.note(finished, is_last=True)
            with store.transaction():
                finished = record_end(store, finished, effects)
            observe(finished)
            record_warnings(store, finished, job, warn)
            return finished

        def meanwhile() -> None:
            marks.note(run)
            copy_new(output)
            observe(None)

        try:
            observe(run)
            finished = wait_for_end(process, meanwhile)
        except BaseException:
            stopped = stop_job_run(process)
            # Showing output may be what has failed.
            with suppress(OSError):
                copy_new(output)
            end(stopped)
            raise
        copy_new(output)
        return end(finished), job


@contextmanager
def served_to(machine: Machine, submission: Submission) -> Iterator[Machine]:
    """Serve S3 and Glue on a port for a script that may have AWS clients."""
    text = submission.script.read_text(encoding="utf-8", errors="replace")
    if not CLIENTS.search(text) and EXTRA_MODULES not in submission.arguments:
        yield machine
        return
    from tidemark.glue_service.http.short_ports import serving_script

    with serving_script(machine) as served:
        yield served
