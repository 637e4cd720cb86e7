"""Counts requests that wait for another program or for a message: the end of a port does not."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Waits:
    """The requests of one port that wait now.

    Attributes:
        count: how many.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._lock = threading.Lock()
        self.count = 0

    @contextmanager
    def one(self) -> Iterator[None]:
        """Count one more during the block."""
        with self._lock:
            self.count += 1
        try:
            yield
        finally:
            with self._lock:
                self.count -= 1
