"""Starts job processes before their runs, so that a run need not wait for its imports."""

import os
import subprocess
import threading
import time

from tidemark.glue_job.process import ahead
from tidemark.glue_job.process.ahead import Order
from tidemark.local_state.machine.processes import inherited
from tidemark.local_state.sparks.installed import Spark
from tidemark.sites import SITES

MAX_READY = 2
REFILL_S = 1.0  # a run that has just begun needs the cores more
PYTHON_VARIABLES = {
    "PYTHONPATH": os.pathsep.join(map(str, SITES)),
    "PYTHONUNBUFFERED": "1",
}


class Pythons:
    """Processes that wait for a run; a thread starts them, and they end with it.

    The kernel ends a process of a run with the thread that started it: see `die_with_parent`.
    """

    def __init__(self, *, refills: bool = True) -> None:
        """Begin with none; `refills` says whether one that was taken is replaced."""
        self._refills = refills
        self._ready: list[tuple[Spark, subprocess.Popen[bytes]]] = []
        self._wanted: dict[Spark, int] = {}
        self._not_before_s = 0.0
        self._is_closed = False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="pythons", daemon=True)
        self._thread.start()

    def want(self, number: int, spark: Spark) -> None:
        """Start processes of a Spark, without waiting, until ``number`` wait, or `MAX_READY`."""
        with self._change:
            wanted = min(max(self._wanted.get(spark, 0), number), MAX_READY)
            if wanted != self._wanted.get(spark):
                self._wanted[spark] = wanted
                self._change.notify()

    def take(self, order: Order, spark: Spark) -> subprocess.Popen[bytes] | None:
        """Give an order to a process that waits, and return it; None if none does."""
        with self._change:
            for ready in [ready for ready in self._ready if ready[0] == spark]:
                self._ready.remove(ready)
                self._not_before_s = time.monotonic() + REFILL_S
                if not self._refills:
                    self._wanted[spark] = self._number(spark)
                self._change.notify()
                if _accepts(ready[1], order):
                    return ready[1]
        return None

    def close(self) -> None:
        """End the processes that still wait, and the thread."""
        with self._change:
            self._is_closed = True
            self._change.notify()
        self._thread.join()
        for _, process in self._ready:
            process.kill()
            process.communicate()
        self._ready.clear()

    def _number(self, spark: Spark) -> int:
        return sum(of == spark for of, _ in self._ready)

    def _work(self) -> None:
        with self._change:
            while not self._is_closed:
                lacking = [one for one, most in self._wanted.items() if self._number(one) < most]
                wait_s = self._not_before_s - time.monotonic()
                if not lacking:
                    self._change.wait()
                elif wait_s > 0:
                    self._change.wait(wait_s)
                else:
                    try:
                        self._ready.append((lacking[0], _start(lacking[0])))
                    except OSError:  # no memory or no process is left: a run starts its own
                        self._wanted.clear()


def _start(spark: Spark) -> subprocess.Popen[bytes]:
    return subprocess.Popen(  # noqa: S603 (our own program)
        [str(spark.python), "-P", "-m", ahead.__name__, str(os.getpid())],
        env={**inherited(), **PYTHON_VARIABLES},
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def _accepts(process: subprocess.Popen[bytes], order: Order) -> bool:
    """Write an order to a process; False if the process has ended."""
    assert process.stdin is not None  # noqa: S101 (it was started so)
    try:
        with process.stdin:
            process.stdin.write(order.line())
    except OSError:
        process.wait()
        return False
    return True
