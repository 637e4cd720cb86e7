"""Shows a job bookmark: its counters, what each context has read, and the runs to rewind to."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.cli.views.listing import Listing, short_ids
from tidemark.local_state.bookmarks.verdicts import moment
from tidemark.local_state.bookmarks.versions import Bookmark
from tidemark.local_state.store.database import JobRun

Runs = Sequence[tuple[Bookmark, JobRun | None]]
COUNTERS = ("Version", "Run", "Attempt")
RUN_IDS = ("RunId", "PreviousRunId")


def bookmark_tables(entry: Mapping[str, Any], runs: Runs) -> list[Listing]:
    """Return the lists of `tidemark bookmark show`: the entry, its contexts, the runs."""
    ids = [str(entry[name]) for name in RUN_IDS if name in entry]
    short = short_ids([*ids, *(version.run_id for version, _ in runs)])
    values = [str(entry.get(name, "-")) for name in (*COUNTERS, *RUN_IDS)]
    cells = [short.get(value, value) for value in values]
    title = f"Bookmark of {entry['JobName']}"
    counters = Listing((*COUNTERS, *RUN_IDS), [cells], title, range(len(cells)))
    states = json.loads(entry["JobBookmark"])["states"]
    return [counters, _contexts_table(states), runs_table(runs)]


def _contexts_table(states: Mapping[str, Any]) -> Listing:
    rows = [
        (ctx or "-", state.get("kind", "-"), _reach(state), _place(state))
        for ctx, state in sorted(states.items())
    ]
    headings = ("transformation_ctx", "kind", "up to", "source")
    return Listing(headings, rows, "\nWhat it has read, by transformation_ctx")


def _reach(state: Mapping[str, Any]) -> str:
    if "high_ms" in state:
        recent = len(state["recent"])
        return moment(state["high_ms"]) + (f" ({recent:,} files in the band)" if recent else "")
    if "bound" in state:
        pairs = zip(state["keys"], state["bound"] or [], strict=False)
        return ", ".join(f"{key}={value[-1]}" for key, value in pairs) or "-"
    return ", ".join(f"{k}={v}" for k, v in state.items() if k != "kind") or "-"


def _place(state: Mapping[str, Any]) -> str:
    return ", ".join(state.get("paths", [])) or str(state.get("table", "-"))


def runs_table(runs: Runs) -> Listing:
    """Return the runs a bookmark can be rewound to, numbered from 1, newest first."""
    short = short_ids(version.run_id for version, _ in runs)
    rows = []
    for number, (version, run) in enumerate(runs, start=1):
        count = "-" if run is None or run.rows_read is None else f"{run.rows_read:,}"
        state = run.state if run else "-"
        at = moment(version.committed_at_ms)
        rows.append((str(number), short[version.run_id], at, state, count, str(version.run)))
    headings = ("#", "run id", "committed", "state", "rows in", "run")
    return Listing(headings, rows, "\nRuns to rewind to, by # or run id")
