"""Starts a job run, or reports that it would find nothing new in its inputs, arguments and code."""

import contextlib
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tidemark.errors import EntityNotFoundError, TidemarkError, UsageError
from tidemark.glue_job.process.commit_record import open_arguments
from tidemark.glue_service.runs.arguments import listed, merge_arguments
from tidemark.glue_service.runs.extra_files import file_at
from tidemark.glue_service.runs.job_run_process import JobProcess, start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.glue_service.workflows.nothing_new import (
    Inputs,
    LastRun,
    declared_inputs,
    own_arguments,
    reason_to_run,
)
from tidemark.local_state.bookmarks.explain import OpenedSource, sources_of_run
from tidemark.local_state.bookmarks.reading import read_s3_source
from tidemark.local_state.bookmarks.sources import Edges, S3Source
from tidemark.local_state.bookmarks.versions import COMMIT, Bookmark, latest_bookmark
from tidemark.local_state.home import Home
from tidemark.local_state.store.checkpoints import checkpoint_of_run
from tidemark.local_state.store.database import JobRun, Store
from tidemark.model.assembly.definitions import SPARK, JobDefinition
from tidemark.model.checkpoints.checkpoint import BookmarkMove, Checkpoint, DatasetRead
from tidemark.model.clock import now_ms
from tidemark.model.messages import plural

INPUTS_FILE = "tidemark-inputs.json"  # in the folder of a started run
FORMAT = 1
SHIPPED = ("--extra-py-files", "--extra-files", "--extra-jars")


def inputs_of(
    home: Home, script: str, arguments: Mapping[str, str], datasets: tuple[str, ...]
) -> Inputs:
    """Return what a run finds now."""
    shipped = [uri for name in SHIPPED for uri in listed(arguments, name)]
    digests = {uri: folder_digest(home.existing_path(uri), uri) for uri in datasets}
    code = {}
    for uri in (script, *shipped):
        path = file_at(home, uri)
        if path.is_dir():
            code[uri] = folder_digest(path, uri)
        else:
            code[uri] = hashlib.sha256(path.read_bytes()).hexdigest()
    return Inputs(datasets=digests, arguments=own_arguments(arguments), code=code)


def folder_digest(folder: Path, uri: str) -> str:
    """Return a digest of the names, sizes and times of all files in a folder.

    A missing folder counts as an empty one.
    """
    lines: list[str] = []
    folders = [str(folder)] if folder.is_dir() else []
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_symlink():
                    raise UsageError(f"{uri} has the symbolic link {entry.path}")
                if entry.is_dir():
                    folders.append(entry.path)
                    continue
                status = entry.stat()
                name = os.path.relpath(entry.path, folder)
                facts = (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino)
                lines.append("\0".join((name, *map(str, facts))))
    text = "\n".join(sorted(lines))
    return hashlib.sha256(text.encode("utf-8", errors="surrogateescape")).hexdigest()


def write_inputs(folder: Path, inputs: Inputs) -> None:
    """Store what a run has found in its folder."""
    try_write(folder / INPUTS_FILE, json.dumps({"format": FORMAT, **asdict(inputs)}))


def try_write(file: Path, text: str) -> None:
    """Write a file next to a run's log, if possible: without it, the next run is not skipped."""
    with contextlib.suppress(OSError):
        file.write_text(text, encoding="utf-8", errors="backslashreplace")


def read_inputs(folder: Path) -> Inputs | None:
    """Return what `write_inputs` stored; None if it cannot be read."""
    try:
        document = json.loads((folder / INPUTS_FILE).read_text(encoding="utf-8"))
        return Inputs(**document) if document.pop("format") == FORMAT else None
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


# Files in a run's folder: that it was not started; or why it was, although its job may skip it.
SKIPPED_FILE, REASON_FILE = "tidemark-nothing-new", "tidemark-not-skipped.txt"


@dataclass(frozen=True)
class NothingNew:
    """A run that was not started, because it would find nothing new.

    Attributes:
        run: its final record: SUCCEEDED, with no rows.
        checkpoint: its checkpoint, with that result.
    """

    run: JobRun
    checkpoint: Checkpoint


def start_or_skip(
    machine: Machine, job: JobDefinition, arguments: Mapping[str, str], run: JobRun
) -> JobProcess | NothingNew:
    """Start the process of a run, unless its job allows a skip and it would find nothing new."""
    merged = merge_arguments(job, arguments)
    if not declared_inputs(merged) or job.command != SPARK:
        return start_job_run(machine, job, arguments, run)
    outlook = outlook_of(machine.home, job, merged, run)
    if outlook.inputs is not None and not outlook.reason:
        return _skipped(run, outlook.inputs, outlook.bookmark)
    process = start_job_run(machine, job, arguments, run)
    folder = Path(run.log_path).parent
    try_write(folder / REASON_FILE, outlook.reason)
    if outlook.inputs is not None:
        write_inputs(folder, outlook.inputs)
    return process


