"""Why an experiment loses or doubles rows: the lines of the script, and what to change."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tidemark.local_state.operations import COPY, PUT, Operation
from tidemark.operate.prove.experiments import Experiment, is_state
from tidemark.operate.prove.judged import TargetRows, Verdict


@dataclass(frozen=True)
class Cause:
    """Why rows are lost or doubled.

    Attributes:
        text: what happened, for people.
        line: of the script; None if no line is at fault.
        remedy: what to change.
    """

    text: str
    line: int | None
    remedy: str


REPEATABLE = (
    "write so that a repeat replaces what the first attempt wrote: write_window or append_window "
    "of the library watermarks, merge_window with a key, or mode('overwrite') of the partitions "
    "that the run makes"
)


def cause_of(
    experiment: Experiment,
    verdict: Verdict,
    operations: Sequence[Operation],
    rows: Sequence[TargetRows],
) -> Cause:
    """Return the cause of a verdict other than equal."""
    if experiment.kind == "crash":
        return _of_crash(experiment, verdict, operations)
    return _of_run(experiment, verdict, operations)


def _of_crash(experiment: Experiment, verdict: Verdict, operations: Sequence[Operation]) -> Cause:
    done = [one for one in operations if one.number <= experiment.after]
    left = [one for one in operations if one.number > experiment.after]
    written = _last(one for one in done if one.kind in (PUT, COPY))
    noted = _last(one for one in done if is_state(one))
    to_write = next((one for one in left if one.kind in (PUT, COPY)), None)
    to_note = next((one for one in left if is_state(one)), None)
    if verdict in ("lost", "changed") and noted and to_write:
        return Cause(
            f"line {noted.line} notes that the rows are done before line {to_write.line} writes "
            "them: the next run does not read them again",
            noted.line,
            f"commit after the last write: move line {noted.line} below line {to_write.line}",
        )
    line = written.line if written else None
    if to_note:
        text = (
            f"line {line} has written rows that line {to_note.line} had not yet noted: the next "
            "run reads and writes them again"
        )
        return Cause(text, line, REPEATABLE)
    if not any(is_state(one) for one in operations):
        text = f"line {line} writes rows, and nothing notes that they are done"
        return Cause(text, line, f"{REPEATABLE}; or set MaxRetries to 0, and look before a new run")
    return Cause(f"what line {line} wrote is not what the next run expects", line, REPEATABLE)


def _of_run(experiment: Experiment, verdict: Verdict, operations: Sequence[Operation]) -> Cause:
    written = _last(one for one in operations if one.kind in (PUT, COPY))
    line = written.line if written else None
    if experiment.kind == "again":
        text = f"the next run reads the same data again, and line {line} adds them to the target"
        remedy = (
            "read only what is new: a bookmark (--job-bookmark-option job-bookmark-enable, "
            "job.init, a transformation_ctx at each source, job.commit), or a watermark; or "
            "replace the target with mode('overwrite')"
        )
        return Cause(text, line, remedy)
    if experiment.kind == "rewind":
        text = f"the run reads again what is in the target, and line {line} adds it"
        return Cause(text, line, f"rewind with `tidemark rewind --clear`; or {REPEATABLE}")
    text = f"line {line} adds rows that the target has already"
    return Cause(text, line, "merge by a key (merge_window), or drop duplicates when reading")


def _last(operations: Iterable[Operation]) -> Operation | None:
    found = list(operations)
    return found[-1] if found else None
