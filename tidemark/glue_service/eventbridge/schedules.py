"""Schedules of EventBridge Scheduler: which of them fire on this machine, and what they start.

Source: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html
"""

import re
from collections.abc import Mapping
from typing import Any

from tidemark.errors import ScheduleError
from tidemark.model.assembly.state_machines import machine_name_of
from tidemark.model.schedules.schedules import Schedule

MACHINE, JOB = "sfn:startExecution", "glue:startJobRun"
UNIVERSAL = re.compile(rf"arn:aws[a-z-]*:scheduler:::aws-sdk:({MACHINE}|{JOB})")
BOUNDS = ("StartDate", "EndDate")


def call_of(target: Mapping[str, Any]) -> str | None:
    """Return MACHINE or JOB, what a target starts; None if it does something else."""
    arn = str(target.get("Arn"))
    if call := UNIVERSAL.fullmatch(arn):
        return call[1]
    return MACHINE if machine_name_of(arn) is not None else None


def is_enabled(definition: Mapping[str, Any]) -> bool:
    """Return whether a schedule or a rule is enabled."""
    return bool(definition.get("State", "ENABLED") != "DISABLED")


def why_not_here(schedule: Mapping[str, Any]) -> str | None:
    """Return why an enabled schedule does not fire on this machine; None if it does.

    >>> window = {"Mode": "FLEXIBLE", "MaximumWindowInMinutes": 15}
    >>> why_not_here({"FlexibleTimeWindow": window})
    'its FlexibleTimeWindow has the mode FLEXIBLE; allowed: OFF'
    """
    mode = schedule.get("FlexibleTimeWindow", {}).get("Mode", "OFF")
    if mode != "OFF":
        return f"its FlexibleTimeWindow has the mode {mode}; allowed: OFF"
    if bounds := [name for name in BOUNDS if name in schedule]:
        return f"it has {' and '.join(bounds)}, which is on AWS only; leave it out"
    target = schedule.get("Target", {})
    if call_of(target) is None:
        return f"its target {target.get('Arn')} is on AWS only"
    return fault_of_expression(schedule)


def expression_of(definition: Mapping[str, Any]) -> tuple[str, str]:
    """Return the expression of a schedule or a rule, and its time zone."""
    zone = definition.get("ScheduleExpressionTimezone", "UTC")
    return definition.get("ScheduleExpression", ""), zone


def fault_of_expression(definition: Mapping[str, Any]) -> str | None:
    """Return why the expression of a schedule or a rule never fires; None if it does."""
    try:
        Schedule(*expression_of(definition))
    except ScheduleError as error:
        return str(error)
    return None
