"""Kills a run around `Job.commit`, to find lost and doubled rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pytest

from tidemark.glue_job.process.job_process import KILL_VARIABLE as KILL_VARIABLE

Kill: TypeAlias = Literal["before commit", "after commit"]
KILLED = "the job process was killed by SIGKILL"
SURVIVED = (
    "the script continues after the exception that stands for a kill at Job.commit: it has an "
    "`except:` without a class, or leaves a `finally` by return or sys.exit; mark the test "
    "@pytest.mark.glue(isolated=True), and it is killed as on Glue"
)


class KilledError(BaseException):
    """Simulates a kill in the test's process, where a real one would end the tests."""


@dataclass
class Killing:
    """Whether a run has reached its kill."""

    is_reached: bool = False


@contextmanager
def killed_at_commit(kill: Kill | None) -> Iterator[Killing]:
    """Let the first `Job.commit` of the block end its run, as a kill would."""
    killing = Killing()
    if kill is None:
        yield killing
        return
    from awsglue.job import Job

    commit = Job.commit

    def end(job: Any) -> None:
        if kill == "after commit":
            commit(job)
        killing.is_reached = True
        raise KilledError(kill)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Job, "commit", end)
        yield killing
