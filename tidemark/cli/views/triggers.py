"""Shows triggers: as a list, and as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tidemark.cli.views.listing import Listing
from tidemark.operate.triggers import Trigger


def triggers_listing(triggers: Sequence[Trigger]) -> Listing:
    """Return the list of `tidemark trigger`."""
    rows = [
        (it.name, it.type, it.state, it.workflow or "-", ", ".join(it.starts)) for it in triggers
    ]
    return Listing(("trigger", "type", "state", "workflow", "starts"), rows)


def trigger_json(trigger: Trigger) -> dict[str, Any]:
    """Return a trigger as plain JSON values."""
    return asdict(trigger)
