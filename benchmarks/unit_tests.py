"""Measures a test of a job script with the test kit: `python -m benchmarks.unit_tests`.

Each test puts 100 rows, runs the script of `tidemark new-job` and looks at the run. The plugin is
measured by sessions of one empty test, with it and without, in turns.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.measure import PROJECT, Result, time_command

COMMAND = "python -m benchmarks.unit_tests"
SCRIPT = PROJECT / "tidemark/scaffold/templates/new_job/bookmark_files/job.py"
TESTS = """
import time, pytest
from pathlib import Path

ROWS = [{"id": n, "status": "open", "updated_at": "2013-01-01T10:00:00Z"} for n in range(100)]

@pytest.mark.parametrize("number", range(RUNS))
def test_run(number, lake, glue_job):
    begin = time.monotonic()
    lake.put("landing/orders/1.json", ROWS)
    run = glue_job("orders.py", bookmark="enable", isolated=ISOLATED,
        source_path="s3://landing/orders/", target_path="s3://raw/orders/")
    assert run.rows_written == 100, run.error
    with Path("seconds.txt").open("a") as out:
        out.write(f"{time.monotonic() - begin}\\n")
"""
EMPTY = "def test_nothing():\n    pass\n"
WITHOUT = ("-p", "no:tidemark.testing.plugin")
RUNS = 8
SESSIONS = 9


def measure() -> list[Result]:
    """Return the time of a test after the first, in process and isolated, and of the plugin."""
    with TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "glue_jobs").mkdir()
        (project / "glue_jobs" / "orders.py").write_bytes(SCRIPT.read_bytes())
        inside, outside = (_later_tests(project, isolated=it) for it in (False, True))
        return [
            Result("test of a script, second and later", COMMAND, inside, "target 0.5 s; 100 rows"),
            Result("test of a script, isolated, second and later", COMMAND, outside, "target 2 s"),
            Result(
                "plugin of the test kit, in a session without it, ms",
                COMMAND,
                [1000 * seconds for seconds in _plugin(project)],
                "target 100 ms; the pairs differ more than it costs",
            ),
        ]


def _later_tests(project: Path, *, isolated: bool) -> list[float]:
    """Return the seconds of each test after the first two."""
    text = TESTS.replace("RUNS", str(RUNS)).replace("ISOLATED", str(isolated or None))
    (project / "test_orders.py").write_text(text, encoding="utf-8")
    (project / "seconds.txt").unlink(missing_ok=True)
    _session(project, "test_orders.py")
    lines = (project / "seconds.txt").read_text(encoding="utf-8").splitlines()
    return [float(line) for line in lines][2:]


def _plugin(project: Path) -> list[float]:
    """Return how much longer sessions of one empty test take with the plugin than without."""
    (project / "test_empty.py").write_text(EMPTY, encoding="utf-8")
    found = []
    for _ in range(SESSIONS):
        without = _session(project, "test_empty.py", *WITHOUT)
        found.append(_session(project, "test_empty.py") - without)
    return found


def _session(project: Path, *words: str) -> float:
    begin = time.monotonic()
    time_command([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words], project)
    return time.monotonic() - begin


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
