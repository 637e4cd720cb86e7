"""What is made when it is first asked for, once, whichever thread asks."""

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Makes something at the first call, and returns it at each.

    Attributes:
        made: what was made; None before.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        """Make nothing yet."""
        self._make = make
        self._lock = threading.Lock()
        self.made: T | None = None

    def __call__(self) -> T:
        """Return it; where it could not be made, the next call tries again."""
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made
