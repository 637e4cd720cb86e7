"""The thread that owns the state and handles requests of clients one after the other.

It sleeps until something happens: a request, the end of a start or of a process, or a time that
is due.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from tidemark.glue_service.local_glue import LocalGlue
from tidemark.glue_service.protocol.service_errors import SERVER_ERROR, ServiceError
from tidemark.glue_service.steps import step, wait_s

T = TypeVar("T")
ANSWER_TIMEOUT_S = 60
Work = tuple[Callable[[LocalGlue], Any], "Future[Any]"]


class Engine:
    """Runs a local Glue in a separate thread, as long as a ``with`` block runs."""

    def __init__(
        self,
        open_glue: Callable[[], AbstractContextManager[LocalGlue]],
        on_death: Callable[[BaseException], None] = lambda _: None,
    ) -> None:
        """Prepare an engine."""
        self._on_death = on_death
        self._open_glue = open_glue
        self._work: queue.SimpleQueue[Work | None] = queue.SimpleQueue()
        self._ready: Future[None] = Future()
        self._is_closed = False
        self._lock = threading.Lock()  # of _is_closed: nothing is queued after the end
        self._thread = threading.Thread(target=self._main, name="local-glue")

    def __enter__(self) -> "Engine":
        """Start the thread."""
        self._thread.start()
        try:
            self._ready.result()
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

    def ask(self, work: Callable[[LocalGlue], T]) -> T:
        """Run a function in the engine's thread; return or raise its result."""
        answer: Future[T] = Future()
        with self._lock:
            if self._is_closed:
                raise _stopped_error()
            self._work.put((work, answer))
        try:
            return answer.result(ANSWER_TIMEOUT_S)
        except (TimeoutError, CancelledError) as error:
            raise _stopped_error() from error

    def tell(self, work: Callable[[LocalGlue], object]) -> None:
        """Run a function in the engine's thread later; its errors are dropped."""
        with self._lock:
            if not self._is_closed:
                self._work.put((work, Future()))

    def _main(self) -> None:
        try:
            with self._open_glue() as glue:
                self._ready.set_result(None)
                self._serve(glue)
        except BaseException as error:  # noqa: BLE001 (who started the engine gets it)
            if self._ready.done():
                self._on_death(error)
            else:
                self._ready.set_exception(error)
        finally:
            self._cancel_rest()

    def _serve(self, glue: LocalGlue) -> None:
        glue.runner.wake = lambda: self.tell(_step_again)
        while True:
            step(glue)
            try:
                item = self._work.get(timeout=wait_s(glue))
            except queue.Empty:
                continue
            if item is None:
                return
            work, answer = item
            try:
                answer.set_result(work(glue))
            except BaseException as error:  # noqa: BLE001 (whoever asked for it gets it)
                answer.set_exception(error)

    def _cancel_rest(self) -> None:
        """Answer requests that came too late."""
        with self._lock:
            self._is_closed = True
        while True:
            try:
                item = self._work.get_nowait()
            except queue.Empty:
                return
            if item is not None:
                item[1].cancel()


def _step_again(_: LocalGlue) -> None:
    """Do nothing: a step follows every request of the thread."""


def _stopped_error() -> ServiceError:
    return ServiceError(
        "InternalServiceException", "the local Glue is being stopped, or hangs", SERVER_ERROR
    )
