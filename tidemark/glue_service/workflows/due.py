"""When triggers, rules and schedules fire next, and when batches of EVENT triggers are due.

Missed times of schedules are not caught up.

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from tidemark.glue_service.entities import Entity, EntityKind, find_entity, list_entities
from tidemark.glue_service.eventbridge.schedules import (
    expression_of,
    fault_of_expression,
    is_enabled,
    why_not_here,
)
from tidemark.glue_service.workflows.trigger_forms import ACTIVATED, SCHEDULED
from tidemark.local_state.store.database import Store
from tidemark.model.clock import time_of
from tidemark.model.schedules.schedules import Schedule

MS_PER_S = 1000
TIMED = (EntityKind.TRIGGER, EntityKind.RULE, EntityKind.SCHEDULE)


class Timer(NamedTuple):
    """What fires by the clock, as it was at its last change."""

    kind: EntityKind
    name: str
    expression: str
    time_zone: str
    changed_at_ms: int


class Schedules:
    """The next times of the active triggers, rules and schedules."""

    def __init__(self) -> None:
        self._next_ms: dict[Timer, int] = {}

    def load(self, store: Store, now_ms: int) -> None:
        """Read what fires by the clock; call it after a change."""
        entities = [entity for kind in TIMED for entity in list_entities(store, kind)]
        timers = [
            Timer(entity.kind, entity.name, *when, entity.changed_at_ms)
            for entity in entities
            if (when := _when(entity)) is not None
        ]
        times = {timer: self._next_ms.get(timer) or next_ms(timer, now_ms) for timer in timers}
        self._next_ms = {timer: time for timer, time in times.items() if time is not None}

    @property
    def has_any(self) -> bool:
        """Whether something fires by the clock."""
        return bool(self._next_ms)

    def due(self, now_ms: int) -> Iterator[tuple[Timer, int]]:
        """Yield what fires now, and its time; one stays due if the next is not asked for."""
        for timer in sorted(timer for timer, time in self._next_ms.items() if time <= now_ms):
            yield timer, self._next_ms[timer]
            following = next_ms(timer, now_ms)
            if following is None:
                del self._next_ms[timer]
            else:
                self._next_ms[timer] = following


def _when(entity: Entity) -> tuple[str, str] | None:
    """Return expression and time zone of what fires by the clock; None if it does not."""
    definition = entity.definition
    if entity.kind == EntityKind.TRIGGER:
        is_active = definition["Type"] == SCHEDULED and definition["State"] == ACTIVATED
        return (definition["Schedule"], "UTC") if is_active else None
    fault = why_not_here if entity.kind == EntityKind.SCHEDULE else fault_of_expression
    is_active = is_enabled(definition) and fault(definition) is None
    return expression_of(definition) if is_active else None


def next_ms(timer: Timer, after_ms: int) -> int | None:
    """Return the first time after another at which a timer fires, in epoch milliseconds."""
    time = Schedule(timer.expression, timer.time_zone).next_after(time_of(after_ms))
    return None if time is None else int(time.timestamp() * MS_PER_S)


SIZE, WINDOW_S = 1, 900  # defaults of a trigger


def batch_of(definition: Mapping[str, Any]) -> tuple[int, int]:
    """Return how many events a batch of a trigger has, and its window in seconds."""
    condition = definition.get("EventBatchingCondition", {})
    return condition.get("BatchSize", SIZE), condition.get("BatchWindow", WINDOW_S)


class Batches:
    """When the windows of batches end; used by the engine's thread."""

    def __init__(self) -> None:
        self._ends_ms: dict[str, int] = {}

    def load(self, store: Store) -> None:
        """Read the waiting events; call it when these or a trigger have changed."""
        self._ends_ms = {}
        for row in store.query(
            "SELECT trigger_name, min(received_at_ms) AS first_ms, count(*) AS events "
            "FROM trigger_event GROUP BY trigger_name"
        ):
            trigger = find_entity(store, EntityKind.TRIGGER, row["trigger_name"])
            size, window_s = batch_of(trigger.definition if trigger else {})
            is_whole = trigger is None or row["events"] >= size
            window_ms = 0 if is_whole else window_s * MS_PER_S
            self._ends_ms[row["trigger_name"]] = row["first_ms"] + window_ms

    @property
    def has_any(self) -> bool:
        """Whether an event waits."""
        return bool(self._ends_ms)

    def due(self, now_ms: int) -> list[str]:
        """Return the triggers whose windows have ended, by name."""
        return sorted(name for name, end_ms in self._ends_ms.items() if end_ms <= now_ms)
