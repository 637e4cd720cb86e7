"""Finds a table of Iceberg by the name that SQL takes, and marks what is committed to one."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from watermarks.errors import WatermarkValueError

from .columns import TargetColumns

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_SELECTOR = re.compile(r"(branch|tag|snapshot_id|at_timestamp)_.+")
_NOT_ICEBERG = "is not an Iceberg table"


@dataclass(frozen=True)
class LoadedTable:
    """A table of Iceberg, found by the name that SQL takes.

    Attributes:
        spark: the session.
        name: its full name with its catalog, quoted.
        java: Iceberg's own object of it.
    """

    spark: SparkSession
    name: str
    java: Any

    def columns(self, table: str, schema: StructType) -> TargetColumns:
        """Return the columns that have a schema now; `table` is a name of it for people."""
        schemas = self.java.schemas()
        names = [schemas[number].idToName() for number in sorted(schemas.keySet())]
        first, now = names[0], self.java.schema().idToName()
        later = {now[number].lower() for number in now.keySet() if number not in first}
        renamed = {
            former[number].lower(): now[number]
            for former in names
            for number in former.keySet()
            if number in now and now[number] != former[number]
        }
        return TargetColumns(table, schema, later, renamed)

    def forget(self) -> None:
        """Let the session read the table anew.

        It keeps a table for half a minute, and may have loaded this one again meanwhile: what is
        committed here would not be in it.
        """
        util: Any = self._jvm.org.apache.iceberg.spark.Spark3Util
        located = util.catalogAndIdentifier(self.spark._jsparkSession, self.name)
        # REFRESH TABLE would also drop what a script has cached.
        located.catalog().invalidateTable(located.identifier())

    def metadata(self) -> Mapping[str, Any]:
        """Return the table's metadata, as Iceberg writes them."""
        metadata: Mapping[str, Any] = json.loads(
            self._parser.toJson(self.java.operations().current())
        )
        return metadata

    def versions(self) -> Iterator[Mapping[str, Any]]:
        """Yield the table's metadata, and earlier ones as far as their files are there."""
        yield self.metadata()
        for entry in reversed(list(self.java.operations().current().previousFiles())):
            try:
                version = self._parser.read(self.java.io(), entry.file())
            except Exception:  # noqa: BLE001 (whatever keeps it from being read, it tells nothing)
                return
            yield json.loads(self._parser.toJson(version))

    def has_ancestor(self, snapshot: int | None) -> bool:
        """Return whether a snapshot is the current one, or before it as far as those are kept."""
        util, head = self._jvm.org.apache.iceberg.util.SnapshotUtil, self.java.currentSnapshot()
        if snapshot is None or head is None:
            return False
        return bool(util.isAncestorOf(self.java, head.snapshotId(), snapshot))

    @property
    def _parser(self) -> Any:
        return self._jvm.org.apache.iceberg.TableMetadataParser

    @property
    def _jvm(self) -> Any:
        return self.spark._jvm


def iceberg_table(spark: SparkSession, name: str) -> LoadedTable | None:
    """Return the table of a name; None if it is one of another format.

    Raises:
        WatermarkValueError: the name is of a branch, or of a table's metadata.
    """
    from py4j.java_gateway import JavaPackage
    from py4j.protocol import Py4JJavaError

    util: Any = spark._jvm.org.apache.iceberg.spark.Spark3Util  # type: ignore[union-attr]
    if isinstance(util, JavaPackage):
        return None
    session = spark._jsparkSession
    try:
        java = util.loadIcebergTable(session, name)
    except Py4JJavaError as error:
        if _NOT_ICEBERG in str(error.java_exception):
            return None
        raise
    located = util.catalogAndIdentifier(session, name)
    identifier = located.identifier()
    parts = [located.catalog().name(), *identifier.namespace(), identifier.name()]
    if _SELECTOR.fullmatch(parts[-1]) and not str(java.name()).endswith(f".{parts[-1]}"):
        raise WatermarkValueError(
            f"{name} is a branch, a tag or a snapshot of a table, and windows are of the table "
            f"itself: name {'.'.join(parts[1:-1])}"
        )
    if _is_of_metadata(java):
        raise WatermarkValueError(
            f"{name} is a table of metadata, which has no windows: name {'.'.join(parts[1:-1])}"
        )
    return LoadedTable(spark, ".".join(f"`{part.replace('`', '``')}`" for part in parts), java)


def _is_of_metadata(java: Any) -> bool:
    kind = java.getClass()
    while kind is not None and kind.getSimpleName() != "BaseMetadataTable":
        kind = kind.getSuperclass()
    return kind is not None


def with_summary(
    spark: SparkSession, properties: Mapping[str, str], write: Callable[[], None]
) -> None:
    """Run SQL that commits to a table of Iceberg; its snapshot gets the properties.

    Source: https://iceberg.apache.org/docs/1.10.0/spark-configuration/#commitmetadata
    """
    from pyspark.java_gateway import ensure_callback_server_started

    jvm: Any = spark._jvm
    gateway: Any = spark.sparkContext._gateway
    ensure_callback_server_started(gateway)  # type: ignore[no-untyped-call]
    # Who knows the id of a function may call it, and Py4J counts from 0.
    gateway.gateway_property.pool.next_id += secrets.randbits(128)
    call = _Callable(write)
    try:
        jvm.org.apache.iceberg.spark.CommitMetadata.withCommitProperties(
            jvm.java.util.HashMap(dict(properties)),
            call,
            jvm.java.lang.RuntimeException._java_lang_class,
        )
    except Exception:
        if call.error is not None:
            raise call.error from None
        raise


class _Callable:
    """A `java.util.concurrent.Callable` that runs a function; keeps the error that it raised."""

    def __init__(self, function: Callable[[], None]) -> None:
        self._function = function
        self.error: BaseException | None = None

    def call(self) -> None:
        """Run the function."""
        try:
            self._function()
        except BaseException as error:
            self.error = error
            raise

    class Java:
        """The name under which Py4J offers this object to the JVM."""

        implements = ("java.util.concurrent.Callable",)
