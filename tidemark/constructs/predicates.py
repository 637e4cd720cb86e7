"""When a job or crawler starts: what it waits for, and the required final states."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tidemark.constructs.crawlers.crawler import Crawler
from tidemark.constructs.jobs.conditions import Condition, CrawlState, JobState, check_state
from tidemark.constructs.jobs.glue_job import GlueJob
from tidemark.errors import JobDefinitionError
from tidemark.model.checked import checked

CRAWL_STATES = {JobState.SUCCEEDED: CrawlState.SUCCEEDED, JobState.FAILED: CrawlState.FAILED}


@checked
@dataclass(frozen=True)
class Predicate:
    """The conditions for the start of a job; created by `all_of` and `any_of`.

    Attributes:
        logical: `AND` or `ANY`, as in a Glue predicate.
        conditions: jobs and crawlers, and their required final states.

    Raises:
        JobDefinitionError: there is no condition.

    Example:
        >>> orders = pipeline.add_job("orders", script="job.py", bookmark=BookmarkOption.ENABLE)
        >>> all_of(orders).logical
        'AND'
    """

    logical: Literal["AND", "ANY"]
    conditions: tuple[Condition, ...]

    def __post_init__(self) -> None:
        if not self.conditions:
            raise JobDefinitionError(
                f"Predicate has conditions {self.conditions!r}; allowed: a tuple of what "
                "job.on(...) returns; write all_of(...) or any_of(...)"
            )


After: TypeAlias = Predicate | Sequence[GlueJob | Crawler | Condition]


def all_of(*jobs: GlueJob | Crawler | Condition, on: JobState = JobState.SUCCEEDED) -> Predicate:
    """Return the predicate that all have ended: jobs in the state `on`, or each in its own state.

    A crawler stands for its success, or for its failure if `on` is FAILED.

    Raises:
        JobDefinitionError: there are no jobs, one is twice, or a value is not a job.

    Example:
        >>> orders = pipeline.add_job("orders", script="job.py", bookmark=BookmarkOption.ENABLE)
        >>> alarm = pipeline.add_job(
        ...     "alarm",
        ...     script="job.py",
        ...     bookmark=BookmarkOption.DISABLE,
        ...     after=all_of(orders, on=JobState.FAILED),
        ... )
    """
    after = Predicate("AND", _conditions(jobs, on))
    for ended in after.conditions:
        if [condition.job for condition in after.conditions].count(ended.job) > 1:
            raise JobDefinitionError(
                f"all_of(...) names '{ended.job.name}' twice, but a run ends in one state "
                "only; use any_of(...), or name it once"
            )
    return after


def any_of(*jobs: GlueJob | Crawler | Condition, on: JobState = JobState.SUCCEEDED) -> Predicate:
    """Return the predicate that one has ended: a job in the state `on`, or each in its own state.

    The first one to end so starts the job; later ones do not start it again in the same run.

    Raises:
        JobDefinitionError: there are no jobs, one is twice, or a value is not a job in one
            state.

    Example:
        >>> orders = pipeline.add_job("orders", script="job.py", bookmark=BookmarkOption.ENABLE)
        >>> returns = pipeline.add_job("returns", script="job.py", bookmark=BookmarkOption.ENABLE)
        >>> mart = pipeline.add_job(
        ...     "mart",
        ...     script="job.py",
        ...     bookmark=BookmarkOption.ENABLE,
        ...     after=any_of(orders, returns),
        ... )
    """
    after = Predicate("ANY", _conditions(jobs, on))
    for ended in after.conditions:
        if after.conditions.count(ended) > 1:
            raise JobDefinitionError(
                f"any_of(...) names '{ended.job.name}' twice in the state "
                f"{ended.state.value}; name it once, or with another state"
            )
    return after


def predicate_of(after: After) -> Predicate | None:
    """Return the predicate of `after=`; a list means all of them, an empty list none.

    Raises:
        JobDefinitionError: see `all_of`.
    """
    if isinstance(after, Predicate):
        return after
    return all_of(*after) if after else None


def last_jobs(waits: Mapping[str, Predicate | None]) -> list[str]:
    """Return the jobs and crawlers that end a run in which each of them succeeds.

    A job that waits for a failure does not start then, nor anything downstream of it.

    Args:
        waits: what each of them waits for, by name, in the order in which they were added.
    """
    reached: dict[str, set[str]] = {}  # by job, those that had to succeed before it
    for name, after in waits.items():
        conditions = after.conditions if after else ()
        good = [e.job.name for e in conditions if e.state.name == "SUCCEEDED"]
        met = [job for job in good if job in reached]
        if after is None or (met if after.logical == "ANY" else len(met) == len(conditions)):
            reached[name] = set(met)
    waited_for = set().union(*reached.values())
    return [name for name in reached if name not in waited_for]


def _conditions(
    jobs: Iterable[GlueJob | Crawler | Condition], on: JobState
) -> tuple[Condition, ...]:
    check_state("on", on)
    ended = []
    for job in jobs:
        if isinstance(job, GlueJob):
            ended.append(Condition(job, on))
        elif isinstance(job, Crawler):
            ended.append(Condition(job, CRAWL_STATES.get(on, on)))
        elif isinstance(job, Condition):
            ended.append(job)
        elif isinstance(job, Predicate):
            raise JobDefinitionError(
                "all_of(...) and any_of(...) are nested, but a Glue trigger has one "
                "level; let a job wait for the inner one, and wait for that job"
            )
        else:
            raise JobDefinitionError(
                f"{job!r} is not a job that can be waited for; allowed: what add_job or "
                "add_crawler returned, or job.on(JobState.FAILED) of it"
            )
    if not ended:
        raise JobDefinitionError("all_of() and any_of() name no job; pass at least one")
    return tuple(ended)
