"""Shows a job bookmark: its counters, what each context has read, and the runs to rewind to."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.table import Table

from local_glue.bookmarks.verdicts import moment
from local_glue.bookmarks.versions import Bookmark
from local_glue.store import JobRun

Runs = Sequence[tuple[Bookmark, JobRun | None]]


def bookmark_tables(entry: Mapping[str, Any], runs: Runs) -> list[Table]:
    """Return the tables of `tidemark bookmark show`: the entry, its contexts, the runs."""
    counters = Table(title=f"Bookmark of {entry['JobName']}", title_justify="left")
    names = ("Version", "Run", "Attempt", "RunId", "PreviousRunId")
    for name in names:
        counters.add_column(name, overflow="fold")
    counters.add_row(*(str(entry.get(name, "-")) for name in names))
    states = json.loads(entry["JobBookmark"])["states"]
    return [counters, _contexts_table(states), runs_table(runs)]


def _contexts_table(states: Mapping[str, Any]) -> Table:
    contexts = Table(title="What it has read", title_justify="left")
    for name in ("transformation_ctx", "kind", "up to", "source"):
        contexts.add_column(name)
    for ctx, state in sorted(states.items()):
        contexts.add_row(ctx, state.get("kind", "-"), _reach(state), _place(state))
    return contexts


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


def runs_table(runs: Runs) -> Table:
    """Return the runs a bookmark can be rewound to, numbered from 1, newest first."""
    table = Table(title="Runs to rewind to", title_justify="left")
    for name in ("#", "run", "committed", "state", "rows in", "run id"):
        table.add_column(name, no_wrap=name != "run id", overflow="fold")
    for number, (version, run) in enumerate(runs, start=1):
        rows = "-" if run is None or run.rows_read is None else f"{run.rows_read:,}"
        table.add_row(
            *(str(number), str(version.run), moment(version.committed_at_ms)),
            *(run.state if run else "-", rows, version.run_id),
        )
    return table
