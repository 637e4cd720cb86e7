"""Starts one job run as a process of its own and tells how it ended."""

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

from tidemark.glue_job.metastore.asked import catalog_settings
from tidemark.glue_job.process import job_process
from tidemark.glue_job.process.borrow import COLD_VARIABLE, POOL_OF_RUN_VARIABLE, read_record
from tidemark.glue_job.process.failures import (
    Failure,
    Places,
    first_cause,
    with_remedy,
    without_result,
)
from tidemark.glue_job.process.fitness import own_jvm_reason
from tidemark.glue_job.process.job_process import (
    ARGUMENTS_FILE,
    BOOKMARK_VARIABLE,
    RESULT_FILE,
    SCRIPT_VARIABLE,
    SHELL_VARIABLE,
)
from tidemark.glue_job.process.memory_failures import oom_kills
from tidemark.glue_job.process.spark import (
    CONF_FILE,
    EVENTS_FOLDER,
    TEMPORARY_FOLDER,
    write_spark_conf,
)
from tidemark.glue_service.runs.arguments import (
    DRIVER_VARIABLES,
    EXECUTOR_VARIABLES,
    command_line,
    merge_arguments,
    spark_settings,
    variables,
)
from tidemark.glue_service.runs.extra_files import (
    copy_extra_files,
    existing,
    jar_settings,
    python_path,
)
from tidemark.glue_service.runs.jvms.supply import NO_JVMS, Jvms
from tidemark.glue_service.runs.python_modules import module_folders
from tidemark.glue_service.runs.row_counts import RowCounts, read_row_counts
from tidemark.local_state.access_key import access_key
from tidemark.local_state.home import RUN_ID_VARIABLE, Home
from tidemark.local_state.machine.disk import full_disk_text, has_room
from tidemark.local_state.machine.processes import inherited
from tidemark.local_state.rewinds.records import refuse_half_rewound
from tidemark.local_state.run_warnings import DECLARED_VARIABLE, RUN_FOLDER_VARIABLE
from tidemark.local_state.store.database import JobRun
from tidemark.model.assembly.arguments import bookmark_option
from tidemark.model.assembly.definitions import SHELL, JobDefinition
from tidemark.model.clock import now_ms
from tidemark.sites import SITES

STOP_GRACE_S = 5.0
LOOK_S = 0.05
LOG_PART_BYTES = 1_000_000
MAX_NAME_BYTES = 250  # of a file, without its suffix
SERVICES_OF_PORT = ("GLUE", "CLOUDWATCH_LOGS", "S3", "STS", "IAM", "EVENTBRIDGE")
PORT_VARIABLE = "AWS_ENDPOINT_URL"  # where boto3 finds every service that has none of its own
NOWHERE = "http://127.0.0.1:9"  # where nothing listens: the port of discard
HERE = "127.0.0.1,localhost"  # the local DynamoDB: no proxy reaches it


@dataclass(frozen=True)
class Machine:
    """What every job run of one command shares.

    `port` is the URL of the local Glue, if any; `submitted_files` are by job the files of the
    project that scripts are copies of, as far as they are known.
    """

    home: Home
    java_home: Path
    dynamodb_endpoint: str
    region: str
    jvms: Jvms = NO_JVMS
    port: str | None = None
    submitted_files: dict[str, str] = field(default_factory=dict, compare=False)


@dataclass
class JobProcess:
    """A running job run: its record, its operating system process, and its deadline.

    From the moment it is asked to end, `stop_state` is the state that it ends in, and `deadline`
    is when it is killed. When it has ended, `counts` is what its Spark has read and written.
    `oom_kills` is how many processes the kernel had ended for lack of memory when it was started.
    """

    run: JobRun
    process: subprocess.Popen[bytes]
    deadline: float
    jvms: Jvms
    stop_state: str | None = None
    counts: RowCounts | None = None
    oom_kills: int = field(default_factory=oom_kills)


def new_run_id() -> str:
    """Return a job run id as Glue makes them: ``jr_`` and 64 hexadecimal digits."""
    return f"jr_{secrets.token_hex(32)}"


