"""A process that waits for a run: it forks one for each, or becomes that of one."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
from typing import BinaryIO

from tidemark.glue_job.process import ahead
from tidemark.glue_job.process.ahead import FORK, Order
from tidemark.glue_job.process.forks import send_order
from tidemark.local_state.machine.processes import inherited
from tidemark.local_state.sparks.installed import Spark
from tidemark.sites import SITES

PYTHON_VARIABLES = {"PYTHONPATH": os.pathsep.join(map(str, SITES)), "PYTHONUNBUFFERED": "1"}


class ForkedRun:
    """A run's process that another one forked, and reports on; used as a `subprocess.Popen` is."""

    def __init__(self, report: BinaryIO) -> None:
        """Read a report as `tidemark.glue_job.process.forks` writes it, in a thread."""
        self._pid: int | None = None
        self._code: int | None = None
        self._signal: signal.Signals | None = None
        self._has_begun = threading.Event()
        self._has_ended = threading.Event()
        self._lock = threading.Lock()
        threading.Thread(target=self._read, args=[report], name="forked-run", daemon=True).start()

    @property
    def pid(self) -> int:
        """The id of the process, as soon as it has begun; ProcessLookupError if it never began."""
        self._has_begun.wait()
        if self._pid is None:
            raise ProcessLookupError("the process of a run never began")
        return self._pid

    def poll(self) -> int | None:
        """Return the exit code, or minus the signal that ended it; None while it runs.

        A process whose end nobody saw, since its parent was killed, was killed with it.
        """
        return self._code

    def wait(self, timeout: float | None = None) -> int:
        """Return what `poll` returns after the end; raise `subprocess.TimeoutExpired` before it."""
        if not self._has_ended.wait(timeout):
            raise subprocess.TimeoutExpired("the process of a run", timeout or 0)
        assert self._code is not None  # noqa: S101 (it was set before the event)
        return self._code

    def kill(self) -> None:
        """Kill the process if it still runs."""
        with contextlib.suppress(ProcessLookupError):  # it may end in between
            if self.poll() is None:
                os.kill(self.pid, signal.SIGKILL)

    def signal_group(self, number: signal.Signals) -> None:
        """Signal its process group, as soon as it has begun; never waits."""
        with self._lock:
            if not self._has_begun.is_set():
                self._signal = number
                return
        if self._pid is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._pid, number)

    def _read(self, report: BinaryIO) -> None:
        with report:
            begin = report.readline()
            with self._lock:
                self._pid = int(begin) if begin else None
                self._has_begun.set()
            if self._signal is not None:
                self.signal_group(self._signal)
            end = report.readline()
        self._code = int(end) if end else -signal.SIGKILL
        self._has_ended.set()


RunProcess = subprocess.Popen[bytes] | ForkedRun


class OneRun:
    """A process that becomes that of one run."""

    def __init__(self, spark: Spark) -> None:
        """Start it."""
        self.process = _start(spark, subprocess.PIPE)

    def run(self, order: Order) -> subprocess.Popen[bytes] | None:
        """Give it the order; return it, or None if it has ended."""
        assert self.process.stdin is not None  # noqa: S101 (it was started so)
        try:
            with self.process.stdin as stdin:
                stdin.write(order.line())
        except OSError:
            self.process.wait()
            return None
        return self.process

    def end(self) -> None:
        """Kill it, if it is not a run's."""
        self.process.kill()
        self.process.communicate()


class ForkServer:
    """A process that forks one for each run; they end with it."""

    def __init__(self, spark: Spark, place: int = 0) -> None:
        """Start it; `place` is its own among those of its Spark."""
        self.place = place
        self._orders, its_orders = socket.socketpair()
        with its_orders:
            self.process = _start(spark, its_orders.fileno())

    def run(self, order: Order) -> ForkedRun | None:
        """Give it an order; return the process of that run, or None if it has ended."""
        begin, end = os.pipe()
        report = os.fdopen(begin, "rb")
        try:
            send_order(self._orders, order.line(), end)
        except OSError:
            report.close()
            self.end()
            return None
        finally:
            os.close(end)
        return ForkedRun(report)

    def end(self) -> None:
        """Kill it, and its runs."""
        self._orders.close()
        self.process.kill()
        self.process.wait()


Waiting = ForkServer | OneRun


def _start(spark: Spark, stdin: int) -> subprocess.Popen[bytes]:
    fork = [] if stdin == subprocess.PIPE else [FORK]
    return subprocess.Popen(  # noqa: S603 (our own program)
        [str(spark.python), "-P", "-m", ahead.__name__, str(os.getpid()), *fork],
        env={**inherited(), **PYTHON_VARIABLES},
        stdin=stdin,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=os.sep,  # no run's folder: by that the processes of a run are found
        start_new_session=True,
    )
