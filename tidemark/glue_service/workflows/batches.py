"""The events of EVENT triggers that wait for their batch, and their deadlines."""

from collections.abc import Mapping
from typing import Any

from tidemark.glue_service.entities import Kind, find_entity
from tidemark.local_state.store.database import Store

SIZE, WINDOW_S = 1, 900  # defaults of a trigger
MS_PER_S = 1000


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
            trigger = find_entity(store, Kind.TRIGGER, row["trigger_name"])
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
