"""What runs of a home have changed outside their processes, in order, each with the state after it.

A home records them if it has the folder `operations`. The state that a crash leaves between two
operations can then be put together again, without the crash.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeAlias

from tidemark.local_state.home import Home
from tidemark.local_state.machine.own_files import append_line, read_lines
from tidemark.local_state.store.sqlite_files import STATE_FILES, put_state_file, stamp_of

FOLDER, LOG, LOCK, ARRIVAL = "operations", "operations.jsonl", "lock", "arrival"
OBJECTS, STATES, OPENED, LISTED, ARRIVING = "objects", "states", "opened", "listed", "arriving"
FAILING = "failing.json"  # which request is to fail, and how
REQUESTS = "requests.jsonl"  # those of boto3 that read
PUT, COPY, DELETE, RENAME = "put", "copy", "delete", "rename"
"""Kinds of operations on the lake; a copy is what a rename in S3 begins with."""
BOOKMARK, CATALOG, REQUEST = "bookmark", "catalog", "request"
"""Kinds of operations on what a home keeps beside the lake; a request is one to a service."""
JDBC, WITHHELD = "jdbc", "withheld"
"""A commit in an embedded database of the home; changes of another one, which are not made."""
ITEMS = "items"
"""Items of a table in DynamoDB that a job writes and does not read."""
DYNAMODB = "dynamodb"  # the first word of requests to it
# Ends of the names of requests that change items: PutItem, TransactWriteItems, ExecuteStatement, …
ITEM_SUFFIXES = ("Item", "Items", "Statement", "Transaction")
Lines: TypeAlias = Sequence[tuple[str, int]]
"""File names and lines of the user's code, the outermost first."""
AWAITED = "awaited.json"  # what must happen before an object that is held back arrives
COPIES = "copies"  # of the databases of the commit that is recorded now
EMBEDDED = "derby"  # folder of a home, and of a state
MESSAGES = "aws-messages-local"  # the bucket of messages that such runs have sent


REFUSED, UNANSWERED, HALF_DONE = "refused", "unanswered", "half done"
"""How a request fails: for as long as the client tries, done without an answer, done in part."""


class InjectedError(OSError):
    """An experiment lets a change fail, as S3 does with a 503."""


@dataclass(frozen=True)
class Operation:
    """One change outside the process of a run.

    Attributes:
        number: its place in the order of all operations of the home, from 1.
        run_id: the job run.
        kind: put, copy, delete or rename; bookmark, catalog or request.
        places: URIs of objects, the target last; else what was changed, such as a table.
        script: the file of the user's innermost line that ran then; empty if none did.
        line: that line; None if none ran.
        calls: the lines of the user's code that have called each other, the outermost first.
        may_go_on: whether the run may go on if the change fails; else the error ends it.
        is_of_jvm: whether Spark made the change, and no request of boto3.
        continues: whether the request that made the operation before it has made this one, too.
        in_part: whether a service may do a part of the request, and names the rest in its answer.
    """

    number: int
    run_id: str
    kind: str
    places: tuple[str, ...]
    script: str = ""
    line: int | None = None
    calls: tuple[str, ...] = ()
    may_go_on: bool = True
    is_of_jvm: bool = False
    continues: bool = False
    in_part: bool = False


@dataclass(frozen=True)
class AwsRead:
    """One request of boto3 that reads, or an object that Spark opens.

    Attributes:
        number: its place in the order of all requests of boto3 in the home, from 1; 0 of Spark's.
        run_id: the job run.
        place: the service, the request and what it reads.
        done: how many operations had been recorded before it.
        calls: as those of an `Operation`; likewise `may_go_on`.
    """

    number: int
    run_id: str
    place: str
    done: int
    calls: tuple[str, ...] = ()
    may_go_on: bool = True


@dataclass(frozen=True)
class Awaited:
    """What must happen before an object that is held back arrives.

    Attributes:
        uri: the object, if its place must be listed; else a run must write.
        look: how often it must be listed.
        tables: tables of DynamoDB whose items are rows.
    """

    uri: str = ""
    look: int = 0
    tables: Sequence[str] = ()


def record_operations(home: Home) -> None:
    """Let a home record the operations of its runs from now on."""
    for name in (OBJECTS, STATES):
        (home.root / FOLDER / name).mkdir(parents=True)


def records_operations(home: Home) -> bool:
    """Return whether a home records the operations of its runs."""
    return (home.root / FOLDER).is_dir()


def read_operations(home: Home) -> list[Operation]:
    """Return the operations that a home has recorded, in order."""
    return [
        Operation(**{**made, "places": tuple(made["places"]), "calls": tuple(made["calls"])})
        for made in read_lines(home.root / FOLDER / LOG)
    ]


