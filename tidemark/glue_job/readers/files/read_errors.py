"""Errors of reading files: which file, what is wrong with it, and what to do."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql.types import ArrayType, DataType, MapType, StructType, _parse_datatype_string

from tidemark.errors import TidemarkError, UnsupportedError, UsageError
from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.glue_job.readers.files.compression import ends_as_bz2, open_file

UNCHANGED = "the bookmark is unchanged"
REMEDY = f"repair or delete it, or name it in exclusions, and run again: {UNCHANGED}"
MAGIC = {"parquet": b"PAR1", "orc": b"ORC", "avro": b"Obj\x01"}  # first bytes of a file
MAX_NAMED = 3  # files
COMPRESSED, CHUNK = (".gz", ".bz2"), 1 << 20
# Messages of Python readers, and of raise_error, within the messages of Spark.
_OWN_MESSAGE = re.compile(
    rf"(UnreadableFileError|UnsupportedError|UsageError): (.*?{UNCHANGED})", re.DOTALL
)
# Messages about a missing library, for which the file is not to blame.
_MISSING_CLASS = re.compile(
    r"(?:ClassNotFoundException: |NoClassDefFoundError: |BadConfigurationException: Class )"
    r"(?:Could not initialize class |Class )?([\w.$/]+)"
)
_MISSING_CODEC = re.compile(r"native (\w+) library not available|UnsatisfiedLinkError: (.+)")
_MISSING_SOURCE = re.compile(r"Failed to find (?:the )?data source: (\S+?)\.?\s")
# Of Spark 3.5 and 4.1; the file is as Parquet has it.
_OTHER_TYPE = re.compile(r"(?:Illegal Parquet type|Parquet type not \w+ ?\w*): (.+?)\.?(?:\n|$)")
_DUPLICATE_COLUMN = re.compile(r"COLUMN_ALREADY_EXISTS\] The column `(.+?)` already exists")
_DISAGREEMENT = re.compile(r'CANNOT_MERGE_SCHEMAS.*?"(STRUCT<.*?>)".*?"(STRUCT<.*?>)"', re.DOTALL)


class UnreadableFileError(TidemarkError):
    """A file of a source does not match its format; the message names it and the remedy."""


class DisagreementError(UnsupportedError):
    """Two files have the same column with incompatible types."""


def some_of(files: Sequence[str]) -> str:
    """Return the first of some files, and how many more there are."""
    more = f" and {len(files) - MAX_NAMED} more" if len(files) > MAX_NAMED else ""
    return ", ".join(files[:MAX_NAMED]) + more


def unreadable(file: str, format_name: str, reason: object) -> UnreadableFileError:
    """Return the error for one file."""
    return UnreadableFileError(f"cannot read {file} as {format_name}: {reason}; {REMEDY}")


def refuse_cut_bzip2(files: Iterable[str], format_name: str) -> None:
    """Refuse a bzip2 file without a proper end: Hadoop ignores bytes that are not a block."""
    for file in files:
        if file.endswith(".bz2") and not ends_as_bz2(folder_of(file)):
            raise unreadable(file, format_name, "its last bytes are not the end of a bzip2 stream")


_OWN_ERRORS: dict[str, type[TidemarkError]] = {
    kind.__name__: kind for kind in (UnreadableFileError, UnsupportedError, UsageError)
}


@contextmanager
def blaming_files(files: Iterable[str], format_name: str) -> Iterator[None]:
    """Turn errors of Spark about reading files into an error that names the file."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        if own := _OWN_MESSAGE.search(text):
            raise _OWN_ERRORS[own.group(1)](own.group(2)) from None
        file, reason = _bad_file(list(files), format_name, text)
        raise _other_cause(text, file, format_name) or unreadable(
            file, format_name, reason
        ) from error