def plan_job_run(
    machine: Machine, job: JobDefinition, arguments: Mapping[str, str], run_id: str, attempt: int
) -> JobRun:
    """Return the record of a run about to start; nothing is started."""
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
    """Start the process of ``run`` in a folder of its own, ``runs/<run id>/``."""
    refuse_half_rewound(machine.home)
    merged = merge_arguments(job, arguments)
    folder = machine.home.runs / run.run_id
    folder.mkdir(parents=True)
    script = folder / script_name(job.name)
    location = job.script_location
    shutil.copyfile(_within_lake(machine.home, job, location), script)
    libraries = [
        *python_path(machine.home, job, merged, folder),
        *module_folders(machine.home, job, merged),
    ]
    is_shell = job.command == SHELL
    engine = _shell_variables() if is_shell else _spark_variables(machine, job, folder, merged)
    job_id = f"j_{run.run_id.removeprefix('jr_')[:64]}"
    given = command_line(job, job_id, run.run_id, merged)
    (folder / ARGUMENTS_FILE).write_text(json.dumps(given), encoding="utf-8")
    with (folder / "stdout.log").open("ab") as out, (folder / "stderr.log").open("ab") as err:
        process = subprocess.Popen(  # noqa: S603 (the job script of the template)
            [
                sys.executable,
                "-P",
                "-m",
                job_process.__name__,  # -P: no shadowed modules
                str(os.getpid()),
                str(script),
            ],
            cwd=folder,
            env={
                **environment_of(machine, folder, run, libraries),
                **engine,
                SCRIPT_VARIABLE: job.submitted_file
                or machine.submitted_files.get(job.name)
                or str(script),
                DECLARED_VARIABLE: "1" if job.is_declared else "",
            },
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
    deadline = time.monotonic() + 60 * job.timeout_minutes
    return JobProcess(run, process, deadline, NO_JVMS if is_shell else machine.jvms)


def _within_lake(home: Home, job: JobDefinition, location: str) -> Path:
    """Return the file of a script, which no symbolic link may put outside the lake."""
    existing(job, location, home.local_path(location))
    return home.existing_path(location)


def script_name(job_name: str) -> str:
    """Return the name of a job's script in the folder of a run; a job may be called ``a/b``."""
    name = job_name.replace("/", "_").encode("utf-8", errors="replace")[:MAX_NAME_BYTES]
    return f"{name.decode('utf-8', errors='ignore')}.py"


def _spark_variables(
    machine: Machine, job: JobDefinition, folder: Path, arguments: Mapping[str, str]
) -> dict[str, str]:
    """Put what a job of Spark reads into its folder; return the variables that it gets."""
    copy_extra_files(machine.home, job, arguments, folder)
    settings = {
        **_of_executors(variables(arguments, EXECUTOR_VARIABLES)),
        **jar_settings(machine.home, job, arguments, spark_settings(arguments)),
    }
    catalog = catalog_settings(machine.home, arguments, settings)
    return {
        **variables(arguments, DRIVER_VARIABLES),
        **catalog.variables,
        **write_spark_conf(
            folder, machine.home, machine.java_home, {**settings, **catalog.settings}
        ),
        **_variables_of_jvm(machine.jvms, settings),
    }


def _shell_variables() -> dict[str, str]:
    """Return the variables of a run that has no Spark."""
    return {SHELL_VARIABLE: "1", "TZ": "UTC"}


def _variables_of_jvm(jvms: Jvms, settings: Mapping[str, str]) -> dict[str, str]:
    """Tell a job process where it may borrow a JVM, or why it is to start one."""
    why = jvms.why_none or own_jvm_reason(settings, {}, {})
    return {COLD_VARIABLE: why} if why else {POOL_OF_RUN_VARIABLE: str(jvms.pool_file)}


def _of_executors(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the settings of Spark that set environment variables of its executors."""
    return {f"spark.executorEnv.{name}": value for name, value in environment.items()}


def environment_of(
    machine: Machine, folder: Path, run: JobRun, libraries: list[Path]
) -> dict[str, str]:
    """Return the environment of a job run, without what its engine adds."""
    direct = ",".join(filter(None, (os.environ.get("no_proxy", os.environ.get("NO_PROXY")), HERE)))
    place = machine.port or NOWHERE  # AWS only where the user names it
    names = SERVICES_OF_PORT if machine.port else ()
    return {
        PORT_VARIABLE: place,
        **{f"{PORT_VARIABLE}_{service}": place for service in names},
        **inherited(),
        "no_proxy": direct,
        "NO_PROXY": direct,
        "PYTHONPATH": os.pathsep.join(str(path) for path in (*SITES, *libraries)),
        "PYTHONUNBUFFERED": "1",
        "TIDEMARK_HOME": str(machine.home.root),
        RUN_ID_VARIABLE: run.run_id,
        BOOKMARK_VARIABLE: run.bookmark_option,
        RUN_FOLDER_VARIABLE: str(folder),
        "AWS_ENDPOINT_URL_DYNAMODB": machine.dynamodb_endpoint,
        **access_key(machine.home).variables,
        "AWS_REGION": machine.region,
        "AWS_DEFAULT_REGION": machine.region,
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,  # no profile, endpoint or credentials of the developer
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
    }


def poll_job_run(running: JobProcess) -> JobRun | None:
    """Return the finished run, or None while it still runs; never waits.

    A run past its timeout is asked to end, and killed a grace period later.
    """
    code = running.process.poll()
    if code is None:
        if time.monotonic() < running.deadline:
            return None
        if running.stop_state is None:
            begin_stop(running, "TIMEOUT")
        else:
            _kill_group(running.process.pid)
        return None
    _kill_group(running.process.pid)
    if running.stop_state is not None:
        end_left_over_processes(running.run)  # those that have left the group
    return _finished(running, code)


def wait_for_end(running: JobProcess, meanwhile: Callable[[], None] = lambda: None) -> JobRun:
    """Return a run as soon as it has ended; call `meanwhile` 20 times a second until then."""
    has_ended = threading.Event()
    tell_of_end(running, has_ended.set)
    while (finished := poll_job_run(running)) is None:
        meanwhile()
        has_ended.wait(LOOK_S)
    return finished


def tell_of_end(running: JobProcess, tell: Callable[[], None]) -> None:
    """Call `tell` in a thread of its own as soon as the process of a job run has ended."""

    def wait() -> None:
        running.process.wait()
        tell()

    threading.Thread(target=wait, name="end-of-job-run", daemon=True).start()


def begin_stop(running: JobProcess, state: str) -> None:
    """Ask a running job run to end in a state, such as STOPPED; `poll_job_run` tells when it has.

    One that was asked before keeps the state that it was asked to end in.
    """
    if running.stop_state is not None:
        return
    running.stop_state = state
    running.deadline = time.monotonic() + STOP_GRACE_S
    with contextlib.suppress(ProcessLookupError):
        os.killpg(running.process.pid, signal.SIGTERM)


def stop_job_run(running: JobProcess) -> JobRun:
    """End a running job run and return its record in state STOPPED."""
    running.stop_state = "STOPPED"
    code = end_process(running.process)
    end_left_over_processes(running.run)
    return _finished(running, code)


def end_process(process: subprocess.Popen[bytes]) -> int:
    """Terminate a job's process group, forcefully after a grace period; return its exit code."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        code = process.wait(STOP_GRACE_S)
    except subprocess.TimeoutExpired:
        _kill_group(process.pid)
        code = process.wait()
    _kill_group(process.pid)
    return code


def _kill_group(pid: int) -> None:
    """Kill what is left of a job's process group, such as the JVM of a killed Python."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def failed_run(run: JobRun, message: str) -> JobRun:
    """Return the record of a run that failed now."""
    return replace(run, state="FAILED", completed_at_ms=now_ms(), error_message=message)


def _finished(running: JobProcess, exit_code: int) -> JobRun:
    folder = Path(running.run.log_path).parent
    jvm = read_record(folder)
    if jvm is None or jvm.is_lent:  # it was killed, called os._exit, or could not write its record
        running.jvms.end_jvm_of(Path(running.run.log_path))
    shutil.rmtree(folder / TEMPORARY_FOLDER, ignore_errors=True)
    counts = running.counts = read_row_counts(folder / EVENTS_FOLDER)
    state = running.stop_state or ("SUCCEEDED" if exit_code == 0 else "FAILED")
    return replace(
        running.run,
        state=state,
        completed_at_ms=now_ms(),
        error_message=_error_message(folder, state, exit_code, oom_kills() - running.oom_kills),
        rows_read=counts.rows_read if counts else None,
        rows_written=counts.rows_written if counts else None,
        jvm=str(jvm) if jvm else None,
    )


def _error_message(folder: Path, state: str, exit_code: int, kills: int) -> str | None:
    if state == "SUCCEEDED":
        return None
    if state == "TIMEOUT":
        return "Job run timed out"
    if state == "STOPPED":
        return "Job run stopped"
    full_disk = None if has_room(folder) else full_disk_text(folder)
    result = folder / RESULT_FILE
    if result.is_file():
        failure = Failure(**json.loads(result.read_text(encoding="utf-8")))
        log = folder / "stderr.log"
        text = _ends_of(log)
        places = Places(folder.parents[1] / "lake", sys.executable)
        message = with_remedy(failure, text, places, full_disk, kills)
        if first_cause(failure, text, kills).cause != failure.cause:
            _end_with(log, message)
        return message
    return without_result(exit_code, full_disk, kills)


def _end_with(log: Path, message: str) -> None:
    """Write the first cause below what it led to, which is where a reader looks for it."""
    with contextlib.suppress(OSError), log.open("a", encoding="utf-8", errors="replace") as file:
        file.write(f"\n{message}\n")


def _ends_of(log: Path) -> str:
    """Return the beginning and the end of a log: in between it may have gigabytes."""
    with log.open("rb") as file:
        head = file.read(LOG_PART_BYTES)
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - LOG_PART_BYTES, len(head)))
        return (head + file.read()).decode("utf-8", errors="replace")


def end_left_over_processes(run: JobRun) -> None:
    """Kill processes of a run that was stopped, or whose command was killed; on Linux only.

    Also the JVM that it borrowed: who owns it may be suspended, and may not know of the end yet.
    """
    mark = f"{RUN_ID_VARIABLE}={run.run_id}".encode()
    jvm = read_record(Path(run.log_path).parent)
    conf = f"{jvm.folder}/{CONF_FILE}".encode() if jvm and jvm.is_lent and jvm.folder else None
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            is_left = mark in (process / "environ").read_bytes().split(b"\0")
            is_jvm = conf is not None and conf in (process / "cmdline").read_bytes().split(b"\0")
            if is_left or is_jvm:
                os.kill(int(process.name), signal.SIGKILL)
