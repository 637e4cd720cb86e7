"""The columns of a CSV file, by its first line: every file may have its own."""

import csv
import io
from codecs import getincrementaldecoder
from collections.abc import Callable
from pathlib import PurePosixPath

from tidemark.local_glue.bookmarks.session import folder_of
from tidemark.local_glue.readers.compression import OTHER_CODECS, open_file
from tidemark.local_glue.readers.formats import Format, csv_options
from tidemark.local_glue.readers.read_errors import unreadable

HEAD_BYTES = 1 << 16


def column_names(
    file: str, csv_format: Format, first_lines: Callable[[str], str]
) -> tuple[str, ...]:
    """Return the names in the header of a file, or col0, col1 and so on without a header.

    Args:
        file: its URI.
        csv_format: its format options.
        first_lines: returns the first lines of a file that only Hadoop has the codec of.

    Returns:
        The names; none if the file has no line.

    Raises:
        UnreadableFileError: the file cannot be read, or is not text.
    """
    is_foreign = PurePosixPath(file).suffix in OTHER_CODECS
    text = first_lines(file) if is_foreign else _head(file)
    fields = first_fields(text.removeprefix("\ufeff"), csv_format)
    if csv_format.is_on("withHeader"):
        return _distinct(fields)
    return tuple(f"col{position}" for position in range(len(fields)))


def _head(file: str) -> str:
    try:
        with open_file(str(folder_of(file))) as opened:
            head = opened.read(HEAD_BYTES)
    except (OSError, EOFError) as error:
        raise unreadable(file, "csv", error) from error
    if b"\0" in head:
        raise unreadable(file, "csv", "it holds NUL bytes and is not text")
    try:
        return getincrementaldecoder("utf-8")().decode(head)  # the last character may be cut
    except UnicodeDecodeError as error:
        raise unreadable(file, "csv", f"it is not UTF-8, which Glue reads: {error}") from error


def first_fields(text: str, csv_format: Format) -> list[str]:
    """Return the fields of the first line that is not empty."""
    options = csv_options(csv_format)
    quote, escape = options["quote"], options["escape"]
    is_doubled = escape == quote
    lines = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=options["sep"],
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        doublequote=is_doubled,
        escapechar=None if is_doubled else escape,
    )
    return next((fields for fields in lines if fields), [])


def _distinct(names: list[str]) -> tuple[str, ...]:
    """Return the names as Spark makes them distinct: by position where one is empty or twice."""
    lower = [name.lower() for name in names]
    return tuple(
        f"_c{position}"
        if not name
        else f"{name}{position}"
        if lower.count(lower[position]) > 1
        else name
        for position, name in enumerate(names)
    )
