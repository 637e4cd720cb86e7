"""Commands that only look: they work on a home that they may not write."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from tidemark.local_state.home import ONLY_LOOKS

P = ParamSpec("P")
T = TypeVar("T")


def only_looks(command: Callable[P, T]) -> Callable[P, T]:
    """Return a command that reads a copy of the home if the home cannot be written."""

    @wraps(command)
    def looking(*args: P.args, **kwargs: P.kwargs) -> T:
        token = ONLY_LOOKS.set(True)
        try:
            return command(*args, **kwargs)
        finally:
            ONLY_LOOKS.reset(token)

    return looking
