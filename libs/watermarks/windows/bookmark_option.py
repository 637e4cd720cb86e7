"""Glue's job-bookmark-option of a run, as its windows take it.

    job-bookmark-enable     the new rows, window by window, each committed
    job-bookmark-pause      the next of these windows, and it stays open: the next run gets it again
    job-bookmark-disable    one window over everything; no table of watermarks is read or written

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html
"""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from watermarks.errors import WatermarksError

from .opening import Opening
from .ranges import choose_range
from .window import DISABLE, OpenWindow

if TYPE_CHECKING:
    from .request import WindowRequest
    from .window import Window


def plan_whole(request: WindowRequest) -> Opening:
    """Return a window over everything there is, which no run takes over and none commits."""
    whole = replace(request, bounds="(]", settle=timedelta(), max_span=None, max_rows=None)
    chosen = choose_range(whole, None, None)
    if chosen.high is None:
        return Opening(request, None, None, None)
    opened = OpenWindow(
        window_id=f"disabled-{os.urandom(8).hex()}",
        attempt=0,  # before every other
        run_id=request.run_id,
        cursor=request.cursor,
        low=chosen.low,
        high=chosen.high,
        bounds=chosen.ends,
    )
    return Opening(request, None, None, opened)


def check_is_kept(window: Window, writer: str, instead: str) -> None:
    """Raise a WatermarksError for a window that no table of watermarks keeps."""
    if window.job_bookmark_option != DISABLE:
        return
    raise WatermarksError(
        f"{writer} cannot write window {window.window_id} of {window.owner} exactly once: it has "
        f"everything there is, the run has {DISABLE} (as Glue says where a job has no "
        "--job-bookmark-option), and so no later run could find the window again: nothing was "
        f"written; {instead}, or run the job with job-bookmark-enable"
    )
