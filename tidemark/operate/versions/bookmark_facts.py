"""A bookmark as facts: how far each transformation_ctx has read."""

from collections.abc import Iterator, Mapping
from typing import Any

from tidemark.local_state.bookmarks.versions import Bookmark
from tidemark.model.messages import plural
from tidemark.operate.versions.facts import Interval, State, json_string, without_window

# By the time of the run, as `high_ms` is; and what only a warning needs, which is by files.
LEFT_OUT = ("low_ms", "opened_at_ms", "seen")


def bookmark_state(bookmark: Bookmark, runs: Interval) -> State:
    """Return a bookmark; its run id and the time of its commit are left out."""
    facts = {
        "version": str(bookmark.version),
        "run": str(bookmark.run),
        "attempt": str(bookmark.attempt),
        "kind": bookmark.kind,
    }
    summary = [f"version {bookmark.version}"]
    for ctx, state in sorted(bookmark.states.items()):
        of_ctx = dict(_facts(state, runs))
        facts |= {f"{ctx}.{name}": value for name, value in of_ctx.items()}
        if end := _end(state, of_ctx):
            summary.append(f"{ctx} to {end}")
    return State(facts, "; ".join(summary))


def _facts(state: Mapping[str, Any], runs: Interval) -> Iterator[tuple[str, str]]:
    for name, value in state.items():
        if name == "high_ms":
            yield "high", runs.moment(value)
        elif name == "recent":
            yield from (_file(file, runs) for file in value)
        elif name not in LEFT_OUT:
            yield name, json_string(value)


def _file(file: tuple[str, int, int], runs: Interval) -> tuple[str, str]:
    """Return a file that was read; of those that the runs have written, the folder."""
    uri, modified_ms, size = file
    if runs.has(modified_ms):  # as many files as Spark likes, of names at random
        return f"files of the run in {without_window(uri.rpartition('/')[0])}/", "read"
    return f"file {uri}", f"{plural(size, 'byte')}, {runs.moment(modified_ms)}"


def _end(state: Mapping[str, Any], facts: Mapping[str, str]) -> str:
    return facts.get("high", "") or ", ".join(text for _, text in state.get("bound") or ())
