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
)
from tidemark.operate.prove.identity import Piece
from tidemark.operate.versions.targets import target_of

OF_OBJECTS = (PUT, COPY, DELETE, RENAME)
# Requests that tell what a job has read.
WATCHED = ("s3 GetObject ", "s3 HeadObject ", "s3 ListObjects", f"{DYNAMODB} ")


@dataclass(frozen=True)
class View:
    """What a job has looked at in a run.

    Attributes:
        job: its name.
        of_others: the folders that only other jobs of the workflow write, with a slash at the end.
        opened: the objects that it has read, and the tables of DynamoDB that it has used.
        listed: the prefixes of what its script has listed itself: it may go by names.
    """

    job: str
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
            return not piece.text.startswith(self.of_others)
        path = piece.name.removeprefix(TAGS_PIECE)
        uri = f"s3://{path}"
        is_read = uri in self.opened or uri.startswith(self.listed)
        return is_read or not path.startswith(self.of_others)


def views_of(run: Baseline, workflow: Baseline) -> dict[str, View]:
    """Return the views of the jobs of a run, by their names.

    `workflow` is a run of all jobs, which says what each of them writes. A job that sends
    other requests than for objects and items sees everything, and has no view.
    """
    writers = _writers(run, workflow)
    opened, listed = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for run_id, uri in run.opened:
        opened[run.jobs.get(run_id, "")].add(uri)
    for operation in run.operations:
        opened[run.jobs.get(operation.run_id, "")] |= set(map(table_uri, tables_changed(operation)))
    for run_id, prefix in listed_by_scripts(run.outcome.home):
        listed[run.jobs.get(run_id, "")].add(prefix)
    asking = set(_asking_others(workflow)) | set(_asking_others(run))
    views = dict[str, View]()
    for job in jobs_of_operations(workflow) - asking:
        own = tuple(folder for folder, of_jobs in writers.items() if job in of_jobs)
        of_others = tuple(sorted(folder for folder in writers if not folder.startswith(own)))
        views[job] = View(job, of_others, opened[job], tuple(sorted(listed[job])))
    return views


def _writers(*runs: Baseline) -> Mapping[str, set[str]]:
    """Return the jobs that write to each folder."""
    writers = defaultdict[str, set[str]](set)
    for run in runs:
        for operation in run.operations:
            for place in operation.places if operation.kind in OF_OBJECTS else ():
                path = UNCOMMITTED.sub("", place.partition("://")[2])
                writers[f"{target_of(path).folder}/"].add(run.jobs.get(operation.run_id, ""))
    return writers


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
        if not request.startswith(WATCHED):
            yield run.jobs.get(run_id, "")
