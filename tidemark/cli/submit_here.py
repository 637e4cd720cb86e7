"""Runs a submitted script in this process, in a home that no other one serves."""

import os
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

from tidemark.cli.submit_output import say_notes, shown
from tidemark.glue_job.process.job_process import TERMINAL_VARIABLE
from tidemark.glue_service.runs.jvms.supply import jvms_of
from tidemark.glue_service.runs.pythons import Pythons
from tidemark.glue_service.submission import Submission
from tidemark.glue_service.submit import submit as run_script
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import installed_spark
from tidemark.local_state.store.database import JobRun


def submit_here(submission: Submission, home: Home, output: str, *, isolated: bool) -> JobRun:
    """Return the finished run."""
    with closing(Pythons(refills=False)) as pythons:
        if not isolated and (spark := installed_spark(submission.glue_version)):
            pythons.want(1, spark)  # it imports while this command does
        say_notes(submission)
        with _lending_terminal(), shown(submission, output) as (progress, observe, write):
            lent = None if isolated else pythons
            with jvms_of(home, is_isolated=isolated, pythons=lent, say=progress.say) as jvms:
                run, _ = run_script(submission, home, observe, progress.warn, write, jvms)
    return run


@contextmanager
def _lending_terminal() -> Iterator[None]:
    """Let `breakpoint()` of the script have the terminal that this command is on, if any."""
    if sys.stdin is None or not sys.stdin.isatty():  # None: it was closed
        yield
        return
    os.environ[TERMINAL_VARIABLE] = os.ttyname(sys.stdin.fileno())
    try:
        yield
    finally:
        os.environ.pop(TERMINAL_VARIABLE, None)
