"""What messages say of names, run ids, counts and files; pure."""

import re
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from errno import EACCES, EPERM, EROFS
from types import MappingProxyType

from tidemark.errors import TidemarkError, UsageError

PREFIX, RETRY = "jr_", "_attempt_"
JVM_GONE = "the job's JVM is gone"  # begins why a run failed, if nothing tells more
MAX_NAMES = 12  # that a message lists
MAX_RUNS = 5
NEAR, MAX_COMPARED = 0.3, 500  # of ids
NO_JOBS: Mapping[str, str] = MappingProxyType({})


def known(kind: str, name: str, names: Iterable[str]) -> str:
    """Return a name that is one of some."""
    allowed = list(names)
    if name not in allowed:
        raise UsageError(f"there is no {kind} {name!r}; {hint(name, allowed)}")
    return name


def hint(name: str, names: Collection[str]) -> str:
    """Return what to say of a name that is unknown: the nearest ones, or all there are."""
    if not names:
        return "none is known yet"
    near = get_close_matches(name, names)
    return f"did you mean {' or '.join(near)}?" if near else f"allowed: {listed(names)}"


def listed(names: Iterable[str], most: int = MAX_NAMES) -> str:
    """Return names for a message, the first of them if there are many."""
    every = list(names)
    more = len(every) - most
    text = ", ".join(every[:most]) or "none"
    return f"{text}, and {more} more" if more > 0 else text


def plural(number: int, noun: str) -> str:
    """Return a count of something: ``1 file``, ``2,000 files``."""
    ending = "" if number == 1 else "es" if noun.endswith(("s", "sh")) else "s"
    return f"{number:,} {noun}{ending}"


def not_written(place: object, error: OSError) -> TidemarkError:
    """Return the error of files that were not written, after which nothing of them is left.

    A place that may not be written is an error of usage; a full disk, for example, is not.
    """
    text = f"cannot write {place}: {error.strerror}; nothing was changed"
    if error.errno in (EACCES, EPERM, EROFS):
        return UsageError(f"{text}: make the folder writable, or work in another one")
    return TidemarkError(text)


def known_run(
    text: str, ids: Iterable[str], whose: str, where: str, jobs: Mapping[str, str] = NO_JOBS
) -> str:
    """Return the one run id that a string means.

    ``whose`` is such as ``of job load``, ``where`` says what lists the runs, and ``jobs`` are those
    of the ids, if they are of several.
    """
    known_ids = list(dict.fromkeys(ids))
    meant = ids_meant(text, known_ids)
    if len(meant) == 1:
        return meant[0]
    if text and PREFIX.startswith(text):  # as every id begins
        meant = known_ids
    if meant:
        begin = f"begin{'s' if len(meant) == 1 else ''} with {text!r}"
        raise UsageError(
            f"{plural(len(meant), 'run')} {whose} {begin}: {_runs(meant, jobs)}; give more of the "
            f"id; {where}"
        )
    if not known_ids:
        raise UsageError(f"there is no run {text!r} {whose}: nothing has run yet")
    digits = text.removeprefix(PREFIX)
    compared = reversed(known_ids[:MAX_COMPARED])  # of equal beginnings the first one stays
    begins = {run.removeprefix(PREFIX)[: len(digits)]: run for run in compared}
    near = [begins[match] for match in get_close_matches(digits, begins, 3, NEAR)] or known_ids[:1]
    raise UsageError(f"there is no run {text!r} {whose}; the nearest: {_runs(near, jobs)}; {where}")


def _runs(ids: Iterable[str], jobs: Mapping[str, str]) -> str:
    return listed([f"{run} of {jobs[run]}" if run in jobs else run for run in ids], MAX_RUNS)


def ids_meant(text: str, ids: Iterable[str]) -> list[str]:
    """Return the run ids that a text means: the id itself, or those that begin so.

    ``jr_`` may be left out. A retry has the id of the first attempt and an end of its own: the
    beginning of that id with this end means it, and without it the first attempt, as lists show
    them.
    """
    known = list(dict.fromkeys(ids))
    if text in known:
        return [text]
    begin, _, number = text.removeprefix(PREFIX).partition(RETRY)
    runs = [run for run in known if begin and run.removeprefix(PREFIX).startswith(begin)]
    if number:
        return [run for run in runs if run.partition(RETRY)[2] == number]
    first = [run for run in runs if RETRY not in run]
    is_one_run = len({run.partition(RETRY)[0] for run in runs}) == 1
    return first if first and is_one_run else runs


LINE_END = re.compile(r"\r\n")
NOT_PLAIN = re.compile(r"[^ -~\n\t]")
# Controls, what turns text around or is never drawn, bytes that are not UTF-8, ends of lines.
COMMANDING = {"Cc", "Cf", "Cs", "Zl", "Zp"}
JOINERS = "\u200c\u200d"  # of letters and of emoji, in names of many languages


def visible(text: str) -> str:
    r"""Return a text whose control characters are written as ``\u001b``, as JSON writes them.

    Tabs and ends of lines stay. JSON stays JSON, and what was made visible stays as it is.

    Example:
        >>> visible("\x1b[2Jdone")
        '\\u001b[2Jdone'
    """
    return NOT_PLAIN.sub(_shown, LINE_END.sub("\n", text))


def _shown(match: re.Match[str]) -> str:
    character = match[0]
    if unicodedata.category(character) not in COMMANDING or character in JOINERS:
        return character
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))
