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
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from tidemark.glue_job.session.cells import captured, failure, run_code
from tidemark.glue_job.session.statement_files import (
    AVAILABLE,
    CANCEL,
    CANCELLED,
    CANCELLING,
    END,
    RUNNING,
    WAITING,
    StatementFiles,
    statement_files,
)
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.model.clock import now_ms

LOOK_S = 1.0
MOST_BYTES = 65_536  # of a pipe
NOT_OF_SESSIONS = ("--JOB_NAME", "--JOB_ID", "--JOB_RUN_ID")  # arguments that a job has
NEVER_RAN = {
    "State": CANCELLED,
    "Output": {
        "Status": "error",
        "ErrorName": "Cancelled",
        "ErrorValue": "it was cancelled before it began",
        "Traceback": [],
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

    def serve(self) -> None:
        """Open the pipe, and run what comes."""
        signal.signal(signal.SIGTERM, self._end)
        self._files.folder.mkdir(exist_ok=True)
        os.mkfifo(self._files.requests, 0o600)
        # For writing too: else the pipe would end as often as a client closes it.
        pipe = os.open(self._files.requests, os.O_RDWR)
        threading.Thread(target=self._listen, args=[pipe], name="session", daemon=True).start()
        while not self._is_ending:
            self._run(self._waiting.get())

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
        output |= {"Data": {"TextPlain": str(shown)}, "ExecutionCount": number}
        state = CANCELLED if is_cut_off and output["Status"] != "ok" else AVAILABLE
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
            self._problem = f"the session cannot be told anything any more: {error}"
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
        """Interrupt what has to end, and write down the progress of what runs."""
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


def progress_of(context: Any) -> float:
    """Return the part of the tasks of the active stages that has ended, from 0 to 1."""
    tracker = context.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    all_tasks = sum(stage.numTasks for stage in stages if stage)
    done = sum(stage.numCompletedTasks for stage in stages if stage)
    return float(done / max(all_tasks, 1))
