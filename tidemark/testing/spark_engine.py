"""The one JVM and Spark context of a test process; every run in it gets its own session.

A script that starts Spark gets its own Python SparkContext over that context, and a root
session with nothing of earlier sessions: no views, functions, cached tables, settings or tables.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tidemark.glue_job.metastore.catalog_settings import catalog_settings
from tidemark.glue_job.metastore.connect import Metastore, offer
from tidemark.glue_job.process.after_import import (
    free_no_more,
    log_without_setup,
    remember_class_names,
)
from tidemark.glue_job.process.spark import EVENTS_FOLDER, QUICK, write_spark_conf
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.sites import SITES
from tidemark.testing.jvm_state import JvmState
from tidemark.testing.spark_patches import expect_end, kept_ctrl_c, patch_pyspark
from tidemark.testing.spark_settings import Taken

if TYPE_CHECKING:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

JVM_GRACE_S = 5.0


class SparkEngine:
    """Starts Spark at its first use; `close` ends it."""

    def __init__(self, home: Home, folder: Path, settings: Mapping[str, str]) -> None:
        """Prepare; nothing is started.

        Args:
            home: the home whose lake is S3.
            folder: for Spark's settings, its event log and the log of the JVM; created later.
            settings: Spark properties in addition to those of a job run.
        """
        self._home = home
        self.folder = folder
        self._settings = settings
        self._session: SparkSession | None = None
        self._state: JvmState | None = None

    @property
    def session(self) -> SparkSession:
        """The session that tests use themselves; no script sees it."""
        if self._session is not None and not self._is_alive():
            self.close()
        if self._session is None:
            self._session = self._started()
        return self._session

    @property
    def is_running(self) -> bool:
        """Whether there is a session, and its JVM answers."""
        return self._session is not None and self._is_alive()

    @property
    def jvm_log(self) -> Path:
        """The output of the JVM."""
        return self.folder / "jvm.log"

    def events(self) -> Path | None:
        """Return the event log of the context, once all events are in it; None if it is gone."""
        if self._session is None or not self._is_alive():
            return None
        self._scala_context().listenerBus().waitUntilEmpty()
        logs = (self.folder / EVENTS_FOLDER).glob("*")
        return max(logs, key=lambda log: log.stat().st_mtime_ns, default=None)

    @staticmethod
    def has_foreign_context() -> bool:
        """Return whether somebody else has started Spark in this process."""
        pyspark = sys.modules.get("pyspark")
        return pyspark is not None and pyspark.SparkContext._gateway is not None

    def close(self) -> None:
        """Stop Spark and its JVM, so that another may be started."""
        session, self._session, self._state = self._session, None, None
        if session is not None:
            with contextlib.suppress(Exception):  # a JVM that a script ended
                expect_end(session.sparkContext._accumulatorServer)
                session.stop()
            _end_jvm()

    @contextmanager
    def lent(self, catalog: Path, settings: Mapping[str, str], taken: Taken) -> Iterator[None]:
        """Let a script start Spark as if nothing had been started, for as long as the block takes.

        Args:
            catalog: the database that answers Spark's questions about its catalog.
            settings: those of the run, all of a kind that a running context takes.
            taken: decides about the settings of the script, and remembers why it needs a process.
        """
        base = self.session
        context = base.sparkContext
        if self._state is None:
            self._state = JvmState(context)
        state = self._state
        state.remember()
        with pytest.MonkeyPatch.context() as patch:
            try:
                self._connect(catalog)
                state.put(settings)
                _forget(context)
                patch_pyspark(patch, context, taken, state, settings)
                yield
            finally:
                if self._is_alive():
                    _stop_work(context)
                    state.restore()
                    _install(base)
                else:
                    self.close()

    def _connect(self, catalog: Path) -> None:
        from pyspark import SparkContext, java_gateway

        gateway: Any = SparkContext._gateway
        java_gateway.ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
        offer(gateway, Metastore(self._home, catalog).ask)

    def _is_alive(self) -> bool:
        try:
            return self._session is not None and not self._scala_context().isStopped()
        except Exception:  # noqa: BLE001 (Py4J raises the errors of the socket)
            return False

    def _scala_context(self) -> Any:
        assert self._session is not None  # noqa: S101
        return self._session.sparkContext._jsc.sc()

    def _started(self) -> SparkSession:
        from py4j import java_gateway as py4j_gateway
        from pyspark import SparkContext, java_gateway
        from pyspark.sql import SparkSession

        remember_class_names(py4j_gateway)
        log_without_setup()
        self.folder.mkdir(exist_ok=True)
        settings = {**self._settings, **catalog_settings(self._home, {}, self._settings).settings}
        variables = write_spark_conf(self.folder, self._home, find_java_home(), settings)
        tool = os.environ.get("JAVA_TOOL_OPTIONS") or QUICK
        with pytest.MonkeyPatch.context() as patch, self.jvm_log.open("ab") as log:
            # SPARK_HOME and its like would start another Spark than that of this Python.
            for name in [name for name in os.environ if name.startswith(("SPARK_", "PYSPARK_"))]:
                patch.delenv(name)
            for name, value in {**variables, "JAVA_TOOL_OPTIONS": tool}.items():
                patch.setenv(name, value)
            # As a job run sets it: the workers of Spark import awsglue too.
            patch.setenv("PYTHONPATH", os.pathsep.join((*map(str, SITES), *sys.path)))
            patch.chdir(self.folder)
            launched: list[Any] = []

            def launch_process(*arguments: Any, **named: Any) -> Any:
                launched.append(subprocess.Popen(*arguments, **named))  # noqa: S603 (of PySpark)
                return launched[-1]

            patch.setattr(java_gateway, "Popen", launch_process)
            launch: Any = java_gateway.launch_gateway
            try:
                gateway = launch(None, {"stdout": log, "stderr": log})
                SparkContext._gateway, SparkContext._jvm = gateway, gateway.jvm
                with kept_ctrl_c():
                    return SparkSession.builder.getOrCreate()
            except BaseException:  # Ctrl-C, or a time limit of the test
                for process in launched:
                    process.kill()
                    process.wait()
                _end_jvm()
                raise


def _end_jvm() -> None:
    # PySpark has one gateway in a process: it must forget this one before another starts.
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        free_no_more(gateway)
        with contextlib.suppress(Exception):  # a JVM that a script ended
            gateway.shutdown()
    process = getattr(gateway, "proc", None)
    if process is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
        try:
            process.wait(JVM_GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    SparkContext._gateway = SparkContext._jvm = None
    _forget_in_python()


def _forget_in_python() -> None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession, SQLContext

    SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


def _forget(context: SparkContext) -> None:
    """Let PySpark and the JVM know of no context and no session."""
    _forget_in_python()
    jvm: Any = context._jvm
    jvm.SparkSession.clearDefaultSession()
    jvm.SparkSession.clearActiveSession()


def _install(session: SparkSession) -> None:
    """Make a session the one of this process again."""
    from pyspark import SparkContext, SparkFiles
    from pyspark.sql import SparkSession

    _forget(session.sparkContext)
    SparkContext._active_spark_context = session.sparkContext
    SparkFiles._sc = session.sparkContext
    SparkSession._instantiatedSession = SparkSession._activeSession = session
    jvm: Any = session._jvm
    jvm.SparkSession.setDefaultSession(session._jsparkSession)
    jvm.SparkSession.setActiveSession(session._jsparkSession)


def _stop_work(context: SparkContext) -> None:
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    session = SparkSession._instantiatedSession
    with contextlib.suppress(Exception):  # a session that the script has stopped
        if session is not None:
            for query in session.streams.active:
                query.stop()
    own = SparkContext._active_spark_context
    if own is not None and own is not context:
        own.stop()
    context._jsc.sc().cancelAllJobs()
