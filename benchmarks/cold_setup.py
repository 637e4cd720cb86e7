"""Measures set-up and demo in a fresh clone: `python -m benchmarks.cold_setup`.

Package managers keep their download caches, so this is set-up from nothing but the network; uv and
pip are compared without them.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.measure import PROJECT, Result, time_command
from tidemark.local_state.sparks.uv_settings import pip_settings, uv_settings

DEMO_RUNS = 2
INSTALLED = (".venv", "node_modules")
COMMAND = "python -m benchmarks.cold_setup"
LOCKED = ("--no-deps", "--no-build-isolation", "--require-hashes", "-r", "requirements/dev.txt")


def measure() -> list[Result]:
    """Return the seconds of set-up, of `make demo` before and after it, and of uv and pip."""
    with tempfile.TemporaryDirectory() as folder:
        clone, fresh = Path(folder) / "tidemark", Path(folder) / "fresh"
        for place in (clone, fresh):
            subprocess.run(["git", "clone", "--quiet", PROJECT, place], check=True)  # noqa: S603, S607
        first = [time_command(["make", "demo"], fresh)]
        cold = [time_command(["make", "setup"], clone)]
        disk = [sum(_size(clone / name) for name in INSTALLED) / 1e9]
        again = [time_command(["make", "setup"], clone) for _ in range(DEMO_RUNS)]
        demo = [time_command(["make", "demo"], clone) for _ in range(DEMO_RUNS)]
        uv, pip = _by_uv(Path(folder)), _by_pip(Path(folder))
    return [
        Result("`make demo`, fresh clone", COMMAND, first, "target 150 s; downloads may be cached"),
        Result("set-up, fresh clone", COMMAND, cold, "downloads may be cached"),
        Result("disk of the set-up, GB", COMMAND, disk, " and ".join(INSTALLED)),
        Result("set-up, second time", COMMAND, again, "target 3 s"),
        Result("`make demo`, warm", COMMAND, demo, "target 45 s"),
        Result("all packages, uv, no cache", COMMAND, [uv], "into a new environment"),
        Result("all packages, pip, no cache", COMMAND, [pip], "as it comes: it compiles them"),
        Result("uv, share of pip", COMMAND, [uv / pip], "target 0.33"),
    ]


def _by_uv(folder: Path) -> float:
    environment = _environment(folder / "uv")
    command = ["uv", "pip", "install", "--quiet", "--no-cache", "--python", str(environment)]
    return time_command([*command, *LOCKED], PROJECT, uv_settings(pip_settings()))


def _by_pip(folder: Path) -> float:
    environment = _environment(folder / "pip")
    command = [str(environment / "bin" / "pip"), "install", "--quiet", "--no-cache-dir"]
    return time_command([*command, *LOCKED], PROJECT)


def _environment(folder: Path) -> Path:
    """Return a new virtual environment with what packages are built with."""
    time_command([sys.executable, "-m", "venv", str(folder)], PROJECT)
    build = ["install", "--quiet", "--require-hashes", "--no-deps", "-r", "requirements/setup.txt"]
    time_command([str(folder / "bin" / "pip"), *build], PROJECT)
    return folder


def _size(folder: Path) -> int:
    """Return the bytes that the files of a folder take on disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
