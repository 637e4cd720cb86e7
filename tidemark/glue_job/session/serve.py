"""Runs the statements of a session that come, one by one.

The main thread runs them. Another one reads the pipe of the session, interrupts what is cancelled,
and writes down the progress.
"""

import os
import queue
import select
import signal
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from tidemark.glue_job.session.cells import DRAW, captured, failure, run_code
from tidemark.glue_job.session.statement_files import (
    AVAILABLE,
    CANCEL,
    CANCELLED,
    CANCELLING,
    END,
    ERROR,
    RUNNING,
    WAITING,
    StatementFiles,
    statement_files,
)
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.model.clock import now_ms
from tidemark.model.messages import JVM_GONE

LOOK_S = 1.0
MOST_BYTES = 65_536  # of a pipe
SPARE_FILES = 16  # which the process needs to say that there are no more
NOT_OF_SESSIONS = ("--JOB_NAME", "--JOB_ID", "--JOB_RUN_ID")  # arguments that a job has
NEVER_RAN = {
    "State": CANCELLED,
    "Output": {
        "Status": "error",
        "ErrorName": "Cancelled",
        "ErrorValue": "it was cancelled before it began",
        "Traceback": [],
        "Data": {"TextPlain": ""},
    },
}


def serve(namespace: dict[str, Any]) -> None:
    """Run statements in a namespace, until the process is ended."""
    sys.argv = _without(sys.argv, NOT_OF_SESSIONS)
    Session(statement_files(Path(os.environ[RUN_FOLDER_VARIABLE])), namespace).serve()


def _without(words: list[str], names: tuple[str, ...]) -> list[str]:
    named = [place for place, word in enumerate(words) if word in names]
    left_out = {*named, *(place + 1 for place in named)}
    return [word for place, word in enumerate(words) if place not in left_out]


