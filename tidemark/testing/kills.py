"""Kills a run around `Job.commit`, to see what it loses and doubles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import pytest

from tidemark.local_glue.runs.job_process import KILL_VARIABLE as KILL_VARIABLE

Kill: TypeAlias = Literal["before commit", "after commit"]
KILLED = "the job process was killed by SIGKILL"


class KilledError(BaseException):
    """Stands for a kill in the test's process, where a real one would end the tests."""


@contextmanager
def killed_at_commit(kill: Kill | None) -> Iterator[None]:
    """Let the first `Job.commit` of the block end its run, as a kill would."""
    if kill is None:
        yield
        return
    from awsglue.job import Job

    commit = Job.commit

    def end(job: Any) -> None:
        if kill == "after commit":
            commit(job)
        raise KilledError(kill)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Job, "commit", end)
        yield
