"""The versions of job bookmarks in the store: committed, rewound, reset, and looked up by run.

Every change adds a version, so that none is ever lost; the newest one is in force.
"""

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from sqlite3 import Row
from typing import Any

from tidemark.errors import BookmarkVersionMismatchError, EntityNotFoundError
from tidemark.local_state.bookmarks.band import Band
from tidemark.local_state.store.database import JobRun, Store

COMMIT, REWIND, RESET, CARRY_OVER = "commit", "rewind", "reset", "carry-over"


@dataclass(frozen=True)
class Bookmark:
    """One version of a job's bookmark.

    Attributes:
        job_name: its job.
        version: counts the changes, without gaps.
        run: counts the runs that committed.
        attempt: how many runs failed between this run and the one that committed before it.
        run_id: the run whose position this is; empty after a reset.
        previous_run_id: the run whose position was in force before.
        committed_at_ms: epoch milliseconds, for people.
        kind: what made it: ``commit``, ``rewind``, ``reset`` or ``carry-over``.
        states: state by transformation_ctx.
    """

    job_name: str
    version: int
    run: int
    run_id: str
    previous_run_id: str | None
    committed_at_ms: int
    states: Mapping[str, Any]
    attempt: int = 0
    kind: str = COMMIT


def pack(document: Any) -> bytes:
    """Return a state, or several, as stored: the names of a band compress well."""
    return zlib.compress(json.dumps(document, default=lambda band: band.folders).encode(), 1)


def unpack(stored: bytes) -> Any:
    """Return what `pack` was given; a `Band` is one again."""
    return json.loads(zlib.decompress(stored), object_hook=_with_band)


def _with_band(document: dict[str, Any]) -> dict[str, Any]:
    is_band = isinstance(document.get("recent"), dict)
    return {**document, "recent": Band(document["recent"])} if is_band else document


def plain(states: Mapping[str, Any]) -> dict[str, Any]:
    """Return states as plain JSON values: the files of a band as lists of path, time and size."""
    return dict(json.loads(json.dumps(dict(states), default=list)))


def latest_bookmark(store: Store, job_name: str) -> Bookmark | None:
    """Return the newest version of the job's bookmark, or None if it never committed one."""
    return _newest(store, "job_name = ?", (job_name,))


def contexts_of_last_commit(store: Store, job_name: str) -> frozenset[str]:
    """Return the contexts that the run which committed last has opened; empty if none has."""
    rows = store.query(
        "SELECT DISTINCT transformation_ctx FROM source_read WHERE job_name = ? AND run_id = "
        "(SELECT run_id FROM bookmark WHERE job_name = ? AND kind = 'commit' "
        "ORDER BY version DESC LIMIT 1)",
        (job_name, job_name),
    )
    return frozenset(row["transformation_ctx"] for row in rows)


def bookmark_versions(store: Store, job_name: str, limit: int = -1) -> list[Bookmark]:
    """Return the newest versions of the job's bookmark, newest first, without the states."""
    rows = store.query(
        "SELECT job_name, version, run, attempt, run_id, previous_run_id, committed_at_ms, kind "
        "FROM bookmark WHERE job_name = ? ORDER BY version DESC LIMIT ?",
        (job_name, limit),  # -1 is without one
    )
    return [Bookmark(**dict(row), states={}) for row in rows]


def bookmark_of_version(store: Store, job_name: str, version: int) -> Bookmark | None:
    """Return one version of a job's bookmark, None if it is missing (or for version 0)."""
    return _newest(store, "job_name = ? AND version = ?", (job_name, version))


def bookmark_of_run(store: Store, job_name: str, run_id: str) -> Bookmark | None:
    """Return the bookmark at the end of a run of the job; None if nothing was read by then.

    That is the last commit of the run itself, or else the state in force when it started.
    """
    where = "job_name = ? AND run_id = ? AND kind = 'commit'"
    if committed := _newest(store, where, (job_name, run_id)):
        return committed
    run = store.job_run(run_id)
    if run is None or run.job_name != job_name:
        raise EntityNotFoundError(
            f"job {job_name} has no run {run_id!r}; `tidemark bookmark show {job_name}` lists its "
            "runs"
        )
    where = "job_name = ? AND committed_at_ms <= ?"
    return _newest(store, where, (job_name, run.started_at_ms))


def commit_bookmark(
    store: Store,
    job_name: str,
    run_id: str,
    states: Mapping[str, Any],
    expected_version: int,
    at_ms: int,
) -> int:
    """Store all states of a job as its next version, in one transaction; return that version.

    A run that commits again makes another version and counts as the same run.
    """
    packed = pack(states)
    with store.transaction():
        latest = _latest_without_states(store, job_name)
        version = latest.version if latest else 0
        if version != expected_version:
            raise BookmarkVersionMismatchError(expected_version, version)
        same = latest if latest and latest.run_id == run_id and latest.kind == COMMIT else None
        run = same.run if same else _runs(store, job_name) + 1
        attempt = same.attempt if same else _failed_since(store, job_name, latest)
        previous = same.previous_run_id if same else (latest.run_id or None) if latest else None
        values = (version + 1, run, attempt, run_id, previous, at_ms, COMMIT, packed)
        _insert(store, (job_name, *values))
    return version + 1


