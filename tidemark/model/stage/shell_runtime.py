"""The runtime of a Python shell job of Glue.

Sources: https://docs.aws.amazon.com/glue/latest/dg/add-job-python.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-glue-job.html
"""

from dataclasses import dataclass
from enum import Enum

from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked
from tidemark.model.stage.fields import between, one_of
from tidemark.model.stage.runtime import MAX_MINUTES

GLUE_VERSION = "3.0"  # the one with Python shell 3.9
PYTHON = (3, 9)


class ShellCapacity(Enum):
    """The DPUs that Glue gives to a Python shell job; it knows these two."""

    SMALL = 0.0625
    LARGE = 1.0


@checked
@dataclass(frozen=True)
class ShellRuntime:
    """The runtime of a Python shell job.

    Attributes:
        capacity: a sixteenth of a DPU (1 GB of memory), or a whole one (16 GB).
        timeout_minutes: minutes after which Glue stops a run.
        max_retries: number of retries of a failed run.
        analytics_libraries: True installs Glue's set of common libraries, pandas among them.

    Raises:
        JobDefinitionError: a value that Glue does not allow.

    Example:
        >>> ShellRuntime(timeout_minutes=10).capacity.value
        0.0625
    """

    capacity: ShellCapacity = ShellCapacity.SMALL
    timeout_minutes: int = 60
    max_retries: int = 0
    analytics_libraries: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.capacity, ShellCapacity):
            allowed = ", ".join(f"ShellCapacity.{size.name}" for size in ShellCapacity)
            raise JobDefinitionError(f"capacity is {self.capacity!r}; allowed: {allowed}; pass one")
        between("timeout_minutes", self.timeout_minutes, 1, MAX_MINUTES)
        between("max_retries", self.max_retries, 0, 10)
        one_of("analytics_libraries", self.analytics_libraries, (True, False))
