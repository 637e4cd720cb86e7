"""Why an experiment loses or doubles rows: the lines of the script, and what to change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidemark.local_state.operations import COPY, PUT, Operation
from tidemark.operate.prove.experiments import Experiment, is_state, place_of
from tidemark.operate.prove.judged import TargetRows, Verdict


@dataclass(frozen=True)
class Cause:
    """Why rows are lost or doubled.

    Attributes:
        text: what happened, for people.
        remedy: what to change.
        script: the file at fault; empty if none is.
        line: its line; None if none is.
    """

    text: str
    remedy: str
    script: str = ""
    line: int | None = None


REPEATABLE = (
    "write so that a repeat replaces what the first attempt wrote: write_window or append_window "
    "of the library watermarks, merge_window with a key, or mode('overwrite') of the partitions "
    "that the run makes"
)
ONLY_NEW = (
    "read only what is new: a bookmark (--job-bookmark-option job-bookmark-enable, job.init, a "
    "transformation_ctx at each source, job.commit), or a watermark; or replace the target with "
    "mode('overwrite')"
)
BY_KEY = "merge by a key (merge_window), or drop duplicates when reading"


def cause_of(
    experiment: Experiment,
    verdict: Verdict,
    operations: Sequence[Operation],
    rows: Sequence[TargetRows],
) -> Cause:
    """Return the cause of a verdict other than equal."""
    if experiment.kind == "crash":
        return _of_crash(experiment, verdict, operations)
    return _of_run(experiment, operations)


def _of_crash(experiment: Experiment, verdict: Verdict, operations: Sequence[Operation]) -> Cause:
    done = [one for one in operations if one.number <= experiment.after]
    left = [one for one in operations if one.number > experiment.after]
    written = _last(one for one in done if one.kind in (PUT, COPY))
    noted = _last(one for one in done if is_state(one))
    to_write = next((one for one in left if one.kind in (PUT, COPY)), None)
    to_note = next((one for one in left if is_state(one)), None)
    if verdict in ("lost", "changed") and noted and to_write:
        text = (
            f"{place_of(noted)} notes that the rows are done before {place_of(to_write)} writes "
            "them: the next run does not read them again"
        )
        return _at(noted, text, f"commit after the last write, and move {place_of(noted)} there")
    if written is None:
        return Cause("the next run does not make what the baseline made", REPEATABLE)
    if to_note:
        text = (
            f"{place_of(written)} has written rows that {place_of(to_note)} had not yet noted: the "
            "next run reads and writes them again"
        )
        return _at(written, text, REPEATABLE)
    if not any(is_state(one) for one in operations):
        text = f"{place_of(written)} writes rows, and nothing notes that they are done"
        remedy = f"{REPEATABLE}; or set MaxRetries to 0, and look before a new run"
        return _at(written, text, remedy)
    text = f"what {place_of(written)} wrote is not what the next run expects"
    return _at(written, text, REPEATABLE)


def _of_run(experiment: Experiment, operations: Sequence[Operation]) -> Cause:
    written = _last(one for one in operations if one.kind in (PUT, COPY))
    if written is None:
        return Cause("the next run does not make what the baseline made", REPEATABLE)
    place = place_of(written)
    if experiment.kind == "again":
        text = f"the next run reads the same data again, and {place} adds them to the target"
        return _at(written, text, ONLY_NEW)
    if experiment.kind == "rewind":
        text = f"the run reads again what is in the target, and {place} adds it"
        return _at(written, text, REPEATABLE)
    return _at(written, f"{place} adds rows that the target has already", BY_KEY)


def _at(operation: Operation, text: str, remedy: str) -> Cause:
    return Cause(text, remedy, operation.script, operation.line)


def _last(operations: Iterable[Operation]) -> Operation | None:
    found = list(operations)
    return found[-1] if found else None
