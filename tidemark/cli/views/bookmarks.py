"""Shows a job bookmark: its counters, what each context has read, and the runs to rewind to."""

from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.cli.progress import grouped
from tidemark.cli.views.listing import Listing, short_ids
from tidemark.local_state.bookmarks.verdicts import moment
from tidemark.model.messages import plural
from tidemark.operate.bookmark_states import ContextState, states_of
from tidemark.operate.target import CommittedRun

COUNTERS = ("Version", "Run", "Attempt")
RUN_IDS = ("RunId", "PreviousRunId")


def bookmark_tables(entry: Mapping[str, Any], runs: Sequence[CommittedRun]) -> list[Listing]:
    """Return the lists of `tidemark bookmark show`: the entry, its contexts, the runs."""
    ids = [str(entry[name]) for name in RUN_IDS if name in entry]
    short = short_ids([*ids, *(run.run_id for run in runs)])
    values = [str(entry.get(name, "-")) for name in (*COUNTERS, *RUN_IDS)]
    cells = [short.get(value, value) for value in values]
    title = f"Bookmark of {entry['JobName']}"
    counters = Listing((*COUNTERS, *RUN_IDS), [cells], title, range(len(cells)))
    return [counters, contexts_table(states_of(entry)), runs_table(runs)]


def contexts_table(states: Mapping[str, ContextState]) -> Listing:
    """Return how far each context has read."""
    rows = [
        (
            ctx or "-",
            state.get("kind", "-"),
            _reach(state),
            ", ".join(state.get("paths", [])) or str(state.get("table", "-")),
        )
        for ctx, state in sorted(states.items())
    ]
    headings = ("transformation_ctx", "kind", "up to", "source")
    return Listing(headings, rows, "\nWhat it has read, by transformation_ctx")


def _reach(state: ContextState) -> str:
    if "high_ms" in state:
        band = f" ({plural(len(state['recent']), 'file')} in the band)" if state["recent"] else ""
        return f"{moment(state['high_ms'])}{band}"
    if "bound" in state:
        pairs = zip(state["keys"], state["bound"] or [], strict=False)
        return ", ".join(f"{key}={value[-1]}" for key, value in pairs) or "-"
    return ", ".join(f"{name}={v}" for name, v in state.items() if name != "kind") or "-"


def runs_table(runs: Sequence[CommittedRun]) -> Listing:
    """Return the runs a bookmark can be rewound to, numbered from 1, newest first."""
    short = short_ids(run.run_id for run in runs)
    rows = [
        (str(place), short[run.run_id], moment(run.at_ms), run.state or "-", grouped(run.rows_read))
        for place, run in enumerate(runs, start=1)
    ]
    headings = ("#", "run id", "committed", "state", "rows in")
    return Listing(headings, rows, "\nRuns to rewind to, by # or run id")
