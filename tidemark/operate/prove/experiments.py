"""Which experiments there are for a run, from what it changed; the most telling ones first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tidemark.local_state.operations import BOOKMARK as BOOKMARK_COMMIT
from tidemark.local_state.operations import CATALOG, COPY, DELETE, PUT, RENAME, REQUEST, Operation

Kind = Literal[
    "crash",
    "error",
    "again",
    "parts",
    "order",
    "meanwhile",
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
    "twice": "a file delivered twice",
    "replaced": "a file overwritten with the same rows",
    "rewind": "rewound with --clear, and run again",
    "together": "two runs at once",
    "executors": "an executor is lost when it has written its first object",
    "versions": "the newest version of Glue",
}
MAX_PARTS = 3
MAX_FAILURES = 3  # lines whose writes are let fail
EDGE = 3  # how much a crash tells where kinds or lines change
MOST_TELLING = 8  # crashes that are tried before anything else


@dataclass(frozen=True)
class Experiment:
    """One way in which a run, or what it reads, goes wrong.

    Attributes:
        kind: of the experiment.
        title: what happens, for people.
        after: of a crash, the number of the last operation before it.
        operation: of a crash, that operation.
        is_in_increment: whether the crash is in a run that adds to what an earlier run has made.
        not_tried: why the experiment is not carried out; empty if it is.
    """

    kind: Kind
    title: str
    after: int = 0
    operation: Operation | None = None
    is_in_increment: bool = False
    not_tried: str = ""


def planned(
    operations: Sequence[Operation],
    increment: Sequence[Operation],
    new_files: int,
    impossible: Mapping[str, str],
) -> list[Experiment]:
    """Return the experiments for a run, the most telling ones first.

    Args:
        operations: what the run changed outside its processes.
        increment: what a run changes that adds to an earlier one; empty without such a run. All
            crashes are tried there then, and only the most telling ones in the first run.
        new_files: how many files it read as new ones.
        impossible: kinds that cannot be tried, with the reason.
    """
    found = crashes(increment, is_in_increment=True) or crashes(operations)
    first = [one for one in crashes(operations) if _telling(operations, one.after) == EDGE]
    has_state = any(map(is_state, operations))
    why_not = dict(impossible)
    if not has_state:
        why_not["rewind"] = "it keeps no bookmark or watermark"
    for kind in ("parts", "order", "meanwhile"):
        if new_files < 2:
            why_not[kind] = "it needs two new files, and the run read fewer"
    for kind in ("twice", "replaced"):
        if not new_files:
            why_not[kind] = "the run read no file as a new one"
    more = [Experiment(kind, TITLES[kind], not_tried=why_not.get(kind, "")) for kind in TITLES]
    errors = failures(increment, is_in_increment=True) or failures(operations)
    plan = [
        *found[:MOST_TELLING],
        *errors,
        *more,
        *(first if increment else ()),
        *found[MOST_TELLING:],
    ]
    if "crash" not in impossible:
        return plan
    tried = [one for one in plan if one.kind != "crash"]
    return [Experiment("crash", "crashes", not_tried=impossible["crash"]), *tried]


def failures(operations: Sequence[Operation], *, is_in_increment: bool = False) -> list[Experiment]:
    """Return for each line that writes an experiment in which its first write fails."""
    first: dict[str, Operation] = {}
    for one in operations:
        if one.kind == PUT:
            first.setdefault(place_of(one), one)
    return [
        Experiment(
            "error",
            f"{described(one)} fails once, and the next run",
            one.number,
            one,
            is_in_increment=is_in_increment,
        )
        for one in list(first.values())[:MAX_FAILURES]
    ]


def crashes(operations: Sequence[Operation], *, is_in_increment: bool = False) -> list[Experiment]:
    """Return a crash after each operation, the most telling ones first.

    A crash before an operation is the one after the operation before it; before the first one
    nothing has happened.
    """
    where = "crash in a later run" if is_in_increment else "crash"
    titled = [
        Experiment(
            "crash",
            f"{where} after {described(one)}",
            one.number,
            one,
            is_in_increment=is_in_increment,
        )
        for one in operations
    ]
    return sorted(titled, key=lambda one: (-_telling(operations, one.after), one.after))


def described(operation: Operation) -> str:
    """Return an operation in a few words."""
    place = operation.places[-1] if operation.places else ""
    words = {
        PUT: f"writing {place}",
        COPY: f"copying to {place}",
        DELETE: f"deleting {place}",
        RENAME: f"renaming to {place}",
        BOOKMARK_COMMIT: "committing the bookmark",
    }
    if operation.kind == CATALOG:
        words[CATALOG] = f"changing {place} in the Data Catalog"
    if operation.kind == REQUEST:
        words[REQUEST] = f"the request {place}"
    at = f" ({place_of(operation)})" if operation.line else ""
    return f"{words.get(operation.kind, f'{operation.kind} {place}')}{at}"


def place_of(operation: Operation) -> str:
    """Return the line of the script that an operation belongs to."""
    return (
        f"{operation.script} line {operation.line}" if operation.line else "the end of the script"
    )


def _telling(operations: Sequence[Operation], after: int) -> int:
    """Return how much a crash after an operation tells: where kinds or lines change, the most."""
    by_number = {one.number: one for one in operations}
    here, following = by_number[after], by_number.get(after + 1)
    if following is None:
        return EDGE
    if is_state(here) != is_state(following) or place_of(here) != place_of(following):
        return EDGE
    return 2 if here.kind != following.kind else 1


def is_state(operation: Operation) -> bool:
    """Return whether an operation notes how far the job has got: a bookmark, or a watermark."""
    is_dynamodb = operation.kind == REQUEST and operation.places[0].startswith("dynamodb ")
    return operation.kind == BOOKMARK_COMMIT or is_dynamodb


def in_parts(files: Sequence[str], count: int = MAX_PARTS) -> list[list[str]]:
    """Divide files, in their order, into at most so many parts of about the same size."""
    count = min(count, len(files))
    return [
        list(files[len(files) * at // count : len(files) * (at + 1) // count])
        for at in range(count)
    ]
