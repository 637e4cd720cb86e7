"""One job run in the test's own process: the steps of `job_process`, all undone afterwards."""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tidemark.glue_job.metastore.catalog_settings import CATALOG_VARIABLE, catalog_settings
from tidemark.glue_job.metastore.connect import OWN_CATALOG
from tidemark.glue_job.process import bookmark_session
from tidemark.glue_job.process.commit_record import note_facts
from tidemark.glue_job.process.failures import (
    RemedyPlaces,
    failure_of,
    print_from_script,
    with_remedy,
)
from tidemark.glue_job.process.job_process import hide_unshipped_library, run_script, with_hint
from tidemark.glue_job.process.script_warnings import note_at_end
from tidemark.glue_job.process.spark import EVENTS_FOLDER, TEMPORARY_FOLDER
from tidemark.glue_service.runs.arguments import (
    DRIVER_VARIABLES,
    command_line,
    spark_settings,
    variables,
)
from tidemark.glue_service.runs.extra_files import copy_extra_files, existing, python_path
from tidemark.glue_service.runs.job_run_process import script_name
from tidemark.glue_service.runs.run_variables import Machine, environment_of
from tidemark.local_state.job_run import SCRIPT_STDERR_FILE
from tidemark.local_state.run_warnings import DECLARED_VARIABLE
from tidemark.local_state.sparks.installed import own_glue_version, own_spark
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import JobDefinition
from tidemark.sites import SITES
from tidemark.testing.kills import KILLED, SURVIVED, Kill, KilledError, killed_at_commit
from tidemark.testing.libraries import kept_for_workers
from tidemark.testing.output import kept_output
from tidemark.testing.process_state import NeedsProcessError, like_a_process, own_ends
from tidemark.testing.spark_engine import SparkEngine
from tidemark.testing.spark_settings import Taken, isolation_by_setting

WAREHOUSE, WORKER_PATH = "spark.sql.warehouse.dir", "spark.executorEnv.PYTHONPATH"
# Ctrl-C, a time limit of the test, the end of a debugger: for the tests, not for the script.
TEST_OUTCOMES = (KeyboardInterrupt, pytest.fail.Exception, pytest.exit.Exception)


@dataclass
class Ended:
    """How a run in this process ended.

    Attributes:
        error: why it failed, in one line; None if it did not.
        exception: the script's exception.
        needs_process: why it is to be run once more, in its own process.
    """

    error: str | None = None
    exception: BaseException | None = None
    needs_process: str | None = None


def isolation_by_conf(arguments: Mapping[str, str]) -> str | None:
    """Return why ``--conf`` of a run needs its own process; None if it does not."""
    reasons = (
        isolation_by_setting(name, value, is_of_spark=not name.startswith("spark.sql."))
        for name, value in spark_settings(arguments).items()
    )
    return next(filter(None, reasons), None)


