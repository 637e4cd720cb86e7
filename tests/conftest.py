"""What all tests share: one pool of JVMs, and the fixtures of the folder `fixtures`."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import botocore.session
import pytest
from hypothesis import settings

from tests.sampled import leave_cases_to_the_night
from tests.tries import AT_NIGHT
from tidemark.glue_job.process.pool import POOL_VARIABLE
from tidemark.glue_service.runs.jvms.server import serve_pool
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.sparks.installed import own_spark

pytest_plugins = (
    "tests.fixtures.commands",
    "tests.fixtures.glue_session",
    "tests.fixtures.processes",
    "tests.fixtures.synthesis",
    "tidemark.testing.plugin",
)
MAX_JVMS = 2  # at once, for job processes: as many as cores
JAVA_PACKAGES = Path("/usr/share/java")  # Debian's place
# What the CDK knows of CloudFormation's rules costs two seconds a synthesis: tests/infra asks once.
os.environ.setdefault("CDK_VALIDATION", "false")
# A busy machine makes any example slow; how long a test takes is no property of the code.
# One commit has one result: examples are the same in every run; others, and more, at night.
settings.register_profile("tidemark", deadline=None, derandomize=True, max_examples=20)
settings.register_profile(AT_NIGHT, deadline=None)
settings.load_profile("tidemark")


# Modules that take a minute and more: begun first, they leave no worker idle at the end.
LONGEST_MODULES = (
    "runs/jvms/test_nasty.py",
    "scaffold/test_new_job_project.py",
    "e2e/test_story.py",
    "crash/test_crash_matrix.py",
    "runs/jvms/test_random.py",
    "runs/jvms/test_faults.py",
    "docs/test_add_a_job_doc.py",
    "libs/test_window_machine.py",
    "e2e/test_jdbc.py",
    "scenarios/test_scenarios.py",
    "process/test_class_archive.py",
)
# What starts Spark in the test process: its code gets fast with use, so one process runs it all.
FEW = 3
GIVES_WAY = 10  # steps of niceness: a tenth of the time, where two want a core
SHARE_SPARK = tuple(
    f"tests/{place}"
    for place in (
        "glue_jobs/",
        "libs/spark/",
        "postgres/",
        "crash/test_commit_kills.py",
        "crash/test_crash_matrix.py",
        "docs/test_watermarks_doc.py",
        *(
            f"tidemark/{name}/"
            for name in ("data_quality", "studio", "glue_job/frames", "glue_job/readers")
        ),
        "tidemark/glue_job/metastore/test_json_look.py",
        "tidemark/glue_job/metastore/test_white_rows.py",
        "tidemark/glue_job/test_law",
        "tidemark/glue_job/test_spark_versions",
        "tidemark/glue_job/process/test_losing_settings.py",
        "tidemark/glue_job/process/test_worker_daemon.py",
        "tidemark/operate/prove/test_folders_of_runs.py",
        "tidemark/operate/prove/test_judge_job.py",
        "tidemark/operate/prove/test_lakes.py",
        "tidemark/operate/diff/test_diff_by_spark.py",
        "tidemark/operate/versions/test_row_job.py",
        "tidemark/glue_job/writers/",
        "tidemark/glue_job/site/test_glue_s_jvm.py",
        "tidemark/glue_job/process/test_lake_fs.py",
        "tidemark/glue_job/process/test_spark_",
        "tidemark/glue_service/runs/test_spark_",
        "tidemark/glue_service/runs/jvms/test_properties.py",
        "test_trusted_surfaces.py::test_nothing_listens",
        "tidemark/glue_job/process/test_class_names.py",
        "tidemark/testing/test_in_process.py",
        "tidemark/testing/test_assertions.py",
        "tidemark/testing/test_fixtures.py",
    )
)


def keep_botocore_s_models() -> None:
    """Read botocore's models of services once a process, not once a session of boto3."""
    botocore.session.create_loader = cache(botocore.session.create_loader)


