"""The files that a run reads as new ones, so that they may arrive in other ways."""

import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tidemark.local_state.home import Home
from tidemark.local_state.operations import COPY, PUT, read_operations
from tidemark.local_state.reads import read_opened
from tidemark.local_state.run_notes import noted_files
from tidemark.local_state.store.database import Store
from tidemark.operate.prove.bench import Outcome
from tidemark.operate.prove.tables import folders_of_tables
from tidemark.operate.versions.targets import SCRIPTS

MIN_PARTS = 4  # of s3://bucket/folder
DATE_FOLDER = re.compile(r"[^=]+=.*|\d[\d_-]*")


def sources_of(base: Home, outcome: Outcome) -> list[str]:
    """Return the URIs of the files that were new to a run, the oldest first.

    They are those that it read through bookmarks. Without any, they are all that it read of the
    folders with several files, those below for partitions and dates counted as one: a source with
    one file is taken for a table that every run reads, unless it is the only one.
    """
    # In a workflow they may be what another job has just written.
    return _of_bookmarks(base, outcome) or _of_folders(base, outcome)


def all_sources_of(base: Home, outcome: Outcome) -> list[str]:
    """Return the URIs of the files of `sources_of`, and of folders that no bookmark reads."""
    both = {*_of_bookmarks(base, outcome), *_of_folders(base, outcome)}
    return _oldest_first(base, both)


def _of_bookmarks(base: Home, outcome: Outcome) -> list[str]:
    uris = set[str]()
    with Store(outcome.home.database) as store:
        for run in store.all_job_runs():
            if run.started_at_ms >= outcome.trials[0].began_ms:
                uris |= noted_files(Path(run.log_path).parent, is_bookmarked=True)
    return _oldest_first(base, _that_arrive(base, uris))


def _of_folders(base: Home, outcome: Outcome) -> list[str]:
    uris = _newer(base, outcome, _of_large_folders(outcome))
    return _oldest_first(base, _that_arrive(base, uris))


def _oldest_first(base: Home, uris: Iterable[str]) -> list[str]:
    return sorted(uris, key=lambda uri: (base.local_path(uri).stat().st_mtime_ns, uri))


def _that_arrive(base: Home, uris: Iterable[str]) -> list[str]:
    """Return the files that were there before the run."""
    # A file of a table of Iceberg does not arrive by itself: without it the table is broken.
    of_tables = tuple(f"s3://{folder}" for folder in folders_of_tables(base))
    kept = [uri for uri in uris if not uri.startswith(of_tables)]
    return [uri for uri in kept if base.local_path(uri).is_file()]


def _newer(base: Home, outcome: Outcome, uris: set[str]) -> set[str]:
    """Return the files that came after the last run of these jobs: it has read the others."""
    with Store(outcome.home.database) as store:
        began_ms = outcome.trials[0].began_ms
        jobs = {run.job_name for run in store.all_job_runs() if run.started_at_ms >= began_ms}
    with Store(base.database) as store:
        last_ms = max(
            (
                run.started_at_ms
                for run in store.all_job_runs()
                if run.job_name in jobs and run.state == "SUCCEEDED"
            ),
            default=0,
        )
    files = {uri: base.local_path(uri) for uri in uris}
    return {
        uri
        for uri, file in files.items()
        if not file.is_file() or file.stat().st_mtime_ns // 1_000_000 >= last_ms
    }


def _of_large_folders(outcome: Outcome) -> set[str]:
    """Return what was read, except targets, scripts and sources with one file."""
    puts = [
        operation for operation in read_operations(outcome.home) if operation.kind in (PUT, COPY)
    ]
    targets = {root_of(operation.places[-1]) for operation in puts}
    folders = defaultdict(set)
    for _, uri in read_opened(outcome.home):
        name = uri.rpartition("/")[2]
        is_data = "://" in uri and not name.startswith(("_", "."))
        # Not below a target: a mark may stand above the folder with the input.
        if is_data and not uri.startswith(f"s3://{SCRIPTS}/") and root_of(uri) not in targets:
            folders[root_of(uri)].add(uri)
    if len(folders) == 1:  # all that a job reads is no table beside what is new
        return set().union(*folders.values())
    return {uri for files in folders.values() if len(files) > 1 for uri in files}


def root_of(uri: str) -> str:
    """Return the folder of a file, without the folders of partitions and dates."""
    parts = uri.split("/")[:-1]
    while len(parts) > MIN_PARTS and DATE_FOLDER.fullmatch(parts[-1]):
        parts.pop()
    return "/".join(parts)
