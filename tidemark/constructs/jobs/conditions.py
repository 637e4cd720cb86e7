"""A job and the state it must end in: what a trigger watches."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from aws_cdk import aws_glue as glue

from tidemark.errors import JobDefinitionError


class JobState(Enum):
    """The final states that a Glue trigger can watch; ERROR and EXPIRED are not among them.

    Source: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html
    """

    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    STOPPED = "STOPPED"


class Job(Protocol):
    """A job that others can wait for.

    Attributes:
        name: the Glue job name.
        resource: the job itself.
    """

    name: str
    resource: glue.CfnJob


@dataclass(frozen=True)
class Condition:
    """A job that has ended in one state; made by `IncrementalJob.on`.

    Raises:
        JobDefinitionError: the state is none that a trigger can watch.
    """

    job: Job
    state: JobState

    def __post_init__(self) -> None:
        check_state(f"job.on(...) of '{self.job.name}'", self.state)


def check_state(what: str, state: object) -> None:
    """Raise unless a state is one that a trigger can watch."""
    if not isinstance(state, JobState):
        states = ", ".join(f"JobState.{state.name}" for state in JobState)
        raise JobDefinitionError(f"{what} is {state!r}; allowed: {states}; pass one")
