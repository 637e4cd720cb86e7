"""The runtime of a Glue job: version, workers, limits.

Sources: https://docs.aws.amazon.com/glue/latest/dg/add-job.html,
https://docs.aws.amazon.com/glue/latest/dg/auto-scaling.html,
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-glue-job.html
"""

from dataclasses import dataclass

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
