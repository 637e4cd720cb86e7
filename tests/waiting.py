"""Waiting for what another process does."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
BOUND_S = 600  # on the busiest machine: what takes longer hangs


def wait_until(look: Callable[[], Found]) -> Found:
    """Return what `look` finds, as soon as that is something."""
    deadline = time.monotonic() + BOUND_S
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.01)
    return found
