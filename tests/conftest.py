"""The one Spark session of a test process, with the settings of a local job run, and its S3."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tidemark.local_glue.home import Home
from tidemark.local_glue.machine.java import find_java_home
from tidemark.local_glue.runs.job_runs import SITE
from tidemark.local_glue.runs.jvms.pool_file import POOL_VARIABLE
from tidemark.local_glue.runs.jvms.server import serve_pool
from tidemark.local_glue.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.local_glue.runs.spark import write_spark_conf
from tidemark.local_glue.store.database import Store

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest_plugins = (
    "tests.fixtures.commands",
    "tests.fixtures.glue_session",
    "tests.fixtures.synthesis",
)
PROJECT = Path(__file__).parents[1]
BUCKET = "tests"
JAVA_PACKAGES = Path("/usr/share/java")  # Debian's place
# PySpark never closes the socket over which the JVM answers `collect`.
UNCLOSED_BY_PYSPARK = r"ignore:unclosed <socket.socket .*'127\.0\.0\.1':ResourceWarning"
_prefixes = itertools.count(1)
# A busy machine makes any example slow; how long a test takes is no property of the code.
settings.register_profile("tidemark", deadline=None)
settings.load_profile("tidemark")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--aws", action="store_true", help="run the tests that need a real account")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--aws"):
        skip = pytest.mark.skip(reason="needs a real account: --aws, see CONTRIBUTING.md")
        for item in items:
            if item.get_closest_marker("aws"):
                item.add_marker(skip)


def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("spark"):
        item.add_marker(pytest.mark.filterwarnings(UNCLOSED_BY_PYSPARK))


@dataclass(frozen=True)
class Prefix:
    """A place in S3 that no other test uses, and its folder, which nothing has made yet."""

    uri: str
    folder: Path

    def put(self, key: str, text: str, minutes_ago: int = 0) -> Path:
        """Write an object that was last modified some minutes ago."""
        path = self.folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        at = time.time() - 60 * minutes_ago
        os.utime(path, (at, at))
        return path

    def names(self) -> list[str]:
        """Return the keys of all objects, hidden ones too."""
        return sorted(
            str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if path.is_file()
        )


@pytest.fixture(scope="session")
def spark_home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    home = Home.open(tmp_path_factory.mktemp("spark") / "home")
    (home.lake / BUCKET).mkdir()
    Store(home.database).close()  # before any run, as a command does
    return home


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
def spark_session(spark_home: Home, jdbc_jar: Path | None) -> Iterator[SparkSession]:
    """Start the JVM of this process as a job run starts its own."""
    from pyspark.sql import SparkSession

    run_folder = spark_home.runs / "tests"
    run_folder.mkdir()
    class_path = {"spark.driver.extraClassPath": str(jdbc_jar)} if jdbc_jar else {}
    spark_variables = write_spark_conf(run_folder, spark_home, find_java_home(), class_path)
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(("SPARK_", "PYSPARK_"))]:
            patch.delenv(name)
        for name, value in spark_variables.items():
            patch.setenv(name, value)
        # As a job run sets it: the workers of Spark import awsglue too.
        patch.setenv("PYTHONPATH", os.pathsep.join(map(str, (SITE, PROJECT))))
        session = SparkSession.builder.getOrCreate()
    yield session
    session.stop()


@pytest.fixture
def spark(
    spark_session: SparkSession, spark_home: Home, monkeypatch: pytest.MonkeyPatch
) -> Iterator[SparkSession]:
    """Return the session, in a process that looks like a job run: its state home, and UTC."""
    monkeypatch.setenv("TIDEMARK_HOME", str(spark_home.root))
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield spark_session
    spark_session.catalog.clearCache()
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def s3(spark_home: Home) -> Prefix:
    """Return a prefix of the test bucket that no other test uses."""
    name = f"prefix-{next(_prefixes):03}"
    return Prefix(f"s3://{BUCKET}/{name}/", spark_home.lake / BUCKET / name)
