"""Finds problems of one trigger, or of one schedule that starts a workflow."""

from collections.abc import Iterator

from tidemark.checks.graph import model
from tidemark.errors import ScheduleError, TooFineError
from tidemark.model.schedules import cron
from tidemark.model.schedules.schedules import Schedule

MAX_JOBS_OF_TRIGGER, MAX_CRAWLERS_OF_TRIGGER = 50, 2


def problems_of_trigger(graph: model.Graph, trigger: model.Trigger) -> Iterator[model.Problem]:
    """Yield what Glue or CloudFormation refuses of a trigger, or what keeps it from firing."""
    known = {job.name for job in graph.jobs}
    watched = [condition.name for condition in trigger.conditions]
    for name in dict.fromkeys((*watched, *trigger.starts)):
        if name not in known and not name.startswith(model.CRAWLER):
            yield trigger.problem(
                "unknown-job",
                f"the trigger names the job '{name}', which this stage does not define",
                "name a job of the same stage; jobs of other stages cannot be waited for",
            )
    for name in sorted(set(watched) & set(trigger.starts)):
        yield trigger.problem(
            "watched-and-started",
            f"the trigger starts the job '{name}' that it watches, which Glue refuses",
            "let the job retry instead (MaxRetries), or start another job",
        )
    yield from _activation(trigger)
    yield from _incomplete(trigger)
    yield from _schedule(trigger)
    yield from _beyond_limits(trigger)


def _activation(trigger: model.Trigger) -> Iterator[model.Problem]:
    if trigger.kind in (model.CONDITIONAL, "SCHEDULED") and not trigger.is_active:
        yield trigger.problem(
            "inactive-trigger",
            f"the {trigger.kind} trigger is created inactive and will never fire",
            "set StartOnCreation to true",
        )
    if trigger.kind == "ON_DEMAND" and trigger.is_active:
        yield trigger.problem(
            "active-on-demand",
            "the ON_DEMAND trigger has StartOnCreation, which CloudFormation refuses",
            "leave StartOnCreation out; StartTrigger or StartWorkflowRun starts it",
        )


def _incomplete(trigger: model.Trigger) -> Iterator[model.Problem]:
    if not trigger.starts:
        yield trigger.problem(
            "starts-nothing",
            "the trigger starts no job, which Glue refuses",
            "add a job: one without after= if this starts a pipeline",
        )
    lacks = None
    if trigger.kind == model.CONDITIONAL and not trigger.conditions:
        lacks = "no condition", "name at least one job in Predicate.Conditions"
    elif len(trigger.conditions) > 1 and trigger.logical is None:
        lacks = "several conditions and no Logical", "set Predicate.Logical to AND or ANY"
    elif not all(condition.has_operator for condition in trigger.conditions):
        lacks = "a condition without LogicalOperator", "set LogicalOperator to EQUALS"
    if lacks:
        yield trigger.problem("incomplete-condition", f"the trigger has {lacks[0]}", lacks[1])


def _beyond_limits(trigger: model.Trigger) -> Iterator[model.Problem]:
    crawlers = sum(name.startswith(model.CRAWLER) for name in trigger.starts)
    for count, limit, what in (
        (len(trigger.starts) - crawlers, MAX_JOBS_OF_TRIGGER, "jobs"),
        (crawlers, MAX_CRAWLERS_OF_TRIGGER, "crawlers"),
    ):
        if count > limit:
            yield trigger.problem(
                "trigger-limit",
                f"the trigger starts {count} {what}; Glue allows {limit}",
                "start some of them after others, or split the pipeline in two",
            )


def _schedule(trigger: model.Trigger) -> Iterator[model.Problem]:
    schedule = trigger.schedule
    if trigger.kind != "SCHEDULED" or schedule == "":
        return
    if schedule is None or schedule.startswith("rate("):
        yield trigger.problem(
            "bad-schedule",
            f"the SCHEDULED trigger has the schedule {schedule!r}; Glue allows {cron.FORM}",
            "correct Schedule",
        )
    else:
        yield from _expression(trigger, schedule, "UTC")


def problems_of_timer(graph: model.Graph, timer: model.Timer) -> Iterator[model.Problem]:
    """Yield what EventBridge Scheduler refuses of a schedule, or what keeps it from starting."""
    if timer.workflow is not None and timer.workflow not in graph.workflows:
        yield timer.problem(
            "unknown-workflow",
            f"the schedule starts the workflow '{timer.workflow}', which is not of this stage",
            "correct the Name in its Input, or acknowledge that another app defines it",
            is_error=False,
        )
    if timer.expression and not timer.expression.startswith("at("):  # one time, in any year
        yield from _expression(timer, timer.expression, timer.time_zone)


def _expression(place: model.Located, expression: str, time_zone: str) -> Iterator[model.Problem]:
    try:
        Schedule(expression, time_zone)
    except ScheduleError as error:
        rule = "schedule-too-fine" if isinstance(error, TooFineError) else "bad-schedule"
        text, _, fix = str(error).rpartition("; ")
        yield place.problem(rule, text, fix)
