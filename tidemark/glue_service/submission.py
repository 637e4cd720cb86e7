"""A script and the arguments of its run: the job that runs it, and the output that it writes."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TypeAlias
from zipfile import ZIP_DEFLATED, ZipFile

from tidemark.errors import UsageError
from tidemark.glue_service.runs.run_requests import RunRequest
from tidemark.local_state.home import Home
from tidemark.local_state.job_run import SCRIPT_STDERR_FILE
from tidemark.local_state.machine.own_files import write_whole
from tidemark.local_state.sparks.installed import own_glue_version
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import TIMEOUT_MINUTES, JobDefinition

KEY = "libs/watermarks.zip"
IMPORT = re.compile(r"^\s*(?:from|import)\s+watermarks\b", re.MULTILINE)


def put_script(home: Home, key: str, text: str) -> str:
    """Put a script of the toolkit into the bucket of scripts; return its URI."""
    script = home.lake / SCRIPTS / key
    # An earlier run may be reading it: it is never there in part.
    if not script.is_file() or script.read_text(encoding="utf-8") != text:
        script.parent.mkdir(parents=True, exist_ok=True)
        write_whole(script, text)
    return f"s3://{SCRIPTS}/{key}"


def imports_library(script: Path) -> bool:
    """Return whether a script imports the watermark library."""
    return IMPORT.search(script.read_text(encoding="utf-8", errors="replace")) is not None


def ship_library(home: Home, bucket: str) -> None:
    """Put the installed watermark library into a bucket of the lake."""
    import watermarks  # slow: most scripts need none of it

    package = Path(watermarks.__file__).parent
    content = BytesIO()
    with ZipFile(content, "w", ZIP_DEFLATED) as archive:
        for file in sorted(package.rglob("*.py")):
            archive.write(file, file.relative_to(package.parent).as_posix())
    place = home.lake / bucket / KEY
    place.parent.mkdir(parents=True, exist_ok=True)
    write_whole(place, content.getvalue())  # another submission may read it


CHUNK_BYTES = 1_000_000
SCRIPTS = "aws-glue-assets-local"  # the console of Glue keeps scripts in a bucket of such a name
MAX_NAME_BYTES = 250  # its script is a file of this name
JOB_NAME = re.compile(r"(?!\.+$)[^/\x00-\x1f\x7f\ud800-\udfff]+")
CONF, EXTRA_MODULES = "--conf", "--extra-py-files"
DATA_CATALOG = "--enable-glue-datacatalog"  # the default of a job from Glue's console
Echo: TypeAlias = Callable[[str, bytes], None]
"""Shows bytes that a script wrote to ``stdout`` or ``stderr``."""


@dataclass(frozen=True)
class Submission:
    """A script and the arguments of its job run."""

    script: Path
    job_name: str
    arguments: dict[str, str]
    glue_version: str = field(default_factory=own_glue_version)
    copy: str = ""  # name of the copy that runs; empty: that of the job
    timeout_minutes: int | None = None  # None: Glue's default

    @property
    def key(self) -> str:
        """The key of the copy of the script in the bucket of scripts."""
        return f"scripts/{self.copy or self.job_name}.py"


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


def request_of(submission: Submission, run_id: str) -> RunRequest:
    """Return the request that is kept of a run."""
    return RunRequest(
        run_id,
        submission.arguments,
        submission.timeout_minutes,
        glue_version=submission.glue_version,
        is_submitted=True,
    )


def publish_script(submission: Submission, home: Home) -> JobDefinition:
    """Copy the script to the place of job scripts, and return the job."""
    bucket = home.lake / SCRIPTS / "scripts"
    bucket.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(submission.script, home.lake / SCRIPTS / submission.key)
    if imports_library(submission.script):
        ship_library(home, SCRIPTS)
    return job_of(submission)


def job_of(submission: Submission) -> JobDefinition:
    """Return the job that a script is run as, as Glue's console would make it.

    A script that imports the watermark library gets it, as from a Pipeline.
    """
    library = {EXTRA_MODULES: f"s3://{SCRIPTS}/{KEY}"} if imports_library(submission.script) else {}
    return JobDefinition(
        submission.job_name,
        f"s3://{SCRIPTS}/{submission.key}",
        submission.glue_version,
        submitted_file=str(submission.script.absolute()),
        default_arguments={DATA_CATALOG: "true", **library},
        timeout_minutes=submission.timeout_minutes or TIMEOUT_MINUTES,
        is_declared=False,
    )


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


def followers(run: JobRun, echo: Echo | None) -> list[Follower]:
    """Return what hands on the output of a run that its script writes; none without ``echo``."""
    if echo is None:
        return []
    folder = Path(run.log_path).parent
    return [
        Follower(folder / "stdout.log", partial(echo, "stdout")),
        Follower(folder / SCRIPT_STDERR_FILE, partial(echo, "stderr")),
    ]


def copy_new(output: Sequence[Follower]) -> None:
    """Hand on what a run has written since the last call."""
    for follower in output:
        follower.copy_new()