class Session:
    """The statements of one session."""

    def __init__(self, files: StatementFiles, namespace: dict[str, Any]) -> None:
        """Begin with none."""
        self._files = files
        self._namespace = namespace
        self._waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._lock = threading.Lock()  # of the next two, and of the file of the record
        self._current: int | None = None
        self._record: dict[str, Any] = {}
        self._process = os.getpid()
        self._is_in_code = False
        self._is_ending = False
        self._problem = ""  # why it ends, if nobody has asked for it
        self._spare = [os.open(os.devnull, os.O_RDONLY) for _ in range(SPARE_FILES)]

    def serve(self) -> None:
        """Open the pipe, and run what comes."""
        signal.signal(signal.SIGTERM, self._end)
        self._files.folder.mkdir(exist_ok=True)
        os.mkfifo(self._files.requests, 0o600)
        # For writing too: else the pipe would end as often as a client closes it.
        pipe = os.open(self._files.requests, os.O_RDWR)
        threading.Thread(target=self._listen, args=[pipe], name="session", daemon=True).start()
        while not self._is_ending:
            try:
                self._run(self._waiting.get())
            except BaseException as error:
                if self._is_ending:
                    raise
                self._settle(error)
        sys.exit(self._problem or 0)

    def _settle(self, error: BaseException) -> None:
        """Go on after an error outside of a statement, such as of the code's handler of a signal.

        Raises:
            OSError: the session cannot keep its records.
        """
        if isinstance(error, OSError):
            for file in self._spare:
                with suppress(OSError):
                    os.close(file)
            raise error
        traceback.print_exception(error)
        with self._lock:
            number, self._current = self._current, None
            if number is not None:
                output = {**failure(error, ""), "Data": {"TextPlain": ""}, "ExecutionCount": number}
                ended = {"State": ERROR, "CompletedOn": now_ms(), "Output": output}
                self._files.put_record(number, {**self._record, **ended})

    def _run(self, number: int) -> None:
        name, code = f"<statement {number}>", self._files.code(number)
        # Spark's context has a handler of its own, which interrupts whatever runs.
        signal.signal(signal.SIGINT, self._interrupt)
        with self._lock:
            if number in self._cancelled:
                return
            self._current = number
            self._record = {"State": RUNNING, "StartedOn": now_ms(), "Progress": 0.0}
            self._files.put_record(number, self._record)
        output: dict[str, Any] = {"Status": "ok"}
        with captured() as shown:
            self._namespace[DRAW] = shown.draw
            try:
                self._is_in_code = True
                run_code(code, name, self._namespace)
            except BaseException as error:  # noqa: BLE001 (sys.exit() ends no session, as on AWS)
                self._is_in_code = False
                output = dict(failure(error, name))
            self._is_in_code = False
        if os.getpid() != self._process:  # the code has forked, and this is the child
            sys.stdout.flush()
            os._exit(0)
        is_cut_off = number in self._cancelled or self._is_ending
        output |= {"Data": shown.data(), "ExecutionCount": number}
        cut_off = ERROR if self._problem else CANCELLED
        state = cut_off if is_cut_off and output["Status"] != "ok" else AVAILABLE
        changes = {"State": state, "Progress": 1.0, "CompletedOn": now_ms(), "Output": output}
        with self._lock:
            self._current = None
            self._files.put_record(number, {**self._record, **changes})

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        # In the main thread: a statement that has just ended is not interrupted.
        if self._is_in_code and self._current in self._cancelled:
            raise KeyboardInterrupt

    def _end(self, _: int, __: FrameType | None) -> None:
        if os.getpid() != self._process:  # a process that the code has forked
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGTERM)
        self._is_ending = True
        self._files.close()
        sys.exit(self._problem or 0)

    def _listen(self, pipe: int) -> None:
        try:
            self._read(pipe)
        except Exception as error:  # noqa: BLE001 (such as code that has closed the pipe)
            if self._is_ending:  # and Spark with it
                return
            is_gone = isinstance(error, JvmGoneError)
            why = "" if is_gone else "the session cannot be told anything any more: "
            self._problem = f"{why}{error}"
            os.kill(self._process, signal.SIGTERM)

    def _read(self, pipe: int) -> None:
        unread = b""
        while True:
            if not select.select([pipe], [], [], LOOK_S)[0]:
                self._look()
                continue
            *lines, unread = (unread + os.read(pipe, MOST_BYTES)).split(b"\n")
            for line in lines:
                match line.decode().split():
                    case [word] if word == END:
                        os.kill(self._process, signal.SIGTERM)
                    case [word, number] if word == CANCEL:
                        self._cancel(int(number))
                    case [number]:
                        self._waiting.put(int(number))

    def _cancel(self, number: int) -> None:
        with self._lock:
            self._cancelled.add(number)
            if self._files.record(number)["State"] == WAITING:
                self._files.put_record(number, {**NEVER_RAN, "CompletedOn": now_ms()})
        self._look()

    def _look(self) -> None:
        """Interrupt what has to end, and write down the progress of what runs.

        Raises:
            JvmGoneError: there is no Spark any more.
        """
        check_jvm()
        number = self._current
        if number is None:
            return
        is_cancelled = number in self._cancelled
        with suppress(Exception):  # Spark may be stopped, or not answer
            context = sys.modules["pyspark"].SparkContext._active_spark_context
            if is_cancelled:
                context.cancelAllJobs()
            changes = {"State": CANCELLING} if is_cancelled else {"Progress": progress_of(context)}
            with self._lock:
                if self._current == number:
                    self._record |= changes
                    self._files.put_record(number, self._record)
        if is_cancelled:
            os.kill(self._process, signal.SIGINT)


class JvmGoneError(Exception):
    """The JVM of a session has ended."""


def check_jvm() -> None:
    """Ask the JVM for its clock.

    Raises:
        JvmGoneError: it does not answer, and no statement that needs Spark can run.
    """
    try:
        sys.modules["pyspark"].SparkContext._gateway.jvm.System.currentTimeMillis()
    except Exception as error:
        why = "something has ended it, or the memory was exhausted; start another session"
        raise JvmGoneError(f"{JVM_GONE}: {why} ({type(error).__name__})") from error


def progress_of(context: Any) -> float:
    """Return the part of the tasks of the active stages that has ended, from 0 to 1."""
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    all_tasks = sum(stage.numTasks for stage in stages if stage)
    done = sum(stage.numCompletedTasks for stage in stages if stage)
    return float(done / max(all_tasks, 1))
