"""Finds problems of the starts of a workflow: schedules together, events, batches."""

from collections.abc import Iterator
from itertools import combinations

from tidemark.checks.graph.event_loops import event_loops
from tidemark.checks.graph.model import Graph, Problem, Timer, Trigger
from tidemark.errors import ScheduleError
from tidemark.model.clock import now
from tidemark.model.schedules.schedules import FINEST_MINUTES, Schedule, first_clash

EVENT = "EVENT"
MAX_EVENTS, MAX_SECONDS = 100, 900  # of a batch


def problems_of_starts(graph: Graph) -> Iterator[Problem]:
    """Yield the reasons why starts start no run, or too many."""
    told = {rule.workflow for rule in graph.event_rules if not rule.machine}
    for trigger in graph.triggers:
        yield from _batch(trigger)
        is_sent = trigger.workflow is None or trigger.workflow in told
        if trigger.kind == EVENT and not is_sent:
            yield trigger.problem(
                "event-not-sent",
                f"events start the workflow '{trigger.workflow}', and no rule of this stage sends "
                "any",
                "add an AWS::Events::Rule whose target is the workflow, or acknowledge that "
                "another app defines it",
                is_error=False,
            )
    for rule in graph.event_rules:
        kinds = {trigger.kind for trigger in graph.triggers_of(rule.workflow)}
        if rule.workflow in graph.workflows and EVENT not in kinds and not rule.machine:
            yield rule.problem(
                "event-not-heard",
                f"the rule sends events to the workflow '{rule.workflow}', whose start trigger is "
                "not of the type EVENT, so that they start nothing",
                "give the workflow an EVENT start trigger, or remove the rule",
            )
    yield from event_loops(graph)
    for workflow in graph.workflows:
        yield from _too_close([timer for timer in graph.timers if timer.workflow == workflow])


def _batch(trigger: Trigger) -> Iterator[Problem]:
    """Yield the faults of an EventBatchingCondition."""
    # Source: https://docs.aws.amazon.com/glue/latest/webapi/API_EventBatchingCondition.html
    if trigger.batch is None:
        return
    size, seconds = trigger.batch
    numbers = (("BatchSize", size, MAX_EVENTS), ("BatchWindow", seconds, MAX_SECONDS))
    wrong = [
        f"{name} {value!r}, and Glue allows 1 to {most}"
        for name, value, most in numbers
        if isinstance(value, int) and not 1 <= value <= most
    ]
    if size is None:
        wrong.append("no BatchSize")
    if trigger.kind != EVENT:
        wrong.append(f"the type {trigger.kind}, and only EVENT triggers wait for events")
    if wrong:
        yield trigger.problem(
            "bad-batch",
            f"the trigger has an EventBatchingCondition with {', '.join(wrong)}",
            "correct EventBatchingCondition, or leave it out",
        )


def _too_close(timers: list[Timer]) -> Iterator[Problem]:
    """Yield the schedules of one workflow that fire when another of them has just started a run."""
    for one, other in combinations(timers, 2):
        try:
            schedules = [Schedule(timer.expression, timer.time_zone) for timer in (one, other)]
        except ScheduleError:
            continue  # another rule reports it
        clash = first_clash(*schedules, since=now())
        if clash:
            yield other.problem(
                "schedules-too-close",
                f"the schedules {one.expression} in {one.time_zone} and {other.expression} in "
                f"{other.time_zone} of the workflow '{other.workflow}' both fire around "
                f"{clash:%Y-%m-%d %H:%M} UTC, within {FINEST_MINUTES} minutes; it runs once at a "
                "time, so one of the two waits or is missed",
                "move one of them, leave its time out of the other, or acknowledge it",
                is_error=False,
            )
