"""Runs one job script in its own process, as Glue does: argv, working folder, error report.

A separate program, called with ``PARENT_PID SCRIPT``. The script's arguments are in
`ARGUMENTS_FILE` of the current folder, since `ps` shows a program's arguments to every user. Writes
`RESULT_FILE` into that folder when the script fails.
"""

import contextlib
import faulthandler
import importlib.machinery
import importlib.util
import io
import json
import linecache
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from tidemark.errors import TidemarkError, UsageError
from tidemark.glue_job.cluster.of_run import executors_of_run
from tidemark.glue_job.edge.hooks import announcing
from tidemark.glue_job.metastore.catalog_settings import CATALOG_VARIABLE, catalog_hint
from tidemark.glue_job.metastore.connect import serve_catalog
from tidemark.glue_job.process.after_import import after_import, free_no_more
from tidemark.glue_job.process.bookmark_session import current_session
from tidemark.glue_job.process.borrow import Borrower
from tidemark.glue_job.process.commit_record import note_facts
from tidemark.glue_job.process.failures import (
    Failure,
    failure_of,
    print_from_script,
    remedy_of_deletion,
)
from tidemark.glue_job.process.observed_contracts import (
    note_contracts_of,
    note_rows_aside,
    observe_contracts,
    observe_reports,
)
from tidemark.glue_job.process.observed_sources import observe_readers, observe_sql
from tidemark.glue_job.process.observed_writers import observe_windows, observe_writers
from tidemark.glue_job.process.script_warnings import note_at_end
from tidemark.glue_job.process.spark import CONF_FILE, system_properties
from tidemark.local_state.job_run import SCRIPT_STDERR_FILE, job_home
from tidemark.local_state.machine.child import die_with_parent
from tidemark.local_state.machine.own_files import write_whole
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.local_state.store.database import Store

RESULT_FILE = "error.json"
ARGUMENTS_FILE = "arguments.json"
JVM_GRACE_S = 5.0
LIBRARY = "watermarks"  # installed with the toolkit; on Glue only if it ships
BOOKMARK_VARIABLE = "TIDEMARK_BOOKMARK_OPTION"
SHELL_VARIABLE = "TIDEMARK_SHELL"  # for a Python shell job, which has no Spark
KILL_VARIABLE = "TIDEMARK_KILL"  # for tests: `before commit` or `after commit`
TERMINAL_VARIABLE = "TIDEMARK_TERMINAL"  # the terminal of a `tidemark submit`
SHOWN_S = 0.3  # until the command has shown what the script has printed so far
SCRIPT_VARIABLE = "TIDEMARK_SCRIPT"  # the submitted file; a copy of it runs


def main() -> int:
    """Run the script; return 0 if it ended normally, 1 if it failed."""
    parent_pid, script = int(sys.argv[1]), Path(sys.argv[2])
    die_with_parent(parent_pid)
    # A run that is stopped, or takes too long, says where it was; then the signal ends it.
    faulthandler.register(signal.SIGTERM, file=2, all_threads=False, chain=True)
    arguments = Path(ARGUMENTS_FILE)
    sys.argv = [str(script), *json.loads(arguments.read_text(encoding="utf-8"))]
    arguments.unlink()
    name = os.environ.pop(SCRIPT_VARIABLE, str(script))
    result = Path(RESULT_FILE).absolute()
    borrower = None
    if os.environ.pop(SHELL_VARIABLE, None):
        _leave_spark_out()
    else:
        home, folder = job_home(), Path(os.environ[RUN_FOLDER_VARIABLE])
        borrower = Borrower(folder / CONF_FILE, system_properties(home, folder), folder)
        borrower.install()
        serve_catalog(home, is_asked=CATALOG_VARIABLE in os.environ)
        after_import("pyspark.sql.readwriter", observe_writers)
        after_import("pyspark.sql.readwriter", observe_readers)
        after_import("pyspark.sql.session", observe_sql)
        after_import("watermarks.run_notes", observe_windows)
        after_import("watermarks.schema.plan", observe_contracts)
        after_import("watermarks.metrics", observe_reports)
        note_contracts_of(sys.argv)
    hide_unshipped_library()
    install_debugger()
    if kill := os.environ.pop(KILL_VARIABLE, None):
        _kill_at_commit(kill)
    with announcing(job_home(), result.parent, name):
        return _run_and_report(script, name, result, borrower)


def _run_and_report(script: Path, name: str, result: Path, borrower: Borrower | None) -> int:
    """Run the script to its end, and Spark with it; return 0 if it ended normally, 1 if not."""
    failure, stack = None, ExitStack()
    try:
        stack.enter_context(executors_of_run(result.parent))
        try:
            with _stderr_copied(Path(SCRIPT_STDERR_FILE)):
                run_script(script, name)
        except SystemExit as error:
            # sys.exit() and sys.exit(0) end a script normally.
            if error.code not in (None, 0):
                raise
        option = os.environ.get(BOOKMARK_VARIABLE, "")
        note_at_end(script, option, current_session(), Path(name).name)
        note_facts(result.parent)
    except BaseException as error:  # noqa: BLE001 (whatever a user's script raises fails its run)
        failure = _report(result, error, name)
    else:
        return 0
    finally:
        try:
            note_rows_aside()
            _stop_spark()
            stack.close()
        finally:
            if borrower:
                borrower.give_back(failure)
    return 1


