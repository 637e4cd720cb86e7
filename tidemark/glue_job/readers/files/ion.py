"""Reads Ion, text or binary, with AWS's own library; a column of several types is a choice.

Symbols become strings, lists and s-expressions arrays; annotations are dropped, and typed nulls
become null. Timestamps and decimals keep their types.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-programming-etl-format-ion-home.html
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import reduce
from typing import IO, Any

from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, StructType

from tidemark.errors import UnsupportedError
from tidemark.extras import require
from tidemark.glue_job.frames.choices import with_marks
from tidemark.glue_job.frames.records import filled, kind_of, record_writer, widened
from tidemark.glue_job.frames.types import as_struct_type, plain_type
from tidemark.glue_job.readers.files.compression import open_file
from tidemark.glue_job.readers.files.formats import Files
from tidemark.glue_job.readers.files.python_files import look_at, read_rows
from tidemark.glue_job.readers.files.read_errors import unreadable

BINARY = b"\xe0"  # first byte of binary Ion


def read_ion(files: Files) -> DataFrame:
    """Return the structs of Ion files as rows, with the columns of all; one pass for types."""
    require("amazon")
    if files.format.names is not None:
        raise UnsupportedError(
            "tables of the Data Catalog in Ion are not supported here: read their files with "
            "create_dynamic_frame.from_options and the format ion"
        )
    kinds = look_at(files, _kinds)
    none: DataType = StructType([])
    schema = as_struct_type(filled(reduce(widened, kinds, none)))
    kind = as_struct_type(with_marks(schema) if files.format.is_dynamic else plain_type(schema))
    write = record_writer(schema)
    return read_rows(files, kind, lambda uri, path: map(write, records_of(uri, path)))


def _kinds(tasks: Iterable[tuple[str, str]]) -> Iterator[DataType]:
    """Yield the common type of the records of some files; runs in a worker of Spark."""
    kind: DataType = StructType([])
    for uri, path in tasks:
        for record in records_of(uri, path):
            kind = widened(kind, kind_of(record))
    yield kind


def records_of(uri: str, path: str) -> Iterator[dict[str, Any]]:
    """Yield the structs of a file."""
    from amazon.ion.exceptions import IonException
    from amazon.ion.simpleion import IonPyValueModel, load

    bare = IonPyValueModel.MAY_BE_BARE | IonPyValueModel.SYMBOL_AS_TEXT
    options = {"single_value": False, "parse_eagerly": False, "value_model": bare}
    try:
        with open_file(path) as opened:
            for value in load(_Checked(opened), **options):
                record = _plain(value)
                if not isinstance(record, dict):
                    raise unreadable(uri, "ion", f"a value is not a struct: {str(record)[:200]!r}")
                yield record
    except (IonException, OSError, EOFError, ValueError) as error:
        raise unreadable(uri, "ion", f"{type(error).__name__}: {error}") from error


class _Checked:
    """An Ion file, whose reader takes a NUL byte in text for the end of the file."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._is_binary: bool | None = None

    def read(self, size: int = -1) -> bytes:
        part = self._file.read(size)
        if self._is_binary is None:
            self._is_binary = part.startswith(BINARY)
        if not self._is_binary and b"\0" in part:
            raise ValueError("the text has a NUL byte")
        return part


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        all_of = getattr(value, "get_all_values", None)
        # Ion allows a field more than once, which a row does not.
        if twice := [str(name) for name in value if all_of and len(all_of(name)) > 1]:
            raise ValueError(f"a struct has the field {twice[0]!r} more than once")
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, datetime):
        return datetime.combine(value.date(), value.time(), value.tzinfo)  # exact at any year
    # Annotated values and typed nulls have a class of Ion.
    name = type(value).__name__
    if name == "IonPyNull":
        return None
    if name == "IonPyBool":
        return bool(value)
    base = next((kind for kind in (int, float, str, bytes) if isinstance(value, kind)), None)
    return base(value) if base and name.startswith("IonPy") else value
