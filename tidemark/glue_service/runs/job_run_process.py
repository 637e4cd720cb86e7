"""Starts one job run in a separate process and reports how it ended."""

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tidemark.glue_job.edge.jvm import delete_left_socket
from tidemark.glue_job.process import ahead, failures, job_process
from tidemark.glue_job.process.ahead import Order
from tidemark.glue_job.process.borrow import read_record
from tidemark.glue_job.process.job_process import ARGUMENTS_FILE, RESULT_FILE, SCRIPT_VARIABLE
from tidemark.glue_job.process.memory_failures import oom_kills
from tidemark.glue_job.process.spark import CONF_FILE, EVENTS_FOLDER, TEMPORARY_FOLDER
from tidemark.glue_job.session.statement_files import statement_files
from tidemark.glue_service.runs.arguments import command_line, merge_arguments
from tidemark.glue_service.runs.extra_files import existing, python_path
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.python_modules import module_folders
from tidemark.glue_service.runs.row_counts import RowCounts, read_row_counts
from tidemark.glue_service.runs.run_variables import (
    Machine,
    environment_of,
    shell_variables,
    spark_variables,
)
from tidemark.glue_service.runs.waiting import ForkedRun, RunProcess
from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.machine.disk import full_disk_line, has_room
from tidemark.local_state.rewinds.records import refuse_half_rewound
from tidemark.local_state.run_warnings import DECLARED_VARIABLE
from tidemark.local_state.sparks.make import spark_for
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.definitions import SHELL, JobDefinition, bookmark_option
from tidemark.model.clock import now_ms

STOP_GRACE_S = 5.0
LOOK_S = 0.05
LOG_PART_BYTES = 1_000_000
FORKED = ahead.__name__.encode()
MAX_NAME_BYTES = 250  # of a file, without its suffix


@dataclass
class JobProcess:
    """A running job run: its record, its operating system process, and its deadline.

    Once it is asked to end, `stop_state` is its final state, and it is killed at `deadline`.
    After its end `counts` is what its Spark has read and written.
    `oom_kills` is how many processes the kernel had killed for lack of memory at its start.
    """

    run: JobRun
    process: RunProcess
    deadline: float
    jvms: Jvms
    python: Path = Path(sys.executable)
    script: str = ""
    glue_version: str = ""
    timeout_minutes: float = 0
    stop_state: str | None = None
    stop_reason: str = ""
    counts: RowCounts | None = None
    oom_kills: int = field(default_factory=oom_kills)


def new_run_id() -> str:
    """Return a job run id like Glue's: ``jr_`` and 64 hexadecimal digits."""
    return f"jr_{secrets.token_hex(32)}"


def plan_job_run(
    machine: Machine, job: JobDefinition, arguments: Mapping[str, str], run_id: str, attempt: int
) -> JobRun:
    """Return the record of a run about to start; starts nothing."""
    merged = merge_arguments(job, arguments)
    return JobRun(
        run_id=run_id,
        job_name=job.name,
        workflow_run_id=None,
        trigger_name=None,
        attempt=attempt,
        state="RUNNING",
        started_at_ms=now_ms(),
        log_path=str(machine.home.runs / run_id / "stderr.log"),
        bookmark_option=bookmark_option(merged),
    )


