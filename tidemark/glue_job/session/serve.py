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
from collections.abc import Mapping
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
    StatementFiles,
    statement_files,
)
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from tidemark.model.clock import now_ms

LOOK_S = 1.0
MOST_BYTES = 65_536  # of a pipe
# dbt-glue drops a table, whose files stay, and creates it again in the same folder: with Spark's
# default its second run would fail.
INTO_FULL_FOLDER = "spark.sql.legacy.allowNonEmptyLocationInCTAS"
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
    """Run statements in a namespace, which has `sc` and `spark`, until the process is ended."""
    sys.argv = _without(sys.argv, NOT_OF_SESSIONS)
    if not namespace["sc"].getConf().contains(INTO_FULL_FOLDER):
        namespace["spark"].conf.set(INTO_FULL_FOLDER, "true")
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
        self._is_ending = False

    def serve(self) -> None:
        """Open the pipe, and run what comes."""
        signal.signal(signal.SIGTERM, self._end)
        self._files.folder.mkdir(exist_ok=True)
        os.mkfifo(self._files.requests, 0o600)
        # For writing too: else the pipe would end as often as a client closes it.
        pipe = os.open(self._files.requests, os.O_RDWR)
        threading.Thread(target=self._listen, args=[pipe], name="session", daemon=True).start()
        while not self._is_ending:
            number = self._waiting.get()
            if number in self._cancelled:
                self._files.put_record(number, NEVER_RAN)
            else:
                self._run(number)

    def _run(self, number: int) -> None:
        name, code = f"<statement {number}>", self._files.code(number)
        # Spark's context has a handler of its own, which interrupts whatever runs.
        signal.signal(signal.SIGINT, self._interrupt)
        self._note(number, {"State": RUNNING, "StartedOn": now_ms(), "Progress": 0.0})
        output: dict[str, Any] = {"Status": "ok"}
        with captured() as shown:
            try:
                run_code(code, name, self._namespace)
            except BaseException as error:  # noqa: BLE001 (sys.exit() ends no session, as on AWS)
                output = dict(failure(error, name))
        if os.getpid() != self._process:  # the code has forked, and this is the child
            sys.stdout.flush()
            os._exit(0)
        is_cut_off = number in self._cancelled or self._is_ending
        output |= {"Data": {"TextPlain": str(shown)}, "ExecutionCount": number}
        state = CANCELLED if is_cut_off and output["Status"] != "ok" else AVAILABLE
        changes = {"State": state, "Progress": 1.0, "CompletedOn": now_ms(), "Output": output}
        self._note(None, changes)

    def _note(self, current: int | None, changes: Mapping[str, Any]) -> None:
        """Write down what has changed of the statement that runs, and whether one runs now."""
        with self._lock:
            number = current if current is not None else self._current
            self._record = {**(self._record if number == self._current else {}), **changes}
            self._current = current
            if number is not None:
                self._files.put_record(number, self._record)

    def _interrupt(self, _: int, __: FrameType | None) -> None:
        # In the main thread: a statement that has just ended is not interrupted.
        if self._current in self._cancelled:
            raise KeyboardInterrupt

    def _end(self, _: int, __: FrameType | None) -> None:
        self._is_ending = True
        self._files.requests.unlink(missing_ok=True)  # it takes nothing any more
        sys.exit(0)

    def _listen(self, pipe: int) -> None:
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
                        self._cancelled.add(int(number))
                        self._look()
                    case [number]:
                        self._waiting.put(int(number))

    def _look(self) -> None:
        """Interrupt what has to end, and write down the progress of what runs."""
        number = self._current
        if number is None:
            return
        context = sys.modules["pyspark"].SparkContext._active_spark_context
        is_cancelled = number in self._cancelled
        with suppress(Exception):  # Spark may be stopped, or not answer
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
