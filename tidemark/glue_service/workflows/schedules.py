"""The next times of SCHEDULED triggers; missed times are not caught up.

Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-data-warehouse-schedule.html
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from tidemark.glue_service.entities import Kind, list_entities
from tidemark.glue_service.workflows.trigger_forms import ACTIVATED, SCHEDULED
from tidemark.local_state.store.database import Store
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
            for entity in list_entities(store, Kind.TRIGGER)
            if entity.definition["Type"] == SCHEDULED and entity.definition["State"] == ACTIVATED
        ]
        found = {key: self._next_ms.get(key) or next_ms(key[1], now_ms) for key in keys}
        self._next_ms = {key: time for key, time in found.items() if time is not None}

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
    after = datetime.fromtimestamp(after_ms / MS_PER_S, UTC)
    found = Schedule(expression).next_after(after)
    return None if found is None else int(found.timestamp() * MS_PER_S)
