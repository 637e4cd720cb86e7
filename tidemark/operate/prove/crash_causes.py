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
    why,
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

DELETES = (DELETE, "dynamodb DeleteItem")  # of an object or an item that is a note
WAITS = Cause(*why("waits-for-ever"))


def of_crash(fault: Fault, after: int) -> Cause:
    """Return why a run that dies after an operation leaves what the next one makes wrong."""
    verdict, target, operations = fault.verdict, fault.target, fault.operations
    if fault.experiment.deaths > 1:
        return _of_repair(operations, after)
    done = [operation for operation in operations if operation.number <= after]
    left = [operation for operation in operations if operation.number > after]
    if fault.failure and done:
        change = described(done[-1])
        return at(done[-1], *why("later-job-fails", change=change, failure=fault.failure))
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
        return at(deleted, *why("deleted-before-written", place=place_of(deleted)))
    return _of_what_is_left(fault, done, left)


def _of_repair(operations: Sequence[Operation], after: int) -> Cause:
    """Return the cause of what is right after one death, and wrong after one in the repair."""
    before = last(operation for operation in operations if operation.number == after)
    left = (operation for operation in operations if operation.number > after)
    following = next(left, None)
    if before is None:
        return NO_WRITE
    text, remedy = why("never-repaired", change=described(before))
    if following is None or place_of(following) == place_of(before):
        return at(before, text, remedy)
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
        text, remedy = why("part-for-all", place=place_of(written))
        is_by_script = is_own_object(written) or written.kind == ITEMS
        return at(written, text, remedy if is_by_script else REPEATABLE)
    replaced = next((change for change in left if _replaces(written, change, target)), None)
    if verdict == "doubled" and replaced:
        both = {"place": place_of(written), "after": place_of(replaced)}
        return at(written, *why("replaced-objects-left", **both))
    if to_note:
        text, remedy = why("not-yet-noted", place=place_of(written), after=place_of(to_note))
        return at(written, text, FINAL if verdict == "changed" else remedy)
    if not any(map(is_state, fault.operations)):
        text, remedy = why("nothing-notes", place=place_of(written))
        by_hand = "set MaxRetries to 0, and look before a new run"
        return at(written, text, f"{remedy}; or {by_hand}")
    return at(written, *why("not-expected", place=place_of(written)))


def _of_mark(done: Sequence[Operation]) -> Cause:
    """Return the cause of what a run leaves that has written nothing but marks."""
    if not done:
        return NO_WRITE
    return at(done[-1], *why("mark-followed", change=described(done[-1])))


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
    lines = {"place": place_of(noted), "after": place_of(deleted)}
    return at(noted, *why("lock-left", lock=noted.places[-1], **lines))


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
    lines = {"place": place_of(noted), "after": place_of(to_write)}
    if noted.places and noted.places[-1].startswith("s3://"):  # an object that runs read
        text, last_change = why("named-first", mark=pattern_of(noted.places[-1]), **lines)
    else:
        text, last_change = why("noted-first", **lines)
    if is_named_after_input(to_write, fault.sources):
        return at(noted, text, last_change)  # a repeat replaces it
    again = repeatable(REPEATABLE, to_write)
    return at(noted, text, f"{last_change}; and {again}, for a crash between the two")
