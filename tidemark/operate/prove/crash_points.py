"""Where a run may crash: after each operation, the most telling ones first."""

from collections.abc import Sequence

from tidemark.local_state.operations import DELETE, WITHHELD, Operation
from tidemark.operate.prove.changes import calls_of, described, is_hidden, is_state, is_write
from tidemark.operate.prove.experiments import Experiment

CRASH = "crash"  # the kind
EDGE = 3  # how much a crash tells where kinds or lines change


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
            CRASH,
            f"{where} after {described(operation)}{then}",
            operation.number,
            operation,
            is_in_increment=is_in_increment,
            is_late=is_late,
            deaths=repairs.deaths + 1 if repairs else 1,
        )
        for operation in operations
        if operation.kind != WITHHELD
    ]
    by_number = {operation.number: operation for operation in operations}

    def place(crash: Experiment) -> tuple[int, bool, int]:
        after = crash.after
        around = [by_number[number] for number in (after, after + 1) if number in by_number]
        deletes = _begins_to_delete(by_number.get(after - 1), by_number[after])
        is_first = deletes or any(map(is_state, around))
        return -_telling(operations, after), not is_first, after

    return sorted(titled, key=place)


def _telling(operations: Sequence[Operation], after: int) -> int:
    """Return how much a crash after an operation tells: where kinds or lines change, the most."""
    by_number = {operation.number: operation for operation in operations}
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


def without_middles(crashes: Sequence[Experiment]) -> list[Experiment]:
    """Return the crashes of a run; within a write of Spark, whose tasks are alike, three."""
    of_lines: dict[tuple[str, tuple[str, ...]], list[Experiment]] = {}
    for crash in crashes:
        if crash.operation is not None and crash.operation.is_of_jvm:
            key = crash.operation.run_id, calls_of(crash.operation)
            of_lines.setdefault(key, []).append(crash)
    middles = [crash for of_line in of_lines.values() for crash in of_line[2:-1]]
    return [crash for crash in crashes if crash not in middles]
