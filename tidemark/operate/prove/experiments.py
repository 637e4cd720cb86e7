"""Which experiments there are for a run, from what it changed; the most telling ones first."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from tidemark.local_state.lost_executor import Moment
from tidemark.local_state.operations import (
    COPY,
    DELETE,
    PUT,
    RENAME,
    WITHHELD,
    Operation,
    ReadRequest,
)
from tidemark.operate.prove.changes import (
    calls_of,
    described,
    is_hidden,
    is_state,
    is_write,
)

Kind = Literal[
    "crash",
    "error",
    "again",
    "parts",
    "order",
    "meanwhile",
    "reading",
    "tied",
    "twice",
    "replaced",
    "rewind",
    "together",
    "executors",
    "versions",
]
KINDS: Sequence[str] = get_args(Kind)
TITLES: Mapping[Kind, str] = {
    "again": "a run with nothing new",
    "parts": "new files in parts, a run for each",
    "order": "new files in the reverse order",
    "meanwhile": "a file arrives while the run writes",
    "reading": "a file arrives between two listings of the run",
    "tied": "a file arrives with the time of one that was read",
    "twice": "a file delivered twice",
    "replaced": "a file overwritten with the same rows",
    "rewind": "rewound with --clear, and run again",
    "together": "two runs at once",
    "executors": "an executor is lost when it has written its first object",
    "versions": "the newest version of Glue",
}
DATED_EARLIER = "a file arrives with a time before that of one that was read"
MAX_PARTS = 2
EDGE = 3  # how much a crash tells where kinds or lines change
MAX_FIRST_CRASHES = 8  # that are tried before anything else
FIRST = Moment()  # right after the first change
FIXED = random.Random(1)  # noqa: S311 (not a secret)
OF_TWO_FILES = ("parts", "order", "meanwhile", "reading", "tied")  # kinds that need two new ones
CHANGE_KINDS = ("crash", "error")  # kinds that go by the changes of a run


@dataclass(frozen=True)
class Experiment:
    """One way in which a run, or what it reads, goes wrong.

    Attributes:
        kind: of the experiment.
        title: what happens, for people.
        after: the number of the last operation before a crash, or of the one that fails.
        operation: of a crash or an error, that operation; None of one that reads.
        how: of an error, how the operation, or the request that reads, fails.
        is_in_increment: whether it is in a run that adds to what an earlier run has made.
        is_late: whether a file arrives between a crash and the next run.
        moment: when an executor is killed.
        request: of an error, the request of boto3 that reads; None of others.
        deaths: how many runs in a row die.
        look: how often the run has listed the place of a file before that arrives; 0 without.
        is_dated_earlier: whether a file has a time before that of one that was read.
        not_tried: why the experiment is not carried out; empty if it is.
        is_open: whether it could have been: what it does is not known.
    """

    kind: Kind
    title: str
    after: int = 0
    operation: Operation | None = None
    how: str = ""
    is_in_increment: bool = False
    is_late: bool = False
    moment: Moment = FIRST
    deaths: int = 1
    look: int = 0
    is_dated_earlier: bool = False
    request: ReadRequest | None = None
    not_tried: str = ""
    is_open: bool = False


def at_once(
    new_files: int,
    impossible: Mapping[str, str],
    moments: Sequence[Moment] = (FIRST,),
    looks: int = 0,
) -> list[Experiment]:
    """Return the experiments for which nothing but the first run must be known.

    `looks` says how often that run has listed the folder of its newest file.
    """
    why_not = dict(impossible)
    for kind in OF_TWO_FILES:
        if new_files < 2:
            why_not[kind] = "it needs two new files, and the run read fewer"
    if looks < 2:
        why_not.setdefault("reading", "the run lists its input once at most")
    for kind in ("twice", "replaced"):
        if not new_files:
            why_not[kind] = "the run read no file as a new one"
    found = [Experiment(kind, TITLES[kind], not_tried=why_not.get(kind, "")) for kind in TITLES]
    plan = [one for one in found if one.kind not in ("executors", "reading")]
    reading = next(one for one in found if one.kind == "reading")
    plan += [reading] if reading.not_tried else [replace(reading, look=at) for at in between(looks)]
    tied = next(experiment for experiment in found if experiment.kind == "tied")
    plan += [] if tied.not_tried else [replace(tied, title=DATED_EARLIER, is_dated_earlier=True)]
    if why := why_not.get("executors", ""):
        return [*plan, Experiment("executors", TITLES["executors"], not_tried=why)]
    return [*plan, *(Experiment("executors", killed_at(one), moment=one) for one in moments)]


def late_first(operations: Sequence[Operation]) -> list[Experiment]:
    """Return crashes of a run that a late file follows: after notes in the middle first."""
    late = crashes(operations, is_late=True)
    return sorted(late, key=lambda crash: _tells_late(operations, crash))


def _tells_late(operations: Sequence[Operation], crash: Experiment) -> tuple[int, bool, bool, int]:
    operation = crash.operation
    is_last = crash.after == operations[-1].number
    is_note = operation is not None and is_state(operation) and not is_last
    is_write_or_read = operation is None or not is_write(operation)
    return -_telling(operations, crash.after), not is_note, is_write_or_read, crash.after


def between(looks: int) -> list[int]:
    """Return the listings after which a file arrives: the first, a middle one, the last but one."""
    return sorted({1, looks // 2, looks - 1})


def drawn_moments(
    operations: Sequence[Operation], draws: random.Random, count: int
) -> list[Moment]:
    """Return when executors are killed: right after the first change, then at any other."""
    changes = sum(one.kind in (PUT, COPY, RENAME) for one in operations)
    others = [Moment(at + 1, is_before) for at in range(changes) for is_before in (True, False)]
    others = [one for one in others if one != FIRST]
    return [FIRST, *draws.sample(others, min(count - 1, len(others)))]


def killed_at(moment: Moment) -> str:
    """Return what a moment is, for people."""
    if moment == FIRST:
        return TITLES["executors"]
    where = "before" if moment.is_before else "after"
    return f"an executor is lost right {where} change {moment.number} of all executors"


def crashes(
    operations: Sequence[Operation],
    *,
    is_in_increment: bool = False,
    is_late: bool = False,
    repairs: Experiment | None = None,
) -> list[Experiment]:
    """Return a crash after each operation, the most telling ones first.

    A crash before an operation is the one after the operation before it; before the first one
    nothing has happened. `repairs` says what the run itself repairs, for a run after a crash.
    """
    where = "crash in a later run" if is_in_increment else "crash"
    then = ", and a file arrives before the next run" if is_late else ""
    if repairs:
        where, then = f"{repairs.title}, then in the next run", ""
    titled = [
        Experiment(
            "crash",
            f"{where} after {described(one)}{then}",
            one.number,
            one,
            is_in_increment=is_in_increment,
            is_late=is_late,
            deaths=repairs.deaths + 1 if repairs else 1,
        )
        for one in operations
        if one.kind != WITHHELD
    ]
    by_number = {one.number: one for one in operations}

    def place(one: Experiment) -> tuple[int, bool, int]:
        around = [by_number[at] for at in (one.after, one.after + 1) if at in by_number]
        deletes = _begins_to_delete(by_number.get(one.after - 1), by_number[one.after])
        is_first = deletes or any(map(is_state, around))
        return -_telling(operations, one.after), not is_first, one.after

    return sorted(titled, key=place)


def _telling(operations: Sequence[Operation], after: int) -> int:
    """Return how much a crash after an operation tells: where kinds or lines change, the most."""
    by_number = {one.number: one for one in operations}
    here, following = by_number[after], by_number.get(after + 1)
    if following is None or _begins_to_delete(by_number.get(after - 1), here):
        return EDGE
    if is_state(here) != is_state(following) or calls_of(here) != calls_of(following):
        return EDGE
    return 2 if here.kind != following.kind else 1


def _begins_to_delete(before: Operation | None, here: Operation) -> bool:
    """Return whether a line begins to delete what readers see: rows of earlier runs, it may be."""
    if here.kind != DELETE or is_hidden(here):
        return False
    return before is None or before.kind != DELETE or calls_of(before) != calls_of(here)


def in_parts(files: Sequence[str], count: int = MAX_PARTS) -> list[list[str]]:
    """Divide files, in their order, into at most so many parts of about the same size."""
    count = min(count, len(files))
    return [
        list(files[len(files) * at // count : len(files) * (at + 1) // count])
        for at in range(count)
    ]
