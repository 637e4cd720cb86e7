"""Lets the first Ctrl-C of a long command end it well."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupted_once(is_interrupted: threading.Event) -> Iterator[None]:
    """Let the first Ctrl-C or SIGTERM of the block only set an event."""

    def interrupt(_number: int, _frame: object) -> None:
        if is_interrupted.is_set():
            raise KeyboardInterrupt
        is_interrupted.set()

    before = {
        number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
