"""What the changes of a run are: writes, notes of how far it is, and what only committers see."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import date

from tidemark.local_state.operations import BOOKMARK as BOOKMARK_COMMIT
from tidemark.local_state.operations import (
    CATALOG,
    COPY,
    DELETE,
    ITEMS,
    JDBC,
    MESSAGES,
    PUT,
    RENAME,
    REQUEST,
    WITHHELD,
    Operation,
    changes_items,
)
from tidemark.operate.prove.identity import SHORT_ID

# Of UUIDs, also without their hyphens, or only the beginning.
ID = (
    r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])"
    rf"|{SHORT_ID}"
)
VARYING = re.compile(rf"{ID}|(?<=jr_)[0-9a-f]+|\d+")
# Of a table of Iceberg: nobody reads it before the catalog names it.
METADATA_PATH = re.compile(r"/metadata/[^/]+(\.avro|\.metadata\.json|\.stats)$")
PART_PATH = re.compile(r"/(run-[^/]*-)?part-[^/]+$")
RANDOM = re.compile(rf"(?:{ID})(-c\d+)?|(?<=jr_)[0-9a-f]+")
COMMITTERS = re.compile(r"/(_temporary|\.spark-staging|__magic)[^/]*/.*/")  # names of attempts
BATCH_PATH = re.compile(r"/commits/\d+$")  # in the checkpoint of a streaming query
HIDDEN_NAME = re.compile(r"\.|_(?![^=]*=)")  # begins the name; `_day=1` is a partition

SENT = f"s3://{MESSAGES}/"
OF_PARTITIONS = " (partitions)"  # ends the name of a target: those of a table that are registered
TAKES = ("sqs ReceiveMessage", "sqs DeleteMessage")
# What requests to these services change is compared, or shows in what the next run reads.
COMPARED = ("dynamodb ", "glue ", "s3 ", "secretsmanager ", "ssm ", "sns Create", "sqs Create")
# Requests that keep a mark of a job's own.
NOTES = (
    "s3 PutObjectTagging",
    "ssm PutParameter",
    "secretsmanager PutSecretValue",
    "secretsmanager UpdateSecret",
    "glue UpdateTable",
    "glue UpdateDatabase",
    "glue PutWorkflowRunProperties",
)


def described(operation: Operation) -> str:
    """Return an operation in a few words, without random ids."""
    place = RANDOM.sub("…", operation.places[-1]) if operation.places else ""
    place = COMMITTERS.sub(r"/\1/…/", place)
    if is_message(operation):
        return f"sending to {place.removeprefix(SENT).rpartition('/')[0]} ({place_of(operation)})"
    words = {
        PUT: f"writing {place}",
        COPY: f"copying to {place}",
        DELETE: f"deleting {place}",
        RENAME: f"renaming to {place}",
        BOOKMARK_COMMIT: f"changing {place}" if "/" in place else "committing the bookmark",
        JDBC: f"committing to {place}",
        ITEMS: f"writing items to {place}",
        WITHHELD: f"a change of {place} that was not made",
    }
    if operation.kind == CATALOG:
        words[CATALOG] = f"changing {place} in the Data Catalog"
    if operation.kind == REQUEST:
        words[REQUEST] = f"the request {place}"
    at = f" ({place_of(operation)})" if operation.line else ""
    return f"{words.get(operation.kind, f'{operation.kind} {place}')}{at}"


def place_of(operation: Operation) -> str:
    """Return the line of the user's code that an operation belongs to, and where it was called."""
    if not operation.line:
        return "the end of the script"
    of_line = f"{operation.script} line {operation.line}"
    if len(operation.calls) < 2:
        return of_line
    return f"{of_line} from {operation.calls[-2].removeprefix(f'{operation.script} ')}"


def is_write(operation: Operation) -> bool:
    """Return whether an operation adds rows to a target: an object, items, or a commit."""
    return operation.kind in (PUT, COPY, JDBC, ITEMS)


def is_message(operation: Operation) -> bool:
    """Return whether an operation has sent a message."""
    return operation.kind == PUT and operation.places[-1].startswith(SENT)


def is_own_object(operation: Operation) -> bool:
    """Return whether an operation writes an object that the script has named, and not Spark."""
    is_of_spark = PART_PATH.search(operation.places[-1]) or is_hidden(operation)
    return operation.kind == PUT and not (operation.is_of_jvm and is_of_spark)


def has_partitions(operation: Operation) -> bool:
    """Return whether an operation writes to a folder of a partition, such as day=2026-11-01."""
    return any("=" in part for part in operation.places[-1].split("/")[:-1])


def pattern_of(path: str) -> str:
    """Return a path with a star for each number and id below its bucket: a run may make them."""
    scheme, _, rest = path.rpartition("://")
    bucket, slash, key = rest.partition("/")
    return f"{scheme}{'://' if scheme else ''}{bucket}{slash}{VARYING.sub('*', key)}"


