"""Makes the environment of a Spark: a Python with the pinned packages, and this toolkit."""

import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.machine.disk import full_disk_line, has_room
from tidemark.local_state.sparks.installed import (
    ENVIRONMENTS,
    PYTHON_OF_ENVIRONMENT,
    Spark,
    environment_prefix,
    environment_spark,
    installed_spark,
    pyspark_of,
    requirements_of,
)
from tidemark.local_state.sparks.uv_settings import pip_settings, uv_settings
from tidemark.model.assembly.glue_versions import GLUE_VERSIONS


def find_python(wanted: tuple[int, int], uv: str) -> Path:
    """Return a Python of a version; this process's own if the machine has none of it."""
    if sys.version_info[:2] == wanted:
        return Path(sys.executable)
    for python in _candidates(".".join(map(str, wanted)), uv):
        answer = _output([str(python), "-c", "import sys; print(*sys.version_info[:2])"]).split()
        if answer == list(map(str, wanted)):
            return python
    return Path(sys.executable)


def _candidates(version: str, uv: str) -> Iterator[Path]:
    # uv knows the PATH and what it installed itself. It downloads nothing here, and does not run
    # the Python of an environment that happens to lie in or above the current folder.
    options = ("--no-python-downloads", "--no-project", "--system")
    python = _output([uv, "python", "find", *options, version])
    if python:
        yield Path(python)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)


def _output(command: list[str]) -> str:
    try:
        run = subprocess.run(  # noqa: S603 (fixed commands)
            command, capture_output=True, text=True, timeout=20, cwd=sys.prefix
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""


SHOWN_LINES = 15
BUILDERS = ("setuptools", "wheel")  # of packages that come as source
PROBE = "import amazon.ion, boto3, fastavro, lxml.etree, numpy, pyspark, tidemark, watermarks"
Say = Callable[[str], None]


def _say_nothing(_: str) -> None:
    return


def spark_for(glue_version: str, say: Say = _say_nothing) -> Spark:
    """Return the Spark for a version of Glue; its environment is made if it is not there."""
    return installed_spark(glue_version) or make_environment(glue_version, say)


def make_environment(glue_version: str, say: Say = _say_nothing) -> Spark:
    """Make the environment of a version of Glue, unless it is there; nothing half-made is left.

    Another process that makes it is waited for.
    """
    pyspark = pyspark_of(glue_version)
    uv = _uv()
    with _alone(pyspark):
        if spark := environment_spark(pyspark):
            return spark
        python = find_python(GLUE_VERSIONS[glue_version].python, uv)
        say(f"making the environment of Glue {glue_version}, once: PySpark {pyspark} on {python}")
        with tempfile.TemporaryDirectory(dir=ENVIRONMENTS, prefix=_unfinished(pyspark)) as place:
            folder = Path(place) / "environment"
            try:
                _install(uv, python, folder, requirements_of(pyspark))
                made = _named(folder, pyspark)
            except (OSError, TidemarkError) as error:
                why = str(error) if has_room(ENVIRONMENTS) else full_disk_line(ENVIRONMENTS)
                raise TidemarkError(
                    f"the environment of Glue {glue_version} could not be made: {why}"
                ) from error
            _remove_older(pyspark)
            folder.replace(made)
    spark = environment_spark(pyspark)
    assert spark is not None  # noqa: S101 (its files were looked at)
    return spark


def remove_environment(glue_version: str) -> bool:
    """Delete the environment of a version of Glue; return whether there was one."""
    pyspark = pyspark_of(glue_version)
    with _alone(pyspark):
        return _remove_older(pyspark)


def _remove_older(pyspark: str) -> bool:
    environments = list(ENVIRONMENTS.glob(f"{pyspark}-*"))
    for folder in environments:
        going = Path(tempfile.mkdtemp(dir=ENVIRONMENTS, prefix=_unfinished(pyspark)))
        # At once: a part of an environment would be taken for all of it.
        folder.replace(going / folder.name)
        shutil.rmtree(going)
    return bool(environments)


def _unfinished(pyspark: str) -> str:
    return f".unfinished-{pyspark}-"


def _install(uv: str, python: Path, folder: Path, requirements: Path) -> None:
    _run([uv, "venv", "--quiet", "--no-project", "--python", str(python), str(folder)])
    install = [uv, "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    install += ["--require-hashes", "--python", str(folder / PYTHON_OF_ENVIRONMENT)]
    builders = folder / "builders.txt"
    builders.write_text(_lines_of(requirements.read_text(encoding="utf-8"), BUILDERS))
    _run([*install, "-r", str(builders)])
    _run([*install, "-r", str(requirements)])
    for package in ("tidemark", "watermarks"):
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise TidemarkError(f"the environment of this command has no package {package}")
        (_site_packages(folder) / package).symlink_to(spec.submodule_search_locations[0])
    _run([str(folder / PYTHON_OF_ENVIRONMENT), "-c", PROBE])


def _lines_of(requirements: str, names: Sequence[str]) -> str:
    lines: list[str] = []
    is_wanted = False
    for line in requirements.splitlines(keepends=True):
        if not line.startswith((" ", "#")):
            is_wanted = line.partition("==")[0] in names
        if is_wanted:
            lines.append(line)
    return "".join(lines)


def _named(folder: Path, pyspark: str) -> Path:
    python = _site_packages(folder).parent.name.removeprefix("python")
    return ENVIRONMENTS / f"{environment_prefix(pyspark)}{python}"


def _site_packages(folder: Path) -> Path:
    (folder_of_packages,) = folder.glob("lib/python3.*/site-packages")
    return folder_of_packages


def _uv() -> str:
    # The one of this installation comes first.
    if spec := importlib.util.find_spec("uv"):
        from uv import find_uv_bin

        if spec.origin:
            return str(find_uv_bin())
    if program := shutil.which("uv"):
        return program
    raise UsageError(
        "uv makes the environments of other versions of Glue, and it is not installed; run "
        "`pip install uv`"
    )


@contextmanager
def _alone(pyspark: str) -> Iterator[None]:
    """Wait until no other process makes or deletes this environment."""
    try:
        ENVIRONMENTS.mkdir(parents=True, exist_ok=True)
        file = (ENVIRONMENTS / f".{pyspark}.lock").open("w")
    except OSError as error:
        raise TidemarkError(
            f"{ENVIRONMENTS} holds the environments of other versions of Glue, and this user "
            f"cannot write there: {error.strerror}; install Tidemark into a virtual environment"
        ) from error
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for left in ENVIRONMENTS.glob(f"{_unfinished(pyspark)}*"):  # of a process that was killed
            shutil.rmtree(left, ignore_errors=True)
        yield


def _run(command: Sequence[str]) -> None:
    run = subprocess.run(  # noqa: S603 (fixed commands)
        command,
        cwd=ENVIRONMENTS,  # uv reads the settings of the project in and above its folder
        env={**os.environ, **uv_settings(pip_settings())},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if run.returncode != 0:
        last = "\n".join(run.stdout.splitlines()[-SHOWN_LINES:])
        raise TidemarkError(f"`{' '.join(command)}` ended with {run.returncode}:\n{last}")
