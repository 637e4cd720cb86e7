"""Shows what a change of the app would lose of its state."""

from collections.abc import Iterator
from typing import Any

from tidemark.checks.state.losses import Loss
from tidemark.checks.state.manifest import MANIFEST
from tidemark.checks.state.plan import PLAN
from tidemark.checks.state.review import Review, changes


def review_json(found: Review) -> dict[str, Any]:
    """Return a review as plain JSON values."""
    return {
        "is_safe": found.is_safe,
        "is_current": found.is_current,
        "unacknowledged": [_finding_json(loss) for loss in found.unacknowledged],
        "acknowledged": [
            {**_finding_json(loss), "by": dict(entry.document)}
            for loss, entry in found.acknowledged
        ],
        "unused": [{"entry": dict(entry.document), "why": why} for entry, why in found.unused],
        "changes": changes(found.recorded, found.written),
    }


def _finding_json(loss: Loss) -> dict[str, str]:
    return {
        "kind": loss.kind.value,
        "subject": loss.subject,
        "transformation_ctx": loss.ctx,
        "lost": loss.lost,
        "remedy": loss.remedy,
    }


def since_lines(found: Review, revision: str) -> Iterator[str]:
    """Yield what `tidemark state check --since` prints of the review since a revision."""
    if found.is_safe:
        yield f"nothing is lost since {revision}"
        return
    yield from _findings(found)
    yield (
        f"lost since {revision}, and the plan does not say so: `git checkout {revision} -- "
        f"{MANIFEST}`, decide in {PLAN}, then `tidemark state write`: see docs/state.md"
    )


def review_lines(found: Review) -> Iterator[str]:
    """Yield what `tidemark state check` prints."""
    yield from _findings(found)
    if not found.is_safe:
        yield (
            f"losses that no one acknowledged: {len(found.unacknowledged)}; decide on each in "
            f"{PLAN}, a JSON list of such entries: see docs/state.md"
        )
    elif not found.is_current:
        yield from (f"~ {line}" for line in changes(found.recorded, found.written))
        yield (
            f"{MANIFEST} is out of date, and nothing is lost: run `tidemark state write` and "
            "commit it"
        )
    else:
        yield f"{MANIFEST} is up to date: nothing is lost"


def _findings(found: Review) -> Iterator[str]:
    for loss in found.unacknowledged:
        yield f"✗ {_title(loss)}\n    lost: {loss.lost}\n    do:   {loss.remedy}"
    for loss, entry in found.acknowledged:
        yield f"✓ {_title(loss)}, acknowledged by {entry.text}"
    for entry, why in found.unused:
        yield f"✗ {PLAN}: {entry.text} covers nothing: {why}; take it out"


def _title(loss: Loss) -> str:
    ctx = f" {loss.ctx}" if loss.ctx else ""
    return f"{loss.subject}: {loss.kind.value}{ctx}"
