"""Waiting for what another process does."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
BOUND_S = 600  # on the busiest machine: what takes longer hangs


def wait_until(look: Callable[[], Found]) -> Found:
    """Return what `look` finds, as soon as that is something.

    Who waits longer looks less often: what is waited for needs the same cores.
    """
    begin = time.monotonic()
    while not (found := look()):
        waited = time.monotonic() - begin
        assert waited < BOUND_S, "it did not happen"
        time.sleep(min(0.01 + waited / 20, 0.05))
    return found
