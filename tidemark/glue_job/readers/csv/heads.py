"""Inspects a CSV file in one pass: its first record, and what Spark's reader would change.

Spark replaces bytes that are not UTF-8 by other characters, and drops a line of white space,
which may be a record of a file of tabs. With multiLine it takes everything after an unclosed
quote as one value, and the first line feed of a file, even within quotes, as the end of
its records. Without, it closes each quote at the end of the line.
"""

import csv
import io
import os
import re
import sys
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, islice
from pathlib import PurePosixPath

from tidemark.glue_job.process.bookmark_session import folder_of
from tidemark.glue_job.readers.csv.escapes import Escapes
from tidemark.glue_job.readers.files.compression import OTHER_CODECS, open_file
from tidemark.glue_job.readers.files.formats import Format, csv_options
from tidemark.glue_job.readers.files.read_errors import unreadable
from tidemark.local_state.run_warnings import RunWarning, note

HEAD_BYTES = 1 << 16
CHUNK = 1 << 20
BLANK = "".join(map(chr, range(33)))  # what Java's trim removes
SKIPS = "records to skip"  # an option: how many records are before the columns' first one
NULL = "null"  # the option with `Format.null_string`
SHOWN = 100  # characters of a record in a message
_AFTER_ALL = "\uf8ff" * 8  # a line after all lines, of characters for private use
_BLANK_LINE = re.compile(r"(?m)^[\x00-\x09\x0b-\x20]+$")


@dataclass(frozen=True)
class Inspection:
    """What the pass over a file found.

    Attributes:
        first: the fields of the first line that is not blank, after the skipped one; or nothing.
        record_end: how records end in a file that is read as a whole; empty if each line is one.
        is_cut: whether a line that is a record ends within quotes.
        escapes: what follows its escapers.
    """

    first: tuple[str, ...]
    record_end: str = ""
    is_cut: bool = False
    escapes: Escapes | None = None

    @property
    def keeps_escapers(self) -> bool:
        """Whether values of Spark have escapers that Glue removes."""
        seen = self.escapes
        is_over_lines = bool(self.record_end)
        return seen is not None and (seen.has_some or (is_over_lines and seen.has_ends))

    @property
    def is_escaped(self) -> bool:
        """Whether they are unambiguous, and so are removed here."""
        return self.keeps_escapers and not (self.escapes and self.escapes.has_doubled)


def inspect_files(
    files: Sequence[str], csv_format: Format, first_lines: Callable[[str], str]
) -> dict[str, Inspection]:
    """Return the inspection of each file, in one pass over it."""
    skips = "1" if csv_format.is_on("skipFirst") else "0"
    options = {**csv_options(csv_format), NULL: csv_format.null_string, SKIPS: skips}
    inspect = partial(_inspect, options, first_lines)
    # In threads: reading and decompressing release the lock of Python.
    with _unlimited_fields(), ThreadPoolExecutor(os.cpu_count()) as pool:
        inspections = dict(zip(files, pool.map(inspect, files), strict=True))
    _warn(RunWarning.CUT_VALUES, [file for file in files if inspections[file].is_cut])
    with_escapers = [file for file in files if inspections[file].keeps_escapers]
    _warn(RunWarning.ESCAPERS, [file for file in with_escapers if not inspections[file].is_escaped])
    doubled = [file for file in files if (seen := inspections[file].escapes) and seen.has_quotes]
    _warn(RunWarning.DOUBLED_QUOTES, doubled)
    nulls = [file for file in files if (seen := inspections[file].escapes) and seen.has_nulls]
    _warn(RunWarning.NULL_TEXTS, nulls)
    return inspections


def _warn(warning: RunWarning, files: Sequence[str]) -> None:
    if files:
        note(warning, f"{files[0]} and others" if files[1:] else files[0])


def column_names(inspection: Inspection, csv_format: Format) -> tuple[str, ...]:
    """Return the names in the header of a file, or col0, col1 and so on without a header."""
    if not csv_format.is_on("withHeader"):
        return tuple(f"col{position}" for position in range(len(inspection.first)))
    return unique_names(inspection.first)


