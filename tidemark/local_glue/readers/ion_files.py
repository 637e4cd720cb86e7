"""Reads Ion, text or binary, with AWS's own reader; a column of several types is a choice.

Symbols are strings, lists and s-expressions are arrays, annotations are left out, a null of any
type is null. Timestamps and decimals have their types.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-ion-home.html
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructType

from tidemark.errors import UnsupportedError
from tidemark.extras import require
from tidemark.local_glue.bookmarks.session import folder_of
from tidemark.local_glue.frames.choices import plain_type, with_marks
from tidemark.local_glue.frames.records import filled, kind_of, widened, writer
from tidemark.local_glue.readers.compression import open_file
from tidemark.local_glue.readers.formats import Format
from tidemark.local_glue.readers.partitions import Layout
from tidemark.local_glue.readers.python_files import TASKS_PER_CORE, read_rows
from tidemark.local_glue.readers.read_errors import naming_the_file, unreadable


def read_ion(spark: SparkSession, files: Sequence[str], layout: Layout, ion: Format) -> DataFrame:
    """Return the structs of Ion files as rows, with the columns of all of them; one pass for types.

    Raises:
        UnreadableFileError: a file is no Ion, or has values that are no structs.
        UnsupportedError: a table of the Data Catalog has this format.
    """
    require("amazon")
    if ion.names is not None:
        raise UnsupportedError(
            "tables of the Data Catalog in Ion are not read here: read their files with "
            "create_dynamic_frame.from_options and the format ion"
        )
    tasks = [(file, str(folder_of(file))) for file in files]
    slices = min(len(tasks), TASKS_PER_CORE * spark.sparkContext.defaultParallelism)
    with naming_the_file(files, "ion"):
        found = spark.sparkContext.parallelize(tasks, slices).mapPartitions(_kinds).collect()
    none: DataType = StructType([])
    schema = filled(reduce(widened, found, none))
    assert isinstance(schema, StructType)  # noqa: S101 (of structs)
    kind = with_marks(schema) if ion.is_dynamic else plain_type(schema)
    assert isinstance(kind, StructType)  # noqa: S101 (of a struct)
    return read_rows(spark, files, layout, ion, kind, partial(_rows, schema))


def _kinds(tasks: Iterable[tuple[str, str]]) -> Iterator[DataType]:
    """Yield the type of all records of some files; called in a worker of Spark."""
    kind: DataType = StructType([])
    for uri, path in tasks:
        for record in _records(uri, path):
            kind = widened(kind, kind_of(record))
    yield kind


def _rows(schema: StructType, uri: str, path: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of one file; called in a worker of Spark."""
    write = writer(schema)
    assert write is not None  # noqa: S101 (of a struct)
    return map(write, _records(uri, path))


def _records(uri: str, path: str) -> Iterator[dict[str, Any]]:
    from amazon.ion.exceptions import IonException
    from amazon.ion.simpleion import IonPyValueModel, load

    bare = IonPyValueModel.MAY_BE_BARE | IonPyValueModel.SYMBOL_AS_TEXT
    try:
        with open_file(path) as opened:
            for value in load(opened, single_value=False, parse_eagerly=False, value_model=bare):
                record = _plain(value)
                if not isinstance(record, dict):
                    raise unreadable(uri, "ion", f"a value is no struct: {str(record)[:200]!r}")
                yield record
    except (IonException, OSError, EOFError) as error:
        raise unreadable(uri, "ion", f"{type(error).__name__}: {error}") from error


def _plain(value: Any) -> Any:
    """Return a value of Ion as one of Python; see the head of this module."""
    if isinstance(value, Mapping):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, datetime):
        return datetime.fromtimestamp(value.timestamp(), value.tzinfo)
    return _bare(value)


def _bare(value: Any) -> Any:
    """Return a value without Ion's class, which one with an annotation has, and a typed null."""
    name = type(value).__name__
    if name == "IonPyNull":
        return None
    if name == "IonPyBool":
        return bool(value)
    base = next((one for one in (int, float, str, bytes) if isinstance(value, one)), None)
    return base(value) if base and name.startswith("IonPy") else value
