"""Measures a test of a job script with the test kit: `python -m benchmarks.unit_tests`.

Each test puts 100 rows, runs the script of `tidemark new-job` and looks at the run. The plugin is
measured by what its modules take that a session imports in any case.
"""

from __future__ import annotations

import subprocess
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
IMPORTS = """
import time, pytest
begin = time.process_time()
import tidemark.testing.plugin, tidemark.testing.fixtures, tidemark.testing.function_fixtures
print(time.process_time() - begin)
"""
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
                "target 100 ms; of the processor",
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
    """Return the seconds of the processor that a session spends on the plugin's modules."""
    command = [sys.executable, "-c", IMPORTS]
    told = [
        subprocess.run(command, cwd=project, capture_output=True, text=True, check=True)  # noqa: S603
        for _ in range(SESSIONS)
    ]
    return [float(run.stdout) for run in told]


def _session(project: Path, *words: str) -> float:
    begin = time.monotonic()
    time_command([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words], project)
    return time.monotonic() - begin


if __name__ == "__main__":
    for result in measure():
        print(result.row())  # noqa: T201 (a command)
