"""Why a run that dies leaves what the next one doubles, loses or changes."""

from collections.abc import Sequence

from tidemark.local_state.operations import DELETE, ITEMS, Operation
from tidemark.operate.prove.causes import (
    FINAL,
    NO_WRITE,
    REPEATABLE,
    Cause,
    Fault,
    advised,
    at,
    is_named_after_input,
    last,
    repeatable,
)
from tidemark.operate.prove.changes import (
    described,
    is_hidden,
    is_of,
    is_own_object,
    is_state,
    is_write,
    pattern_of,
    place_of,
)

IN_PLACE = advised("not-in-place")
DELETES = (DELETE, "dynamodb DeleteItem")  # of an object or an item that is a note
LOCK_REMEDY = advised("old-lock")
COMPACT_REMEDY = advised("name-what-counts")
IN_PART_REMEDY = advised("note-elsewhere")
LEFT_REMEDY = advised("read-what-is-left")
WAITS = Cause(
    "the next run does not end: it may wait for what another run has left, such as a lock",
    LOCK_REMEDY,
)


def of_crash(fault: Fault, after: int) -> Cause:
    """Return why a run that dies after an operation leaves what the next one makes wrong."""
    verdict, target, operations = fault.verdict, fault.target, fault.operations
    if fault.experiment.deaths > 1:
        return _of_repair(operations, after)
    done = [operation for operation in operations if operation.number <= after]
    left = [operation for operation in operations if operation.number > after]
    if fault.failure and done:
        text = f"a run that dies after {described(done[-1])} leaves what makes a later job fail"
        return at(done[-1], f"{text}: {fault.failure}", LEFT_REMEDY)
    noted = last(filter(is_state, done))
    own = [write for write in left if is_write(write) and is_of(write, target)]
    to_write = next(iter(own or filter(is_write, left)), None)
    unlocked = _deleted_after(noted, left) if noted and not fault.has_written else None
    if verdict == "lost" and noted and unlocked:
        return _of_lock(noted, unlocked)
    if verdict == "lost" and noted and to_write:
        return _of_note(fault, noted, to_write)
    seen = last(change for change in done if not is_hidden(change))
    has_written_last = bool(seen and is_write(seen) and is_of(seen, target))
    is_unnoted = has_written_last and any(map(is_state, left))  # it is noted later
    if verdict == "changed" and noted and to_write and not is_unnoted:
        return _of_note(fault, noted, to_write)
    deleted = last(change for change in done if change.kind == DELETE and not is_hidden(change))
    if verdict in ("lost", "changed") and deleted and not noted:
        text = (
            f"{place_of(deleted)} deletes what earlier runs have written before it writes it again:"
            " the next run finds only a part of it"
        )
        return at(deleted, text, IN_PLACE)
    return _of_what_is_left(fault, done, left)


def _of_repair(operations: Sequence[Operation], after: int) -> Cause:
    """Return the cause of what is right after one death, and wrong after one in the repair."""
    before = last(operation for operation in operations if operation.number == after)
    left = (operation for operation in operations if operation.number > after)
    following = next(left, None)
    if before is None:
        return NO_WRITE
    text = (
        f"a run that dies in its turn, right after {described(before)}, leaves what no run repairs"
    )
    if following is None or place_of(following) == place_of(before):
        return at(before, text, REPEATABLE)
    last_change = advised("repair-last", place=place_of(before), after=place_of(following))
    return at(before, text, f"{last_change}; or {REPEATABLE}")


