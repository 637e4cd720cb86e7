"""Installs the Python modules that a job names, once per set, into a folder of the home.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-libraries.html
"""

import hashlib
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.runs.arguments import MODULES, listed
from tidemark.glue_service.runs.extra_files import existing
from tidemark.glue_service.runs.python_modules import missing_modules
from tidemark.local_state.home import Home
from tidemark.model.assembly.definitions import JobDefinition

OPTION = "--python-modules-installer-option"
FOLDER = "python-modules"
S3 = ("s3://", "s3a://")
PIP = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input")


def module_folders(home: Home, job: JobDefinition, arguments: Mapping[str, str]) -> list[Path]:
    """Return the folder with the modules of ``--additional-python-modules``, installed if new.

    Modules that the Python of local runs has, as they are named, need none.
    """
    if not missing_modules(arguments.get(MODULES, "")):
        return []
    words = [word.strip() for word in listed(arguments, MODULES)]
    try:
        options = shlex.split(arguments.get(OPTION, ""))
    except ValueError as error:
        raise UsageError(f"job {job.name} has {OPTION} {arguments[OPTION]!r}: {error}") from error
    wanted = [
        str(existing(job, w, home.local_path(w))) if w.startswith(S3) else w for w in words if w
    ]
    folder = home.root / FOLDER / _key(wanted, options)
    if not folder.is_dir():
        _install(job, folder, [*options, *wanted])
    return [folder]


def _key(wanted: list[str], options: list[str]) -> str:
    """Return the name of the folder of a set: it changes with a file that is named."""
    parts = [sys.version, *options]
    for word in wanted:
        file = Path(word)
        content = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        parts += [word, content]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _install(job: JobDefinition, folder: Path, words: list[str]) -> None:
    """Install into a folder beside it first, so that a killed command leaves no half of a set."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        target = Path(place) / "modules"
        run = subprocess.run(  # noqa: S603 (what the job asks for)
            [sys.executable, *PIP, "--target", str(target), *words],
            capture_output=True,
            text=True,
        )
        if run.returncode:
            reason = (run.stderr or run.stdout).strip().splitlines()[-1:] or ["no output"]
            raise TidemarkError(
                f"job {job.name} names in {MODULES} what pip cannot install: {reason[0]}; correct "
                f"it, or install it with `{sys.executable} -m pip install`"
            )
        target.mkdir(exist_ok=True)
        if not folder.is_dir():  # another command may have been faster
            shutil.move(target, folder)
