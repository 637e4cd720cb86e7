"""Measures set-up and demo in a fresh clone: `python -m benchmarks.cold_setup`.

Package managers keep their download caches, so this is set-up from nothing but the network.
"""

import subprocess
import tempfile
from pathlib import Path

from benchmarks.measure import PROJECT, Result, time_command

DEMO_RUNS = 3
COMMAND = "python -m benchmarks.cold_setup"


def measure() -> list[Result]:
    """Return the seconds of `make setup`, of it again, and of warm `make demo`."""
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "tidemark"
        subprocess.run(["git", "clone", "--quiet", PROJECT, clone], check=True)  # noqa: S603, S607
        cold = [time_command(["make", "setup"], clone)]
        again = [time_command(["make", "setup"], clone) for _ in range(DEMO_RUNS)]
        demo = [time_command(["make", "demo"], clone) for _ in range(DEMO_RUNS)]
    return [
        Result("set-up, fresh clone", COMMAND, cold, "downloads may be cached"),
        Result("set-up, second time", COMMAND, again, "target 3 s"),
        Result("`make demo`, warm", COMMAND, demo, "target 120 s"),
    ]


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
