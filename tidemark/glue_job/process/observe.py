"""Observes the columns of what a job reads and writes: notes them, and warns of a change.

A frame knows its schema without a job of Spark.
"""

import os
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from tidemark.glue_job.process.bookmark_session import current_session, folder_of
from tidemark.glue_job.process.first_file import brought_by
from tidemark.glue_job.readers.request import ReadRequest, TableRequest
from tidemark.local_state.bookmarks.datasets_read import dataset_of_path
from tidemark.local_state.bookmarks.files import FileVersion
from tidemark.local_state.home import RUN_ID_VARIABLE
from tidemark.local_state.job_run import job_home
from tidemark.local_state.observed_schemas import LOOK_BACK, note_schema, schemas_of_job
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, RunWarning, note
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.schema_changes import (
    Change,
    ChangeKind,
    changes_of,
    of_key,
    parquet_effect,
    passed_on,
)
from tidemark.model.checkpoints.schemas import READ, VOID, Column, Schema, columns_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

_is_observing: ContextVar[bool] = ContextVar("is_observing", default=False)


@dataclass
class _Run:
    """What earlier runs had; what this one has otherwise in its sources, as nulls, and written.

    What the last one could not see has come since it started, in epoch milliseconds.
    """

    earlier: list[tuple[Schema, ...]]
    since_ms: int = 0
    in_sources: set[tuple[ChangeKind, str]] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    written: set[str] = field(default_factory=set)


@lru_cache(maxsize=1)
def _run(database: Path, run_id: str) -> _Run:
    with Store(database) as store:
        run = store.job_run(run_id)  # still running, so not among the earlier ones
        earlier = schemas_of_job(store, run.job_name, LOOK_BACK) if run else []
        last = store.job_run(earlier[0].run_id) if earlier else None
    return _Run([other.schemas for other in earlier], last.started_at_ms if last else 0)


def new_files(files: Iterable[str]) -> list[str]:
    """Return which files of a frame came since the last run, the oldest first; all if none did."""
    run = _run(job_home().database, os.environ[RUN_ID_VARIABLE])
    ages = sorted((folder_of(file).stat().st_mtime_ns, file) for file in map(unquote, files))
    new = [file for age, file in ages if age // 1_000_000 >= run.since_ms]
    return new or [file for _, file in ages]


def observe_read(
    frame: "DataFrame", request: ReadRequest | TableRequest, in_records: Collection[Column]
) -> None:
    """Observe a source with a transformation_ctx; one that has nothing new is no change.

    The columns in its records may tell that one is always null, which is a string in the frame.
    """
    ctx, session = request.transformation_ctx, current_session()
    if not ctx:
        return
    schema = Schema(READ, "", ctx, getattr(request, "connection_type", ""))
    files: Sequence[FileVersion] = ()
    if session is not None and ctx in session.readings:
        source, files = session.readings[ctx]
        if not files:
            return
        dataset = f"table:{source.table}" if source.table else dataset_of_path(source.paths[0])
        schema = Schema(READ, dataset, ctx, source.format)
    empty = {column.path for column in in_records if column.type == VOID}
    empty -= {column.path for column in in_records if column.type != VOID}
    paths = [file.path for file in files]
    with observing(lambda: frame.schema, schema, files=lambda: paths, empty=empty):
        pass


@contextmanager
def observing(
    structure: "Callable[[], StructType]",
    schema: Schema,
    *,
    files: Callable[[], Sequence[str]] = tuple,
    is_added: bool = False,
    empty: Collection[str] = (),
) -> Iterator[None]:
    """Warn if earlier runs had other columns; note the columns after the block, which may write.

    A sink that writes by another one is observed once.

    Args:
        structure: the columns of the rows.
        schema: of which source or target, without its columns.
        files: those that a source reads, the oldest first; called for a change only.
        is_added: whether a target keeps the files that it has.
        empty: the columns of a source that have no value in any record.
    """
    run_id = os.environ.get(RUN_ID_VARIABLE, "")
    if _is_observing.get() or not run_id or not os.environ.get(RUN_FOLDER_VARIABLE):
        yield
        return
    token, seen = _is_observing.set(True), schema
    with telling_of(schema.name):
        columns, run = columns_of(structure().jsonValue()), _run(job_home().database, run_id)
        run.empty.update(empty)
        # Nulls only are a string in a frame, and so in Parquet: other files do not tell.
        as_nulls = empty if schema.role == READ or schema.format == "parquet" else run.empty
        known = (
            column._replace(type=VOID)
            if column.path in as_nulls and (schema.role == READ or column.type == "string")
            else column
            for column in columns
        )
        seen = replace(schema, columns=tuple(known))
        _compare(seen, run, files, is_added)
    try:
        yield
    finally:
        _is_observing.reset(token)
    if seen.columns:
        note_schema(seen)


@contextmanager
def telling_of(name: str) -> Iterator[None]:
    """Turn an error into a warning: no run fails because somebody looks."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 (whatever it is)
        cause = f"{type(error).__name__}: {error}".partition("\n")[0]
        note(RunWarning.NOT_OBSERVED, f"{name}: {cause}")


def _compare(schema: Schema, run: _Run, files: Callable[[], Sequence[str]], is_added: bool) -> None:
    history = of_key(schema, run.earlier)
    changes = changes_of(schema, history)
    if schema.role == READ:
        run.in_sources.update(passed_on(schema, history, changes))
        if schema.dataset in run.written:  # by this run, which has told it of the target
            return
    else:
        run.written.add(schema.dataset)
        mixed = _warn_of_types(schema, changes) if is_added and schema.format == "parquet" else ()
        # A target that only follows its source is no news.
        others = [change for change in changes if (change.kind, change.path) not in run.in_sources]
        changes = [change for change in others if change not in mixed]
    if all(change.is_quiet for change in changes):
        return
    # What is gone may have got another name: then that is told too.
    told = [change for change in changes if not change.is_quiet or change.kind == "gone"]
    places = brought_by(told, files(), schema.format)
    texts = [f"{change}{places.get(change, '')}" for change in told]
    what = "source" if schema.role == READ else "target"
    note(RunWarning.SCHEMA_CHANGED, f"{what} {schema.name}: {'; '.join(texts)}")


def _warn_of_types(schema: Schema, changes: Sequence[Change]) -> Sequence[Change]:
    """Warn before a write makes files of two types for a column; return these changes."""
    # What names of folders say is in no file.
    inside = [change for change in changes if change.path not in schema.partitions]
    effects = {change: effect for change in inside if (effect := parquet_effect(change))}
    if not effects or not any(folder_of(schema.dataset.rstrip("/")).rglob("*.parquet")):
        return ()
    texts = "; ".join(f"{change}: {effect}" for change, effect in effects.items())
    about = f"{schema.name}: {texts}"
    note(RunWarning.TYPES_MIXED, about)
    text = RunWarning.TYPES_MIXED.message.format(about)
    print(f"warning: {text}", file=sys.stderr, flush=True)  # noqa: T201 (the log, at this moment)
    return tuple(effects)
