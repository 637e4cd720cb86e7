"""Shows how old the data of published datasets is, and which job holds them back."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from tidemark.cli.views.listing import Listing
from tidemark.cli.views.runs import moment
from tidemark.report.freshness import Freshness
from tidemark.report.words import age


def freshness_listing(datasets: Sequence[Freshness], now_ms: int) -> Listing:
    """Return the list, one row per dataset."""
    rows = [
        (
            dataset.table or dataset.dataset,
            "not complete"
            if dataset.as_of_ms is None
            else f"{age(now_ms - dataset.as_of_ms)}, {moment(_at(dataset.as_of_ms))}",
            f"{dataset.held_back_by}: {dataset.reason}" if dataset.held_back_by else "-",
        )
        for dataset in datasets
    ]
    return Listing(("published dataset", "age, complete up to", "held back by"), rows)


def freshness_json(it: Freshness, now_ms: int) -> dict[str, Any]:
    """Return how fresh a dataset is as plain JSON values."""
    return {
        "dataset": it.dataset,
        "table": it.table or None,
        "complete_up_to": iso(it.as_of_ms),
        "age_seconds": None if it.as_of_ms is None else (now_ms - it.as_of_ms) / 1000,
        "changed_at": iso(it.changed_at_ms),
        "held_back_by": it.held_back_by or None,
        "reason": it.reason or None,
    }


def iso(at_ms: int | None) -> str | None:
    """Return a moment as JSON has it, in UTC; None for none."""
    return None if at_ms is None else _at(at_ms).isoformat()


def _at(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
