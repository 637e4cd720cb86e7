"""Which experiments there are for a run, from what it changed; the most telling ones first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from tidemark.local_state.operations import BOOKMARK as BOOKMARK_COMMIT
from tidemark.local_state.operations import COPY, DELETE, PUT, RENAME, REQUEST, Operation

Kind = Literal[
    "crash",
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
MOST_TELLING = 8  # crashes that are tried before anything else


@dataclass(frozen=True)
class Experiment:
    """One way in which a run, or what it reads, goes wrong.

    Attributes:
        kind: of the experiment.
        title: what happens, for people.
        after: of a crash, the number of the last operation before it.
        operation: of a crash, that operation.
        not_tried: why the experiment is not carried out; empty if it is.
    """

    kind: Kind
    title: str
    after: int = 0
    operation: Operation | None = None
    not_tried: str = ""


def planned(
    operations: Sequence[Operation], new_files: int, impossible: Mapping[str, str]
) -> list[Experiment]:
    """Return the experiments for a run, the most telling ones first.

    Args:
        operations: what the run changed outside its processes.
        new_files: how many files it read as new ones.
        impossible: kinds that cannot be tried, with the reason.
    """
    found = crashes(operations)
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
    return [*found[:MOST_TELLING], *more, *found[MOST_TELLING:]]


def crashes(operations: Sequence[Operation]) -> list[Experiment]:
    """Return a crash after each operation, the most telling ones first.

    A crash before an operation is the one after the operation before it; before the first one
    nothing has happened.
    """
    titled = [
        Experiment("crash", f"crash after {described(one)}", one.number, one) for one in operations
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
        return 3
    if is_state(here) != is_state(following) or place_of(here) != place_of(following):
        return 3
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
