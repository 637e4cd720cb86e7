"""What one job of a workflow looks at: states that differ only elsewhere are the same for it."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tidemark.local_state.operations import (
    COPY,
    DELETE,
    DYNAMODB,
    PUT,
    RENAME,
    REQUEST,
    table_uri,
    tables_changed,
)
from tidemark.local_state.reads import listed_by_scripts
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.contents import (
    COMMITTED_BOOKMARK,
    TABLES_PIECE,
    TAGS_PIECE,
    UNCOMMITTED,
    UNCOMMITTED_PIECE,
    WRITTEN_ANEW,
)
from tidemark.operate.prove.identity import Piece
from tidemark.operate.versions.targets import target_of

OF_OBJECTS = (PUT, COPY, DELETE, RENAME)
# Requests that tell what a job has read; a statement of PartiQL has its table in its text.
WATCHED = ("s3 GetObject ", "s3 HeadObject ", "s3 ListObjects", f"{DYNAMODB} ")


@dataclass(frozen=True)
class View:
    """What a job has looked at in a run.

    Attributes:
        job: its name.
        own: the folders that it writes, with a slash at the end.
        of_others: those that other jobs of the workflow write.
        opened: the objects that it has read, and the tables of DynamoDB that it has used.
        listed: the prefixes of what its script has listed itself: it may go by names.
    """

    job: str
    own: tuple[str, ...]
    of_others: tuple[str, ...]
    opened: Collection[str]
    listed: tuple[str, ...] = ()

    def seen(self, pieces: Sequence[Piece]) -> list[Piece]:
        """Return the pieces of a state that the job may go by."""
        tables = {piece.text for piece in pieces if piece.name == TABLES_PIECE}
        return [piece for piece in pieces if self._sees(piece, tables)]

    def _sees(self, piece: Piece, tables: Collection[str]) -> bool:
        if piece.name.startswith(COMMITTED_BOOKMARK):
            return piece.name == f"{COMMITTED_BOOKMARK}{self.job}"
        if piece.name in tables:
            return table_uri(piece.name) in self.opened
        if piece.name == UNCOMMITTED_PIECE:
            return self._is_own(piece.text)
        if piece.text.startswith(WRITTEN_ANEW):
            return self.job in piece.text.removeprefix(WRITTEN_ANEW).split(", ")
        path = piece.name.removeprefix(TAGS_PIECE)
        uri = f"s3://{path}"
        is_read = uri in self.opened or uri.startswith(self.listed)
        return is_read or self._is_own(path)

    def _is_own(self, path: str) -> bool:
        """Return whether the job writes below a folder of a path, or no other job does."""
        return path.startswith(self.own) or not path.startswith(self.of_others)


def views_of(run: Baseline, workflow: Baseline) -> dict[str, View]:
    """Return the views of the jobs of a run, by their names.

    `workflow` is a run of all jobs, which says what each of them writes. A job that sends
    other requests than for objects and items sees everything, and has no view.
    """
    writers = _writers(run, workflow)
    opened, listed = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for run_id, uri in run.opened:
        opened[run.jobs.get(run_id, "")] |= set(_opened(uri))
    for operation in run.operations:
        opened[run.jobs.get(operation.run_id, "")] |= set(map(table_uri, tables_changed(operation)))
    for run_id, prefix in listed_by_scripts(run.outcome.home):
        listed[run.jobs.get(run_id, "")].add(prefix)
    asking = set(_asking_others(workflow)) | set(_asking_others(run))
    views = dict[str, View]()
    for job in jobs_of_operations(workflow) - asking:
        own = tuple(folder for folder, of_jobs in writers.items() if job in of_jobs)
        views[job] = View(job, own, tuple(writers), opened[job], tuple(listed[job]))
    return views


def _opened(uri: str) -> Iterator[str]:
    """Yield an object, or the tables of a request to DynamoDB, which may be named by ARNs."""
    service, is_of_items, names = uri.partition(":")
    if service != DYNAMODB or not is_of_items:
        yield uri
        return
    for name in names.split(", "):
        yield table_uri(name.rpartition("/")[2])


def _writers(*runs: Baseline) -> Mapping[str, set[str]]:
    """Return the jobs that write to each folder."""
    writers = defaultdict[str, set[str]](set)
    for run in runs:
        for operation in run.operations:
            for place in operation.places if operation.kind in OF_OBJECTS else ():
                path = UNCOMMITTED.sub("", place.partition("://")[2])
                writers[f"{target_of(path).folder}/"].add(run.jobs.get(operation.run_id, ""))
    return writers


def readers_of(workflow: Baseline) -> dict[str, set[str]]:
    """Return the jobs that have read in a folder that only other jobs write, by the folders."""
    opened = [(workflow.jobs.get(run_id, ""), uri) for run_id, uri in workflow.opened]
    listed = listed_by_scripts(workflow.outcome.home)
    opened += [(workflow.jobs.get(run_id, ""), prefix) for run_id, prefix in listed]
    return {
        folder: {job for job, uri in opened if uri.startswith(f"s3://{folder}")} - writers
        for folder, writers in _writers(workflow).items()
    }


def jobs_of_operations(run: Baseline) -> set[str]:
    """Return the jobs that have changed something in a run."""
    return {run.jobs[made.run_id] for made in run.operations if made.run_id in run.jobs}


def _asking_others(run: Baseline) -> Iterator[str]:
    """Yield the jobs that send requests whose answers no view tells."""
    requests = [(request.run_id, request.place) for request in run.requests]
    requests += [
        (operation.run_id, operation.places[0])
        for operation in run.operations
        if operation.kind == REQUEST
    ]
    for run_id, request in requests:
        is_statement = any(word in request for word in ("Statement", "ExecuteTransaction"))
        if is_statement or not request.startswith(WATCHED):
            yield run.jobs.get(run_id, "")
