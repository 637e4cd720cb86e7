"""Observes what a script writes by `df.write` and `df.writeTo`, and windows of the library."""

import functools
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.process.observe import observing
from tidemark.local_state.bookmarks.datasets_read import (
    dataset_of_database,
    dataset_of_path,
    table_folder,
)
from tidemark.model.checkpoints.schemas import READ, WRITTEN, Role, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WRITES = ("save", "saveAsTable", "insertInto", "parquet", "orc", "json", "csv", "text", "jdbc")
_CREATIONS = ("create", "replace", "createOrReplace")
TABLE_WRITES = (*_CREATIONS, "append", "overwrite", "overwritePartitions")
SETTINGS = ("mode", "format", "partitionBy")
OPTIONS = ("option", "options")
FORMATS = ("parquet", "orc", "json", "csv", "text", "jdbc")
_GLOB = re.compile(r"[*?\[{]")
_WINDOW = re.compile(r"/window=[^/]+/attempt=[0-9]+/?$")  # the library notes its own
_BRANCH = re.compile(r"\.branch_[0-9a-f]{16}_[0-9]+_[0-9a-f]{8}$")  # into which it appends
_OVERWRITE_MODE = "spark.sql.sources.partitionOverwriteMode"
GIVEN = "_tidemark_given"  # to a reader or writer: what no attribute of its own tells


def observe_writers(module: ModuleType) -> None:
    """Change `pyspark.sql.readwriter`, so that each write of a DataFrame is observed."""
    writer = module.DataFrameWriter
    remember_calls(writer, SETTINGS)
    for name in WRITES:
        setattr(writer, name, _observing(name, getattr(writer, name)))
    to_table = module.DataFrameWriterV2
    to_table.__init__ = _of_table(to_table.__init__)
    for name in TABLE_WRITES:
        setattr(to_table, name, _observing(name, getattr(to_table, name)))


def remember_calls(kind: type, settings: Iterable[str]) -> None:
    """Let a reader or a writer remember its settings, and its options, under `GIVEN`."""
    for name in settings:
        setattr(kind, name, _remembering(name, getattr(kind, name)))
    for name in OPTIONS:
        setattr(kind, name, _remembering_options(getattr(kind, name)))


def observe_windows(module: ModuleType) -> None:
    """Change `watermarks.run_notes`, so that the rows of windows are observed."""

    def note_frame(role: Role, dataset: str, rows: "DataFrame | None") -> None:
        if rows is not None:
            with observing(lambda: rows.schema, Schema(role, dataset)):
                pass

    module.note_frame = note_frame  # type: ignore[attr-defined]


def _remembering(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def remember(self: Any, *arguments: Any, **named: Any) -> Any:
        first, *others = arguments or tuple(named.values()) or (None,)
        value = [first, *others] if name == "partitionBy" else first
        vars(self).setdefault(GIVEN, {})[name] = value
        return method(self, *arguments, **named)

    return remember


def _remembering_options(method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    @functools.wraps(method)
    def remember(self: Any, *arguments: Any, **named: Any) -> Any:
        call = signature.bind(self, *arguments, **named).arguments
        options = {call["key"]: call["value"]} if "key" in call else call.get("options", {})
        vars(self).setdefault(GIVEN, {}).update({key.lower(): options[key] for key in options})
        return method(self, *arguments, **named)

    return remember


def _of_table(method: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(method)
    def remember(self: Any, df: "DataFrame", table: str) -> None:
        method(self, df, table)
        vars(self)[GIVEN] = {"tableName": table}

    return remember


def _observing(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    @functools.wraps(method)
    def observe_and_write(self: Any, *arguments: Any, **named: Any) -> Any:
        call = signature.bind(self, *arguments, **named).arguments
        asked = {**vars(self).get(GIVEN, {}), **{k: v for k, v in call.items() if v is not None}}
        schema = schema_of(WRITTEN, name, asked)
        if schema is None:
            return method(self, *arguments, **named)
        # Whoever replaces the folders of some partitions keeps those of the others.
        is_part = "path" in asked and dataset_of_path(asked["path"]) != schema.dataset
        is_part = is_part or (bool(schema.partitions) and _is_dynamic(self, asked))
        is_added = is_part or asked.get("mode") == "append"
        with observing(lambda: self._df.schema, schema, is_added=is_added):
            return method(self, *arguments, **named)

    return observe_and_write


def _is_dynamic(writer: Any, asked: dict[str, Any]) -> bool:
    """Return whether an overwrite replaces only the partitions that it has rows of."""
    options = {key.lower(): value for key, value in asked.get("options", {}).items()}
    given = {**asked, **options}.get("partitionoverwritemode")
    return str(given or writer._spark.conf.get(_OVERWRITE_MODE)).lower() == "dynamic"


def table_of(name: str) -> str:
    """Return the dataset of a table: `table:database.name`."""
    return f"table:{'.'.join(name.replace('`', '').split('.')[-2:])}"


def schema_of(role: Role, name: str, asked: Mapping[str, Any]) -> Schema | None:
    """Return what a call reads or writes, without columns; None if that is not known."""
    given = asked.get("partitionBy") or ()
    keys = [given] if isinstance(given, str) else given
    names = tuple(name for key in keys for name in ([key] if isinstance(key, str) else key))
    kind = name if name in FORMATS else str(asked.get("format") or "parquet")
    places = asked.get("paths") or asked.get("path")
    path = places[0] if isinstance(places, list | tuple) and places else places
    if kind == "jdbc":
        table = asked.get("table") or asked.get("dbtable") or "query"
        dataset = dataset_of_database(str(asked.get("url", "")), str(table))
    elif name == "saveAsTable" or "tableName" in asked:
        dataset, kind = table_of(str(asked.get("tableName") or asked.get("name"))), ""
    elif not isinstance(path, str) or _WINDOW.search(path):
        return None
    elif "/" not in path and role == READ:  # such as of Iceberg
        dataset, kind = table_of(path), ""
    else:
        dataset = table_folder(dataset_of_path(path) if _GLOB.search(path) else path)
        dataset = dataset_of_path(dataset) if role == WRITTEN else dataset
    return None if _BRANCH.search(dataset) else Schema(role, dataset, "", kind, (), names)
