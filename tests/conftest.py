"""What all tests share: one pool of JVMs, and the fixtures of the folder `fixtures`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from tidemark.local_glue.machine.java import find_java_home
from tidemark.local_glue.runs.jvms.pool_file import POOL_VARIABLE
from tidemark.local_glue.runs.jvms.server import serve_pool
from tidemark.local_glue.runs.jvms.supply import NO_JVMS, Jvms

pytest_plugins = (
    "tests.fixtures.commands",
    "tests.fixtures.glue_session",
    "tests.fixtures.synthesis",
    "tidemark.testing.plugin",
)
JAVA_PACKAGES = Path("/usr/share/java")  # Debian's place
# What the CDK knows of CloudFormation's rules costs two seconds a synthesis: tests/infra asks once.
os.environ.setdefault("CDK_VALIDATION", "false")
# A busy machine makes any example slow; how long a test takes is no property of the code.
settings.register_profile("tidemark", deadline=None)
settings.load_profile("tidemark")


# Modules that take a minute and more: begun first, they leave no worker idle at the end.
LONGEST = (
    *("runs/jvms/test_nasty.py", "scaffold/test_new_job_project.py", "e2e/test_story.py"),
    *("crash/test_crash_matrix.py", "runs/jvms/test_random.py", "runs/jvms/test_faults.py"),
    *("docs/test_add_a_job_doc.py", "libs/test_window_machine.py", "e2e/test_jdbc.py"),
    *("scenarios/test_scenarios.py", "runs/test_class_archive.py"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--aws", action="store_true", help="run the tests that need a real account")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST))
    if not config.getoption("--aws"):
        skip = pytest.mark.skip(reason="needs a real account: --aws, see CONTRIBUTING.md")
        for item in items:
            if item.get_closest_marker("aws"):
                item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def jvms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Jvms]:
    """One pool of JVMs for the whole test process; commands that tests start find it too."""
    if find_spec("pyspark") is None:  # in the venv of ministack
        yield NO_JVMS
        return
    folder = tmp_path_factory.mktemp("jvms")
    with (
        serve_pool(folder, find_java_home(), os.cpu_count() or 1) as (pool, file),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv(POOL_VARIABLE, str(file))
        yield Jvms(file, pool=pool)


@pytest.fixture(scope="session")
def jdbc_jar() -> Path | None:
    """Return the JDBC driver of PostgreSQL, if this machine has its package."""
    return min(JAVA_PACKAGES.glob("postgresql*.jar"), default=None)


@pytest.fixture(scope="session")
def spark_settings(jdbc_jar: Path | None) -> Mapping[str, str]:
    return {"spark.driver.extraClassPath": str(jdbc_jar)} if jdbc_jar else {}