def is_below(place: str, target: str) -> bool:
    """Return whether a place is of a target: a folder, or the pattern of those of runs."""
    return (pattern_of(place) if "*" in target else place).startswith(target)


def is_of(operation: Operation, target: str) -> bool:
    """Return whether an operation changed a target: a folder, a table, or one of a database."""
    if operation.kind == CATALOG:
        return f"table {operation.places[0]}" == target.removesuffix(OF_PARTITIONS)
    if target.endswith(OF_PARTITIONS):
        words, table = operation.places[0].split(), target.removesuffix(OF_PARTITIONS)
        return operation.kind == REQUEST and words[0] == "glue" and table.endswith(f".{words[-1]}")
    return bool(places_within(operation, target)) or (
        operation.kind == JDBC and target.startswith(f"{operation.places[-1]} ")
    )


def places_within(operation: Operation, target: str) -> list[str]:
    """Return what an operation changed of a target; a transaction changes several tables."""
    if operation.kind == ITEMS:
        return [place for place in operation.places if place == target or not target]
    return [place for place in operation.places[-1:] if is_below(place, target)]


def is_state(operation: Operation) -> bool:
    """Return whether an operation notes how far the job has got: a bookmark, or a watermark."""
    is_note = operation.kind == REQUEST and operation.places[0].startswith(NOTES)
    return operation.kind == BOOKMARK_COMMIT or changes_items(operation) or is_note


def messages_taken(operations: Iterable[Operation]) -> str:
    """Return the first line that takes messages from a queue of SQS; empty if none does."""
    taken = (request for request in operations if request.kind == REQUEST)
    return next((place_of(request) for request in taken if request.places[0].startswith(TAKES)), "")


def unjudged(operations: Iterable[Operation]) -> list[str]:
    """Return the requests whose effects are not compared, such as messages, with their lines."""
    requests = [request for request in operations if request.kind == REQUEST]
    others = [request for request in requests if not request.places[0].startswith(COMPARED)]
    return list(dict.fromkeys(f"{request.places[0]} ({place_of(request)})" for request in others))


def named_after_day(operations: Iterable[Operation], day: date) -> str:
    """Return the first name of objects, up to the day on which a run writes them; else empty.

    A name that has the minute, too, is another one in each run, which all experiments show.

    Example:
        `s3://lake/out/year=2026/month=11/day=30`, on that day.
    """
    texts = (day.strftime(form) for form in ("%Y-%m-%d", "%Y%m%d", r"%Y/(?:\w+=)?%m/(?:\w+=)?%d"))
    is_named = re.compile(rf"(?<!\d)({'|'.join(texts)})(?![T _-]?\d\d[:_-]?\d\d)")
    changes = sorted(operations, key=is_hidden)  # what a committer stages comes last
    puts = (change.places[-1] for change in changes if change.kind in (PUT, COPY))
    return next((put[: named.end()] for put in puts if (named := is_named.search(put))), "")


def micro_batches(operations: Iterable[Operation]) -> int:
    """Return how many micro-batches of streaming queries the runs have committed."""
    return len({operation.places[-1] for operation in operations if commits_batch(operation)})


def commits_batch(operation: Operation) -> bool:
    """Return whether an operation notes that a micro-batch of a streaming query is done."""
    return bool(operation.places and BATCH_PATH.search(operation.places[-1]))


def with_short_calls(operations: Sequence[Operation]) -> list[Operation]:
    """Return operations with as few calls as tell them from others that the same line made."""
    by_line: dict[str, set[tuple[str, ...]]] = {}
    for operation in operations:
        for calls in [operation.calls] if operation.calls else ():
            by_line.setdefault(calls[-1], set()).add(calls)
    return [
        replace(operation, calls=_shortest(operation.calls, by_line[operation.calls[-1]]))
        if operation.calls
        else operation
        for operation in operations
    ]


def _shortest(calls: tuple[str, ...], others: Collection[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the end of calls that is not the end of others."""
    for length in range(1, len(calls)):
        same = {other for other in others if other[-length:] == calls[-length:]}
        if same == {calls}:
            return calls[-length:]
    return calls


def calls_of(operation: Operation) -> tuple[str, ...]:
    """Return the lines that made an operation, by which it is told from others."""
    return operation.calls or (place_of(operation),)


def is_hidden(operation: Operation) -> bool:
    """Return whether an operation changes only objects that no reader of Spark sees."""
    if operation.kind not in (PUT, COPY, DELETE, RENAME):
        return False
    changed = operation.places if operation.kind == RENAME else operation.places[-1:]
    if all(map(METADATA_PATH.search, changed)):
        return True
    return all(map(is_hidden_place, changed))


def is_hidden_place(uri: str) -> bool:
    """Return whether no reader of Spark sees an object."""
    return any(HIDDEN_NAME.match(part) for part in uri.removeprefix("s3://").split("/")[1:])