def start_job_run(
    machine: Machine, job: JobDefinition, arguments: Mapping[str, str], run: JobRun
) -> JobProcess:
    """Start the process of ``run`` in its own folder, ``runs/<run id>/``."""
    refuse_half_rewound(machine.home)
    is_shell = job.command == SHELL
    spark = None if is_shell else spark_for(job.glue_version)
    python = spark.python if spark else Path(sys.executable)
    merged = merge_arguments(job, arguments)
    folder = machine.home.runs / run.run_id
    folder.mkdir(parents=True)
    script = folder / script_name(job.name)
    shutil.copyfile(_within_lake(machine.home, job, job.script_location), script)
    libraries = [
        *python_path(machine.home, job, merged, folder),
        *module_folders(machine.home, job, merged, python),
    ]
    engine = spark_variables(machine, job, spark, folder, merged) if spark else shell_variables()
    given = command_line(job, f"j_{run.run_id.removeprefix('jr_')[:64]}", run.run_id, merged)
    (folder / ARGUMENTS_FILE).write_text(json.dumps(given), encoding="utf-8")
    variables_of_run = {
        **environment_of(machine, folder, run, libraries),
        **engine,
        SCRIPT_VARIABLE: job.submitted_file or machine.submitted_files.get(job.name) or str(script),
        DECLARED_VARIABLE: "1" if job.is_declared else "",
    }
    order = Order(str(script), str(folder), variables_of_run)
    pythons, turn = machine.jvms.pythons, machine.jvms.turn
    turn = None if turn is None else turn + run.attempt
    taken = pythons.take(order, spark, turn) if pythons and spark else None
    process = _start(order, python) if taken is None else taken
    deadline = time.monotonic() + 60 * job.timeout_minutes
    return JobProcess(
        run,
        process,
        deadline,
        NO_JVMS if is_shell else machine.jvms,
        python,
        script=variables_of_run[SCRIPT_VARIABLE],
        glue_version="" if is_shell else job.glue_version,
        timeout_minutes=job.timeout_minutes,
    )


def _start(order: Order, python: Path) -> subprocess.Popen[bytes]:
    folder = Path(order.folder)
    with (folder / "stdout.log").open("ab") as out, (folder / "stderr.log").open("ab") as err:
        return subprocess.Popen(  # noqa: S603 (the job script of the template)
            # -P: no shadowed modules
            [str(python), "-P", "-m", job_process.__name__, str(os.getpid()), order.script],
            cwd=folder,
            env=order.environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )


def _within_lake(home: Home, job: JobDefinition, location: str) -> Path:
    existing(job, location, home.local_path(location))
    # No symbolic link may put a script outside the lake.
    return home.existing_path(location)


def script_name(job_name: str) -> str:
    """Return the name of a job's script in the folder of a run; a job's name may be ``a/b``."""
    name = job_name.replace("/", "_").encode("utf-8", errors="replace")[:MAX_NAME_BYTES]
    return f"{name.decode('utf-8', errors='ignore')}.py"


def poll_job_run(running: JobProcess) -> JobRun | None:
    """Return the finished run, or None while it still runs; never waits.

    A run past its timeout is asked to end, and killed a grace period later.
    """
    code = running.process.poll()
    if code is None:
        if time.monotonic() < running.deadline:
            return None
        if running.stop_state is None:
            request_stop(running, "TIMEOUT")
        else:
            _signal_group(running.process, signal.SIGKILL)
        return None
    _signal_group(running.process, signal.SIGKILL)
    return _finished(running, code)


def wait_for_end(running: JobProcess, meanwhile: Callable[[], None] = lambda: None) -> JobRun:
    """Return a run as soon as it has ended; call `meanwhile` 20 times a second until then."""
    has_ended = threading.Event()
    notify_of_end(running, has_ended.set)
    while (finished := poll_job_run(running)) is None:
        meanwhile()
        has_ended.wait(LOOK_S)
    return finished


def notify_of_end(running: JobProcess, tell: Callable[[], None]) -> None:
    """Call `tell` in a separate thread as soon as the process of a job run has ended."""

    def wait() -> None:
        running.process.wait()
        tell()

    threading.Thread(target=wait, name="end-of-job-run", daemon=True).start()


def request_stop(running: JobProcess, state: str, why: str = "") -> None:
    """Ask a running job run to end in a state, such as STOPPED; `poll_job_run` returns it later.

    If it was asked before, the earlier state counts. Its message is `why`, if that is given.
    """
    if running.stop_state is not None:
        return
    running.stop_state, running.stop_reason = state, why
    running.deadline = time.monotonic() + STOP_GRACE_S
    _signal_group(running.process, signal.SIGTERM)


def stop_job_run(running: JobProcess) -> JobRun:
    """End a running job run and return its record in state STOPPED."""
    running.stop_state = "STOPPED"
    return _finished(running, end_process(running.process))


def end_process(process: RunProcess) -> int:
    """Terminate a job's process group, forcefully after a grace period; return its exit code."""
    _signal_group(process, signal.SIGTERM)
    try:
        code = process.wait(STOP_GRACE_S)
    except subprocess.TimeoutExpired:
        _signal_group(process, signal.SIGKILL)
        code = process.wait()
    _signal_group(process, signal.SIGKILL)
    return code


