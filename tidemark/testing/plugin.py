"""The pytest plugin: option, marker, fixtures; their needs are imported when a test asks for them.

Installed as an entry point, so a session that uses none of it pays for a few small modules only.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.sites import SITES

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

pytest_plugins = ("tidemark.testing.fixtures", "tidemark.testing.function_fixtures")
# PySpark never closes the socket over which the JVM answers `collect`.
UNCLOSED_BY_PYSPARK = r"ignore:unclosed <socket.socket .*'127\.0\.0\.1':ResourceWarning"
SPARK_FIXTURES = {"spark", "glue_context", "lake", "glue_job", "catalog", "pipeline", "watermarks"}
MARKER = (
    "glue(version=…, isolated=True, s3_semantics=True, executors=2): Glue's version; whether runs "
    "get their own processes; whether the lake is as S3 is; on how many processes a run works"
)
IN_PROCESS = "in process"
RUNS = "tidemark: runs"  # property of a report: where the runs of its test ran

for site in map(str, SITES):
    if site not in sys.path:
        sys.path.append(site)  # tests, and the scripts that they import, import awsglue


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare ``--aws``."""
    group = parser.getgroup("tidemark", "AWS Glue")
    group.addoption("--aws", action="store_true", help="run glue_job on real AWS Glue")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    config.addinivalue_line("markers", MARKER)
    config.addinivalue_line("markers", "spark: starts a JVM")
    config.addinivalue_line("markers", "prove: tries what goes wrong with a job, in a minute or so")


def pytest_itemcollected(item: pytest.Item) -> None:
    """Ignore what PySpark leaves open."""
    if item.get_closest_marker("spark") or SPARK_FIXTURES & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.filterwarnings(UNCLOSED_BY_PYSPARK))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add to a report where the job runs of its test ran, and why the failed ones failed."""
    report = yield
    test = getattr(item, "_tidemark_test", None)
    if test is not None and call.when == "call":
        from tidemark.testing.reports import sections_of

        report.user_properties.append((RUNS, [(run.job_name, run.where) for run in test.runs]))
        if report.failed:
            report.sections.extend(sections_of(test.runs, item.config))
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_exception_interact(node: pytest.Item, call: pytest.CallInfo[Any]) -> None:
    """Let `--pdb` stop in the user's frame of a test that has run jobs."""
    test = getattr(node, "_tidemark_test", None)
    if test is not None and node.config.getoption("usepdb", False):
        from tidemark.testing.user_frames import stop_in_own_code

        stop_in_own_code(call, [run.script for run in test.runs])


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """Say in one line where job runs ran, and in one more for each reason for a process."""
    runs: list[tuple[str, str]] = []
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", ()):
            runs += [(job, where) for job, where in value] if name == RUNS else []
    if not runs:
        return
    others = {key: count for key, count in sorted(Counter(runs).items()) if key[1] != IN_PROCESS}
    outside = sum(others.values())
    from tidemark.model.messages import plural

    inside = plural(len(runs) - outside, "run")
    terminalreporter.write_line(
        f"glue jobs: {inside} in process, {plural(outside, 'run')} isolated"
    )
    for (job, where), count in others.items():
        terminalreporter.write_line(f"  {job}: {where} ({plural(count, 'run')})")


def pytest_enter_pdb(config: pytest.Config, pdb: Any) -> None:
    """Give a debugger that stops in a job's script the terminal."""
    if output := sys.modules.get("tidemark.testing.output"):
        output.enter_debugger(pdb)


def pytest_leave_pdb(config: pytest.Config, pdb: Any) -> None:
    """Keep the output of the script again."""
    if output := sys.modules.get("tidemark.testing.output"):
        output.leave_debugger()
