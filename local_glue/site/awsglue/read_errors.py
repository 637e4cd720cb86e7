"""Errors of reading files: which file, what is wrong with it, and what to do."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from awsglue.compression import open_file
from local_glue.bookmarks.session import folder_of
from local_glue.errors import GlueLocalError

REMEDY = "repair or delete it, or name it in exclusions, and run again: the bookmark is unchanged"
MAGIC = {"parquet": b"PAR1", "orc": b"ORC", "avro": b"Obj\x01"}  # how a file begins
COMPRESSED, CHUNK = (".gz", ".bz2"), 1 << 20
# Of Python readers, and of raise_error, within the texts of Spark.
_OWN_TEXT = re.compile(rf"UnreadableFileError: (.*?{re.escape(REMEDY)})", re.DOTALL)


class UnreadableFileError(GlueLocalError):
    """A file of a source is not what its format says; the text names it and the remedy."""


def unreadable(file: str, format_name: str, reason: object) -> UnreadableFileError:
    """Return the error for one file."""
    return UnreadableFileError(f"cannot read {file} as {format_name}: {reason}; {REMEDY}")


@contextmanager
def naming_the_file(files: Iterable[str], format_name: str) -> Iterator[None]:
    """Turn what Spark raises while it looks into files into an error that names the file.

    Raises:
        UnreadableFileError: in place of any error of Spark.
    """
    try:
        yield
    except (PySparkException, Py4JJavaError) as error:
        text = str(error)
        own = _OWN_TEXT.search(text)
        if own:
            raise UnreadableFileError(own.group(1)) from None
        file, reason = _bad_file(list(files), format_name, text)
        raise unreadable(file, format_name, reason) from error


def _bad_file(files: list[str], format_name: str, text: str) -> tuple[str, str]:
    """Return the file that an error is about and the reason, as far as can be told."""
    named = next((file for file in files if file in text), None)
    magic = MAGIC.get(format_name, b"")
    for file in [named] if named else files:
        if reason := _broken(folder_of(file), magic):
            return file, reason
    return named or f"one of {', '.join(files[:3])} ({len(files)} files)", _reason(text)


def _broken(path: Path, magic: bytes) -> str | None:
    """Return what is wrong with a file as a whole, None if that is nothing."""
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
    """Return what a Python or the innermost cause of a Java stack trace says."""
    if python := re.search(r"Traceback .*?^(\w[\w.]*: .*?)$", text, re.DOTALL | re.MULTILINE):
        return python.group(1)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    causes = [line for line in lines if line.startswith("Caused by:")]
    cause = causes[-1] if causes else next((x for x in lines if "Exception" in x), lines[0])
    return re.sub(r"^(Caused by: )?([\w.]+\.)?(\w+(Exception|Error)): ", r"\3: ", cause)
