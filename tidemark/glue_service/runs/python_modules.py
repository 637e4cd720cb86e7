"""The Python modules that a job names: those of local runs, and a folder of the others.

Glue installs them before each run; here pip installs missing ones, once per set of modules.
Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-python-libraries.html
"""

import hashlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_service.runs.arguments import MODULES, listed
from tidemark.glue_service.runs.extra_files import existing
from tidemark.local_state.home import Home
from tidemark.model.assembly.definitions import JobDefinition

REQUIREMENT = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*(?:==\s*([\w.+!*-]+))?")
WHEEL = re.compile(r"(?:.*/)?([^/-]+)-([^/-]+)-[^/]+\.whl")
OPTION = "--python-modules-installer-option"
FOLDER = "python-modules"
S3 = ("s3://", "s3a://")
PIP = ("install", "--quiet", "--disable-pip-version-check", "--no-input")


def versions_of(python: Path) -> Callable[[str], str | None]:
    """Return what tells the version of a distribution that a Python has, None if it lacks it."""
    if python == Path(sys.executable):
        return installed_version
    folders = [str(folder) for folder in python.parents[1].glob("lib/python3.*/site-packages")]
    versions = {_name(package.name): package.version for package in distributions(path=folders)}
    return lambda name: versions.get(_name(name))


def _name(distribution: str) -> str:
    return re.sub(r"[-_.]+", "-", distribution).lower()


def installed_version(name: str) -> str | None:
    """Return the version of an installed distribution; None if it is not installed."""
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def missing_modules(
    names: str, version_of: Callable[[str], str | None] = installed_version
) -> list[str]:
    """Return a problem for each module that a run would not find in the named version."""
    return [
        problem
        for word in (part.strip() for part in names.split(","))
        if word and (problem := _problem(word, version_of))
    ]


def _problem(word: str, version_of: Callable[[str], str | None]) -> str:
    match = WHEEL.fullmatch(word) or REQUIREMENT.fullmatch(word)
    if match is None:
        return f"{word} (write name==version)"
    name, wanted = match.groups()
    installed = version_of(name)
    if installed is None:
        return f"{word} (not installed)"
    return "" if wanted is None or _is_version(installed, wanted) else f"{word} (is {installed})"


def _is_version(installed: str, wanted: str) -> bool:
    if "+" not in wanted:
        # As for pip, a local part counts only if it is asked for.
        installed = installed.partition("+")[0]
    if wanted.endswith(".*"):
        return f"{_plain(installed)}.".startswith(f"{_plain(wanted.removesuffix('.*'))}.")
    return _plain(installed) == _plain(wanted)


def _plain(text: str) -> str:
    return re.sub(r"(\.0)+$", "", text.lower().removeprefix("v").replace("-", "."))


def module_folders(
    home: Home, job: JobDefinition, arguments: Mapping[str, str], python: Path
) -> list[Path]:
    """Return the folder with the modules of ``--additional-python-modules``, installed if new.

    Modules that the Python of local runs has in the named version need no folder.
    """
    if not missing_modules(arguments.get(MODULES, ""), versions_of(python)):
        return []
    words = [word.strip() for word in listed(arguments, MODULES)]
    try:
        options = shlex.split(arguments.get(OPTION, ""))
    except ValueError as error:
        raise UsageError(f"job {job.name} has {OPTION} {arguments[OPTION]!r}: {error}") from error
    wanted = [
        str(existing(job, w, home.local_path(w))) if w.startswith(S3) else w for w in words if w
    ]
    folder = home.root / FOLDER / _key(python, wanted, options)
    if not folder.is_dir():
        _install(job, python, folder, [*options, *wanted])
    return [folder]


def _key(python: Path, wanted: list[str], options: list[str]) -> str:
    own = [] if python == Path(sys.executable) else [str(python)]
    parts = [sys.version, *own, *options]
    for word in wanted:
        file = Path(word)
        # A wheel that is named may have changed.
        content = hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""
        parts += [word, content]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _install(job: JobDefinition, python: Path, folder: Path, words: list[str]) -> None:
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        # Into a folder beside it first: a killed command leaves no half of a set.
        target = Path(place) / "modules"
        run = subprocess.run(  # noqa: S603 (what the job asks for)
            [
                sys.executable,
                "-m",
                "pip",
                "--python",
                str(python),
                *PIP,
                "--target",
                str(target),
                *words,
            ],
            capture_output=True,
            text=True,
        )
        if run.returncode:
            reason = (run.stderr or run.stdout).strip().splitlines()[-1:] or ["no output"]
            raise TidemarkError(
                f"job {job.name} names in {MODULES} what pip cannot install: {reason[0]}; correct "
                f"it, or install it with `{sys.executable} -m pip --python {python} install`"
            )
        target.mkdir(exist_ok=True)
        # Another command may have been faster.
        if not folder.is_dir():
            shutil.move(target, folder)