def read_requests(home: Home) -> list[AwsRead]:
    """Return the requests of boto3 that have read in a home, in order."""
    requests = read_lines(home.root / FOLDER / REQUESTS)
    return [AwsRead(**{**made, "calls": tuple(made["calls"])}) for made in requests]


def let_fail_once(
    home: Home, number: int, how: str = REFUSED, *, of_requests: bool = False, what: str = ""
) -> None:
    """Let the operation with a number fail once in a home, which records; or such a request.

    `what` is the request to a service that makes the operation; empty if none does. With the number
    0 it is the object that Spark opens, and the lines that let it.
    """
    failing = {"number": number, "how": how, "of_requests": of_requests, "what": what}
    (home.root / FOLDER / FAILING).write_text(json.dumps(failing), encoding="utf-8")


def has_failed(home: Home) -> bool:
    """Return whether what was let fail in a home has failed."""
    return not (home.root / FOLDER / FAILING).is_file()


def let_arrive_meanwhile(home: Home, uri: str, tables: Sequence[str] = ()) -> None:
    """Hold an object back until a run of the home, which records, has written for the first time.

    A change of the items of a table in DynamoDB counts as a write.
    """
    _hold_back(home, uri, Awaited(tables=tuple(tables)))


def let_arrive_at_look(home: Home, uri: str, look: int) -> None:
    """Hold an object back until runs of the home, which records, have listed its place so often."""
    _hold_back(home, uri, Awaited(uri, look))


def count_looks(home: Home, uri: str) -> int:
    """Return how often the runs of a home have listed the place of an object."""
    path, count = uri.partition("://")[2], 0
    for folder, is_deep, *_ in read_lines(home.root / FOLDER / LISTED):
        # A listing of a folder, or of all URIs that begin so, may have the object.
        prefix = folder.partition("://")[2]
        rest = path.removeprefix(prefix)
        count += path.startswith(prefix) and rest != "" and (is_deep or "/" not in rest)
    return count


def _hold_back(home: Home, uri: str, awaited: Awaited) -> None:
    held = home.root / FOLDER / ARRIVING / home.local_path(uri).relative_to(home.lake)
    held.parent.mkdir(parents=True)
    home.local_path(uri).replace(held)
    (home.root / FOLDER / AWAITED).write_text(json.dumps(asdict(awaited)), encoding="utf-8")


def has_arrived(home: Home) -> bool:
    """Return whether the object that was held back is there."""
    return not any(file.is_file() for file in (home.root / FOLDER / ARRIVING).rglob("*"))


def table_uri(table: str) -> str:
    """Return the name of a table among what runs read and write."""
    return f"{DYNAMODB}:{table}"


def tables_changed(operation: Operation) -> list[str]:
    """Return the tables of DynamoDB that a request changes."""
    words = operation.places[0].split(" ", 2)
    if operation.kind != REQUEST or words[0] != DYNAMODB:
        return []
    return [name.rpartition("/")[2] for name in "".join(words[2:]).split(", ") if name]


def changes_items(operation: Operation) -> bool:
    """Return whether a request changes items of DynamoDB, and not a table itself."""
    if not tables_changed(operation):
        return False
    return operation.places[0].split(" ")[1].endswith(ITEM_SUFFIXES)


