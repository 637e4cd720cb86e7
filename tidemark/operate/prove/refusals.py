"""Which requests of a run are let fail, and how: those after which it may go on."""

import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import TypeVar

from tidemark.local_state.operations import (
    BOOKMARK,
    CATALOG,
    DELETE,
    HALF_DONE,
    ITEMS,
    JDBC,
    PUT,
    REFUSED,
    REQUEST,
    UNANSWERED,
    AwsRead,
    Operation,
)
from tidemark.operate.prove.changes import calls_of, described
from tidemark.operate.prove.experiments import Experiment

ERROR = "error"  # the kind
FIXED = random.Random(1)  # noqa: S311 (not a secret)
BY_SPARK = (PUT, JDBC)  # what Spark's tasks are let fail at
BY_SCRIPT = (PUT, DELETE, ITEMS, REQUEST, BOOKMARK, CATALOG)
ENDINGS = {
    REFUSED: "is refused",
    UNANSWERED: "is done without an answer",
    HALF_DONE: "is done by half",
}
# Their answers name what was not read.
BATCHES_OF_READS = ("BatchGetItem", "BatchGetPartition")
MANY = 30  # requests that are all tried
Made = TypeVar("Made", bound=Operation | AwsRead)


def refusals(
    operations: Sequence[Operation],
    requests: Sequence[AwsRead] = (),
    draws: random.Random = FIXED,
    moments: int = 1,
    *,
    is_in_increment: bool = False,
) -> list[Experiment]:
    """Return experiments in which a request fails, each line's first one first.

    Where an error ends the run, it leaves what a crash there leaves, and is not tried again. If
    there are very many, only some of what each line repeats are tried.
    """
    sample = partial(_sample, draws=draws, moments=moments)
    by_spark = [change for change in operations if change.is_of_jvm and change.kind in BY_SPARK]
    by_script = [
        change for change in operations if not change.is_of_jvm and change.kind in BY_SCRIPT
    ]
    own = [change for change in by_script if not change.continues]
    kept = [change for change in own if change.may_go_on]
    in_part = [change for change in own if change.in_part]
    guarded = [request for request in requests if request.may_go_on and request.number]
    opened = [request for request in requests if request.may_go_on and not request.number]
    read_in_part = [request for request in requests if _is_of(BATCHES_OF_READS, request.place)]
    drawn = sample(kept, calls_of, first=MANY)
    read = sample(guarded, _calls_of_read, first=MANY)
    changes = [
        *product(sample(by_spark, calls_of, first=1), [REFUSED]),
        *product(drawn, [REFUSED]),
        *product(drawn, [UNANSWERED]),
        *product(sample(in_part, calls_of, first=MANY), [HALF_DONE]),
    ]
    reads = [
        *product(read, [REFUSED]),
        *product(sample(opened, _calls_of_read, first=1), [REFUSED]),
        *product(sample(read_in_part, _calls_of_read, first=MANY), [HALF_DONE]),
    ]
    experiments = [
        *(_of_change(change, how, is_in_increment=is_in_increment) for change, how in changes),
        *(_of_read(request, how, is_in_increment=is_in_increment) for request, how in reads),
    ]
    left = len(kept) - len(drawn) + len(guarded) - len(read)
    return [*experiments, *([_left(left)] if left else [])]


def done_before_failure(operations: Sequence[Operation], error: Experiment) -> int:
    """Return how many changes its run has made when a request has failed as in an error."""
    made = error.operation or error.request
    if made is None:
        return 0
    is_done = error.how == UNANSWERED or error.request is not None
    last = error.after if is_done else error.after - 1
    return sum(change.run_id == made.run_id and change.number <= last for change in operations)


def _is_of(names: Sequence[str], place: str) -> bool:
    """Return whether a request has one of the names."""
    return any(name in place.split() for name in names)


def _of_change(operation: Operation, how: str, *, is_in_increment: bool) -> Experiment:
    title = f"{described(operation)} {ENDINGS[how]}, and the next run"
    return Experiment(
        ERROR, title, operation.number, operation, how, is_in_increment=is_in_increment
    )


def _of_read(request: AwsRead, how: str, *, is_in_increment: bool) -> Experiment:
    at = f" ({request.calls[-1]})" if request.calls else ""
    title = f"the request {request.place}{at} {ENDINGS[how]}, and the next run"
    return Experiment(
        ERROR, title, request.done, None, how, is_in_increment=is_in_increment, request=request
    )


def _left(count: int) -> Experiment:
    return Experiment(
        ERROR,
        f"{count:,} more requests that fail",
        not_tried="their lines repeat them: more --moments try more of them",
        is_open=True,
    )


def _calls_of_read(request: AwsRead) -> tuple[str, ...]:
    return (*request.calls, request.place.partition(" ")[0])


def _sample(
    made: Sequence[Made],
    key: Callable[[Made], tuple[str, ...]],
    *,
    draws: random.Random,
    moments: int,
    first: int,
) -> list[Made]:
    """Return all if they are at most so many; else the first two and the last of each line.

    With more moments, others are drawn.
    """
    of_lines: dict[tuple[str, ...], list[Made]] = {}
    for change in made:
        of_lines.setdefault(key(change), []).append(change)
    ends = (0, 1, -1) if first > 1 else (0,)
    chosen: list[Made] = []
    for of_line in of_lines.values():
        some = [of_line[at] for at in ends if at < len(of_line)]
        own: list[Made] = of_line if len(made) <= first else some
        rest: list[Made] = [change for change in of_line if change not in own]
        chosen += [*own, *draws.sample(rest, min(moments - 1, len(rest)))]
    return list(dict.fromkeys(chosen))
