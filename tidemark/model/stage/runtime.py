"""The runtimes of Glue jobs, of Spark, streaming and Python shell: version, workers, limits.

Sources: https://docs.aws.amazon.com/glue/latest/dg/add-job.html,
https://docs.aws.amazon.com/glue/latest/dg/auto-scaling.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-glue-job.html
"""

import re
from dataclasses import dataclass
from enum import Enum

from tidemark.errors import JobDefinitionError
from tidemark.model.assembly.glue_versions import AUTO, DECLARABLE, DEFAULT_GLUE_VERSION
from tidemark.model.checked import checked
from tidemark.model.stage.fields import between, one_of

# Every worker type of a Glue Spark ETL job, and its DPUs; G.025X is for streaming only.
DPUS = {
    "G.1X": 1,
    "G.2X": 2,
    "G.4X": 4,
    "G.8X": 8,
    "G.12X": 12,
    "G.16X": 16,
    "R.1X": 1,
    "R.2X": 2,
    "R.4X": 4,
    "R.8X": 8,
}
WORKER_TYPES = tuple(DPUS)
FLEX_WORKER_TYPES = ("G.1X", "G.2X")
MAX_MINUTES = 10_080
MAX_RETRIES = 10
MAX_WORKERS, MAX_G2X_WORKERS = 299, 149


def check_retries(max_retries: int, glue_version: str) -> None:
    """Raise unless Glue takes this number of retries for a job of this version.

    Source: https://docs.aws.amazon.com/glue/latest/dg/auto-version-upgrades-turning-on-auto-upgrade-with-the-console-or-aws-cli.html
    """
    between("max_retries", max_retries, 0, MAX_RETRIES)
    if glue_version == AUTO and max_retries < 1:
        raise JobDefinitionError(
            f"max_retries is {max_retries} and glue_version {AUTO!r}; a failed upgraded run is "
            f"tried again on the old version, so allowed: 1 to {MAX_RETRIES}; set max_retries=1"
        )


@checked
@dataclass(frozen=True)
class JobRuntime:
    """The runtime of a job; `dataclasses.replace(stage.runtime, ...)` changes one thing for a job.

    Attributes:
        worker_type: Glue worker type.
        number_of_workers: workers of a run; with auto scaling the maximum.
        auto_scaling: True lets Glue add and remove workers during a run.
        flex: True runs on spare capacity: cheaper, and starts when it is available.
        timeout_minutes: minutes after which Glue stops a run.
        max_retries: number of retries of a failed run.
        glue_version: Glue version, which defines the versions of Spark and Python: one of
            `GlueVersion`. With AUTO, AWS upgrades the job; it needs `max_retries` of 1 or more.

    Raises:
        JobDefinitionError: a value that Glue does not allow, or two that exclude each other.

    Example:
        >>> from dataclasses import replace
        >>> replace(JobRuntime(), number_of_workers=10).worker_type
        'G.1X'
    """

    worker_type: str = "G.1X"
    number_of_workers: int = 2
    auto_scaling: bool = False
    flex: bool = False
    timeout_minutes: int = 60
    max_retries: int = 0
    glue_version: str = DEFAULT_GLUE_VERSION

    def __post_init__(self) -> None:
        one_of("glue_version", self.glue_version, DECLARABLE)
        one_of("worker_type", self.worker_type, WORKER_TYPES)
        most = MAX_G2X_WORKERS if self.worker_type == "G.2X" else MAX_WORKERS
        between("number_of_workers", self.number_of_workers, 2, most)
        one_of("auto_scaling", self.auto_scaling, (True, False))
        one_of("flex", self.flex, (True, False))
        between("timeout_minutes", self.timeout_minutes, 1, MAX_MINUTES)
        check_retries(self.max_retries, self.glue_version)
        if self.flex and self.worker_type not in FLEX_WORKER_TYPES:
            raise JobDefinitionError(
                f"flex is set with worker_type {self.worker_type!r}; the flexible execution class "
                f"has {' and '.join(FLEX_WORKER_TYPES)} only; change one of the two"
            )

    @property
    def queues(self) -> bool:
        """Return whether a run may wait until Glue has capacity.

        Sources: https://docs.aws.amazon.com/glue/latest/dg/job-run-statuses.html (runs of jobs
        without retries wait), https://github.com/aws/aws-cdk/pull/31830 (AWS's own construct
        refuses a queue with FLEX or retries).
        """
        return not self.flex and self.max_retries == 0

    @property
    def dpus_of_worker(self) -> int:
        """Return the billed DPUs of one worker."""
        return DPUS[self.worker_type]


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
