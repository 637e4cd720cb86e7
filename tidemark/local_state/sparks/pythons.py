"""Finds a Python for an environment: that of the version of Glue, else the one that runs this."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LOOK_TIMEOUT_S = 20


def find_python(wanted: tuple[int, int], uv: str) -> Path:
    """Return a Python of a version; this process's own if the machine has none of it."""
    if sys.version_info[:2] == wanted:
        return Path(sys.executable)
    for python in _candidates(".".join(map(str, wanted)), uv):
        if _version_of(python) == wanted:
            return python
    return Path(sys.executable)


def _candidates(version: str, uv: str) -> Iterator[Path]:
    # uv knows the PATH and what it installed itself. It downloads nothing here, and does not run
    # the Python of an environment that happens to lie in or above the current folder.
    options = ("--no-python-downloads", "--no-project", "--system")
    found = _output([uv, "python", "find", *options, version])
    if found:
        yield Path(found)
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    yield from sorted(pyenv.glob(f"versions/{version}.*/bin/python{version}"), reverse=True)


def _version_of(python: Path) -> tuple[int, int] | None:
    answer = _output([str(python), "-c", "import sys; print(*sys.version_info[:2])"]).split()
    return (int(answer[0]), int(answer[1])) if len(answer) == 2 else None


def _output(command: list[str]) -> str:
    try:
        run = subprocess.run(  # noqa: S603 (fixed commands)
            command, capture_output=True, text=True, timeout=LOOK_TIMEOUT_S, cwd=sys.prefix
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return run.stdout.strip() if run.returncode == 0 else ""
