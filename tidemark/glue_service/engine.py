"""The thread that owns the state: it handles requests of clients one by one, and does what is due.

It sleeps until something happens: a request, the end of a start or of a process, or a time that
is due.
"""

import queue
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from tidemark.errors import DamagedDatabaseError, DiskFullError, TidemarkError, UsageError
from tidemark.glue_service.entities import EntityKind, list_entities
from tidemark.glue_service.eventbridge.bus import deliver, flush
from tidemark.glue_service.eventbridge.documents import run_status
from tidemark.glue_service.eventbridge.scheduled import fire_timer
from tidemark.glue_service.glue_state import GlueState, origin_of, topic_arn
from tidemark.glue_service.protocol.service_errors import SERVER_ERROR, ServiceError
from tidemark.glue_service.sessions.due import end_due_sessions
from tidemark.glue_service.workflows.batch_firing import fire_batch
from tidemark.local_state.machine.disk import full_disk_line

LOOK_S = 0.2
RETRY_S = 1.0


def step(glue: GlueState) -> None:
    """Do what is due: triggers by the clock, batches of events, job runs, and late ones.

    What cannot be stored, such as on a full disk, stays due: a later step does it.
    """
    before, glue.runner.problem = glue.runner.problem, None
    try:
        _do_what_is_due(glue)
    except (DamagedDatabaseError, UsageError):
        raise
    except TidemarkError as error:
        glue.runner.problem = error
    if (problem := glue.runner.problem) is not None and before is None:
        is_full = isinstance(problem, DiskFullError)
        fact = full_disk_line(glue.machine.home.root) if is_full else problem
        glue.say(f"the local Glue waits, and continues by itself: {fact}")
    elif before is not None and problem is None:
        glue.say("the local Glue continues")


def _do_what_is_due(glue: GlueState) -> None:
    flush(glue)
    now_ms = glue.now_ms()
    if not glue.is_of_command:
        for timer, at_ms in glue.schedules.due(now_ms):
            fire_timer(glue, timer, at_ms)
        for name in glue.batches.due(now_ms):
            fire_batch(glue, name)
    end_due_sessions(glue)
    glue.runner.step()
    for run, delay_minutes in glue.delays.late(glue.runner.delayed, now_ms):
        deliver(glue, run_status(run, delay_minutes, now_ms, origin_of(glue)))


def wait_s(glue: GlueState) -> float | None:
    """Return how long to wait for an event before the next step; None until one comes.

    The clock is checked every 0.2 s, because clocks are set and machines sleep: for schedules,
    batches, delays, timeouts. So are the logs of runs, whose lines get the time of the check.
    """
    if glue.runner.problem is not None or glue.deliveries:
        return RETRY_S
    if glue.runner.is_due:
        return 0
    has_clock = not glue.is_of_command and (glue.schedules.has_any or glue.batches.has_any)
    return LOOK_S if has_clock or glue.runner.is_busy or glue.runner.delayed else None


def load(glue: GlueState) -> None:
    """Load what is not in the store itself: schedules, rules, waiting events, topics."""
    glue.schedules.load(glue.store, glue.now_ms())
    glue.rules.load(glue.store)
    glue.batches.load(glue.store)
    if glue.topics is not None:
        names = [entity.name for entity in list_entities(glue.store, EntityKind.TOPIC)]
        glue.topics.expect(topic_arn(glue, name) for name in names)


T = TypeVar("T")
# Values and errors pass between the threads in queues, which are C: a signal may raise at any line
# of Python, and one of a Future or an Event would leave its lock held, or release it twice.
Answers = queue.SimpleQueue[tuple[Any, BaseException | None]]
Work = tuple[Callable[[GlueState], Any], Answers]


class Engine:
    """Runs a local Glue in a separate thread, as long as a ``with`` block runs."""

    def __init__(
        self,
        open_glue: Callable[[], AbstractContextManager[GlueState]],
        on_death: Callable[[BaseException], None] = lambda _: None,
    ) -> None:
        """Prepare an engine."""
        self._on_death = on_death
        self._open_glue = open_glue
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._ready: Answers = queue.SimpleQueue()
        self._is_closed = False
        self._lock = threading.Lock()  # of _is_closed: nothing is queued after the end
        self._thread = threading.Thread(target=self._main, name="local-glue")

    def __enter__(self) -> "Engine":
        """Start the thread."""
        self._thread.start()
        try:
            _, error = self._ready.get()
            if error is not None:
                raise error
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop running jobs, and wait for them."""
        with self._lock:
            self._is_closed = True
            self._work.put(None)
        self._thread.join()

    def ask(self, work: Callable[[GlueState], T]) -> T:
        """Run a function in the engine's thread; return or raise its result."""
        answers: Answers = queue.SimpleQueue()
        with self._lock:
            if self._is_closed:
                raise _stopped_error()
            self._work.put((work, answers))
        try:
            answer, error = answers.get(timeout=60)
        except queue.Empty as nothing:
            raise _stopped_error() from nothing
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return] # of this work

    def tell(self, work: Callable[[GlueState], object]) -> None:
        """Run a function in the engine's thread later; its errors are dropped."""
        with self._lock:
            if not self._is_closed:
                self._work.put((work, queue.SimpleQueue()))

    def _main(self) -> None:
        is_ready = False
        try:
            with self._open_glue() as glue:
                is_ready = True
                self._ready.put((None, None))
                self._serve(glue)
        except BaseException as error:  # noqa: BLE001 (who started the engine gets it)
            if is_ready:
                self._on_death(error)
            else:
                self._ready.put((None, error))
        finally:
            self._cancel_rest()

    def _serve(self, glue: GlueState) -> None:
        glue.runner.wake = lambda: self.tell(_step_again)
        while True:
            step(glue)
            try:
                item = self._work.get(timeout=wait_s(glue))
            except queue.Empty:
                continue
            if item is None:
                return
            work, answers = item
            try:
                answers.put((work(glue), None))
            except BaseException as error:  # noqa: BLE001 (whoever asked for it gets it)
                answers.put((None, error))

    def _cancel_rest(self) -> None:
        with self._lock:
            self._is_closed = True
        while True:
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                return
            if item is not None:
                # The request came too late.
                item[1].put((None, _stopped_error()))


def _step_again(_: GlueState) -> None:
    """Do nothing: a step follows every request of the thread."""


def _stopped_error() -> ServiceError:
    return ServiceError(
        "InternalServiceException", "the local Glue is being stopped, or hangs", SERVER_ERROR
    )