def run_in_process(
    machine: Machine,
    engine: SparkEngine,
    job: JobDefinition,
    run: JobRun,
    arguments: Mapping[str, str],
    project: Path,
    kill: Kill | None,
) -> Ended:
    """Run a job's script once in this process.

    Args:
        machine: where it runs.
        engine: Spark of this process.
        job: the job, whose script is in the lake.
        run: its record.
        arguments: all of the run.
        project: the folder whose modules the script does not see.
        kill: where to kill the run; None lets it end.

    Raises:
        TidemarkError: the run could not start.
    """
    folder = machine.home.runs / run.run_id
    folder.mkdir(parents=True)
    script = folder / script_name(job.name)
    location = job.script_location
    shutil.copyfile(existing(job, location, machine.home.local_path(location)), script)
    copy_extra_files(machine.home, job, arguments, folder)
    libraries = python_path(machine.home, job, arguments, folder)
    name = job.submitted_file or str(script)
    settings = spark_settings(arguments)
    catalog = catalog_settings(machine.home, arguments, settings)
    is_asked = CATALOG_VARIABLE in catalog.variables
    ended = Ended()
    _ = engine.session  # its JVM starts in the test's environment
    log_start = engine.jvm_log.stat().st_size

    def refuse(why: str) -> NeedsProcessError:
        ended.needs_process = ended.needs_process or why
        return NeedsProcessError(why)

    def body() -> None:
        with kept_output(folder / "stdout.log", folder / SCRIPT_STDERR_FILE), own_ends():
            hide_unshipped_library()
            try:
                _run(script, name, run, ended)
            except TEST_OUTCOMES:
                raise
            except BaseException as error:  # noqa: BLE001 (whatever a script raises fails its run)
                ended.exception = error
                print_from_script(error, name)
                failure = with_hint(failure_of(error, name), name)
                places = RemedyPlaces(machine.home.lake, sys.executable, own_glue_version())
                log = _tail(engine.jvm_log, log_start).decode("utf-8", errors="replace")
                ended.error = with_remedy(failure, log, places, None)

    with ExitStack() as stack:
        kept = kept_for_workers(libraries, engine.folder)
        database = machine.home.database if is_asked else folder / OWN_CATALOG
        wanted = {
            **settings,
            WAREHOUSE: (folder / TEMPORARY_FOLDER / "warehouse").as_uri(),
            # Python workers of Spark find the libraries of the run by it.
            **({WORKER_PATH: os.pathsep.join(map(str, (*SITES, *kept)))} if kept else {}),
            **catalog.settings,
        }
        stack.enter_context(engine.lent(database, wanted, Taken(machine.home, refuse)))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(bookmark_session, "_sessions", [])
        stack.enter_context(_kept_events(engine, folder / EVENTS_FOLDER))
        stack.enter_context(
            like_a_process(
                arguments=[
                    str(script),
                    *command_line(job, f"j_{run.run_id[3:67]}", run.run_id, arguments),
                ],
                variables={
                    **environment_of(machine, folder, run, libraries),
                    **variables(arguments, DRIVER_VARIABLES),
                    **catalog.variables,
                    DECLARED_VARIABLE: "1" if job.is_declared else "",
                    "JAVA_HOME": str(machine.java_home),
                    "PYSPARK_PYTHON": sys.executable,
                    "SPARK_HOME": str(own_spark().home),
                    "TZ": "UTC",
                },
                folder=folder,
                path=[*map(str, SITES), *(str(library) for library in libraries)],
                hidden=project,
                refuse=refuse,
            )
        )
        killed = stack.enter_context(killed_at_commit(kill))
        body()
    if killed.is_reached and ended.needs_process is None:
        is_dead = isinstance(ended.exception, KilledError)
        ended.error, ended.exception = (KILLED if is_dead else SURVIVED), None
    # In a process of its own, script and JVM write to one file.
    own = (folder / SCRIPT_STDERR_FILE).read_bytes()
    with (folder / "stderr.log").open("ab") as log:
        log.write(_tail(engine.jvm_log, log_start) + own)
    shutil.rmtree(folder / TEMPORARY_FOLDER, ignore_errors=True)
    return ended


def _run(script: Path, name: str, run: JobRun, ended: Ended) -> None:
    # coverage.py believes __file__, which is the copy in the folder of the run, unless it has seen
    # the file of the code before.
    exec(compile("", name, "exec"), {"__file__": name})  # noqa: S102 (nothing)
    try:
        run_script(script, name)
    except SystemExit as error:
        if error.code not in (None, 0):
            raise
    if ended.needs_process is None:
        session = bookmark_session.current_session()
        note_at_end(script, run.bookmark_option, session, Path(name).name)
        note_facts(Path(run.log_path).parent)


def _tail(log: Path, start: int) -> bytes:
    with log.open("rb") as file:
        file.seek(start)
        return file.read()


@contextmanager
def _kept_events(engine: SparkEngine, folder: Path) -> Iterator[None]:
    """Copy the events that the block adds to the context's log into a folder of its run."""
    log = engine.events()
    start = log.stat().st_size if log else 0
    try:
        yield
    finally:
        with contextlib.suppress(Exception):  # a JVM that the script ended: keep its events
            engine.events()
        if log is not None:
            ended = log.with_suffix("")  # its name after a context was stopped
            if added := _tail(ended if ended.exists() else log, start):
                folder.mkdir(exist_ok=True)
                (folder / "events").write_bytes(added)