def _other_cause(text: str, file: str, format_name: str) -> TidemarkError | None:
    """Return the error for a cause that is not the file; None if the file is to blame."""
    begin = f"cannot read {file} as {format_name}"
    if codec := _MISSING_CODEC.search(text):
        return UnsupportedError(
            f"{begin}: the library of the codec {codec.group(1) or codec.group(2)} is not on this "
            "machine; the file may be good: compress it with gzip or bzip2, which work here"
        )
    if (instant := "timestamp with local time zone") in text:
        return UnsupportedError(
            f"{begin}: Spark cannot read ORC's type {instant!r}; the file may be good: write it "
            "with timestamps that have no time zone"
        )
    if absent := _MISSING_CLASS.search(text) or _MISSING_SOURCE.search(text):
        return UnsupportedError(
            f"{begin}: the class {absent.group(1).replace('/', '.')} is missing; the file may be "
            "good: name the jar with this class in --extra-jars, or write the files in a form that "
            "does not need it"
        )
    if other := _OTHER_TYPE.search(text):
        return UnsupportedError(
            f"{begin}: Spark has no type for its {other.group(1)}, and the file may be good: write "
            "the column as another type, such as a timestamp of microseconds (coerce_timestamps="
            "'us' of PyArrow), or read timestamps of nanoseconds as long with --conf "
            "spark.sql.legacy.parquet.nanosAsLong=true"
        )
    if duplicate := _DUPLICATE_COLUMN.search(text):
        return UsageError(
            f"{begin}: several of its columns are {duplicate.group(1)!r} but for the case, "
            "and Spark does not tell them apart: rename one, or set spark.sql.caseSensitive to "
            "true, as in --conf spark.sql.caseSensitive=true"
        )
    if two := _DISAGREEMENT.search(text):
        first, second = (_parse_datatype_string(text) for text in two.groups())
        column, *types = next(_differing(first, second, ""), ("", first, second))
        names = [kind.simpleString() for kind in types]
        return DisagreementError(
            f"cannot read {file} and others as {format_name}: the column {column!r} is "
            f"{names[0]} in one file and {names[1]} in another, which a DynamicFrame reads as "
            f"choice<{','.join(sorted(names))}>: read them by create_dynamic_frame, or through a "
            "table of the Data Catalog that declares the column as string, or give each kind a "
            "separate path and transformation_ctx"
        )
    return None


def _differing(
    first: DataType, second: DataType, path: str
) -> Iterator[tuple[str, DataType, DataType]]:
    match first, second:
        case StructType(), StructType():
            others = {field.name.lower(): field.dataType for field in second}
            for field in first:
                name = f"{path}.{field.name}" if path else field.name
                other = others.get(field.name.lower(), field.dataType)
                yield from _differing(field.dataType, other, name)
        case ArrayType(), ArrayType():
            yield from _differing(first.elementType, second.elementType, path)
        case MapType(), MapType():
            yield from _differing(first.valueType, second.valueType, path)
        case _ if first != second:
            yield path, first, second


def _bad_file(files: list[str], format_name: str, text: str) -> tuple[str, str]:
    # Spark names the file in most messages; else the first one that is broken is to blame.
    named = next((file for file in files if file in text), None)
    magic = MAGIC.get(format_name, b"")
    for file in [named] if named else files:
        if reason := _broken(folder_of(file), magic):
            return file, reason
    if len(files) == 1:
        named = files[0]
    return named or f"one of {', '.join(files[:3])} ({len(files)} files)", _reason(text)


def _broken(path: Path, magic: bytes) -> str | None:
    try:
        with open_file(str(path)) as file:
            begin = file.read(len(magic))
            if path.suffix in COMPRESSED:
                while file.read(CHUNK):
                    pass
    except (OSError, EOFError) as error:
        return str(error)
    if not begin and magic:
        return "it is empty (0 bytes)"
    return None if begin == magic else f"it begins with {begin!r}, not with {magic!r}"


def _reason(text: str) -> str:
    """Return the message of a Python stack trace, or of the innermost cause of a Java one."""
    if python := re.search(r"Traceback .*?^(\w[\w.]*: .*?)$", text, re.DOTALL | re.MULTILINE):
        return python.group(1)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    cause = causes[-1] if causes else next((x for x in lines if "Exception" in x), lines[0])
    return re.sub(r"^(Caused by: )?([\w.]+\.)?(\w+(Exception|Error)): ", r"\3: ", cause)
