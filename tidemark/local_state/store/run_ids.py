"""Finds a run by its id, the beginning of its id, or its number in a list."""

from collections.abc import Iterable, Sequence

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.versions import successful_runs
from tidemark.local_state.store.database import Store

PREFIX = "jr_"
SHOWN = 10
MAX_NUMBER_LENGTH = 7  # digits; one more, and they are what lists show of an id


def resolve_run(store: Store, job_name: str, text: str) -> str:
    """Return the id of the run of a job that a string names."""
    listed = [bookmark.run_id for bookmark, _ in successful_runs(store, job_name)]
    rows = store.query(
        "SELECT run_id FROM job_run WHERE job_name = ? UNION "
        "SELECT run_id FROM source_read WHERE job_name = ?",
        (job_name, job_name),
    )
    known = [*listed, *(row["run_id"] for row in rows)]
    where = f"`tidemark bookmark show {job_name}` lists its runs"
    return pick_run(text, listed, known, f"job {job_name}", where)


def pick_run(text: str, listed: Sequence[str], known: Iterable[str], whose: str, where: str) -> str:
    """Return the one of the known ids that a string names; see `resolve_run`."""
    ids = list(dict.fromkeys([*listed, *known]))
    if text in ids:
        return text
    if text.isdecimal() and len(text) <= MAX_NUMBER_LENGTH:  # never an id that starts like this
        if 1 <= int(text) <= len(listed):
            return listed[int(text) - 1]
        numbers = f"the numbers are 1 to {len(listed)}" if listed else "its list is empty"
        raise EntityNotFoundError(f"{whose} has no run {text}: {numbers}; {where}")
    digits = text.removeprefix(PREFIX)
    found = [one for one in ids if digits and one.removeprefix(PREFIX).startswith(digits)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise EntityNotFoundError(f"{whose} has no run {text!r}; {where}")
    more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    raise UsageError(
        f"{len(found)} runs of {whose} begin with {text!r}: {', '.join(found[:SHOWN])}{more}; give "
        "more of the id"
    )