def _leave_spark_out() -> None:
    sys.modules["pyspark"] = None  # type: ignore[assignment] # the import says it is not there
    # The package itself imports PySpark; utils and job do not.
    package = ModuleType("awsglue")
    if spec := importlib.util.find_spec("awsglue"):
        package.__path__ = list(spec.submodule_search_locations or [])
    sys.modules["awsglue"] = package


def _kill_at_commit(kill: str) -> None:
    """Make the first `Job.commit` kill this process, for a test of what its script leaves."""

    def change(module: ModuleType) -> None:
        commit = module.Job.commit

        def end(job: Any) -> None:
            if kill == "after commit":
                commit(job)
            os.kill(os.getpid(), signal.SIGKILL)

        module.Job.commit = end

    after_import("awsglue.job", change)


def install_debugger() -> None:
    """Let `breakpoint()` stop the script on the terminal of its command, or say where it stops."""
    terminal = os.environ.pop(TERMINAL_VARIABLE, "")

    def stop(*_: Any, **__: Any) -> None:
        if not terminal:
            raise UsageError(
                "breakpoint() stops where a terminal is: with `tidemark submit SCRIPT` on one, in "
                "a home that no `tidemark serve` serves, or in a test with the fixture glue_job"
            )
        import pdb

        print("breakpoint(): the debugger has the terminal; c continues", flush=True)  # noqa: T201
        time.sleep(SHOWN_S)
        keys = Path(terminal).open(encoding="utf-8")  # noqa: SIM115 (open until the script ends)
        screen = Path(terminal).open("w", encoding="utf-8")  # noqa: SIM115
        pdb.Pdb(stdin=keys, stdout=screen).set_trace(sys._getframe(1))

    sys.breakpointhook = stop


def hide_unshipped_library() -> None:
    """Let the watermark library be imported only if the job ships it, as on Glue."""
    shipped = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if importlib.machinery.PathFinder.find_spec(LIBRARY, shipped) is None:
        sys.modules[LIBRARY] = None  # type: ignore[assignment] # the import says it is not there


def run_script(script: Path, name: str) -> None:
    """Run a script as ``__main__``; tracebacks show its lines under the original file's name."""
    source = script.read_bytes()
    code = compile(source, name, "exec", dont_inherit=True)
    lines = importlib.util.decode_source(source).splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    module = ModuleType("__main__")
    module.__file__ = str(script)
    sys.modules["__main__"] = module
    exec(code, module.__dict__)  # noqa: S102 (the user's own script)


class _Both(io.RawIOBase):
    """Writes to the stderr of the process and to a file."""

    def __init__(self, file: io.FileIO) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return 2

    def write(self, data: "memoryview | bytes") -> int:  # type: ignore[override]
        with contextlib.suppress(OSError):  # on a full disk the script continues without it
            self._file.write(data)
        return os.write(2, data)


@contextlib.contextmanager
def _stderr_copied(path: Path) -> Iterator[None]:
    # The JVM writes to stderr too, and much: the script's own output has a file of its own.
    before = sys.stderr
    with path.open("wb", buffering=0) as file:
        both = io.BufferedWriter(_Both(file))  # type: ignore[type-var]
        sys.stderr = io.TextIOWrapper(both, "utf-8", "backslashreplace", write_through=True)
        try:
            yield
        finally:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.flush()
            sys.stderr = before


def _report(result: Path, error: BaseException, script: str) -> str:
    """Print the traceback from the script's own first line on, and write the result file."""
    print_from_script(error, script)
    failure = with_hint(failure_of(error, script), script)
    with contextlib.suppress(OSError):  # on a full disk; the parent process notices
        write_whole(result, json.dumps(asdict(failure)))
    return str(failure)


def with_hint(failure: Failure, script: str) -> Failure:
    """Return a failure with a hint from what the script has deleted, or from the Data Catalog."""
    if remedy := remedy_of_deletion(failure.cause, script):
        return replace(failure, remedy=remedy)
    if "STRUCT<" in failure.cause:
        from tidemark.glue_job.readers.files.choice_examples import remedy_of_choice  # needs Spark

        if remedy := remedy_of_choice(failure.cause):
            return replace(failure, remedy=remedy)
    with contextlib.suppress(TidemarkError), Store(job_home().database) as store:
        hint = catalog_hint(failure.cause, store, is_asked=CATALOG_VARIABLE in os.environ)
        return replace(failure, remedy=hint)
    return failure


def _stop_spark() -> None:
    """Stop a Spark context that the script left open, so that its event log is complete."""
    pyspark = sys.modules.get("pyspark")
    context = pyspark.SparkContext._active_spark_context if pyspark else None
    if context is not None:
        context.stop()
    gateway = pyspark.SparkContext._gateway if pyspark else None
    if gateway is not None:
        free_no_more(gateway)
    jvm = getattr(gateway, "proc", None)
    if jvm is not None:  # it removes its temporary files when its input ends
        jvm.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            jvm.wait(JVM_GRACE_S)


if __name__ == "__main__":
    sys.exit(main())
