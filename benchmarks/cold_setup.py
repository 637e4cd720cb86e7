"""Measures set-up and demo in a fresh clone: `python -m benchmarks.cold_setup`.

Package managers keep their download caches, so this is set-up from nothing but the network.
"""

import subprocess
import tempfile
from pathlib import Path

from benchmarks.measure import PROJECT, Result, time_command

DEMO_RUNS = 2
INSTALLED = (".venv", "node_modules")
COMMAND = "python -m benchmarks.cold_setup"


def measure() -> list[Result]:
    """Return the seconds of `make setup`, its disk, the seconds of it again and of `make demo`."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "tidemark"
        subprocess.run(["git", "clone", "--quiet", PROJECT, clone], check=True)  # noqa: S603, S607
        cold = [time_command(["make", "setup"], clone)]
        disk = [sum(_size(clone / name) for name in INSTALLED) / 1e9]
        again = [time_command(["make", "setup"], clone) for _ in range(DEMO_RUNS)]
        demo = [time_command(["make", "demo"], clone) for _ in range(DEMO_RUNS)]
    return [
        Result("set-up, fresh clone", COMMAND, cold, "downloads may be cached"),
        Result("disk of the set-up, GB", COMMAND, disk, " and ".join(INSTALLED)),
        Result("set-up, second time", COMMAND, again, "target 3 s"),
        Result("`make demo`, warm", COMMAND, demo, "target 45 s"),
    ]


def _size(folder: Path) -> int:
    """Return the bytes that the files of a folder take on disk."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*"))


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
