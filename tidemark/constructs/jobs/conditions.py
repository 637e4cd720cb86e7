"""What a trigger watches: a job or a crawler, and its required final state."""

from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from aws_cdk import aws_glue as glue

from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked


class JobState(Enum):
    """The final states that a Glue trigger can watch; ERROR and EXPIRED are not among them.

    Source: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html
    """

    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    STOPPED = "STOPPED"


class CrawlState(Enum):
    """The final states of a crawl that a Glue trigger can watch; ERROR is not among them.

    Source: https://docs.aws.amazon.com/glue/latest/webapi/API_Condition.html
    """

    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class JobLike(Protocol):
    """A node of a workflow that others can wait for: a job or a crawler.

    Attributes:
        name: the name of the Glue job or crawler.
        resource: the job or crawler itself.
    """

    @property
    def name(self) -> str:
        """Return the name."""

    @property
    def resource(self) -> glue.CfnJob | glue.CfnCrawler:
        """Return the resource."""


@checked
@dataclass(frozen=True)
class Condition:
    """A job or crawler that has ended in a state; created by `job.on` and `crawler.on`.

    Raises:
        JobDefinitionError: a trigger cannot watch the state.
    """

    job: JobLike
    state: JobState | CrawlState

    def __post_init__(self) -> None:
        states = CrawlState if isinstance(self.job.resource, glue.CfnCrawler) else JobState
        check_state(f"on(...) of '{self.job.name}'", self.state, states)


def check_state(what: str, state: object, states: type[Enum] = JobState) -> None:
    """Raise unless a trigger can watch a state."""
    if not isinstance(state, states):
        allowed = ", ".join(f"{states.__name__}.{state.name}" for state in states)
        raise JobDefinitionError(f"{what} is {state!r}; allowed: {allowed}; pass one")
