"""Finds the run that somebody means by an id, by the beginning of one, or by a number of a list."""

from collections.abc import Iterable, Sequence

from tidemark.errors import EntityNotFoundError, UsageError
from tidemark.local_state.bookmarks.versions import successful_runs
from tidemark.local_state.store.database import Store

PREFIX = "jr_"
SHOWN = 10
MAX_NUMBER_LENGTH = 7  # digits; one more, and they are what lists show of an id


def resolve_run(store: Store, job_name: str, text: str) -> str:
    """Return the id of the run of a job that a text means.

    Args:
        store: the state of a home.
        job_name: the job.
        text: an id; the beginning of one, with or without ``jr_``, that no other run shares; or
            the number ``#`` that `tidemark bookmark show` and `rewind` list. Up to seven digits
            without ``jr_`` are always a number.

    Raises:
        EntityNotFoundError: the job has no such run.
        UsageError: several runs begin so; the message lists them.
    """
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
    """Return the one of the known ids that a text means; see `resolve_run`.

    Args:
        text: what was given.
        listed: the ids of a list, whose first one has the number 1.
        known: every id that may be meant.
        whose: for messages, such as ``job x``.
        where: for messages: which command lists the runs.

    Raises:
        EntityNotFoundError: none is meant.
        UsageError: several are.
    """
    ids = list(dict.fromkeys([*listed, *known]))
    if text in ids:
        return text
    if text.isdecimal() and len(text) <= MAX_NUMBER_LENGTH:  # never the id that happens to begin so
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