def _of_what_is_left(fault: Fault, done: Sequence[Operation], left: Sequence[Operation]) -> Cause:
    """Return the cause of what a run that wrote the target, at least in part, leaves."""
    verdict, target = fault.verdict, fault.target
    own = [write for write in done if is_write(write) and is_of(write, target)]
    written = last(own or filter(is_write, done))
    to_note = next(filter(is_state, left), None)
    if written is None:
        return _of_mark(done)
    to_write = next((write for write in left if is_write(write) and is_of(write, target)), None)
    if verdict == "lost" and not own and to_write:  # a mark of its own, such as an object
        return _of_note(fault, written, to_write)
    if verdict == "lost":
        text = f"the next run takes what {place_of(written)} has written for all of it, and leaves "
        is_by_script = is_own_object(written) or written.kind == ITEMS
        return at(written, f"{text}out the rest", IN_PART_REMEDY if is_by_script else REPEATABLE)
    replaced = next((change for change in left if _replaces(written, change, target)), None)
    if verdict == "doubled" and replaced:
        text = (
            f"{place_of(written)} writes rows of objects that {place_of(replaced)} deletes after "
            "that: a run that dies in between leaves both"
        )
        return at(written, text, COMPACT_REMEDY)
    if to_note:
        text = (
            f"{place_of(written)} has written rows that {place_of(to_note)} had not yet noted: the "
            "next run reads and writes them again"
        )
        return at(written, text, FINAL if verdict == "changed" else REPEATABLE)
    if not any(map(is_state, fault.operations)):
        text = f"{place_of(written)} writes rows, and nothing notes that they are done"
        by_hand = "set MaxRetries to 0, and look before a new run"
        return at(written, text, f"{REPEATABLE}; or {by_hand}")
    return at(written, f"{place_of(written)} wrote what the next run does not expect", REPEATABLE)


def _of_mark(done: Sequence[Operation]) -> Cause:
    """Return the cause of what a run leaves that has written nothing but marks."""
    if not done:
        return NO_WRITE
    text = f"a run that dies after {described(done[-1])} leaves a mark that later runs follow"
    return at(done[-1], f"{text}: they do not make what the first run made", REPEATABLE)


def _replaces(written: Operation, deleted: Operation, target: str) -> bool:
    """Return whether another object of a target is deleted after one was written there."""
    is_delete = deleted.kind == DELETE and is_of(deleted, target) and not is_hidden(deleted)
    return is_delete and is_own_object(written) and deleted.places[-1] != written.places[-1]


def _deleted_after(noted: Operation, left: Sequence[Operation]) -> Operation | None:
    """Return what deletes a note at the end of its run: then it is a lock."""
    if noted.places[0].startswith(DELETES):
        return None
    same = (change for change in left if change.places[-1] == noted.places[-1])
    return next((change for change in same if change.places[0].startswith(DELETES)), None)


def _of_lock(noted: Operation, deleted: Operation) -> Cause:
    text = (
        f"{place_of(noted)} writes {noted.places[-1]}, and {place_of(deleted)} deletes it when "
        "the rows are written: a run that dies in between leaves it, and the next run stops there"
    )
    return at(noted, text, LOCK_REMEDY)


def of_waiting(operations: Sequence[Operation], after: int) -> Cause:
    """Return why a run waits for ever: for an object that the dead run would have deleted."""
    puts = {change.places[-1]: change for change in operations if change.number <= after}
    left = (change for change in operations if change.number > after and change.places[-1] in puts)
    deletes = (
        change for change in left if change.kind == DELETE or change.places[0].startswith(DELETES)
    )
    unlocked = next(deletes, None)
    return _of_lock(puts[unlocked.places[-1]], unlocked) if unlocked else WAITS


def _of_note(fault: Fault, noted: Operation, to_write: Operation) -> Cause:
    place = place_of(noted)
    if noted.places and noted.places[-1].startswith("s3://"):  # an object that runs read
        what = f"changes or deletes {pattern_of(noted.places[-1])}, which tells a run what to read,"
        last_change = advised("name-last", place=place)
    else:
        what = "notes that the rows are done"
        last_change = advised("commit-last", place=place)
    text = (
        f"{place} {what} before {place_of(to_write)} writes them: the next run does not read them "
        "again"
    )
    if is_named_after_input(to_write, fault.sources):
        return at(noted, text, last_change)  # a repeat replaces it
    again = repeatable(REPEATABLE, to_write)
    return at(noted, text, f"{last_change}; and {again}, for a crash between the two")
