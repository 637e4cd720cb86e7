"""Why an experiment loses or doubles rows: the lines of the script, and what to change."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from tidemark.local_state.operations import (
    BOOKMARK,
    COPY,
    DELETE,
    ITEMS,
    PUT,
    Operation,
)
from tidemark.operate.prove.changes import (
    commits_batch,
    described,
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
    "put the whole item with its final values; or add to it only under a condition on what it has "
    "counted, such as the id of a file or a window that it keeps, so that a repeat changes nothing"
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
LATE = (
    "read files through a bookmark, which goes by the time of the file, or give the windows a "
    "lookback that is longer than rows are late"
)
IN_PLACE = (
    "do not rewrite a target that the job reads: merge into a table of Iceberg (merge_window), "
    "which changes as a whole; or keep every version in a target of its own, and publish from it"
)
TAKE_OVER = (
    "let a run take over what another one has left: mode('append') or mode('overwrite') in place "
    "of errorifexists, CREATE TABLE IF NOT EXISTS"
)
ONE_TYPE = "write each column as one type in every run, such as by a schema or a cast"
UPGRADE = "look at the columns and their causes: tidemark compare-versions"
SKIPS = (
    "the later run writes nothing at {place}, though it has new files to read",
    "let a run end early only if there is nothing new to read, such as no rows, and not because "
    "the target, or a part of it, is there",
)
UP_TO_MARK = (
    "take the high mark before the rows are read, and read up to it: windows do, with "
    "high=newest(rows), and so do bookmarks; a job that moves or deletes its input lists it "
    "once, and moves only what it has read"
)
READ_UNSEEN = "the run notes as read what arrived after it had read", UP_TO_MARK
NO_WRITE = Cause("the next run does not make what the first run made", REPEATABLE)
WHY: dict[object, tuple[str, str]] = {
    ("again", "doubled"): (
        "the next run reads the same data again, and {place} adds them to the target",
        ONLY_NEW,
    ),
    ("together", "doubled"): (
        "both runs read the same data, and {place} adds it twice",
        "set MaxConcurrentRuns to 1, or write windows: the library gives each to one run",
    ),
    ("error", "lost"): (
        "the job commits although a write has failed: the next run does not read its rows again",
        "commit only if every write has succeeded: not in finally, and not after an except that "
        "continues",
    ),
    ("executors", "doubled"): (
        "an executor was lost after it had written for {place}: its tasks ran again, or the run "
        "failed and was repeated, and what they had written before is still there",
        f"{REPEATABLE}; what functions of the script write in tasks, such as by boto3, needs names "
        "that a repeated task uses again",
    ),
    ("parts", "doubled"): (
        "each run reads what earlier runs have read, and {place} adds it to the target",
        ONLY_NEW,
    ),
    ("order", "lost"): ("rows that arrive late are below the mark of an earlier run", LATE),
    ("order", "changed"): (
        "what arrives last wins at {place}, also if it is older",
        "keep the newest row of each key by a column of the data: merge_window does",
    ),
    ("tied", "lost"): (
        "a run has noted a time up to which it has read, and leaves out what is dated so or "
        "earlier: S3 counts whole seconds, and dates an upload of several parts by its start",
        "keep the names of the files that are done beside their times, and look again at those "
        "that are younger than the longest upload before the mark; a bookmark does",
    ),
    ("meanwhile", "lost"): READ_UNSEEN,
    ("reading", "lost"): READ_UNSEEN,
    ("reading", "doubled"): (
        "the run reads what arrived after it had looked how far to note, so the next run reads it "
        "again",
        UP_TO_MARK,
    ),
    ("parts", "changed"): (
        "what {place} writes depends on which rows arrive in one run",
        "compute it from all rows that belong together, or merge it into what is there",
    ),
    ("rewind", "lost"): (
        "the run cannot read or merge the same again: it is gone, or a mark of the job's own, "
        "which a rewind does not know, says that it is done",
        "keep the sources for as long as you may rewind, take marks of the job's own back with "
        "it, and write so that a repeat is equal",
    ),
    "lost": ("{place} replaces the target with what its run has read, which is less", NOT_ALL),
    "doubled": ("{place} adds rows that the target has already", BY_KEY),
    "changed": ("{place} makes other rows than the first run", BY_KEY),
}
"""The reason and the remedy for a kind of experiment and a verdict, or for a verdict."""


def cause_of(
    experiment: Experiment,
    verdict: Verdict,
    operations: Sequence[Operation],
    target: str = "",
    *,
    has_ended: bool = False,
    has_noted: bool = False,
    has_written: bool = True,
    marks: Collection[str] = (),
) -> Cause:
    """Return the cause of a verdict other than equal.

    The operations are what the run changes that goes wrong. Marks are objects and tables that the
    runs read: what changes one of them, beside the target, may note how far the job has got.
    """
    operations = [_as_note(one, target, marks) for one in operations]
    if experiment.kind == "versions":
        what = "fails" if verdict == "fails" else "makes other rows"
        return Cause(f"the job {what} on the newest version of Glue", UPGRADE)
    if verdict == "fails":
        return Cause(
            "the next run fails on the output that exists, and so will all later ones", TAKE_OVER
        )
    if experiment.kind == "parts" and not has_written:
        written = _last(one for one in operations if is_write(one) and is_of(one, target))
        text, remedy = SKIPS
        return _at(written, text.format(place=place_of(written)), remedy) if written else NO_WRITE
    if experiment.kind == "error" and has_ended and not (verdict == "lost" and has_noted):
        like = replace(experiment, kind="crash", after=_moment(experiment, verdict, operations))
        return _of_crash(like, verdict, operations, target)
    if experiment.kind != "crash":
        return _of_run(experiment, verdict, operations, target)
    if verdict == "lost" and all(one.number <= experiment.after for one in operations):
        all_done = replace(experiment, kind="again")
        return _of_run(all_done, verdict, operations, target)
    return _of_crash(experiment, verdict, operations, target)


def of_types(cause: Cause, columns: Iterable[str]) -> Cause:
    """Return the cause of values that are the same, and of another type."""
    text = f"the runs write the same values as other types: {', '.join(columns)}"
    return replace(cause, text=text, remedy=ONE_TYPE)


def or_of_mark(cause: Cause, target: str) -> Cause:
    """Return the cause of a target that a run reads before it writes it, as its marks are."""
    mark = f"; or, if it is a mark of how far the job has got and no data: --ignore {target}"
    return replace(cause, remedy=f"{cause.remedy}{mark}")


def _as_note(operation: Operation, target: str, marks: Collection[str]) -> Operation:
    """Return an operation as a note if it changes what runs read, beside the target."""
    is_change = operation.kind in (PUT, COPY, DELETE, ITEMS) and not is_of(operation, target)
    is_mark = bool(target) and operation.places[-1] in marks
    if is_change and (is_mark or commits_batch(operation)):
        return replace(operation, kind=BOOKMARK)
    return operation


def _moment(experiment: Experiment, verdict: Verdict, operations: Sequence[Operation]) -> int:
    """Return the last change before a crash that leaves what a write that failed has left."""
    # Rows are lost by what was noted or written before it. Else other tasks of its line have
    # written.
    failing = experiment.operation
    before = [one for one in operations if one.number < experiment.after]
    of_note = any(is_state(one) for one in operations if one.number == experiment.after)
    if before and of_note:
        return before[-1].number
    if verdict == "lost" and any(is_write(one) or is_state(one) for one in before):
        return before[-1].number
    same = [one for one in operations if failing and place_of(one) == place_of(failing)]
    return max((one.number for one in same), default=experiment.after)


def _of_crash(
    experiment: Experiment, verdict: Verdict, operations: Sequence[Operation], target: str
) -> Cause:
    if experiment.deaths > 1:
        return _of_repair(operations, experiment.after)
    done = [one for one in operations if one.number <= experiment.after]
    left = [one for one in operations if one.number > experiment.after]
    noted = _last(one for one in done if is_state(one))
    of_target = [one for one in left if is_write(one) and is_of(one, target)]
    to_write = next(iter(of_target or filter(is_write, left)), None)
    if verdict == "lost" and noted and to_write:
        return _of_note(noted, to_write)
    seen = _last(one for one in done if not is_hidden(one))
    has_written_last = bool(seen and is_write(seen) and is_of(seen, target))
    is_unnoted = has_written_last and any(map(is_state, left))  # it is noted later
    if verdict == "changed" and noted and to_write and not is_unnoted:
        return _of_note(noted, to_write)
    deleted = _last(one for one in done if one.kind == DELETE and not is_hidden(one))
    if verdict in ("lost", "changed") and deleted and not noted:
        text = (
            f"{place_of(deleted)} deletes what earlier runs have written before it writes it again:"
            " the next run finds only a part of it"
        )
        return _at(deleted, text, IN_PLACE)
    return _of_what_is_left(verdict, operations, done, left, target)


def _of_repair(operations: Sequence[Operation], after: int) -> Cause:
    """Return the cause of what is right after one death, and wrong after one in the repair."""
    last = _last(operation for operation in operations if operation.number == after)
    left = (operation for operation in operations if operation.number > after)
    following = next(left, None)
    if last is None:
        return NO_WRITE
    text = f"a run that dies in its turn, right after {described(last)}, leaves what no run repairs"
    if following is None or place_of(following) == place_of(last):
        return _at(last, text, REPEATABLE)
    first = f"change last what tells the next run what to repair (move {place_of(last)} behind "
    return _at(last, text, f"{first}{place_of(following)}, or what follows it); or {REPEATABLE}")


def _of_what_is_left(
    verdict: Verdict,
    operations: Sequence[Operation],
    done: Sequence[Operation],
    left: Sequence[Operation],
    target: str,
) -> Cause:
    """Return the cause of what a run that wrote the target, at least in part, leaves."""
    of_target = [one for one in done if is_write(one) and is_of(one, target)]
    written = _last(of_target or [one for one in done if is_write(one)])
    to_note = next((one for one in left if is_state(one)), None)
    if written is None:
        return NO_WRITE
    to_write = next((one for one in left if is_write(one) and is_of(one, target)), None)
    if verdict == "lost" and not of_target and to_write:  # a mark of its own, such as an object
        return _of_note(written, to_write)
    if verdict == "lost":
        text = f"the next run takes what {place_of(written)} has written for all of it, and leaves "
        return _at(written, f"{text}out the rest", REPEATABLE)
    if to_note:
        text = (
            f"{place_of(written)} has written rows that {place_of(to_note)} had not yet noted: the "
            "next run reads and writes them again"
        )
        return _at(written, text, FINAL if verdict == "changed" else REPEATABLE)
    if not any(is_state(one) for one in operations):
        text = f"{place_of(written)} writes rows, and nothing notes that they are done"
        remedy = f"{REPEATABLE}; or set MaxRetries to 0, and look before a new run"
        return _at(written, text, remedy)
    return _at(written, f"{place_of(written)} wrote what the next run does not expect", REPEATABLE)


def _of_note(noted: Operation, to_write: Operation) -> Cause:
    place = place_of(noted)
    if noted.places and noted.places[-1].startswith("s3://"):  # an object that runs read
        what = f"changes or deletes {noted.places[-1]}, which tells a run what to read,"
        remedy = f"do that after the last write (move {place} there)"
    else:
        what = "notes that the rows are done"
        remedy = f"commit after the last write (move {place} there)"
    text = (
        f"{place} {what} before {place_of(to_write)} writes them: the next run does not read them "
        "again"
    )
    again = _repeatable(REPEATABLE, to_write)
    return _at(noted, text, f"{remedy}; and {again}, for a crash between the two")


def _of_run(
    experiment: Experiment, verdict: Verdict, operations: Sequence[Operation], target: str
) -> Cause:
    of_target = _last(one for one in operations if is_write(one) and is_of(one, target))
    written = of_target or _last(one for one in operations if is_write(one))
    text, remedy = WHY.get((experiment.kind, verdict)) or WHY[verdict]
    if remedy == ONLY_NEW and not any(is_state(one) for one in operations):
        text = f"the run commits neither a bookmark nor a watermark: {text}"
    own = [one for one in operations if is_of(one, target)]
    if remedy == NOT_ALL and any(STAGING in place for one in own for place in one.places):
        text, remedy = PARTITION_REASON, WHOLE
    if written is None:
        return Cause(text.format(place="the job"), remedy)
    deleted = _last(
        one
        for one in operations
        if one.kind == DELETE and is_of(one, target) and not is_hidden(one)
    )
    puts = [one for one in operations if one.kind in (PUT, COPY) and is_of(one, target)]
    are_new = bool(puts) and len({one.places[-1] for one in puts}) == len(puts)
    only_adds = are_new and target.startswith("s3://")
    if remedy == NOT_ALL and not deleted and only_adds:
        text, remedy = FROM_ONE_RUN, BOTH_SIDES
    if verdict == "lost" and deleted and place_of(deleted) != place_of(written):
        return _at(deleted, f"{place_of(deleted)} deletes what earlier runs have written", NOT_ALL)
    return _at(written, text.format(place=place_of(written)), remedy)


def _at(operation: Operation, text: str, remedy: str) -> Cause:
    return Cause(text, _repeatable(remedy, operation), operation.script, operation.line)


def _repeatable(remedy: str, operation: Operation) -> str:
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


def _last(operations: Iterable[Operation]) -> Operation | None:
    found = list(operations)
    return found[-1] if found else None
