"""What runs leave beside their targets: bookmarks, watermarks and the Data Catalog."""

from collections.abc import Mapping

from tidemark.local_state.bookmarks.versions import latest_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.operate.versions.bookmark_facts import bookmark_state
from tidemark.operate.versions.catalog_facts import SPARK_SCHEMA, database_states, table_states
from tidemark.operate.versions.facts import NEVER, Facts, Interval, State
from tidemark.operate.versions.outcomes import StateOutcome
from tidemark.operate.versions.watermark_facts import watermark_states

BOOKMARK, WATERMARK, DATABASE, TABLE = "bookmark", "watermark", "database", "table"
States = Mapping[tuple[str, str], State]
"""Every state by its kind and its name."""


def read_states(home: Home, runs: Interval = NEVER, before: States | None = None) -> States:
    """Return the states of a home; times within the runs are equal."""
    since = None if before is None else _versions(before)
    with Store(home.database) as store:
        jobs = [row["job_name"] for row in store.query("SELECT DISTINCT job_name FROM bookmark")]
        latest = [latest_bookmark(store, job) for job in sorted(jobs)]
        bookmarks = {
            bookmark.job_name: bookmark_state(bookmark, runs)
            for bookmark in latest
            if bookmark is not None
        }
        databases, tables = database_states(store), table_states(store)
    watermarks = watermark_states(home, runs, since)
    kinds = {BOOKMARK: bookmarks, WATERMARK: watermarks, DATABASE: databases, TABLE: tables}
    return {(kind, name): state for kind, of in kinds.items() for name, state in of.items()}


def compared_states(before: States, old: States, new: States) -> list[StateOutcome]:
    """Return how each state differs that one of the versions has changed."""
    changed = [
        key
        for key in {**old, **new, **before}
        if not _facts(before, key) == _facts(old, key) == _facts(new, key)
    ]
    return [
        StateOutcome(
            *key,
            tuple(of[key].summary if key in of else None for of in (old, new)),  # type: ignore[arg-type]
            _differences(_facts(old, key), _facts(new, key)),
        )
        for key in changed
    ]


def _versions(states: States) -> dict[str, int]:
    return {
        name: int(state.facts.get("version", 0))
        for (kind, name), state in states.items()
        if kind == WATERMARK
    }


def _facts(states: States, key: tuple[str, str]) -> Facts:
    return states[key].facts if key in states else {}


def _differences(old: Facts, new: Facts) -> dict[str, tuple[str | None, str | None]]:
    schemas = {
        name: (old.get(name), new.get(name))
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    }
    # Spark 4 keeps its types of a Hive table too; the columns say the same.
    for name in [name for name in schemas if SPARK_SCHEMA in name and None in schemas[name]]:
        del schemas[name]
    return schemas
