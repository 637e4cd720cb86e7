"""What is known of a run that went wrong, as plain data for the tests of causes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tidemark.local_state.operations import Operation
from tidemark.operate.prove.causes import Cause, Fault
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.judged import Verdict
from tidemark.operate.prove.kinds import every


def put(number: int, line: int) -> Operation:
    place = f"s3://lake/out/part-{number}.json"
    return Operation(number, "jr_1", "put", (place,), "job.py", line, is_of_jvm=True)


def commit(number: int, line: int) -> Operation:
    return Operation(number, "jr_1", "bookmark", ("",), "job.py", line)


WRITE_FIRST = [put(1, 10), put(2, 10), commit(3, 11)]


COMMIT_FIRST = [commit(1, 9), put(2, 10), put(3, 10)]


def cause_of(
    experiment: Experiment,
    verdict: Verdict,
    operations: Sequence[Operation],
    target: str = "",
    *,
    marks: Collection[str] = (),
    **facts: Any,
) -> Cause:
    return every.cause_of(Fault(experiment, verdict, operations, target, **facts), marks)


def crash(after: int) -> Experiment:
    return Experiment("crash", "crash", after)


def failed(number: int, operations: list[Operation]) -> Experiment:
    return Experiment("error", "error", number, operations[number - 1])


OUT = "s3://lake/out/"


MARK = Operation(1, "jr_1", "put", ("s3://state/done.json",), "job.py", 8)


MARKS = {"s3://state/done.json", "s3://lake/in/1.json"}


IN = "s3://lake/in/2026.json"


def of_script(number: int, kind: str, place: str, line: int, request: str = "") -> Operation:
    places = (request, place) if request else (place,)
    return Operation(number, "jr_1", kind, places, "job.py", line)
