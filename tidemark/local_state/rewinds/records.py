"""The records of rewinds in the state database, and the mark of one that is not finished.

    begun ──▶ done        carried out; `tidemark rewind resume` continues one that is begun
      └─────▶ given up    everything is as it was
    nothing to do         all was where it was to be: kept, so that `undo` undoes no other

The mark is a file of the home, so that a job run looks at nothing more than whether it is there.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tidemark.errors import TidemarkError, UsageError
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store


@dataclass(frozen=True)
class BookmarkStep:
    """A bookmark: the version that holds, and the one whose position is to hold (0: none)."""

    job: str
    expected: int
    version: int


@dataclass(frozen=True)
class WatermarkStep:
    """A watermark: the version that holds and its run, and the run that is to hold (empty: none).

    `windows` are the stored open windows that an undo restores.
    """

    table: str
    job: str
    source: str
    expected: int
    from_run: str
    to_run: str
    windows: Mapping[str, Any] = field(default_factory=dict)
    restores: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class TableStep:
    """A table of Iceberg: the place of its metadata that holds, and the one that is to hold.

    `snapshot` is the one to which it goes back, empty for none; the file of `place` is written with
    it if it is missing.
    """

    table: str
    expected: str
    place: str
    snapshot: str


@dataclass(frozen=True)
class Steps:
    """Everything that moves at once; `files` are pairs of paths in the home, from and to."""

    bookmarks: tuple[BookmarkStep, ...] = ()
    watermarks: tuple[WatermarkStep, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    tables: tuple[TableStep, ...] = ()

    def backwards(self) -> "Steps":
        """Return the steps that undo these."""
        return Steps(
            tuple(BookmarkStep(s.job, s.expected + 1, s.expected) for s in self.bookmarks),
            tuple(
                WatermarkStep(
                    s.table,
                    s.job,
                    s.source,
                    s.expected + 1,
                    s.to_run,
                    s.from_run,
                    windows=s.restores,
                    restores=s.windows,
                )
                for s in self.watermarks
            ),
            tuple((to, from_) for from_, to in reversed(self.files)),
            tuple(TableStep(s.table, s.place, s.expected, "") for s in self.tables),
        )

    def to_json(self) -> dict[str, Any]:
        """Return the steps as plain JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> "Steps":
        """Return what `to_json` gave."""
        return cls(
            tuple(BookmarkStep(**step) for step in document["bookmarks"]),
            tuple(WatermarkStep(**step) for step in document["watermarks"]),
            tuple((step[0], step[1]) for step in document["files"]),
            tuple(TableStep(**step) for step in document.get("tables", ())),
        )


BEGUN, DONE, GIVEN_UP, NOTHING = "begun", "done", "given up", "nothing to do"
MARK = "rewind-unfinished"
CLEARED = "rewinds"  # folder of the home: what rewinds have deleted, so that it can come back


@dataclass(frozen=True)
class RewindCause:
    """Who asked for a rewind, why, and when: epoch milliseconds."""

    actor: str
    why: str
    at_ms: int


@dataclass(frozen=True)
class RewindRecord:
    """One rewind, or the undoing of one; also of a stage, if a table keeps it.

    Attributes:
        rewind_id: counts up.
        state: ``begun``, ``done``, ``given up``, ``nothing to do``; of a stage also ``undone``.
        at_ms: when it was decided on, epoch milliseconds.
        actor: who asked.
        why: as they said.
        undoes: the rewind that this one takes back; None for one that does not.
        document: where ``to`` and the ``steps``, as plain JSON values.
    """

    rewind_id: int
    state: str
    at_ms: int
    actor: str
    why: str
    undoes: int | None
    document: Mapping[str, Any]

    @property
    def jobs(self) -> list[str]:
        """The jobs whose state it moves."""
        steps = self.document["steps"]
        moved = (*steps["bookmarks"], *steps["watermarks"])
        return list(dict.fromkeys(step["job"] for step in moved))


def rewinds(store: Store) -> list[RewindRecord]:
    """Return every rewind of this home, newest first."""
    rows = store.query("SELECT * FROM rewind ORDER BY rewind_id DESC")
    return [RewindRecord(**{**dict(row), "document": json.loads(row["document"])}) for row in rows]


def open_rewind(store: Store) -> RewindRecord | None:
    """Return the rewind that has started but not finished; None without one."""
    return next((record for record in rewinds(store) if record.state == BEGUN), None)


def record_start(
    store: Store, cause: RewindCause, document: Mapping[str, Any], undoes: int | None = None
) -> RewindRecord:
    """Record a rewind that begins; call it in a transaction. Return it."""
    check_none_is_open(store)
    return _put(store, BEGUN, cause, document, undoes)


def note_nothing(store: Store, cause: RewindCause, to: str) -> None:
    """Record a rewind that had nothing to do."""
    _put(store, NOTHING, cause, {"to": to, "steps": Steps().to_json()})


def _put(
    store: Store,
    state: str,
    cause: RewindCause,
    document: Mapping[str, Any],
    undoes: int | None = None,
) -> RewindRecord:
    (row,) = store.query(
        "INSERT INTO rewind (state, at_ms, actor, why, undoes, document) "
        "VALUES (?, ?, ?, ?, ?, ?) RETURNING rewind_id",
        (state, cause.at_ms, cause.actor, cause.why, undoes, json.dumps(document)),
    )
    about = (row["rewind_id"], state, cause.at_ms, cause.actor, cause.why)
    return RewindRecord(*about, undoes, document)


def end(store: Store, rewind_id: int, state: str) -> None:
    """Record how a rewind ended; call it in a transaction."""
    store.query("UPDATE rewind SET state = ? WHERE rewind_id = ?", (state, rewind_id))


def check_none_is_open(store: Store) -> None:
    """Refuse while a rewind is half done."""
    if (record := open_rewind(store)) is not None:
        raise UsageError(unfinished_message(record.rewind_id))


def check_still_open(store: Store, record: RewindRecord) -> None:
    """Refuse to continue a rewind that another process has ended meanwhile."""
    state = next(
        (known.state for known in rewinds(store) if known.rewind_id == record.rewind_id), "gone"
    )
    if state != BEGUN:
        raise UsageError(
            f"rewind {record.rewind_id} is {state} by now: another command has ended it; nothing "
            "was changed: look at `tidemark rewind list`"
        )


def unfinished_message(rewind_id: int) -> str:
    """Return what to say of a rewind that is half done."""
    return (
        f"rewind {rewind_id} was interrupted and is half done; `tidemark rewind resume` finishes "
        f"it, `tidemark rewind undo {rewind_id}` takes it back"
    )


def refuse_half_rewound(home: Home) -> None:
    """Refuse to run a job on a state that is half rewound."""
    if not (home.root / MARK).exists():
        return
    with home.alone_to_rewind(), Store(home.database) as store:
        record = open_rewind(store)
    if record is not None:
        raise TidemarkError(unfinished_message(record.rewind_id))


def refuse_unfinished(home: Home, store: Store) -> None:
    """Refuse to plan a rewind while another one is carried out, or is half done."""
    with home.alone_to_rewind():
        check_none_is_open(store)
