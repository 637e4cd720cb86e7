"""Measures a warm synthesis of the CDK app: `python -m benchmarks.synth`."""

import sys
import tempfile

from benchmarks.measure import PROJECT, Result, time_command

RUNS = 5


def measure() -> list[Result]:
    """Return the seconds of `python app.py` after one run that is not counted."""
    with tempfile.TemporaryDirectory() as output:
        command, environment = [sys.executable, "app.py"], {"CDK_OUTDIR": output}
        seconds = [time_command(command, PROJECT, environment) for _ in range(RUNS + 1)]
    return [Result("synth, warm", "python -m benchmarks.synth", seconds[1:], "target 5 s")]


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
