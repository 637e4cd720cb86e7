"""Runs one script as a job run: no template, the lake, state and logs of the local home."""

import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from local_glue.commands import open_machine
from local_glue.definitions import JobDefinition
from local_glue.errors import UsageError
from local_glue.home import Home
from local_glue.job_runs import (
    JobProcess,
    new_run_id,
    plan_job_run,
    poll_job_run,
    start_job_run,
    stop_job_run,
)
from local_glue.store import JobRun

SCRIPTS = "aws-glue-assets-local"  # the console of Glue keeps scripts in a bucket of such a name
GLUE_VERSION = "5.1"
POLL_S = 0.05


@dataclass(frozen=True)
class Submission:
    """A script and the arguments of its job run."""

    script: Path
    job_name: str
    arguments: dict[str, str]


def read_submission(script: Path, words: Sequence[str]) -> Submission:
    """Return what ``tidemark submit SCRIPT WORDS…`` asks for.

    The job's name, which its bookmark is kept under, is ``--JOB_NAME``, or else the script's name
    with hyphens. A parameter without a value is a flag and gets ``true``.

    Raises:
        UsageError: there is no such script, or a word is no ``--name value``.
    """
    if not script.is_file():
        raise UsageError(f"there is no script {script}; give the path of a Python file")
    arguments = _arguments(list(words))
    job_name = arguments.pop("--JOB_NAME", script.stem.replace("_", "-"))
    return Submission(script, job_name, arguments)


def _arguments(words: list[str]) -> dict[str, str]:
    arguments: dict[str, str] = {}
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--") or name == "--":
            raise UsageError(
                f"{word!r} is no argument of a Glue job; write --name value or --name=value"
            )
        if not equals:
            value = words.pop(0) if words and not words[0].startswith("--") else "true"
        arguments[name] = value
    return arguments


def submit(
    submission: Submission, home: Home, observe: Callable[[JobRun | None], None]
) -> tuple[JobRun, JobDefinition]:
    """Run the script once; return the finished run and the job it was a run of.

    Args:
        submission: the script and its arguments.
        home: its lake, state and logs.
        observe: called with the run on each change of its state, and with None in between.

    Raises:
        GlueLocalError: nothing was started; the text says why and what to do.
        KeyboardInterrupt: after the run was stopped and recorded.
    """
    bucket = home.lake / SCRIPTS / "scripts"
    bucket.mkdir(parents=True, exist_ok=True)
    name = f"{submission.job_name}.py"
    shutil.copyfile(submission.script, bucket / name)
    job = JobDefinition(submission.job_name, f"s3://{SCRIPTS}/scripts/{name}", GLUE_VERSION)
    with open_machine(home) as (machine, store):
        run = plan_job_run(machine, job, submission.arguments, new_run_id(), 0)
        process = start_job_run(machine, job, submission.arguments, run)
        store.put_job_run(run)
        observe(run)
        finished = _wait(process, observe)
        store.put_job_run(finished)
    observe(finished)
    return finished, job


def _wait(process: JobProcess, observe: Callable[[JobRun | None], None]) -> JobRun:
    try:
        while (finished := poll_job_run(process)) is None:
            observe(None)
            time.sleep(POLL_S)
    except KeyboardInterrupt:
        return stop_job_run(process)
    return finished