class Recorder:
    """Records the operations of one run, one at a time among all runs of the home."""

    def __init__(self, home: Home, run_id: str) -> None:
        """Record for a job run."""
        self.home = home
        self._run_id = run_id
        self._folder = home.root / FOLDER
        self._failing = self._folder / f"failed-{FAILING}"
        self._opened = set[str]()
        awaited = self._folder / AWAITED
        document = json.loads(awaited.read_text(encoding="utf-8")) if awaited.is_file() else {}
        self._awaited = Awaited(**document)

    def note_opened(self, uri: str, lines: Lines = (), may_go_on: bool = False) -> str:
        """Note that an object is read; return how that is to fail, empty if it is not."""
        calls = _calls(lines)
        opening = " ".join((uri, *calls))
        if opening not in self._opened:
            self._opened.add(opening)
            done = _lines_in(self._folder / LOG)
            append_line(self._folder / OPENED, [self._run_id, uri, done, calls, may_go_on])
        return self._failure(0, opening, of_requests=True)

    def note_listed(self, folder: str, *, is_deep: bool, by_script: bool = False) -> None:
        """Note that the objects in a folder were listed, or all whose URIs begin with it.

        What the script lists itself, it may go by.
        """
        run_id, done = (self._run_id, _lines_in(self._folder / LOG)) if by_script else ("", 0)
        append_line(self._folder / LISTED, [folder, is_deep, run_id, done])
        uri, look = self._awaited.uri, self._awaited.look
        if look and not has_arrived(self.home) and count_looks(self.home, uri) >= look:
            self._arrive()

    @contextmanager
    def alone(self, what: str = "") -> Iterator[str]:
        """Let no other run of the home carry out an operation meanwhile.

        Yield how the operation is to fail; empty if it is not. `what`: `let_fail_once`.
        """
        with (self._folder / LOCK).open("a+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            # A request that changes nothing, such as one that creates what is there, has no number.
            how = self._failure(_lines_in(self._folder / LOG) + 1, what, of_requests=False)
            try:
                yield how
            except Exception:
                # The operation has failed by itself: the next one is meant.
                if how and how != REFUSED:
                    self._failing.replace(self._folder / FAILING)
                raise

    def note_request(self, place: str, lines: Lines, may_go_on: bool) -> str:
        """Note a request of boto3 that reads; return how it is to fail, empty if it is not."""
        requests = self._folder / REQUESTS
        with (self._folder / LOCK).open("a+", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            number = _lines_in(requests) + 1
            done = _lines_in(self._folder / LOG)
            request = AwsRead(number, self._run_id, place, done, _calls(lines), may_go_on)
            append_line(requests, asdict(request))
            return self._failure(number, "", of_requests=True)

    def _failure(self, number: int, what: str, *, of_requests: bool) -> str:
        """Return how an operation or a request is to fail, once; empty if it is not."""
        file = self._folder / FAILING
        if not file.is_file():
            return ""
        failing = json.loads(file.read_text(encoding="utf-8"))
        wanted = failing["number"], failing["what"], failing["of_requests"]
        if wanted != (number, what, of_requests):
            return ""
        file.replace(self._failing)
        return str(failing["how"])

    def record(
        self,
        kind: str,
        places: tuple[str, ...],
        lines: Lines = (),
        may_go_on: bool = True,
        **facts: bool,
    ) -> None:
        """Record an operation that was just carried out by who is `alone`; `facts`: more of it."""
        log = self._folder / LOG
        number = _lines_in(log) + 1
        if kind in (PUT, COPY):
            self._keep_object(number, self.home.local_path(places[-1]))
        self._keep_databases(number)
        # The JVM has just made copies of embedded databases.
        if kind == JDBC:
            kept = self._folder / STATES / str(number) / EMBEDDED
            kept.parent.mkdir(parents=True, exist_ok=True)
            (self._folder / COPIES).replace(kept)
        script, line = lines[-1] if lines else ("", None)
        calls = _calls(lines)
        operation = Operation(
            number, self._run_id, kind, places, script, line, calls, may_go_on, **facts
        )
        append_line(log, asdict(operation))
        if not self._awaited.uri and self._is_write(operation):
            self._arrive()

    def _is_write(self, operation: Operation) -> bool:
        # How far the job has got, such as its bookmark, is no row.
        if operation.kind != REQUEST:
            return operation.kind in (PUT, COPY, JDBC, WITHHELD)
        return bool(set(self._awaited.tables).intersection(tables_changed(operation)))

    def _arrive(self) -> None:
        held = self._folder / ARRIVING
        if not held.is_dir():
            return
        with (self._folder / ARRIVAL).open("a+", encoding="utf-8") as lock:
            # Another process of the run may read, too.
            fcntl.flock(lock, fcntl.LOCK_EX)
            for file in [path for path in held.rglob("*") if path.is_file()]:
                target = self.home.lake / file.relative_to(held)
                target.parent.mkdir(parents=True, exist_ok=True)
                unfinished = held / f"{file.name}.now"
                shutil.copyfile(file, unfinished)  # the file itself may be linked elsewhere
                unfinished.replace(target)
                file.unlink()

    def _keep_object(self, number: int, file: Path) -> None:
        # An object may be deleted later, but is never changed in place: a link keeps it.
        kept = self._folder / OBJECTS / str(number)
        try:
            os.link(file, kept)
        except OSError:  # a file system without links
            shutil.copy2(file, kept)

    def _keep_databases(self, number: int) -> None:
        stamps = self._folder / "stamps.json"
        before = json.loads(stamps.read_text(encoding="utf-8")) if stamps.is_file() else {}
        after = {name: stamp_of(self.home.root / name) for name in STATE_FILES}
        for name in after:
            if after[name] and after[name] != before.get(name):
                put_state_file(self.home.root / name, self._folder / STATES / str(number) / name)
        stamps.write_text(json.dumps(after), encoding="utf-8")


def _calls(lines: Lines) -> tuple[str, ...]:
    return tuple(f"{file} line {line}" for file, line in lines)


def _lines_in(log: Path) -> int:
    if not log.is_file():
        return 0
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        # The last line has the number itself: a long log is not read from its beginning.
        file.seek(max(0, size - 100_000))
        last = file.read().splitlines()[-1]
    return int(json.loads(last)["number"])
