"""Starts job processes before their runs, so that a run need not wait for its imports."""

import threading
import time

from tidemark.glue_job.process.ahead import Order
from tidemark.glue_job.process.forks import CAN_FORK
from tidemark.glue_service.runs.waiting import ForkServer, OneRun, RunProcess, Waiting
from tidemark.local_state.sparks.installed import Spark

MAX_READY = 2
REFILL_S = 1.0  # a run that has just begun needs the cores more


class Pythons:
    """Processes that wait for a run; a thread starts them, and they end with it.

    On Linux they take turns to fork a process for each run; elsewhere each becomes that of one run.
    The kernel ends a process of a run with the thread that started it: see `die_with_parent`.
    """

    def __init__(self, *, refills: bool = True) -> None:
        """Begin with none; `refills` says whether there will be more runs than one."""
        self._refills = refills
        self._ready: list[tuple[Spark, Waiting]] = []
        self._wanted: dict[Spark, int] = {}
        self._not_before_s = 0.0
        self._is_closed = False
        self._change = threading.Condition()
        self._thread = threading.Thread(target=self._work, name="pythons", daemon=True)
        self._thread.start()

    def want(self, number: int, spark: Spark) -> None:
        """Start processes of a Spark, without waiting, until ``number`` wait, or `MAX_READY`."""
        with self._change:
            # Forks of one process have the same `hash()`. Two equal runs must show what differs.
            number = MAX_READY if CAN_FORK and self._refills else number
            wanted = min(max(self._wanted.get(spark, 0), number), MAX_READY)
            if wanted != self._wanted.get(spark):
                self._wanted[spark] = wanted
                self._change.notify()

    def take(self, order: Order, spark: Spark, turn: int | None = None) -> RunProcess | None:
        """Give an order to a process that waits; return the run's process, or None if none does.

        Of processes that fork, runs with the same `turn` have the same one; without it they take
        turns.
        """
        with self._change:
            for ready in [ready for ready in self._ready if ready[0] == spark]:
                waiting = ready[1]
                place = None if isinstance(waiting, OneRun) else waiting.place
                if turn is not None and place not in (None, turn % MAX_READY):
                    continue
                run = waiting.run(order)
                self._ready.remove(ready)
                if run is not None and CAN_FORK:
                    # The next run is another one's turn.
                    self._ready.append(ready)
                else:
                    self._not_before_s = time.monotonic() + REFILL_S
                    if not self._refills:
                        self._wanted[spark] = self._number(spark)
                    self._change.notify()
                if run is not None:
                    return run
        return None

    def close(self) -> None:
        """End the processes that still wait, and the thread."""
        with self._change:
            self._is_closed = True
            self._change.notify()
        self._thread.join()
        for _, waiting in self._ready:
            waiting.end()
        self._ready.clear()

    def _start(self, spark: Spark) -> Waiting:
        if not CAN_FORK:
            return OneRun(spark)
        servers = [
            server for of, server in self._ready if of == spark and isinstance(server, ForkServer)
        ]
        taken = {server.place for server in servers}
        return ForkServer(spark, next(place for place in range(MAX_READY) if place not in taken))

    def _number(self, spark: Spark) -> int:
        return sum(of == spark for of, _ in self._ready)

    def _work(self) -> None:
        with self._change:
            while not self._is_closed:
                lacking = [
                    spark for spark, most in self._wanted.items() if self._number(spark) < most
                ]
                wait_s = self._not_before_s - time.monotonic()
                if not lacking:
                    self._change.wait()
                elif wait_s > 0:
                    self._change.wait(wait_s)
                else:
                    try:
                        self._ready.append((lacking[0], self._start(lacking[0])))
                    except OSError:
                        # No memory or no process is left: a run starts its own.
                        self._wanted.clear()
