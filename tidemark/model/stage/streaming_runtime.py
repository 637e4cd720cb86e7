"""The runtime of a streaming job of Glue.

Sources: https://docs.aws.amazon.com/glue/latest/dg/add-job-streaming.html,
https://docs.aws.amazon.com/glue/latest/dg/glue-streaming-maintenance.html,
https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html
"""

import re
from dataclasses import dataclass

from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_versions import DECLARABLE, DEFAULT_GLUE_VERSION
from tidemark.model.checked import checked
from tidemark.model.stage.fields import between, one_of
from tidemark.model.stage.runtime import (
    DPUS,
    MAX_G2X_WORKERS,
    MAX_MINUTES,
    MAX_WORKERS,
    WORKER_TYPES,
    check_retries,
)

STREAMING_WORKER_TYPES = ("G.025X", *WORKER_TYPES)
WINDOW = re.compile(r"(Sun|Mon|Tue|Wed|Thu|Fri|Sat):([01]?[0-9]|2[0-3])")


@checked
@dataclass(frozen=True)
class StreamingRuntime:
    """The runtime of a streaming job.

    Attributes:
        worker_type: Glue worker type; G.025X is for streaming jobs of low volume only.
        number_of_workers: workers of a run; with auto scaling the maximum.
        auto_scaling: True lets Glue add and remove workers during a run.
        max_retries: number of retries of a failed run.
        maintenance_window: day and hour in GMT, `Sun:10`; within three hours of it Glue starts a
            run of more than 7 days again. None leaves the hour to Glue.
        timeout_minutes: minutes after which Glue stops a run, for a finite stream.
            None: a run has no timeout.
        glue_version: Glue version, which brings Spark and Python: one of `GlueVersion`. With AUTO,
            AWS upgrades the job; it needs `max_retries` of 1 or more.

    Raises:
        JobDefinitionError: a value that Glue does not allow, or two that exclude each other.

    Example:
        >>> StreamingRuntime(number_of_workers=4).worker_type
        'G.025X'
    """

    worker_type: str = "G.025X"
    number_of_workers: int = 2
    auto_scaling: bool = False
    max_retries: int = 0
    maintenance_window: str | None = None
    timeout_minutes: int | None = None
    glue_version: str = DEFAULT_GLUE_VERSION

    def __post_init__(self) -> None:
        one_of("glue_version", self.glue_version, DECLARABLE)
        one_of("worker_type", self.worker_type, STREAMING_WORKER_TYPES)
        most = MAX_G2X_WORKERS if self.worker_type == "G.2X" else MAX_WORKERS
        between("number_of_workers", self.number_of_workers, 2, most)
        one_of("auto_scaling", self.auto_scaling, (True, False))
        check_retries(self.max_retries, self.glue_version)
        window: object = self.maintenance_window
        if window is not None and not (isinstance(window, str) and WINDOW.fullmatch(window)):
            raise JobDefinitionError(
                f"maintenance_window is {window!r}; allowed: a day and an hour in GMT, from Sun:0 "
                "to Sat:23; write it like 'Sun:10'"
            )
        if self.timeout_minutes is not None:
            between("timeout_minutes", self.timeout_minutes, 1, MAX_MINUTES - 1)
            if window is not None:
                raise JobDefinitionError(
                    f"timeout_minutes is {self.timeout_minutes} and maintenance_window "
                    f"{window!r}; Glue starts only runs of more than 7 days again; leave one of "
                    "the two out"
                )

    @property
    def dpus_of_worker(self) -> float:
        """Return how many DPUs one worker is billed as."""
        return DPUS.get(self.worker_type, 0.25)
