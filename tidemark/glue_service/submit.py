"""Runs one script as a job run: without a template, with lake, state and logs of the local home."""

import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from tidemark.errors import UsageError
from tidemark.glue_job.process.job_process import SCRIPT_STDERR_FILE
from tidemark.glue_service.commands import open_machine
from tidemark.glue_service.runs.end_record import found_at_end, record_end
from tidemark.glue_service.runs.job_run_process import (
    failed_run,
    new_run_id,
    plan_job_run,
    start_job_run,
    stop_job_run,
    wait_for_end,
)
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.workflows.recovery import record_warnings
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.local_state.store.database import JobRun
from tidemark.local_state.store.stored_warnings import ShowWarnings
from tidemark.model.assembly.definitions import JobDefinition

CHUNK_BYTES = 1_000_000


class Follower:
    """Reads a growing file from its beginning."""

    def __init__(self, path: Path, write: Callable[[bytes], None]) -> None:
        """Prepare to follow ``path``, which need not exist yet; ``write`` gets what is in it."""
        self._path = path
        self._write = write
        self._offset = 0

    def copy_new(self) -> None:
        """Hand on everything that came since the last call."""
        try:
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while chunk := file.read(CHUNK_BYTES):
                self._offset += len(chunk)
                self._write(chunk)


SCRIPTS = "aws-glue-assets-local"  # the console of Glue keeps scripts in a bucket of such a name
MAX_NAME_BYTES = 250  # its script is a file of this name
JOB_NAME = re.compile(r"(?!\.+$)[^/\x00-\x1f\x7f\ud800-\udfff]+")
CONF, EXTRA_MODULES = "--conf", "--extra-py-files"
DATA_CATALOG = "--enable-glue-datacatalog"  # the default of a job from Glue's console
CLIENTS = re.compile(r"\b(boto3|botocore|aiobotocore|awswrangler|s3fs)\b")
Echo: TypeAlias = Callable[[str, bytes], None]
"""Shows bytes that a script wrote to ``stdout`` or ``stderr``."""


@dataclass(frozen=True)
class Submission:
    """A script and the arguments of its job run."""

    script: Path
    job_name: str
    arguments: dict[str, str]
    glue_version: str = field(default_factory=own_glue_version)


def read_submission(script: Path, words: Sequence[str]) -> Submission:
    """Return the submission of ``tidemark submit SCRIPT WORDS…``.

    The job's name, the key of its bookmark, is ``--JOB_NAME``, or else the script's name
    with hyphens. A parameter without a value is a flag and gets ``true``. Several ``--conf`` become
    one, chained in Glue's form.
    """
    if not script.is_file():
        raise UsageError(f"there is no script {script}; give the path of a Python file")
    arguments = _arguments(list(words))
    job_name = arguments.pop("--JOB_NAME", script.stem.replace("_", "-"))
    if not JOB_NAME.fullmatch(job_name) or len(job_name.encode()) > MAX_NAME_BYTES:
        raise UsageError(
            f"{job_name!r} cannot be the name of a job here; allowed: 1 to {MAX_NAME_BYTES} "
            "bytes of UTF-8 without / and control characters, and not only dots; name the job "
            "with --JOB_NAME"
        )
    return Submission(script, job_name, arguments)


def _arguments(words: list[str]) -> dict[str, str]:
    arguments: dict[str, str] = {}
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if not name.startswith("--") or name == "--":
            raise UsageError(
                f"{word!r} is not an argument of a Glue job; write --name value or --name=value"
            )
        if not equals:
            value = words.pop(0) if words and not words[0].startswith("--") else "true"
        if name in arguments and name != CONF:
            raise UsageError(f"{name} is given twice; a job run has each argument once")
        arguments[name] = f"{arguments[name]} {CONF} {value}" if name in arguments else value
    return arguments


def submit(
    submission: Submission,
    home: Home,
    observe: Callable[[JobRun | None], None],
    warn: ShowWarnings | None = None,
    echo: Echo | None = None,
    jvms: Jvms = NO_JVMS,
) -> tuple[JobRun, JobDefinition]:
    """Run the script once; return the finished run and its job."""
    job = publish_script(submission, home)
    with (
        open_machine(home, warn=warn, jvms=jvms) as (opened, store),
        served_to(opened, submission) as machine,
    ):
        run = plan_job_run(machine, job, submission.arguments, new_run_id(), 0)
        store.put_job_run(run)
        try:
            process = start_job_run(machine, job, submission.arguments, run)
        except BaseException as error:
            store.put_job_run(failed_run(run, str(error)))
            raise
        output = _followers(run, echo)

        def end(finished: JobRun) -> JobRun:
            place = (machine.dynamodb_endpoint, machine.region)
            found = found_at_end(store, finished, process.counts, place)
            with store.transaction():
                finished = record_end(store, finished, found)
            observe(finished)
            record_warnings(store, finished, job, warn)
            return finished

        def meanwhile() -> None:
            _copy_new(output)
            observe(None)

        try:
            observe(run)
            finished = wait_for_end(process, meanwhile)
        except BaseException:
            stopped = stop_job_run(process)
            with suppress(OSError):  # showing output may be what failed
                _copy_new(output)
            end(stopped)
            raise
        _copy_new(output)
        return end(finished), job


@contextmanager
def served_to(machine: Machine, submission: Submission) -> Iterator[Machine]:
    """Serve S3 and Glue on a port for a script that may have AWS clients."""
    text = submission.script.read_text(encoding="utf-8", errors="replace")
    if not CLIENTS.search(text) and EXTRA_MODULES not in submission.arguments:
        yield machine
        return
    from tidemark.glue_service.http.script_server import serving_script

    with serving_script(machine) as served:
        yield served


def publish_script(submission: Submission, home: Home) -> JobDefinition:
    """Copy the script to the place of job scripts, and return the job."""
    bucket = home.lake / SCRIPTS / "scripts"
    bucket.mkdir(parents=True, exist_ok=True)
    name = f"{submission.job_name}.py"
    shutil.copyfile(submission.script, bucket / name)
    return JobDefinition(
        submission.job_name,
        f"s3://{SCRIPTS}/scripts/{name}",
        submission.glue_version,
        submitted_file=str(submission.script.absolute()),
        default_arguments={DATA_CATALOG: "true"},
        is_declared=False,
    )


def _followers(run: JobRun, echo: Echo | None) -> list[Follower]:
    if echo is None:
        return []
    folder = Path(run.log_path).parent
    return [
        Follower(folder / "stdout.log", partial(echo, "stdout")),
        Follower(folder / SCRIPT_STDERR_FILE, partial(echo, "stderr")),
    ]


def _copy_new(followers: Sequence[Follower]) -> None:
    for follower in followers:
        follower.copy_new()
