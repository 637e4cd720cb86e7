"""Carries local bookmarks over: to another job name, or to another transformation_ctx.

Each is one transaction on the condition that nothing newer is in the way, and doing it again
changes nothing. A run in progress fails at its commit.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.local_state.bookmarks.files import with_one_scheme
from tidemark.local_state.bookmarks.versions import (
    Bookmark,
    add_version,
    bookmark_versions,
    latest_bookmark,
)
from tidemark.local_state.store.database import Store


def carry_bookmark(store: Store, from_job: str, to_job: str) -> str:
    """Give every version of a job's bookmark to another name; return the action in words.

    The old name keeps its versions, as on AWS, until its job is deleted.
    """
    with store.transaction():
        old, new = bookmark_versions(store, from_job), bookmark_versions(store, to_job)
        if not old:
            return "nothing to do: the old name has no bookmark"
        have, had = [_facts(version) for version in new[::-1]], [_facts(v) for v in old[::-1]]
        if have[: len(had)] == had:
            return "done before"
        if have != had[: len(have)]:
            raise TidemarkError(
                f"job {to_job} has its own bookmark, version {new[0].version}: that of "
                f"{from_job} would replace it, so nothing was changed; if the job ran under its "
                f"new name too early, keep its bookmark and remove the entry from the plan"
            )
        store.query(
            "INSERT INTO bookmark SELECT ?, version, run, attempt, run_id, previous_run_id, "
            "committed_at_ms, kind, states FROM bookmark WHERE job_name = ? AND version > ?",
            (to_job, from_job, len(have)),
        )
    return f"carried over up to version {old[0].version}"


def rename_ctx(store: Store, job: str, ctx: str, to_ctx: str, at_ms: int) -> str:
    """Store the position of one ctx under another name, as a new version; return it in words."""
    with store.transaction():
        latest = latest_bookmark(store, job)
        if latest is None or ctx not in latest.states:
            return "nothing to do: the old ctx has no position"
        if to_ctx in latest.states:
            raise TidemarkError(
                f"{to_ctx} of job {job} has its own position in version {latest.version}: "
                f"that of {ctx} would replace it, so nothing was changed; if the job ran with its "
                "new ctx too early, keep its position and remove the entry from the plan"
            )
        states = {to_ctx if name == ctx else name: s for name, s in latest.states.items()}
        version = add_version(store, latest, states, at_ms).version
    return f"carried over as version {version}"


def forget_ctx(
    store: Store, job: str, ctx: str, places: Collection[str], keys: Sequence[str], at_ms: int
) -> str:
    """Forget the position of a ctx if it is that of another place or of other keys."""
    with store.transaction():
        latest = latest_bookmark(store, job)
        state = latest.states.get(ctx) if latest else None
        if latest is None or state is None:
            return "nothing to do: it has no position"
        has_its_keys = not keys or state.get("keys", list(keys)) == list(keys)
        if _places(state) == set(places) and has_its_keys:
            return "nothing to do: its position is that of its new place"
        states = {name: ctx_state for name, ctx_state in latest.states.items() if name != ctx}
        version = add_version(store, latest, states, at_ms).version
    return f"forgotten as version {version}"


def _facts(version: Bookmark) -> tuple[int, str, str, int]:
    return version.version, version.kind, version.run_id, version.committed_at_ms


def _places(state: Mapping[str, Any]) -> set[str]:
    paths = set(map(with_one_scheme, state.get("paths", ())))
    return paths or {str(state.get("table", ""))}
