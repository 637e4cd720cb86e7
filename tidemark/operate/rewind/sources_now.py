"""Checks local files that a rewind reads again: are they unchanged since they were read?

Checkpoints say how many files the undone runs have read. Since then some may have been deleted,
replaced, or have come with an older time, which no run has read. What lies there decides.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tidemark.errors import EntityNotFoundError
from tidemark.local_state.bookmarks.explain import sources_of_run
from tidemark.local_state.bookmarks.files import SourceState
from tidemark.local_state.bookmarks.sources import S3Source, list_source
from tidemark.local_state.bookmarks.versions import bookmark_of_version
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import MERGE
from tidemark.model.messages import plural
from tidemark.operate.rewind.amounts import Reread
from tidemark.operate.rewind.effects import NOT_KNOWN, RIGHT
from tidemark.operate.rewind.facts import BOOKMARK
from tidemark.operate.rewind.plan import JobPlan, RewindPlan, StateMove


@dataclass(frozen=True)
class FilesNow:
    """The files at a source of undone runs, and their size."""

    files: int
    bytes: int


def with_current_sources(home: Home, store: Store, plan: RewindPlan) -> RewindPlan:
    """Return a plan with the files that differ from what the undone runs have read."""
    jobs = tuple(_checked(home, store, job) for job in plan.jobs)
    new = [
        f"{after.job}: {effect.dataset}: {effect.why}"
        for before, after in zip(plan.jobs, jobs, strict=True)
        for effect in after.effects
        if effect not in before.effects
    ]
    return replace(plan, jobs=jobs, unknown=(*new, *plan.unknown))


def _checked(home: Home, store: Store, job: JobPlan) -> JobPlan:
    moves = [state for state in job.states if state.kind == BOOKMARK and state.undone]
    files_by_ctx = {ctx: files for move in moves for ctx, files in _files_now(home, store, move)}
    return amended(job, files_by_ctx)


def amended(job: JobPlan, files_by_ctx: Mapping[str, FilesNow]) -> JobPlan:
    """Return the plan of a job with the findings about its sources, by transformation_ctx.

    Rows of missing files do not come back: deleting or replacing data loses them.
    """
    reads = tuple(_read(read, files_by_ctx.get(read.source)) for read in job.reads_again)
    less = [
        f"{plural(read.files or 0, 'file')} of {read.dataset} once read, {now.files} unchanged"
        for read in job.reads_again
        if not read.why and (now := files_by_ctx.get(read.source)) and now.files < (read.files or 0)
    ]
    if not less:
        return replace(job, reads_again=reads)
    why = f"{less[0]}: rows of one that was deleted do not come back"
    effects = tuple(
        replace(effect, verdict=NOT_KNOWN, why=why)
        if effect.verdict == RIGHT and effect.is_written and effect.mode != MERGE
        else effect
        for effect in job.effects
    )
    return replace(job, reads_again=reads, effects=effects)


def _read(one: Reread, now: FilesNow | None) -> Reread:
    if now is None or one.why or (now.files, now.bytes) == (one.files, one.bytes):
        return one
    there = f"{plural(now.files, 'file')}, {plural(now.bytes, 'byte')}, are there now"
    return replace(one, why=f"files were deleted, replaced or came late since: {there}")


def _files_now(home: Home, store: Store, move: StateMove) -> Iterator[tuple[str, FilesNow]]:
    """Yield by context the files that exist now of those that the undone runs have read."""
    sources = _sources(store, move.job, move.undone[-1])
    lower, upper = (_states(store, move.job, at) for at in (move.to_version, move.from_version))
    for ctx, source in sources.items():
        if source.push_down_predicate or source.table or ctx not in upper:
            continue  # which partitions it lists only a run knows
        before = SourceState.from_json(lower[ctx]) if ctx in lower else None
        after = SourceState.from_json(upper[ctx])
        try:
            files = list_source(source, home.existing_path).files
        except EntityNotFoundError:  # the bucket is gone
            files = []
        read = [file for file in files if after.has_read(file)]
        again = [file for file in read if before is None or not before.has_read(file)]
        yield ctx, FilesNow(len(again), sum(file.size for file in again))


def _sources(store: Store, job: str, run_id: str) -> dict[str, S3Source]:
    try:
        opened = [source for source in sources_of_run(store, job, run_id) if source.is_of_files]
    except EntityNotFoundError:  # it has opened none
        return {}
    return {
        source.ctx: S3Source.from_json(source.source) for source in opened if source.is_bookmarked
    }


def _states(store: Store, job: str, version: int) -> Mapping[str, Any]:
    bookmark = bookmark_of_version(store, job, version)
    return bookmark.states if bookmark else {}
