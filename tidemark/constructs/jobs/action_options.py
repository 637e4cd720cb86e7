"""What a trigger adds to the definition of the job that it starts."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tidemark.constructs.jobs.job_props import Argument
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong

MAX_MINUTES = 10_080  # seven days; Glue's limit for a run


@checked
@dataclass(frozen=True)
class ActionOptions:
    """What a trigger adds to the job that it starts, in runs of the workflow only.

    A run that someone starts directly, with `aws glue start-job-run`, uses the job's own values.
    Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-trigger.html (Action)

    Attributes:
        arguments: like those of `add_job`, names without dashes; they win over arguments of the
            same name.
        timeout_minutes: replaces the timeout of the job's runtime.
        notify_after_minutes: minutes after which Glue emits an event and the alert `RunLate`
            is sent. None: the job's value, or half of `timeout_minutes` if the run would have
            ended by then.

    Raises:
        JobDefinitionError: a value has another type, or Glue does not allow it.

    Example:
        >>> ActionOptions({"load": "full"}, timeout_minutes=90).timeout_minutes
        90
    """

    arguments: Mapping[str, Argument] = field(default_factory=dict)
    timeout_minutes: int | None = None
    notify_after_minutes: int | None = None

    def __post_init__(self) -> None:
        for key in ("timeout_minutes", "notify_after_minutes"):
            minutes = getattr(self, key)
            if minutes is not None and not 1 <= minutes <= MAX_MINUTES:
                allowed = f"an integer, minutes from 1 to {MAX_MINUTES}, or None"
                raise wrong("ActionOptions", key, minutes, allowed, "pass one")
        for name in self.arguments:
            if name.startswith("-"):
                raise JobDefinitionError(
                    f"ActionOptions has the argument {name!r}; allowed: names without dashes; "
                    f"write {name.lstrip('-')!r}"
                )
        if not (self.arguments or self.timeout_minutes or self.notify_after_minutes):
            raise JobDefinitionError(
                "ActionOptions() is empty; allowed: at least one of arguments, "
                "timeout_minutes, notify_after_minutes; pass one, or leave started= out"
            )

    def check_against(self, job: str, timeout_minutes: int) -> None:
        """Raise unless Glue can report a long run before its timeout, here or of the job.

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