def unique_names(header: Sequence[str]) -> tuple[str, ...]:
    """Return the names in a header; as in Spark, an empty or repeated name has its position."""
    lower = [name.lower() for name in header]
    return tuple(
        f"_c{position}"
        if not name
        else f"{name}{position}"
        if lower.count(lower[position]) > 1
        else name
        for position, name in enumerate(header)
    )


def _inspect(
    options: Mapping[str, str], first_lines: Callable[[str], str], file: str
) -> Inspection:
    skips = int(options[SKIPS])
    if PurePosixPath(file).suffix in OTHER_CODECS:
        lines = _text_lines(first_lines(file).removeprefix("\ufeff"))
        return Inspection(tuple(_fields_at(skips, lines, options)))
    escapes = Escapes(options["escape"], options["quote"], options["sep"], options[NULL])

    def texts() -> Iterator[str]:
        return escapes.seeing(_chunks(file))

    inspection = None if options["multiLine"] == "true" else _inspect_lines(texts(), options)
    inspection = inspection or _inspect_records(file, texts, {**options, "multiLine": "true"})
    if skips:
        inspection = replace(
            inspection, first=tuple(_fields_at(skips, _lines(_chunks(file)), options))
        )
    return replace(inspection, escapes=escapes)


def _chunks(file: str) -> Iterator[str]:
    """Yield a file in parts that end with a line, without its byte order mark."""
    decoder, taken = getincrementaldecoder("utf-8")(), 0
    try:
        with open_file(str(folder_of(file))) as opened:
            while raw := opened.read(CHUNK):
                raw += opened.readline(CHUNK)
                if taken == 0 and b"\0" in raw[:HEAD_BYTES]:
                    raise unreadable(file, "csv", "it holds NUL bytes and is not text")
                text, taken = decoder.decode(raw), taken + len(raw)
                yield text if taken > len(raw) else text.removeprefix("\ufeff")
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        why = (
            "it is not UTF-8, which Glue reads: can't decode byte "
            f"0x{error.object[error.start]:02x}, the first one after {taken:,} good bytes or soon "
            "after"
        )
        raise unreadable(file, "csv", why) from error
    except (OSError, EOFError) as error:
        raise unreadable(file, "csv", error) from error


def _inspect_lines(texts: Iterable[str], options: Mapping[str, str]) -> Inspection | None:
    # None for a file with records of white space, which must be read as a whole.
    first: list[str] = []
    is_cut = False
    for text in _of_whole_lines(texts):
        first = first or _quick_first_fields(text, options)
        if options["sep"] in BLANK and has_white_records(text, options["sep"]):
            return None
        is_cut = is_cut or _has_cut_values(text, options)
    return Inspection(tuple(first), is_cut=is_cut)


def _of_whole_lines(texts: Iterable[str]) -> Iterator[str]:
    begun = ""
    for text in texts:
        text = begun + text
        # A final CR may be the half of CRLF: it goes to the next string.
        end = max(text.rfind("\n"), text.rfind("\r")) + 1
        begun = text[end:]
        if end:
            yield text[:end]
    if begun:
        yield begun


def _has_cut_values(text: str, options: Mapping[str, str]) -> bool:
    quote = options["quote"]
    if not quote or quote not in text:
        return False
    is_doubled = options["escape"] == quote
    for line in text.replace("\r", "\n").split("\n"):
        # A line that ends within quotes has an odd number of them, unless an escaper is in between.
        count = line.count(quote)
        if count % 2 or (count and not is_doubled):
            *_, last = _records([f"{line}\n", _AFTER_ALL], options)
            if last != [_AFTER_ALL]:
                return True
    return False


def has_white_records(text: str, separator: str) -> bool:
    """Return whether some line is white space and has the separator."""
    begins = {" ", "\t", separator}
    if text[0] not in BLANK and not any(
        f"{end}{begin}" in text for end in "\r\n" for begin in begins
    ):
        return False  # most files, by a fast search
    return any(separator in line.group() for line in _BLANK_LINE.finditer(text.replace("\r", "\n")))


