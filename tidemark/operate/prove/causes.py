"""Why rows are lost or doubled: the lines of the script, and what to change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tidemark.local_state.operations import BOOKMARK, COPY, DELETE, ITEMS, PUT, Operation
from tidemark.model.advice import advice_of, catalogue
from tidemark.operate.prove.changes import (
    PART_PATH,
    commits_batch,
    has_partitions,
    is_hidden,
    is_message,
    is_of,
    is_own_object,
    is_state,
    is_write,
    pattern_of,
    place_of,
)
from tidemark.operate.prove.experiments import Experiment
from tidemark.operate.prove.judged import Verdict

Advice: TypeAlias = tuple[str, str]
"""Why rows are wrong, where {place} is the line that writes them, and what to do."""


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


@dataclass(frozen=True)
class Fault:
    """What goes wrong with the rows of a target, and what the run does in which it begins.

    Attributes:
        experiment: that shows it.
        verdict: on the rows; not equal.
        operations: what the run changes, in order.
        target: whose rows they are; empty: of any.
        has_ended: whether a request that failed has ended the run.
        noted: what notes how far the run had got after a request that failed; None if nothing does.
        has_written: whether the later run has written the target.
        sources: URIs of the files that the run reads as new ones.
        failure: how a job after the one that died fails; empty if none does.
    """

    experiment: Experiment
    verdict: Verdict
    operations: Sequence[Operation]
    target: str = ""
    has_ended: bool = False
    noted: Operation | None = None
    has_written: bool = True
    sources: Sequence[str] = ()
    failure: str = ""


def advised(name: str, **values: str) -> str:
    """Return what the catalogue of advice says to do, with its id."""
    return advice_of("prove")[name].says(**values)


def why(name: str, **values: str) -> Advice:
    """Return why rows are wrong, by its name in the catalogue, and what to do about that.

    Without values, {place} and the like stay as they are.
    """
    cause = catalogue()["prove"]["causes"][name]
    text = cause["text"].format(**values) if values else cause["text"]
    return text, advised(cause["remedy"], **values)


def whys(**names: str) -> Mapping[str, Advice]:
    """Return why rows are wrong, and what to do, by verdicts."""
    return {verdict: why(name) for verdict, name in names.items()}


REPEATABLE = advised("write-repeatable")
OF_PARTITIONS = (
    ", or mode('overwrite') of the partitions that the run makes, if it reads all of their rows"
)
KEY_REMEDY = advised("key-of-input")
SEND_REMEDY = advised("send-once")
ITEM_REMEDY = advised("whole-item")
ONLY_NEW = advised("read-only-new")
KNOWN = advised("leave-out-known")
BY_KEY = advised("merge-by-key")
FINAL = advised("final-values")
NOT_ALL = advised("add-what-is-new")
STAGING = "/.spark-staging-"  # of an overwrite of partitions
NO_WRITE = Cause(*why("not-made-again"))
OF_VERDICTS = whys(lost="target-replaced", doubled="rows-there-already", changed="other-rows")


def of_types(cause: Cause, columns: Iterable[str]) -> Cause:
    """Return the cause of values that are the same, and of another type."""
    text, remedy = why("other-types", columns=", ".join(columns))
    return replace(cause, text=text, remedy=remedy)


def or_no_data(cause: Cause, target: str, written: Collection[str], read: Collection[str]) -> Cause:
    """Return the cause of a target that may be no data, with the option that leaves it out.

    A run reads its marks before it writes them; a log has an object of each run, named anew.
    """
    if written and set(written) <= set(read):
        what = "a mark of how far the job has got"
    elif len(written) == 1 and all(map(_is_named_anew, written)) and "--ignore" not in cause.remedy:
        what = "a log of runs"
    else:
        return cause
    return replace(
        cause, remedy=f"{cause.remedy}; or, if it is {what} and no data: --ignore {target}"
    )


def _is_named_anew(place: str) -> bool:
    return pattern_of(place) != place and not PART_PATH.search(place)


def with_notes(fault: Fault, marks: Collection[str], pointers: Collection[str] = ()) -> Fault:
    """Return a fault whose operations on what runs read, beside the target, are notes.

    Marks are objects and tables that the runs read; pointers name what counts of the target.
    """
    noted = [
        replace(operation, kind=BOOKMARK)
        if operation.places[-1] in pointers
        else as_note(operation, fault.target, marks)
        for operation in fault.operations
    ]
    return replace(fault, operations=noted)


def as_note(operation: Operation, target: str, marks: Collection[str]) -> Operation:
    """Return an operation, as a note of what is done if it changes a mark beside the target."""
    is_change = operation.kind in (PUT, COPY, DELETE, ITEMS) and not is_of(operation, target)
    is_mark = bool(target) and operation.places[-1] in marks
    if is_change and (is_mark or commits_batch(operation)):
        deleted = (DELETE, *operation.places) if operation.kind == DELETE else operation.places
        return replace(operation, kind=BOOKMARK, places=deleted)
    return operation


def of_run(fault: Fault, causes: Mapping[str, Advice]) -> Cause:
    """Return the cause of what a run does that goes well; `causes` are those of its kind."""
    verdict, target, operations = fault.verdict, fault.target, fault.operations
    text, remedy = causes.get(verdict) or OF_VERDICTS[verdict]
    if remedy == ONLY_NEW and not any(map(is_state, operations)):
        text = f"the run commits neither a bookmark nor a watermark: {text}"
    own = [operation for operation in operations if is_of(operation, target)]
    if remedy == NOT_ALL and any(STAGING in place for change in own for place in change.places):
        text, remedy = why("part-of-partition")
    written = of_target(fault) or last(filter(is_write, operations))
    if written is None:
        return Cause(text.format(place="the job"), remedy)
    deleted = last(change for change in own if change.kind == DELETE and not is_hidden(change))
    puts = [change for change in own if change.kind in (PUT, COPY)]
    are_new = bool(puts) and len({put.places[-1] for put in puts}) == len(puts)
    only_adds = are_new and target.startswith("s3://")
    if remedy == NOT_ALL and not deleted and only_adds:
        text, remedy = why("pairs-of-one-run")
    if verdict == "lost" and deleted and place_of(deleted) != place_of(written):
        return at(deleted, *why("earlier-rows-deleted", place=place_of(deleted)))
    return at(written, text.format(place=place_of(written)), remedy)


def of_target(fault: Fault) -> Operation | None:
    """Return the last write of the target; None without any."""
    writes = filter(is_write, fault.operations)
    return last(write for write in writes if is_of(write, fault.target))


def at(operation: Operation, text: str, remedy: str) -> Cause:
    """Return a cause at the line of an operation, with the remedy for what that writes."""
    return Cause(text, repeatable(remedy, operation), operation.script, operation.line)


def repeatable(remedy: str, operation: Operation) -> str:
    """Return a remedy as it is for what an operation writes: items, an object, or rows of Spark."""
    if not remedy.startswith((REPEATABLE, BY_KEY, FINAL)):
        return remedy
    if operation.kind == ITEMS:
        return ITEM_REMEDY
    if is_message(operation):
        return SEND_REMEDY
    if is_own_object(operation):
        if pattern_of(operation.places[-1]) == operation.places[-1]:
            return FINAL
        return KNOWN if remedy.startswith(BY_KEY) else KEY_REMEDY
    if remedy.startswith(REPEATABLE) and has_partitions(operation):
        return remedy.replace(REPEATABLE, f"{REPEATABLE}{OF_PARTITIONS}")
    return remedy


def is_named_after_input(operation: Operation, sources: Iterable[str]) -> bool:
    """Return whether an object has the name of a file that its run reads."""
    name = operation.places[-1].rpartition("/")[2]
    return any(source.rpartition("/")[2].partition(".")[0] in name for source in sources)


def last(operations: Iterable[Operation]) -> Operation | None:
    """Return the last operation; None without any."""
    return next(reversed(list(operations)), None)
