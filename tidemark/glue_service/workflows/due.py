"""When SCHEDULED triggers fire next, and when the batches of EVENT triggers are due.

Missed times of schedules are not caught up.

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.glue_service.entities import EntityKind, find_entity, list_entities
from tidemark.glue_service.workflows.trigger_forms import ACTIVATED, SCHEDULED
from tidemark.local_state.store.database import Store
from tidemark.model.clock import time_of
from tidemark.model.schedules.schedules import Schedule

MS_PER_S = 1000
Key = tuple[str, str, int]  # name, expression, time of the last change


class Schedules:
    """The next times of the active triggers."""

    def __init__(self) -> None:
        self._next_ms: dict[Key, int] = {}

    def load(self, store: Store, now_ms: int) -> None:
        """Read the triggers; call it after a change."""
        keys = [
            (entity.name, entity.definition["Schedule"], entity.changed_at_ms)
            for entity in list_entities(store, EntityKind.TRIGGER)
            if entity.definition["Type"] == SCHEDULED and entity.definition["State"] == ACTIVATED
        ]
        times = {key: self._next_ms.get(key) or next_ms(key[1], now_ms) for key in keys}
        self._next_ms = {key: time for key, time in times.items() if time is not None}

    @property
    def has_any(self) -> bool:
        """Whether some trigger fires by the clock."""
        return bool(self._next_ms)

    def due(self, now_ms: int) -> Iterator[str]:
        """Yield the triggers that fire now, by name; one stays due if the next is not asked for."""
        for key in sorted(key for key, time in self._next_ms.items() if time <= now_ms):
            yield key[0]
            following = next_ms(key[1], now_ms)
            if following is None:
                del self._next_ms[key]
            else:
                self._next_ms[key] = following


def next_ms(expression: str, after_ms: int) -> int | None:
    """Return the first time after another at which a schedule fires, in epoch milliseconds."""
    after = time_of(after_ms)
    time = Schedule(expression).next_after(after)
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
