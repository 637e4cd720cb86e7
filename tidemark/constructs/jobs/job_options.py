"""Options of a job in addition to its script, data and runtime."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.constructs.jobs.own_texts import check_description, check_own_tags
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked, wrong
from tidemark.model.stage.settings import RETENTION_DAYS

BOOKMARK_LOST = "a bookmark, which the second of two runs cannot commit"
WINDOW_TAKEN = (
    "watermarks, whose open window the second of two runs takes over, so that the first fails"
)
MAX_RUNS = 4_000  # concurrent runs of one job, Glue's default quota


@checked
@dataclass(frozen=True, kw_only=True)
class JobOptions:
    """Options of a Glue job that most jobs do not set.

    A workflow runs each of its jobs once: additional runs are started by
    StartJobRun, or by another run of the workflow. If a job queues (`JobRuntime.queues`), a
    start beyond `max_concurrent_runs` waits; otherwise Glue refuses it.

    Sources: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-jobs-job.html,
    https://docs.aws.amazon.com/general/latest/gr/glue.html

    Attributes:
        description: the purpose of the job, shown in the console.
        tags: tags of the job, its role and its log groups, in addition to those of the stage.
        log_retention_days: how long logs of its runs are kept, instead of the stage's value.
        max_concurrent_runs: how many runs of the job may run at a time. More than one only if
            it keeps neither a bookmark nor watermarks; concurrent runs that write one folder are a
            finding of the rule `two-writers`.
        non_overridable: arguments that no start can change: those of the script by their names,
            Glue's own with dashes, such as `--conf`.
        notify_after_minutes: Glue emits an event, and so sends an alert, for a run that takes
            longer; None: half of the timeout.

    Raises:
        JobDefinitionError: AWS would refuse a value.

    Example:
        >>> JobOptions(max_concurrent_runs=3, tags={"team": "sales"}).max_concurrent_runs
        3
    """

    description: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    log_retention_days: int | None = None
    max_concurrent_runs: int = 1
    non_overridable: Sequence[str] = ()
    notify_after_minutes: int | None = None

    def __post_init__(self) -> None:
        check_description("JobOptions", self.description)
        days = self.log_retention_days
        if days is not None and days not in RETENTION_DAYS:
            raise wrong(
                "JobOptions", "log_retention_days", days, ", ".join(map(str, RETENTION_DAYS))
            )
        for name, most in (("max_concurrent_runs", MAX_RUNS), ("notify_after_minutes", 10_080)):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= most:
                raise wrong("JobOptions", name, value, f"an integer from 1 to {most}")
        names = self.non_overridable
        if not all(names) or len(set(names)) < len(names):
            raise wrong(
                "JobOptions", "non_overridable", names, "a list of names of arguments, each once"
            )
        check_own_tags("JobOptions", self.tags)

    def check(
        self, job: str, *, timeout_minutes: int | None, bookmark: bool, watermark: bool
    ) -> None:
        """Raise unless a job can have these options.

        Args:
            job: its name.
            timeout_minutes: after which Glue stops a run; None if it never does.
            bookmark: whether Glue keeps a bookmark for it.
            watermark: whether it keeps watermarks.

        Raises:
            JobDefinitionError: concurrent runs could lose state, or no run could be reported.
        """
        runs = self.max_concurrent_runs
        if runs > 1 and (bookmark or watermark):
            reason, remedy = WINDOW_TAKEN, "leave watermark= out"
            if bookmark:
                reason, remedy = BOOKMARK_LOST, "BookmarkOption.DISABLE"
            raise JobDefinitionError(
                f"job '{job}' has max_concurrent_runs {runs} and keeps {reason}; allowed: 1; "
                f"set it to 1, or {remedy}"
            )
        after = self.notify_after_minutes
        if after is not None and timeout_minutes is not None and after >= timeout_minutes:
            raise JobDefinitionError(
                f"job '{job}' has notify_after_minutes {after} and ends after "
                f"{timeout_minutes} minutes, its timeout; allowed: less than that; lower it"
            )
