"""Shows what a change of the app would lose of its state."""

from collections.abc import Iterator
from typing import Any

from tidemark.checks.state.losses import Loss
from tidemark.checks.state.manifest import MANIFEST
from tidemark.checks.state.plan import PLAN
from tidemark.checks.state.review import Review, changes


def review_json(review: Review) -> dict[str, Any]:
    """Return a review as plain JSON values."""
    return {
        "is_safe": review.is_safe,
        "is_current": review.is_current,
        "unacknowledged": [_finding_json(loss) for loss in review.unacknowledged],
        "acknowledged": [
            {**_finding_json(loss), "by": dict(entry.document)}
            for loss, entry in review.acknowledged
        ],
        "unused": [{"entry": dict(entry.document), "why": why} for entry, why in review.unused],
        "changes": changes(review.recorded, review.written),
    }


def _finding_json(loss: Loss) -> dict[str, str]:
    return {
        "kind": loss.kind.value,
        "subject": loss.subject,
        "transformation_ctx": loss.ctx,
        "lost": loss.lost,
        "remedy": loss.remedy,
    }


def since_lines(review: Review, revision: str) -> Iterator[str]:
    """Yield what `tidemark state check --since` prints of the review since a revision."""
    if review.is_safe:
        yield f"nothing is lost since {revision}"
        return
    yield from _findings(review)
    yield (
        f"lost since {revision}, and the plan does not say so: `git checkout {revision} -- "
        f"{MANIFEST}`, decide in {PLAN}, then `tidemark state write`: see docs/state.md"
    )


def review_lines(review: Review) -> Iterator[str]:
    """Yield what `tidemark state check` prints."""
    yield from _findings(review)
    if not review.is_safe:
        yield (
            f"losses that no one acknowledged: {len(review.unacknowledged)}; decide on each in "
            f"{PLAN}, a JSON list of such entries: see docs/state.md"
        )
    elif not review.is_current:
        yield from (f"~ {line}" for line in changes(review.recorded, review.written))
        yield (
            f"{MANIFEST} is out of date, and nothing is lost: run `tidemark state write` and "
            "commit it"
        )
    else:
        yield f"{MANIFEST} is up to date: nothing is lost"


def _findings(review: Review) -> Iterator[str]:
    for loss in review.unacknowledged:
        yield f"✗ {_title(loss)}\n    lost: {loss.lost}\n    do:   {loss.remedy}"
    for loss, entry in review.acknowledged:
        yield f"✓ {_title(loss)}, acknowledged by {entry.text}"
    for entry, why in review.unused:
        yield f"✗ {PLAN}: {entry.text} covers nothing: {why}; take it out"


def _title(loss: Loss) -> str:
    ctx = f" {loss.ctx}" if loss.ctx else ""
    return f"{loss.subject}: {loss.kind.value}{ctx}"