def _signal_group(process: RunProcess, number: signal.Signals) -> None:
    if isinstance(process, ForkedRun):
        process.signal_group(number)
        return
    # The group outlives a killed Python: its JVM is in it.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def failed_run(run: JobRun, message: str) -> JobRun:
    """Return the record of a run that failed now."""
    return replace(run, state="FAILED", completed_at_ms=now_ms(), error_message=message)


def _finished(running: JobProcess, exit_code: int) -> JobRun:
    folder = Path(running.run.log_path).parent
    jvm = read_record(folder)
    if running.stop_state is not None or jvm is None or not jvm.is_lent:
        end_left_over_processes(running.run)  # those that have left the group
    # The process was killed, called os._exit, or could not write its record.
    if jvm is None or jvm.is_lent:
        running.jvms.end_jvm_of(Path(running.run.log_path))
    shutil.rmtree(folder / TEMPORARY_FOLDER, ignore_errors=True)
    delete_left_socket(folder)
    counts = running.counts = read_row_counts(folder / EVENTS_FOLDER)
    # A session says that it takes nothing any more before its process ends.
    is_cut_off = statement_files(folder).requests.exists()
    is_success = exit_code == 0 and not is_cut_off
    state = running.stop_state or ("SUCCEEDED" if is_success else "FAILED")
    return replace(
        running.run,
        state=state,
        completed_at_ms=now_ms(),
        error_message=_error_message(running, state, exit_code),
        rows_read=counts.rows_read if counts else None,
        rows_written=counts.rows_written if counts else None,
        jvm=str(jvm) if jvm else None,
    )


def _error_message(running: JobProcess, state: str, exit_code: int) -> str | None:
    folder = Path(running.run.log_path).parent
    if state == "SUCCEEDED":
        return None
    if running.stop_reason:
        return running.stop_reason
    if state == "TIMEOUT":
        log = folder / "stderr.log"
        message = failures.timed_out(running.timeout_minutes, running.script, _head_and_tail(log))
        _end_with(log, message)
        return message
    if state == "STOPPED":
        return "Job run stopped"
    kills = oom_kills() - running.oom_kills
    full_disk = None if has_room(folder) else full_disk_line(folder)
    result = folder / RESULT_FILE
    if result.is_file():
        failure = failures.Failure(**json.loads(result.read_text(encoding="utf-8")))
        log = folder / "stderr.log"
        text = _head_and_tail(log)
        lake, python = folder.parents[1] / "lake", str(running.python)
        places = failures.RemedyPlaces(lake, python, running.glue_version)
        message = failures.with_remedy(failure, text, places, full_disk, kills)
        if failures.first_cause(failure, text, kills).cause != failure.cause:
            _end_with(log, message)
        return message
    if exit_code == 0:
        return "the process of the session ended silently (exit code 0), as os._exit(0) does"
    return failures.without_result(exit_code, full_disk, kills)


def _end_with(log: Path, message: str) -> None:
    # A reader looks for the cause at the end, below its effects.
    with contextlib.suppress(OSError), log.open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"\n{message}\n")


def _head_and_tail(log: Path) -> str:
    # A log may have gigabytes in between.
    with log.open("rb") as file:
        head = file.read(LOG_PART_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - LOG_PART_BYTES, len(head)))
        return (head + file.read()).decode("utf-8", errors="replace")


def end_left_over_processes(run: JobRun) -> None:
    """Kill processes of a run that was stopped, or whose command was killed; on Linux only.

    Also the JVM that it borrowed: its owner may be suspended, and may not know of the end yet.
    """
    mark = f"{RUN_ID_VARIABLE}={run.run_id}".encode()
    folder = Path(run.log_path).parent
    jvm = read_record(folder)
    conf = f"{jvm.folder}/{CONF_FILE}".encode() if jvm and jvm.is_lent and jvm.folder else None
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            command = (process / "cmdline").read_bytes().split(b"\0")
            if (
                mark in (process / "environ").read_bytes().split(b"\0")
                or (conf is not None and conf in command)
                # What is forked has the variables of the process that began before all runs.
                or (FORKED in command and (process / "cwd").samefile(folder))
            ):
                os.kill(int(process.name), signal.SIGKILL)