@dataclass(frozen=True)
class Outlook:
    """The findings before a run starts.

    Attributes:
        reason: why it must run, in words; empty if it would find nothing new.
        inputs: its inputs now; None if unknown.
        bookmark: the bookmark of its job.
    """

    reason: str
    inputs: Inputs | None = None
    bookmark: Bookmark | None = None


def outlook_of(
    home: Home, job: JobDefinition, arguments: Mapping[str, str], run: JobRun
) -> Outlook:
    """Decide whether a run must start; what cannot be read is a reason to start it."""
    now = None
    try:
        now = inputs_of(home, job.script_location, arguments, declared_inputs(arguments))
        with Store(home.database) as store:
            bookmark = latest_bookmark(store, job.name)
            last = last_run_of(store, home, run, bookmark)
        return Outlook(reason_to_run(run.bookmark_option, last, now), now, bookmark)
    except (TidemarkError, OSError, ValueError, LookupError, TypeError) as error:
        return Outlook(f"{type(error).__name__}: {error}", now)


def last_run_of(store: Store, home: Home, run: JobRun, bookmark: Bookmark | None) -> LastRun | None:
    """Return the known facts about a job's newest run that was started, before this one."""
    rows = store.query(  # by rowid, the order of starts: clocks are set back
        "SELECT run_id, state FROM job_run WHERE job_name = ? AND run_id != ? ORDER BY rowid DESC",
        (run.job_name, run.run_id),
    )
    for row in rows:
        folder = home.runs / row["run_id"]
        if not (folder / SKIPPED_FILE).exists():
            break
    else:
        return None
    is_of_run = bookmark is not None and bookmark.run_id == folder.name
    checkpoint = checkpoint_of_run(store, folder.name)
    is_in_force = is_of_run and bookmark is not None and bookmark.kind == COMMIT
    if not is_in_force or bookmark is None or checkpoint is None:
        return LastRun(row["state"], read_inputs(folder), is_in_force=False)
    doubts = tuple(doubts_about(store, home, bookmark))
    reads = tuple(read.dataset for read in checkpoint.read)
    return LastRun(row["state"], read_inputs(folder), is_in_force, reads, doubts)


def doubts_about(store: Store, home: Home, bookmark: Bookmark) -> list[str]:
    """Return why a run might find something new in the sources that the last run opened."""
    doubts = []
    try:
        sources = sources_of_run(store, bookmark.job_name, bookmark.run_id)
    except EntityNotFoundError:
        # It was read by Spark alone, in full.
        return []
    for opened in sources:
        if reason := _unclear(opened):
            doubts.append(reason)
        elif opened.is_bookmarked:
            source = S3Source.from_json(opened.source)
            edges = Edges(bookmark.states.get(opened.ctx), None, bookmark.committed_at_ms)
            reading = read_s3_source(source, home.existing_path, now_ms(), edges)
            if reading.files:
                doubts.append(f"{opened.ctx} has {plural(len(reading.files), 'file')} not read yet")
            elif reading.warnings:
                doubts.append(f"a run has to report what it skips of {opened.ctx}")
    return doubts


def _unclear(opened: OpenedSource) -> str:
    """Return why it is unknown what a source reads, in words; empty if it is known."""
    name = opened.ctx or "a source"
    if not opened.is_of_files:
        return f"{name} reads a database"
    if opened.source.get("table"):
        return f"{name} reads a table of the Data Catalog"
    if opened.source.get("push_down_predicate"):
        return f"{name} has a push_down_predicate, which the script may change from run to run"
    return ""


def _skipped(run: JobRun, now: Inputs, bookmark: Bookmark | None) -> NothingNew:
    folder = Path(run.log_path).parent
    folder.mkdir(parents=True)
    text = f"nothing new: {', '.join(now.datasets)} unchanged since the last commit; not started\n"
    (folder / "stdout.log").write_text(text, encoding="utf-8")
    (folder / "stderr.log").touch()
    (folder / SKIPPED_FILE).touch()
    at_ms = now_ms()
    version = bookmark.version if bookmark else 0
    argv = [word for pair in now.arguments.items() for word in pair]
    checkpoint = Checkpoint(
        run.job_name,
        run.run_id,
        at_ms,
        workflow_run_id=run.workflow_run_id or "",
        bookmark=BookmarkMove(run.bookmark_option, version, version),
        read=tuple(DatasetRead(uri, files=0, bytes=0, rows=0) for uri in now.datasets),
        arguments=open_arguments(argv),
    )
    ended = replace(run, state="SUCCEEDED", completed_at_ms=at_ms, rows_read=0, rows_written=0)
    return NothingNew(ended, checkpoint)