def pytest_configure(config: pytest.Config) -> None:
    """Open a pool of JVMs for all test processes, and the commands that they start."""
    keep_botocore_s_models()
    gc.disable()  # until the tests are collected: there is no garbage, and much to look through
    if hasattr(config, "workerinput") or find_spec("pyspark") is None:  # the venv of ministack
        return
    stack = ExitStack()
    config.add_cleanup(stack.close)
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="tidemark-tests-")))
    patch = stack.enter_context(pytest.MonkeyPatch.context())
    _, file = stack.enter_context(serve_pool(folder, find_java_home(), MAX_JVMS))
    patch.setenv(POOL_VARIABLE, str(file))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Let one of a few test processes run all that shares the Spark of its process."""
    if config.getoption("dist") != "loadscope" or len(config.getoption("tx")) > FEW:
        return None
    from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

    class OneSpark(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return "Spark" if nodeid.startswith(SHARE_SPARK) else super()._split_scope(nodeid)

    return OneSpark(config, log)


@pytest.hookimpl(tryfirst=True)  # before markers choose what runs
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    leave_cases_to_the_night(items)
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONGEST_MODULES))
    items.sort(key=lambda item: not item.nodeid.startswith(SHARE_SPARK))
    if not config.getoption("--aws"):
        skip = pytest.mark.skip(reason="needs a real account: --aws, see CONTRIBUTING.md")
        for item in items:
            if item.get_closest_marker("aws"):
                item.add_marker(skip)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Give way to the one test process that runs all that shares Spark, and would end last."""
    is_of_several = "PYTEST_XDIST_WORKER" in os.environ
    if is_of_several and not item.nodeid.startswith(SHARE_SPARK) and os.nice(0) == 0:
        os.nice(GIVES_WAY)


def pytest_collection_finish() -> None:
    """Let no collection of garbage look at the tests again, and let it look at the rest less."""
    gc.freeze()
    gc.enable()
    gc.set_threshold(700, 10, 100)


@pytest.fixture(autouse=True)
def _notes_of_one_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the watermark library know of what one test has read and written only."""
    if notes := sys.modules.get("watermarks.run_notes"):
        monkeypatch.setattr(notes, "_notes", {})
        monkeypatch.setattr(notes, "_committed", {})


class KeptPythons(Pythons):
    """The processes that fork runs, for all commands of a test process: they outlive each."""

    def close(self) -> None:
        """Keep them for the next command."""

    def end(self) -> None:
        super().close()


@pytest.fixture(scope="session", autouse=True)
def shared_pythons() -> Iterator[Callable[..., Pythons]]:
    """Let commands in the test process share what forks their runs, begun by the first of them."""
    with ExitStack() as stack:

        @cache
        def kept() -> Pythons:
            pythons = KeptPythons()
            stack.callback(pythons.end)
            return pythons

        def shared(**_: Any) -> Pythons:
            return kept()

        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("tidemark.glue_service.runs.pythons.Pythons", shared)
        for name in ("tidemark.glue_service.runs.jvms.supply", "tidemark.cli.submit_here"):
            if module := sys.modules.get(name):  # else it imports what is shared
                patch.setattr(module, "Pythons", shared)
        yield shared


@pytest.fixture(scope="session")
def jvms(shared_pythons: Callable[..., Pythons]) -> Jvms:
    """Return the pool of JVMs that all test processes share, and processes that fork runs."""
    if not (file := os.environ.get(POOL_VARIABLE)):
        return NO_JVMS
    pythons = shared_pythons()
    pythons.want(1, own_spark())
    return Jvms(Path(file), pythons=pythons)


@pytest.fixture(scope="session")
def jdbc_jar() -> Path | None:
    """Return the JDBC driver of PostgreSQL, if this machine has its package."""
    return min(JAVA_PACKAGES.glob("postgresql*.jar"), default=None)


@pytest.fixture(scope="session")
def spark_settings(pytestconfig: pytest.Config, jdbc_jar: Path | None) -> Mapping[str, str]:
    """Let the Spark of the test process interpret: to compile takes longer than a few rows do.

    At night it compiles, as that of a job does.
    """
    modes = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    quick = {} if pytestconfig.getoption("hypothesis_profile") == AT_NIGHT else modes
    # Not `spark.driver.extraClassPath`: a JVM with more on its class path takes no class archive.
    return quick | ({"spark.jars": jdbc_jar.as_uri()} if jdbc_jar else {})