def reset_bookmark(store: Store, job_name: str, at_ms: int) -> Bookmark:
    """Forget everything the job has read, as one more version; return that version."""
    return _set(store, job_name, None, RESET, at_ms)


def rewind_bookmark(store: Store, job_name: str, run_id: str, at_ms: int) -> Bookmark:
    """Make the position at the end of an earlier run the current one; return the new version.

    The next run reads the data after that run. A run that failed stands for the last successful
    one before it; without one, everything is read again.
    """
    return _set(store, job_name, bookmark_of_run(store, job_name, run_id), REWIND, at_ms)


def restore_version(store: Store, job_name: str, expected: int, version: int, at_ms: int) -> int:
    """Make an earlier version hold again, bit for bit, as the next one; return its number.

    Call it in a transaction.
    """
    latest = _latest_without_states(store, job_name)
    current = latest.version if latest else 0
    if latest is None or current != expected:
        raise BookmarkVersionMismatchError(expected, current)
    old = bookmark_of_version(store, job_name, version)
    return _set(store, job_name, old, REWIND if old else RESET, at_ms).version


def add_version(store: Store, latest: Bookmark, states: Mapping[str, Any], at_ms: int) -> Bookmark:
    """Store other states of the same run as the next version; call it in a transaction."""
    version = replace(
        latest,
        version=latest.version + 1,
        committed_at_ms=at_ms,
        kind=CARRY_OVER,
        states=states,
        previous_run_id=latest.run_id or None,
    )
    _put(store, version)
    return version


def delete_bookmark(store: Store, job_name: str) -> int:
    """Delete every version of a job's bookmark, as deleting the job does; return how many."""
    with store.transaction():
        store.query("DELETE FROM source_read WHERE job_name = ?", (job_name,))
        deleted = store.query(
            "DELETE FROM bookmark WHERE job_name = ? RETURNING version", (job_name,)
        )
    return len(deleted)


def successful_runs(store: Store, job_name: str) -> list[tuple[Bookmark, JobRun | None]]:
    """Return the runs a bookmark can be rewound to, newest first, each as it last committed."""
    commits: dict[str, Bookmark] = {}
    for version in bookmark_versions(store, job_name):
        if version.kind == COMMIT:
            commits.setdefault(version.run_id, version)
    return [(version, store.job_run(run_id)) for run_id, version in commits.items()]


def _set(store: Store, job_name: str, target: Bookmark | None, kind: str, at_ms: int) -> Bookmark:
    with store.transaction():
        latest = _latest_without_states(store, job_name)
        if latest is None:
            raise EntityNotFoundError(f"job {job_name} has no bookmark: it never committed one")
        version = Bookmark(
            job_name=job_name,
            version=latest.version + 1,
            run=target.run if target else 0,
            run_id=target.run_id if target else "",
            previous_run_id=latest.run_id or None,
            committed_at_ms=at_ms,
            states=target.states if target else {},
            attempt=target.attempt if target else 0,
            kind=kind,
        )
        _put(store, version)
    return version


def _put(store: Store, version: Bookmark) -> None:
    _insert(
        store,
        (
            version.job_name,
            version.version,
            version.run,
            version.attempt,
            version.run_id,
            version.previous_run_id,
            version.committed_at_ms,
            version.kind,
            pack(version.states),
        ),
    )


def _insert(store: Store, values: tuple[Any, ...]) -> None:
    store.query("INSERT INTO bookmark VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


def _newest(store: Store, where: str, values: tuple[Any, ...]) -> Bookmark | None:
    rows: list[Row] = store.query(
        f"SELECT * FROM bookmark WHERE {where} ORDER BY version DESC LIMIT 1",  # noqa: S608 (fixed)
        values,
    )
    return Bookmark(**{**dict(rows[0]), "states": unpack(rows[0]["states"])}) if rows else None


def _latest_without_states(store: Store, job_name: str) -> Bookmark | None:
    # Those of a large band take as long to read as the run does.
    return next(iter(bookmark_versions(store, job_name, limit=1)), None)


def _runs(store: Store, job_name: str) -> int:
    (row,) = store.query("SELECT MAX(run) AS runs FROM bookmark WHERE job_name = ?", (job_name,))
    return int(row["runs"] or 0)


def _failed_since(store: Store, job_name: str, latest: Bookmark | None) -> int:
    # Source: https://docs.aws.amazon.com/glue/latest/dg/monitor-continuations.html (Attempt number)
    # These are the attempts before this one.
    since = latest.committed_at_ms if latest else -1
    return len(
        [run for run in store.job_runs_since(job_name, since) if run.state in ("FAILED", "TIMEOUT")]
    )
