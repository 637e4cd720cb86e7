"""Observes what a script writes by Spark's own `df.write`, and reads and writes in windows."""

import functools
import inspect
import re
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

from tidemark.glue_job.process.observe import observing
from tidemark.local_state.bookmarks.datasets_read import dataset_of_database, dataset_of_path
from tidemark.model.checkpoints.schemas import WRITTEN, Role, Schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

WRITES = ("save", "saveAsTable", "insertInto", "parquet", "orc", "json", "csv", "text", "jdbc")
SETTINGS = ("mode", "format", "partitionBy")
FORMATS = ("parquet", "orc", "json", "csv", "text", "jdbc")
_WINDOW = re.compile(r"/window=[^/]+/attempt=[0-9]+/?$")  # the library notes its own
_GIVEN = "_tidemark_given"  # to a writer: what no attribute of its own tells


def observe_writers(module: ModuleType) -> None:
    """Change `pyspark.sql.readwriter`, so that each write of a DataFrame is observed."""
    writer = module.DataFrameWriter
    for name in SETTINGS:
        setattr(writer, name, _remembering(name, getattr(writer, name)))
    for name in WRITES:
        setattr(writer, name, _observing(name, getattr(writer, name)))


def observe_windows(module: ModuleType) -> None:
    """Change `watermarks.run_notes`, so that the rows of windows are observed."""

    def note_frame(role: Role, dataset: str, rows: "DataFrame | None") -> None:
        if rows is not None:
            with observing(rows, Schema(role, dataset)):
                pass

    module.note_frame = note_frame  # type: ignore[attr-defined]


def _remembering(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def remember(self: Any, *arguments: Any, **named: Any) -> Any:
        values = arguments or tuple(named.values())
        vars(self).setdefault(_GIVEN, {})[name] = values
        return method(self, *arguments, **named)

    return remember


def _observing(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
    signature = inspect.signature(method)

    @functools.wraps(method)
    def observe_and_write(self: Any, *arguments: Any, **named: Any) -> Any:
        try:
            asked = signature.bind(self, *arguments, **named).arguments
        except TypeError:
            asked = {}  # the call raises it
        given = {key: value[0] for key, value in vars(self).get(_GIVEN, {}).items() if value}
        keys = asked.get("partitionBy") or vars(self).get(_GIVEN, {}).get("partitionBy") or ()
        schema = _schema(name, {**given, **asked}, keys)
        if schema is None:
            return method(self, *arguments, **named)
        mode = str(asked.get("mode") or given.get("mode") or "")
        is_added = mode == "append" or (name == "insertInto" and not asked.get("overwrite"))
        with observing(self._df, schema, is_added=is_added):
            return method(self, *arguments, **named)

    return observe_and_write


def _schema(name: str, asked: dict[str, Any], keys: Any) -> Schema | None:
    """Return what a call writes, without columns; None if that is not known."""
    names = [keys] if isinstance(keys, str) else list(keys)
    if names and not isinstance(names[0], str):
        names = list(names[0])
    form = name if name in FORMATS else str(asked.get("format") or "")
    if table := asked.get("tableName") or (asked.get("name") if name == "saveAsTable" else None):
        table = ".".join(str(table).replace("`", "").split(".")[-2:])
        return Schema(WRITTEN, f"table:{table}", format=form, partitions=tuple(names))
    if name == "jdbc":
        dataset = dataset_of_database(str(asked.get("url")), str(asked.get("table")))
        return Schema(WRITTEN, dataset, format=form)
    path = asked.get("path")
    if not isinstance(path, str) or _WINDOW.search(path):
        return None
    form = form or "parquet"
    return Schema(WRITTEN, dataset_of_path(path), format=form, partitions=tuple(names))
