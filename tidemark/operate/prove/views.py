"""What one job of a workflow looks at: states that differ only elsewhere are the same for it."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    COPY,
    DELETE,
    DYNAMODB,
    PUT,
    RENAME,
    REQUEST,
    read_operations,
    read_requests,
    table_uri,
    tables_changed,
)
from tidemark.local_state.reads import listed_by_scripts, read_opened
from tidemark.operate.prove.baselines import Baseline, jobs_of_runs
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
STATEMENTS = ("Statement", "ExecuteTransaction")


@dataclass(frozen=True)
class View:
    """What a job may go by.

    Attributes:
        job: its name.
        own: the folders that it writes, with a slash at the end.
        written: those that any job of the workflow writes.
        opened: the objects that it has read, what it has looked for, also folders, and the tables
            of DynamoDB that it has used.
        listed: the prefixes below which it sees every object.
    """

    job: str
    own: tuple[str, ...]
    written: tuple[str, ...]
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
        is_opened = any(place in self.opened for place in _with_folders(uri))
        return is_opened or uri.startswith(self.listed) or self._is_own(path)

    def _is_own(self, path: str) -> bool:
        """Return whether the job writes below a folder of a path, or no other job does."""
        return path.startswith(self.own) or not path.startswith(self.written)


def _with_folders(uri: str) -> Iterator[str]:
    """Yield a URI and those of the folders that it is in."""
    while uri != "s3:/":
        yield uri
        uri = uri.rpartition("/")[0]


def _job_sets() -> defaultdict[str, set[str]]:
    return defaultdict(set)


@dataclass
class Views:
    """What the jobs of a workflow write and look at, as far as their runs have shown it.

    Attributes:
        writers: the jobs that write to each folder, by its path with a slash at the end.
        usual: the folders in which each job has read objects in the run that went well.
        opened: the objects that each job has read, and the tables that it has used.
        listed: the prefixes of what its script has listed itself: it may go by names.
        asking: the jobs that have sent requests whose answers no view tells.
    """

    writers: defaultdict[str, set[str]] = field(default_factory=_job_sets)
    usual: Mapping[str, Collection[str]] = field(default_factory=dict)
    opened: defaultdict[str, set[str]] = field(default_factory=_job_sets)
    listed: defaultdict[str, set[str]] = field(default_factory=_job_sets)
    asking: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, run: Baseline) -> "Views":
        """Return what a run that went well has shown."""
        views = cls()
        views.note(run.outcome.home)
        views.usual = {
            job: {_folder_of(uri) for uri in opened} for job, opened in views.opened.items()
        }
        return views

    def note(self, home: Home) -> None:
        """Learn from the runs of a home: one that repairs may look at more than the first one."""
        jobs = jobs_of_runs(home)
        requests = [(request.run_id, request.place) for request in read_requests(home)]
        for operation in read_operations(home):
            job = jobs.get(operation.run_id, "")
            if operation.kind in OF_OBJECTS:
                for place in operation.places:
                    self.writers[_folder_of(place)].add(job)
            elif operation.kind == REQUEST:
                requests.append((operation.run_id, operation.places[0]))
                self.opened[job] |= set(map(table_uri, tables_changed(operation)))
        for run_id, uri in read_opened(home):
            self.opened[jobs.get(run_id, "")].add(uri.rstrip("/"))
        for run_id, prefix in listed_by_scripts(home):
            self.listed[jobs.get(run_id, "")].add(prefix)
        self.asking |= {jobs.get(run_id, "") for run_id, request in requests if _asks(request)}

    def of_job(self, job: str) -> View | None:
        """Return the view of a job; None of one that sees everything."""
        if not job or job in self.asking:
            return None
        own = tuple(folder for folder, jobs in self.writers.items() if job in jobs)
        # Where only some runs of a job read, others go by what they do not find there.
        unusual = {_folder_of(uri) for uri in self.opened[job]} - {*self.usual.get(job, ())}
        listed = {*self.listed[job], *(f"s3://{folder}" for folder in unusual)}
        return View(job, own, tuple(self.writers), self.opened[job], tuple(listed))

    def is_listed(self, uri: str) -> bool:
        """Return whether a script has listed a folder, or one above or below it, itself."""
        return any(_meet(uri, prefix) for prefixes in self.listed.values() for prefix in prefixes)

    def readers(self) -> dict[str, set[str]]:
        """Return the jobs that have read in a folder that only other jobs write, by the folders."""
        looks = [
            (job, uri)
            for uris_by_job in (self.opened, self.listed)
            for job, uris in uris_by_job.items()
            for uri in uris
        ]
        return {
            folder: {job for job, uri in looks if _meet(uri, f"s3://{folder}")} - jobs
            for folder, jobs in self.writers.items()
        }


def _folder_of(uri: str) -> str:
    """Return the path of the folder of a target that an object is in, with a slash at the end."""
    path = UNCOMMITTED.sub("", uri.partition("://")[2])
    return f"{target_of(path).folder}/"


def _meet(uri: str, folder: str) -> bool:
    """Return whether an object is in a folder, or a prefix begins as the folder does."""
    return uri.startswith(folder) or folder.startswith(uri)


def _asks(request: str) -> bool:
    """Return whether the answer to a request is in no view."""
    return not request.startswith(WATCHED) or any(word in request for word in STATEMENTS)
