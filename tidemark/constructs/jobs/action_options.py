"""What the trigger that starts a job adds to what the job itself says."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidemark.constructs.jobs.job_props import Argument
from tidemark.errors import JobDefinitionError

MAX_MINUTES = 10_080  # seven days, of a run


@dataclass(frozen=True)
class ActionOptions:
    """What the trigger that starts a job adds: it holds for runs of the workflow, no others.

    A run that someone starts by itself, with `aws glue start-job-run`, has what the job says.
    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-trigger.html (Action)

    Attributes:
        arguments: as those of `add_job`, over those of the same names.
        timeout_minutes: instead of the timeout of the job's runtime.
        notify_after_minutes: after so long Glue tells EventBridge of the run, and the alert
            `RunLate` whoever is told; None: what the job says, or half of `timeout_minutes` where
            the run would have ended by then.

    Raises:
        JobDefinitionError: a value is of another kind, or Glue does not allow it.
    """

    arguments: Mapping[str, Argument] = field(default_factory=dict)
    timeout_minutes: int | None = None
    notify_after_minutes: int | None = None

    def __post_init__(self) -> None:
        for key in ("timeout_minutes", "notify_after_minutes"):
            minutes = getattr(self, key)
            if minutes is not None and not 1 <= minutes <= MAX_MINUTES:
                raise JobDefinitionError(
                    f"ActionOptions has {key} {minutes!r}; allowed: an integer, minutes from 1 to "
                    f"{MAX_MINUTES}, or None; pass one"
                )
        if not (self.arguments or self.timeout_minutes or self.notify_after_minutes):
            raise JobDefinitionError(
                "ActionOptions() says nothing; allowed: at least one of arguments, "
                "timeout_minutes, notify_after_minutes; pass one, or leave started= out"
            )

    def check_against(self, job: str, timeout_minutes: int) -> None:
        """Raise unless Glue can tell of a long run before it ends, by this or the job's timeout.

        Raises:
            JobDefinitionError: the run has timed out by then.
        """
        ends = self.timeout_minutes or timeout_minutes
        if self.notify_after_minutes and self.notify_after_minutes >= ends:
            raise JobDefinitionError(
                f"job '{job}' is started with notify_after_minutes {self.notify_after_minutes} and "
                f"times out after {ends}; allowed: less than the timeout; lower it, or raise "
                "timeout_minutes"
            )
