"""Decides which conditional triggers fire, from job run states alone.

Only SUCCEEDED, STOPPED, FAILED and TIMEOUT can be watched.
Source: https://docs.aws.amazon.com/glue/latest/dg/about-triggers.html
"""

from collections.abc import Mapping

from tidemark.model.assembly.definitions import TriggerDefinition


def is_satisfied(trigger: TriggerDefinition, final_states: Mapping[str, str]) -> bool:
    """Return whether the predicate of an active conditional trigger holds."""
    if trigger.type != "CONDITIONAL" or not trigger.is_active or not trigger.conditions:
        return False
    met = [final_states.get(c.job_name) == c.state for c in trigger.conditions]
    return any(met) if trigger.logical == "ANY" else all(met)


def unmet_conditions(trigger: TriggerDefinition, final_states: Mapping[str, str]) -> list[str]:
    """Return, for people, the conditions of ``trigger`` that do not hold, one text each."""
    return [
        f"{c.job_name} {c.state} (is {final_states.get(c.job_name, 'not started')})"
        for c in trigger.conditions
        if final_states.get(c.job_name) != c.state
    ]
