"""Which run an id, or the beginning of one, means; pure."""

from collections.abc import Iterable

PREFIX, RETRY = "jr_", "_attempt_"


def ids_meant(text: str, ids: Iterable[str]) -> list[str]:
    """Return the run ids for an abbreviation: the id itself, or ids with this beginning.

    ``jr_`` may be left out. A retry has the id of the first attempt and an end of its own: the
    beginning of that id with this end means it, and without it the first attempt, as lists show
    them.
    """
    known = list(dict.fromkeys(ids))
    if text in known:
        return [text]
    begin, _, number = text.removeprefix(PREFIX).partition(RETRY)
    found = [one for one in known if begin and one.removeprefix(PREFIX).startswith(begin)]
    if number:
        return [one for one in found if one.partition(RETRY)[2] == number]
    first = [one for one in found if RETRY not in one]
    is_one_run = len({one.partition(RETRY)[0] for one in found}) == 1
    return first if first and is_one_run else found
