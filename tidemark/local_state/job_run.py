"""The home of a job run's process."""

import os
from pathlib import Path

from tidemark.errors import TidemarkError
from tidemark.local_state.home import Home

SCRIPT_STDERR_FILE = "script-stderr.log"  # in the folder of a run: stderr without the JVM's


def is_local_run() -> bool:
    """Return whether this process belongs to a local run, which has a home."""
    return bool(os.environ.get("TIDEMARK_HOME"))


def job_home() -> Home:
    """Return the home of the local run that this process belongs to."""
    if not is_local_run():
        raise TidemarkError(
            "job bookmarks need the state of a local run, and TIDEMARK_HOME is not set; start the "
            "script with `tidemark run` or `tidemark submit`, or run it with "
            "--job-bookmark-option job-bookmark-disable"
        )
    return Home(Path(os.environ["TIDEMARK_HOME"]))
