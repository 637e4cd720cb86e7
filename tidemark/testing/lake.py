"""The fixture `lake`: the buckets of one test, written and read by their keys."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tidemark.errors import UsageError
from tidemark.local_state.home import delete_entry
from tidemark.testing import lake_files
from tidemark.testing.lake_files import Row

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from tidemark.local_state.home import Home
    from tidemark.model.drift import Drift

HIDDEN = ("_", ".")  # what Spark does not read
SCRIPTS = "aws-glue-assets-local"  # bucket of the scripts that ran, as `tidemark submit` has it
SCHEMES = ("s3://", "s3a://", "s3n://")


class Lake:
    """The buckets of S3, empty at the start of a test.

    A place is ``bucket/key``, or the same after ``s3://``. A bucket is created by its first object,
    by `bucket`, and by a job whose arguments or script name it.

    Example:
        >>> lake.put("landing/orders/1.json", [{"id": 1}, {"id": 2}])
        's3://landing/orders/1.json'
        >>> lake.rows("landing/orders/")
        [{'id': 1}, {'id': 2}]
    """

    def __init__(
        self, home: Home, now_ms: Callable[[], int], spark: Callable[[], SparkSession]
    ) -> None:
        """Take the home whose lake it is.

        Args:
            home: of the test.
            now_ms: the clock, epoch milliseconds.
            spark: starts Spark, for formats that need it.
        """
        self._home = home
        self._now_ms = now_ms
        self._spark = spark

    def __repr__(self) -> str:
        return f"Lake({', '.join(self.names()) or 'empty'})"

    def bucket(self, name: str) -> str:
        """Create a bucket if it is missing; return its URI.

        Raises:
            UsageError: S3 would not take the name.
        """
        self._home.create_bucket(name)
        return f"s3://{name}/"

    def uri(self, place: str = "") -> str:
        """Return a place as a script gets it: ``s3://bucket/key``; its bucket is created."""
        name, key = self._split(place)
        return f"{self.bucket(name)}{key}"

    def path(self, place: str) -> Path:
        """Return the local file or folder of a place, which need not exist."""
        name, key = self._split(place)
        return self._home.local_path(f"s3://{name}/{key}")

    def put(
        self,
        place: str,
        content: Any,
        minutes_ago: float = 0,
        *,
        at: datetime | None = None,
        drift: Drift | None = None,
        **options: Any,
    ) -> str:
        """Write one object; return its URI.

        Args:
            place: ``bucket/key``; the suffix of the key gives the format of rows.
            content: rows (a list of dicts, or a DataFrame), a string, bytes, or the Path of a file.
            minutes_ago: age of its last change, by the clock of Glue.
            at: the time of its last change, instead; without a time zone it is UTC.
            drift: how the columns of the rows have changed: "more", the column `tidemark_drift`,
                with one value; "fewer", without the last one; "type", one value of the last column
                of numbers is text, in formats with one type for a column all of them.
            options: of Spark's writer, for Parquet and ORC.

        Raises:
            UsageError: the place or the content cannot be written.

        Example:
            >>> rows = [{"id": 1, "amt": 5}]
            >>> _ = lake.put("landing/orders/2.json", rows, drift="fewer")
            >>> lake.rows("landing/orders/2.json")
            [{'id': 1}]
        """
        if drift is not None:
            content = lake_files.drifted_rows(place, content, drift)
        name, key = self._split(place)
        if not key or key.endswith("/"):
            raise UsageError(
                f"lake.put({place!r}): give the key of an object, such as 'landing/orders/1.json'"
            )
        self.bucket(name)
        file = self.path(place)
        file.parent.mkdir(parents=True, exist_ok=True)
        self._write(file, content, options)
        self.touch(place, minutes_ago, at=at)
        return f"s3://{name}/{key}"

    def touch(self, place: str, minutes_ago: float = 0, *, at: datetime | None = None) -> None:
        """Set the time of the last change of an object."""
        if isinstance(minutes_ago, bool) or not isinstance(minutes_ago, int | float):
            raise UsageError(f"minutes_ago is {minutes_ago!r}; give a number, such as 5")
        moment_ns = int(self._now_ms() * 1_000_000 - minutes_ago * 60e9)
        if at is not None:
            aware = at if at.tzinfo else at.replace(tzinfo=UTC)
            moment_ns = int(aware.timestamp() * 1_000_000) * 1000
        os.utime(self.path(place), ns=(moment_ns, moment_ns))

    def rows(self, place: str, format: str | None = None, **options: Any) -> list[Row]:  # noqa: A002 (as in Spark)
        """Return the rows of all files below a place, as dicts; empty if there are none.

        Columns that are folders (``day=2024-01-01/``) are columns. Files are read by their suffix;
        values of CSV are strings.

        Args:
            place: of a file or a folder.
            format: reads with Spark's reader of this format instead, with `options`.
            options: of that reader, such as ``header=True``.

        Raises:
            UsageError: the format of a file is not supported.
        """
        if format is not None or options:
            if not self.names(place):
                return []
            reader = self._spark().read.format(format or "csv").options(**options)
            return [lake_files.plain(row) for row in reader.load(self.uri(place)).collect()]
        if name := self.table_format(place):
            raise UsageError(
                f"lake.rows({place!r}): this is a table of {name}, whose files are not its "
                "rows; let a job read the table, and write the rows for the test"
            )
        all_rows: list[Row] = []
        by_spark: dict[str, list[str]] = {}
        for name in self.names(place):
            suffix, _ = lake_files.suffixes_of(name)
            if read := lake_files.readers().get(suffix):
                all_rows += [{**row, **self._folders(name, place)} for row in read(self.path(name))]
            elif suffix in lake_files.SPARK_FORMATS:
                by_spark.setdefault(suffix, []).append(name)
            else:
                raise UsageError(
                    f"lake.rows({place!r}): {name} has the suffix {suffix or 'of no format'!r}; "
                    "give its format, such as format='csv', or read it with lake.text"
                )
        for suffix, names in by_spark.items():
            all_rows += self._rows_of_spark(lake_files.SPARK_FORMATS[suffix], names, place)
        return all_rows

    def count(self, place: str) -> int:
        """Return the number of rows below a place."""
        return len(self.rows(place))

    def text(self, place: str) -> str:
        """Return one object as a string.

        Raises:
            UsageError: the object does not exist.
        """
        return self._existing(place).read_text(encoding="utf-8")

    def bytes(self, place: str) -> bytes:
        """Return the content of one object.

        Raises:
            UsageError: the object does not exist.
        """
        return self._existing(place).read_bytes()

    def exists(self, place: str) -> bool:
        """Return whether there is an object or a folder at a place."""
        return self.path(place).exists()

    def delete(self, place: str) -> None:
        """Delete an object, or all below a folder; the bucket stays."""
        path = self.path(place)
        if path.is_dir():
            for entry in path.iterdir():
                delete_entry(entry)
        else:
            path.unlink(missing_ok=True)

    def table_format(self, place: str) -> str | None:
        """Return the table format of a folder: Iceberg, Delta Lake or Hudi, else None."""
        for folder, name in lake_files.TABLE_FORMATS.items():
            path = self.path(place) / folder
            if path.is_dir() and (name != "Iceberg" or list(path.glob("*.metadata.json"))):
                return name
        return None

    def names(self, place: str = "", *, hidden: bool = False) -> list[str]:
        """Return the objects below a place as ``bucket/key``, in order.

        Args:
            place: of a folder or an object; without, all of the lake.
            hidden: include those that Spark does not read, such as ``_SUCCESS``.
        """
        root = self._home.lake
        top = self.path(place) if place else root
        files = [top] if top.is_file() else top.rglob("*")
        names = (path.relative_to(root).as_posix() for path in files if path.is_file())
        return sorted(
            name
            for name in names
            if not name.startswith(f"{SCRIPTS}/") and (hidden or not _is_hidden(name))
        )

    keys = files = names

    def _split(self, place: str) -> tuple[str, str]:
        text = str(place)
        for scheme in SCHEMES:
            text = text.removeprefix(scheme)
        name, _, key = text.lstrip("/").partition("/")
        if not name:
            raise UsageError(f"{place!r} is not a place of the lake; write bucket/key")
        return name, key

    def _existing(self, place: str) -> Path:
        path = self.path(place)
        if not path.is_file():
            raise UsageError(
                f"there is no object {place!r} in the lake; it has "
                f"{', '.join(self.names(hidden=True)) or 'nothing'}"
            )
        return path

    def _write(self, file: Path, content: Any, options: dict[str, Any]) -> None:
        suffix, _ = lake_files.suffixes_of(file.name)
        if isinstance(content, Path):
            shutil.copyfile(content, file)
        elif isinstance(content, bytes | bytearray):
            file.write_bytes(content)
        elif isinstance(content, str):
            file.write_text(content, encoding="utf-8")
        elif suffix in lake_files.SPARK_FORMATS:
            self._write_by_spark(file, content, lake_files.SPARK_FORMATS[suffix], options)
        elif suffix == lake_files.AVRO:
            lake_files.write_avro(file, lake_files.as_rows(content))
        else:
            file.write_bytes(lake_files.bytes_of(file.name, lake_files.as_rows(content)))

    def _write_by_spark(
        self, file: Path, content: Any, format_name: str, options: dict[str, Any]
    ) -> None:
        frame = content.toDF() if hasattr(content, "glue_ctx") else content
        if not hasattr(frame, "write"):
            rows = lake_files.as_rows(content)
            if not rows:
                raise UsageError(f"{file.name}: an empty list has no columns; give a DataFrame")
            from pyspark.sql import Row as SparkRow

            names = list(dict.fromkeys(name for row in rows for name in row))
            complete = [SparkRow(**{name: row.get(name) for name in names}) for row in rows]
            frame = self._spark().createDataFrame(complete)
        folder = file.with_name(f"_{file.name}.parts")
        frame.coalesce(1).write.options(**options).format(format_name).save(_address(folder))
        (part,) = folder.glob("part-*")
        part.replace(file)
        shutil.rmtree(folder)

    def _rows_of_spark(self, format_name: str, names: Iterable[str], place: str) -> list[Row]:
        base = self.path(place)
        root = _address(base if base.is_dir() else base.parent)
        reader = self._spark().read.format(format_name).option("basePath", root)
        if format_name == "parquet":
            reader = reader.option("mergeSchema", "true")
        frame = reader.load([_address(self.path(name)) for name in names])
        return [lake_files.plain(row) for row in frame.collect()]

    def _folders(self, name: str, place: str) -> Row:
        own = self.path(name).parent.relative_to(self._home.lake).parts
        above = self.path(place).relative_to(self._home.lake).parts
        pairs = (part.partition("=") for part in own[len(above) :])
        return {column: unquote(value) for column, separator, value in pairs if separator}


def _address(path: Path) -> str:
    # Hadoop takes a path without the escapes of a URI.
    return f"file://{path}"


def _is_hidden(name: str) -> bool:
    """Return whether Spark leaves a file out: by the name of it, or of a folder without ``=``."""
    _, *parts = name.split("/")
    return name.endswith("_$folder$") or any(
        part.startswith(HIDDEN) and "=" not in part for part in parts
    )