def _inspect_records(
    file: str, texts: Callable[[], Iterable[str]], options: Mapping[str, str]
) -> Inspection:
    ends: set[str] = set()
    first, last = _first_and_last(seeing_ends(texts(), ends), options)
    if last != [_AFTER_ALL]:
        begin = options["sep"].join(last).removesuffix(_AFTER_ALL).rstrip("\n")[:SHOWN]
        text = f"the record that begins with {begin!r} has a quote that is never closed"
        raise unreadable(file, "csv", text)
    if len(ends) > 1:  # some of them may be within quotes
        ends = _record_ends(texts(), options)
    if len(ends) > 1:
        named = " and ".join(sorted(map(repr, ends)))
        text = f"its records end with {named}, and Spark reads files that end them in one way only"
        raise unreadable(file, "csv", text)
    return Inspection(() if first == [_AFTER_ALL] else tuple(first), next(iter(ends), "\n"))


def _first_and_last(
    texts: Iterable[str], options: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """Return the first record and the last one, which is `_AFTER_ALL` if all quotes are closed."""
    quote, several = options["quote"], iter(texts)
    first: list[str] = []
    for text in several:
        if quote and quote in text:
            several = chain([text], several)
            break
        first = first or _quick_first_fields(text, options)
    records = _records(chain(_lines(several), ["\n", _AFTER_ALL]), options)
    begin = next(fields for fields in records if fields)
    last = deque(records, maxlen=1)
    return first or begin, last.pop() if last else begin


def _lines(texts: Iterable[str]) -> Iterator[str]:
    return chain.from_iterable(map(_text_lines, texts))


def seeing_ends(texts: Iterable[str], ends: set[str]) -> Iterator[str]:
    """Yield strings that end with a line, and add their line ends to a set."""
    for text in texts:
        both = text.count("\r\n")
        counts = {"\r\n": both, "\n": text.count("\n") - both, "\r": text.count("\r") - both}
        ends.update(end for end, count in counts.items() if count)
        yield text


def _record_ends(texts: Iterable[str], options: Mapping[str, str]) -> set[str]:
    ends, last = set[str](), [""]

    def lines() -> Iterator[str]:
        for line in _lines(texts):
            last[0] = line
            yield line

    for _ in _records(lines(), options):
        ends.add(last[0][len(last[0].rstrip("\r\n")) :])
    return ends - {""}


def _quick_first_fields(text: str, options: Mapping[str, str]) -> list[str]:
    # The first record is mostly in the first whole lines, so that the rest need not be parsed.
    head = text[:HEAD_BYTES]
    end = max(head.rfind("\n"), head.rfind("\r")) + 1
    return first_fields(head[:end], options) or first_fields(text, options)


def first_fields(text: str, options: Mapping[str, str]) -> list[str]:
    """Return the fields of the first record, by Spark's options; empty if the string is blank."""
    return _fields_at(0, _text_lines(text), options)


def _text_lines(text: str) -> Iterable[str]:
    return io.StringIO(text, newline="")


def _fields_at(place: int, lines: Iterable[str], options: Mapping[str, str]) -> list[str]:
    """Return the fields of the record at a place, of those that are not blank."""
    if options["multiLine"] != "true":
        white = options["sep"] if options["sep"] in BLANK else _AFTER_ALL
        lines = (line for line in lines if line.strip(BLANK) or white in line)
    records = (fields for fields in _records(lines, options) if fields)
    return next(islice(records, place, None), [])


def records_of(text: str, options: Mapping[str, str]) -> list[list[str]] | None:
    """Return the records in a string that are not empty; None if a quote is never closed."""
    with _unlimited_fields():
        lines = chain(_text_lines(text), ["\n", _AFTER_ALL])
        *records, last = filter(None, _records(lines, options))
    return records if last == [_AFTER_ALL] else None


def _records(lines: Iterable[str], options: Mapping[str, str]) -> Iterator[list[str]]:
    quote, escape = options["quote"], options["escape"]
    is_doubled = escape == quote
    return csv.reader(
        lines,
        delimiter=options["sep"],
        quotechar=quote or None,
        quoting=csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE,
        doublequote=is_doubled,
        escapechar=None if is_doubled else escape,
    )


@contextmanager
def _unlimited_fields() -> Iterator[None]:
    # The module csv refuses fields of more than 128 KiB.
    before = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(before)
