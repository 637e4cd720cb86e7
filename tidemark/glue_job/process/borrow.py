"""The side of the job process: borrows a JVM when the script starts Spark, and gives it back."""

import contextlib
import json
import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.process.after_import import (
    ACCUMULATORS,
    CLIENT_SERVER,
    LAUNCHER,
    PY4J,
    after_import,
    free_alone,
    remember_class_names,
    stop_accumulators_soon,
)
from tidemark.glue_job.process.own_jvm import own_jvm_reason
from tidemark.glue_job.process.spark import as_properties
from tidemark.local_state.machine.own_files import write_whole
from tidemark.local_state.run_warnings import RunWarning, note
from tidemark.local_state.sparks.installed import own_spark

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

FILE = "jvm.json"


@dataclass(frozen=True)
class JvmRecord:
    """The JVM of a run.

    Attributes:
        kind: ``warm`` if it has run another job before, else ``cold``.
        why: why the run did not borrow one; empty if it did.
        is_lent: whether the run has borrowed it and not given it back.
        folder: the JVM's own folder, named on its command line; empty if it is not from a pool.
    """

    kind: str
    why: str = ""
    is_lent: bool = True
    folder: str = ""

    def __str__(self) -> str:
        return f"{self.kind}: {self.why}" if self.why else self.kind


def write_record(folder: Path, record: JvmRecord) -> None:
    """Write the record of a run into its folder."""
    with contextlib.suppress(OSError):  # on a full disk; the engine then asks the pool itself
        write_whole(folder / FILE, json.dumps(asdict(record)))


def read_record(folder: Path) -> JvmRecord | None:
    """Return the record of a run; None if its script did not start Spark."""
    try:
        return JvmRecord(**json.loads((folder / FILE).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


# Variables for a job process: the pool's file, or why it must start its own JVM.
RUN_POOL_VARIABLE = "TIDEMARK_POOL_OF_RUN"
COLD_VARIABLE = "TIDEMARK_COLD_BECAUSE"
# The jars of table formats that its JVM needs.
FORMAT_JARS_VARIABLE = "TIDEMARK_FORMAT_JARS"


# Spark reads these only when it starts a JVM: on AWS the JVM runs before the script does.
PACKAGES = ("spark.jars.packages", "spark.jars.repositories", "spark.jars.excludes")


class Borrower:
    """Lets PySpark use a JVM of a pool instead of starting one."""

    def __init__(self, conf_file: Path, properties: Mapping[str, str], folder: Path) -> None:
        """Prepare; `install` makes PySpark use it."""
        pool_file = os.environ.pop(RUN_POOL_VARIABLE, "")
        self._cold_because = os.environ.pop(COLD_VARIABLE, "" if pool_file else "there is no pool")
        self._pool_file = Path(pool_file)
        self._format_jars = os.environ.pop(FORMAT_JARS_VARIABLE, "")
        self._conf_file = conf_file
        self._properties = properties
        self._folder = folder
        self._given = dict(os.environ)
        self._connection: Connection | None = None
        self._record: JvmRecord | None = None

    def install(self) -> None:
        """Make PySpark ask here for its JVM, as soon as it is imported."""
        after_import(PY4J, remember_class_names)
        after_import(LAUNCHER, self._replace_launcher)
        after_import(CLIENT_SERVER, free_alone)
        after_import(ACCUMULATORS, stop_accumulators_soon)

    def give_back(self, failure: str | None) -> None:
        """Give the JVM back; afterwards the files of the run have its complete output."""
        from tidemark.glue_job.process.pool import PoolGoneError, ask

        connection, self._connection = self._connection, None
        if connection is not None and self._record is not None:
            with connection, contextlib.suppress(PoolGoneError):  # and the JVM with it
                ask(connection, {"failure": failure})
                write_record(self._folder, replace(self._record, is_lent=False))

    def _replace_launcher(self, module: ModuleType) -> None:
        launch = module.launch_gateway

        def launch_gateway(conf: Any = None, popen_kwargs: Any = None) -> Any:
            if conf is not None:
                _leave_packages_out(conf)
            variables = self._borrow(dict(conf.getAll()) if conf else {})
            os.environ.update(variables)
            try:
                return launch(conf, popen_kwargs)
            finally:
                for name in variables:
                    del os.environ[name]

        module.launch_gateway = launch_gateway  # type: ignore[attr-defined]

    def _borrow(self, conf: Mapping[str, str]) -> dict[str, str]:
        """Return the variables with which PySpark finds a running JVM; empty to start one."""
        why = self._cold_because or own_jvm_reason(conf, self._given, os.environ)
        if not why:
            answer = self._ask(conf)
            why = answer.get("refused")
        self._cold_because = "the script started a JVM before"
        if why:
            write_record(self._folder, JvmRecord("cold", why, is_lent=False))
            return {}
        kind = "warm" if answer["runs_before"] else "cold"
        self._record = JvmRecord(kind, folder=answer["folder"])
        write_record(self._folder, self._record)
        port, secret = str(answer["port"]), answer["secret"]
        return {"PYSPARK_GATEWAY_PORT": port, "PYSPARK_GATEWAY_SECRET": secret}

    def _ask(self, conf: Mapping[str, str]) -> dict[str, Any]:
        from tidemark.glue_job.process.pool import PoolGoneError, ask, connect

        here = str(Path.cwd())
        settings = {
            **self._properties,
            "user.dir": here,
            "spark.app.name": "pyspark-shell",  # the default of spark-submit
            "spark.app.submitTime": str(time.time_ns() // 1_000_000),
        }
        spark = own_spark()
        request = {
            "version": spark.version,
            "python": str(spark.python),
            "home": str(spark.home),
            "format_jars": [*filter(None, self._format_jars.split(os.pathsep))],
            "settings": as_properties(settings),
            "file": self._conf_file.read_text(encoding="utf-8"),
            "conf": as_properties(conf),
            "environment": {**os.environ, "PWD": here, "TIDEMARK_WORKER_FOLDER": here},
            "stdout": str(self._folder / "stdout.log"),
            "stderr": str(self._folder / "stderr.log"),
        }
        try:
            with ExitStack() as stack:
                connection = stack.enter_context(connect(self._pool_file))
                answer = ask(connection, request)
                if "refused" not in answer:
                    stack.pop_all()  # open as long as the JVM is lent
                    self._connection = connection
        except PoolGoneError as error:
            return {"refused": f"the pool does not answer ({error})"}
        return answer


def _leave_packages_out(conf: Any) -> None:
    # On AWS, they come too late.
    for name in PACKAGES:
        if value := conf._conf.pop(name, None):
            note(RunWarning.PACKAGES_IGNORED, f"{name} {value}")
