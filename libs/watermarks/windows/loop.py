"""The loop over windows: opens the next one, and commits it when the body has come back."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from .window import (
    DISABLE,
    ENABLE,
    PAUSE,
    Window,
    check_looked_at,
    give_to_loop,
    is_left_open,
    leave,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from .opening import Opening


_LOG = logging.getLogger("watermarks")


class WindowLoop:
    """Yields the window an earlier run left open, if any, and then the new rows, bite by bite."""

    def __init__(
        self, open_next: Callable[[], Opening], commit: Callable[[Window], object]
    ) -> None:
        self._open_next = open_next
        self._commit = commit
        self._window: Window | None = None
        self._is_over = False

    def __iter__(self) -> WindowLoop:
        return self

    def __next__(self) -> Window:
        """Commit the window of the body that has come back, and return the next one."""
        window, self._window = self._window, None
        # Whatever goes wrong in here ends the loop.
        is_over, self._is_over = self._is_over, True
        if window is not None and is_left_open(window):
            check_looked_at(window, "windows")
            self._commit(window)
        if is_over:
            raise StopIteration
        opening = self._open_next()
        window = opening.window
        if window.is_empty:
            raise StopIteration
        self._is_over = opening.is_last or window.job_bookmark_option != ENABLE
        if window.job_bookmark_option == PAUSE and not opening.is_last:
            _LOG.warning(
                "job-bookmark-pause: this run gets window %s of %s only; what comes after it is "
                "read once a run with job-bookmark-enable has committed it",
                opening.window.window_id,
                window.owner,
            )
        self._window = give_to_loop(window)
        return window

    def __del__(self) -> None:
        window = self._window
        if window is None or not is_left_open(window):
            return
        leave(window, "abandoned")
        if window.__dict__["job_bookmark_option"] == DISABLE:
            return  # no run reads it again
        _LOG.warning(
            "window %s of %s was left open, because its loop ended before it came back for the "
            "next window (an error, break, return or next()): the next run reads it again. To stop "
            "a loop early, call commit_window(window) first",
            window.window_id,
            window.owner,
        )
