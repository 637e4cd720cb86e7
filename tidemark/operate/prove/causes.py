"""Why rows are lost or doubled: the lines of the script, and what to change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from tidemark.local_state.operations import BOOKMARK, COPY, DELETE, ITEMS, PUT, Operation
from tidemark.operate.prove.changes import (
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
        has_noted: whether a run has noted how far it had got after a write that failed.
        has_written: whether the later run has written the target.
        sources: URIs of the files that the run reads as new ones.
    """

    experiment: Experiment
    verdict: Verdict
    operations: Sequence[Operation]
    target: str = ""
    has_ended: bool = False
    has_noted: bool = False
    has_written: bool = True
    sources: Sequence[str] = ()


REPEATABLE = (
    "write so that a repeat replaces what the first attempt wrote: write_window or append_window "
    "of the library watermarks, or merge_window with a key"
)
OF_PARTITIONS = (
    ", or mode('overwrite') of the partitions that the run makes, if it reads all of their rows"
)
KEY_REMEDY = (
    "write the object under a key that a repeat uses again, such as one for each input file, named "
    "after it, and not after a time, a counter, a random id or all that one run reads; and write "
    "it whole, do not add to what is there"
)
SEND_REMEDY = (
    "send to a FIFO topic or queue with a MessageDeduplicationId that a repeat uses again; or let "
    "receivers leave out what they know, and --ignore the messages"
)
ITEM_REMEDY = (
    "put the whole item with its final values, under a key that a repeat uses again, and not a "
    "random id or a time; or add to it only under a condition on what it has counted, such as the "
    "id of a file or a window that it keeps, so that a repeat changes nothing"
)
ONLY_NEW = (
    "read only what is new: a bookmark (--job-bookmark-option job-bookmark-enable, job.init, a "
    "transformation_ctx at each source, job.commit), or a watermark; or replace the target with "
    "mode('overwrite')"
)
KNOWN = "leave out the rows whose key the target has"
BY_KEY = f"merge by a key (merge_window), or {KNOWN}"
FINAL = (
    "write final values, or add to what is there only under a condition on what it has counted, "
    "such as the id of a window that it keeps, so that a repeat changes nothing"
)
NOT_ALL = (
    "a run that reads only what is new must not replace the whole target: append, overwrite only "
    "its partitions (spark.sql.sources.partitionOverwriteMode dynamic), or merge by a key; "
    "--ignore leaves out a staging folder that the same run reads again"
)
PARTITION_REASON = "{place} replaces each partition with what its run has read of it, which is less"
WHOLE = (
    "a run that replaces a partition must read all of its rows, also those that earlier runs have "
    "read; else append, or merge by a key"
)
FROM_ONE_RUN = (
    "{place} adds what its run makes of the rows that it has read, and other runs have read the "
    "rows that belong to them"
)
BOTH_SIDES = (
    "a join of two sources that are both read by what is new finds only pairs that arrive in one "
    "run: read the side that is looked up in full, without a transformation_ctx, or keep what "
    "found no match for the next run"
)
STAGING = "/.spark-staging-"  # of an overwrite of partitions
ONE_TYPE = "write each column as one type in every run, such as by a schema or a cast"
NO_WRITE = Cause("the next run does not make what the first run made", REPEATABLE)
OF_VERDICTS: Mapping[Verdict, Advice] = {
    "lost": ("{place} replaces the target with what its run has read, which is less", NOT_ALL),
    "doubled": ("{place} adds rows that the target has already", BY_KEY),
    "changed": ("{place} makes other rows than the first run", BY_KEY),
}


def of_types(cause: Cause, columns: Iterable[str]) -> Cause:
    """Return the cause of values that are the same, and of another type."""
    text = f"the runs write the same values as other types: {', '.join(columns)}"
    return replace(cause, text=text, remedy=ONE_TYPE)


def or_of_mark(cause: Cause, target: str) -> Cause:
    """Return the cause of a target that a run reads before it writes it, as its marks are."""
    mark = f"; or, if it is a mark of how far the job has got and no data: --ignore {target}"
    return replace(cause, remedy=f"{cause.remedy}{mark}")


def with_notes(fault: Fault, marks: Collection[str], pointers: Collection[str] = ()) -> Fault:
    """Return a fault whose operations on what runs read, beside the target, are notes.

    Marks are objects and tables that the runs read; pointers name what counts of the target.
    """
    noted = [
        replace(operation, kind=BOOKMARK)
        if operation.places[-1] in pointers
        else _as_note(operation, fault.target, marks)
        for operation in fault.operations
    ]
    return replace(fault, operations=noted)


def _as_note(operation: Operation, target: str, marks: Collection[str]) -> Operation:
    is_change = operation.kind in (PUT, COPY, DELETE, ITEMS) and not is_of(operation, target)
    is_mark = bool(target) and operation.places[-1] in marks
    if is_change and (is_mark or commits_batch(operation)):
        deleted = (DELETE, *operation.places) if operation.kind == DELETE else operation.places
        return replace(operation, kind=BOOKMARK, places=deleted)
    return operation


def of_run(fault: Fault, causes: Mapping[Verdict, Advice]) -> Cause:
    """Return the cause of what a run does that goes well; `causes` are those of its kind."""
    verdict, target, operations = fault.verdict, fault.target, fault.operations
    text, remedy = causes.get(verdict) or OF_VERDICTS[verdict]
    if remedy == ONLY_NEW and not any(map(is_state, operations)):
        text = f"the run commits neither a bookmark nor a watermark: {text}"
    own = [operation for operation in operations if is_of(operation, target)]
    if remedy == NOT_ALL and any(STAGING in place for change in own for place in change.places):
        text, remedy = PARTITION_REASON, WHOLE
    written = of_target(fault) or last(filter(is_write, operations))
    if written is None:
        return Cause(text.format(place="the job"), remedy)
    deleted = last(change for change in own if change.kind == DELETE and not is_hidden(change))
    puts = [change for change in own if change.kind in (PUT, COPY)]
    are_new = bool(puts) and len({put.places[-1] for put in puts}) == len(puts)
    only_adds = are_new and target.startswith("s3://")
    if remedy == NOT_ALL and not deleted and only_adds:
        text, remedy = FROM_ONE_RUN, BOTH_SIDES
    if verdict == "lost" and deleted and place_of(deleted) != place_of(written):
        return at(deleted, f"{place_of(deleted)} deletes what earlier runs have written", NOT_ALL)
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
