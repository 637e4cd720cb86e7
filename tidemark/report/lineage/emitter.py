"""Sends events from its own thread: no run waits for it or fails by it."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tidemark.local_state.home import Home
from tidemark.local_state.store.database import FINAL_STATES, JobRun
from tidemark.report.lineage.destination import Destination, destination_of

CLOSE_S = 3.0  # the wait of an ending command for events that are not sent yet
PAUSE_S = 60.0  # the pause after a destination took no event
MAX_CAUSE_LENGTH = 200
Tell = Callable[[JobRun], None]


class Emitter:
    """Takes runs that have started or ended, and sends an event of each, in this order."""

    def __init__(self, destination: Destination, home: Home, say: Callable[[str], None]) -> None:
        """Start the thread."""
        self._destination = destination
        self._home = home
        self._say = say
        self._runs: queue.SimpleQueue[JobRun | None] = queue.SimpleQueue()
        self._started: set[str] = set()
        self._silent_until = 0.0  # of the monotonic clock
        self._has_said = False
        self._thread = threading.Thread(target=self._main, name="lineage", daemon=True)
        self._thread.start()

    def send(self, run: JobRun) -> None:
        """Take a run that was recorded as RUNNING, or in its final state; never waits."""
        self._runs.put(run)

    def close(self) -> None:
        """Send the rest, for a few seconds at most; report it if that is too short."""
        self._runs.put(None)
        self._thread.join(CLOSE_S)
        if self._thread.is_alive():
            self._say_once(f"no answer within {CLOSE_S:.0f} s")

    def _main(self) -> None:
        while (run := self._runs.get()) is not None:
            try:
                self._send(run)
            except Exception as error:  # noqa: BLE001 (no run fails by its event)
                self._silent_until = time.monotonic() + PAUSE_S
                text = f"{type(error).__name__}: {error}".splitlines()[0]
                is_long = len(text) > MAX_CAUSE_LENGTH
                self._say_once(f"{text[:MAX_CAUSE_LENGTH]}..." if is_long else text)
        if not self._silent_until:
            self._destination.client.close(CLOSE_S)

    def _send(self, run: JobRun) -> None:
        if time.monotonic() < self._silent_until:
            return
        # Here: it takes half a second to load, and only this thread waits.
        from tidemark.operate.recorded_runs import facts_of, initial_run
        from tidemark.report.lineage.events import event_of

        facts = facts_of(self._home, run)
        if run.state in FINAL_STATES and run.run_id not in self._started:
            self._destination.client.emit(event_of(initial_run(facts)))
        self._started.add(run.run_id)
        self._destination.client.emit(event_of(facts))

    def _say_once(self, cause: str) -> None:
        if not self._has_said:
            self._has_said = True
            self._say(
                f"lineage events are missing: {self._destination.shown} did not take one "
                f"({cause}); the runs are not affected"
            )


@contextmanager
def lineage_to(option: str | None, home: Home, say: Callable[[str], None]) -> Iterator[Tell]:
    """Yield what takes the runs of a command, and sends their events while the block takes."""
    destination = destination_of(option, say)
    if destination is None:
        yield lambda _: None
        return
    emitter = Emitter(destination, home, say)
    try:
        yield emitter.send
    finally:
        emitter.close()
