"""A job process that is there before its run: it has imported what jobs import, and waits.

A program of its own, called with ``PARENT_PID``. The run comes on stdin, as `Order.line` makes it;
without one, it ends with its stdin. With ``PARENT_PID fork``, it forks a process for each run.
"""

import contextlib
import gc
import importlib
import json
import os
import socket
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from importlib.machinery import PathFinder
from pathlib import Path

from tidemark.glue_job.process.compiled_zips import compile_zips, use_compiled_zips
from tidemark.glue_job.process.forks import end_forked, fork_for_each
from tidemark.local_state.machine.child import die_with_parent
from tidemark.local_state.sparks.installed import own_spark

IMPORTED = ("pyspark.sql", "awsglue.context", "awsglue.job", "awsglue.utils", "awsglue.transforms")
# Spark 4.1 asks `pyspark.testing` for numpy at the first call of Java, and that imports pandas.
# Source: https://github.com/apache/spark/blob/v4.1.1/python/pyspark/sql/types.py
BY_SPARK_4 = ("pyspark.sql.classic.dataframe", "pyspark.testing.utils")
LATER = ("boto3", "botocore.client")  # after the first run has begun, which may not need it
AT_START = ("sitecustomize", "usercustomize")  # modules that Python imports before any other
PATH = "PYTHONPATH"
FORK = "fork"


@dataclass(frozen=True)
class Order:
    """A run for a process that waits for one.

    Attributes:
        script: the script's file.
        folder: the folder of the run, where the script runs and its logs are.
        environment: all variables of the run.
    """

    script: str
    folder: str
    environment: dict[str, str]

    def line(self) -> bytes:
        """Return the order as the process reads it."""
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> int:
    """Import, wait for the order, and be that run's process; return its exit code."""
    parent = int(sys.argv[1])
    die_with_parent(parent)
    gc.disable()  # imports leave no garbage, and a tenth of their time is the search for it
    from tidemark.glue_job.process import job_process  # slow: whoever starts this needs none of it

    for name in (*IMPORTED, *(BY_SPARK_4 if own_spark().major >= 4 else ())):
        importlib.import_module(name)
    gc.collect()
    gc.enable()
    gc.freeze()  # at its end Python looks through all objects, and these are most of them
    if is_forker := FORK in sys.argv:
        use_compiled_zips()
        line, parent = fork_for_each(socket.socket(fileno=0), _prepare) or (b"", 0)
        # In a process that was forked numpy does not start anew, as `random` does.
        if numpy_random := sys.modules.get("numpy.random"):
            numpy_random.seed()
    else:
        line = sys.stdin.buffer.readline()
    if not line:
        return 0
    order = Order(**json.loads(line))
    _move(Path(order.folder))
    added = _added_paths(os.environ, order.environment)
    arguments = [str(parent), order.script]
    if added is None or provide(added, {name.partition(".")[0] for name in sys.modules}):
        command = [sys.executable, "-P", "-m", job_process.__name__, *arguments]
        os.execve(sys.executable, command, order.environment)  # noqa: S606
    os.environ.clear()
    os.environ.update(order.environment)
    time.tzset()
    # The paths that the run adds stand before the standard library, as in a Python that it starts.
    own = len(os.environ[PATH].split(os.pathsep)) - len(added)
    sys.path[own:own] = added
    sys.argv = [job_process.__file__, *arguments]
    code = job_process.main()
    return end_forked(code, added) if is_forker else code


def _prepare(order: bytes) -> None:
    paths = json.loads(order)["environment"][PATH].split(os.pathsep)
    compile_zips(paths)
    for name in LATER:
        with contextlib.suppress(ImportError):  # an environment of another Spark may lack it
            importlib.import_module(name)
    gc.freeze()


def _move(folder: Path) -> None:
    os.chdir(folder)
    files = ((0, os.devnull, os.O_RDONLY), (1, "stdout.log", None), (2, "stderr.log", None))
    for number, name, flags in files:
        file = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT if flags is None else flags)
        os.dup2(file, number)
        os.close(file)


def _added_paths(mine: Mapping[str, str], wanted: Mapping[str, str]) -> list[str] | None:
    settings = {name for name in (*mine, *wanted) if name.startswith("PYTHON")} - {PATH}
    before, after = (variables[PATH].split(os.pathsep) for variables in (mine, wanted))
    # Other settings of Python, or paths before ours, need a Python that starts anew.
    if after[: len(before)] != before or any(mine.get(n) != wanted.get(n) for n in settings):
        return None
    return after[len(before) :]


def provide(paths: Iterable[str], imported: Iterable[str]) -> bool:
    """Return whether paths hold a module that is imported already, or that changes Python."""
    names = {*imported, *AT_START} - {"__main__"}
    return any(
        spec.origin or spec.submodule_search_locations
        for path in paths
        for name in names
        if (spec := PathFinder.find_spec(name, [path]))
    )


if __name__ == "__main__":
    sys.exit(main())
