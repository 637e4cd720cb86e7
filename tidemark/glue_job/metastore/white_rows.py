"""Rows of a Hive text file with empty fields only, separated by white space or Ctrl-A.

Spark's CSV reader trims such lines and drops them, unless it reads a file as a whole.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tidemark.glue_job.readers.csv.heads import BLANK, has_white_records
from tidemark.glue_job.readers.files.compression import OTHER_CODECS, open_file
from tidemark.local_state.run_warnings import RunWarning, note

CHUNK = 1 << 20
WHOLE_FILE_OPTIONS = {"multiLine": "true"}


class WhiteRows:
    """Knows which files have such rows; looks at each file once per change."""

    def __init__(self) -> None:
        """Start without any file."""
        self._ends: dict[tuple[str, int, int, str], frozenset[str]] = {}

    def options_for(self, table: Mapping[str, Any], files: Iterable[Path]) -> dict[str, str]:
        """Return the Spark options that keep such rows of a table; empty if it has none."""
        sep = str(table["options"].get("sep", ","))
        if len(sep) != 1 or sep not in BLANK:
            return {}
        ends = {str(file): self._ends_in(file, sep) for file in files}
        if not any(ends.values()):
            return {}
        each = frozenset[str]().union(*(found or plain_ends(Path(f)) for f, found in ends.items()))
        if len(each) > 1:
            name = Path(next(file for file, found in ends.items() if found)).name
            about = f"the file {name} of the table {table['database']}.{table['table']}"
            note(RunWarning.WHITE_ROWS, about)
            return {}
        return {**WHOLE_FILE_OPTIONS, "lineSep": next(iter(each))}

    def _ends_in(self, file: Path, sep: str) -> frozenset[str]:
        """Return the line ends of a file with such rows; empty for another file."""
        stat = file.stat()
        key = (str(file), stat.st_mtime_ns, stat.st_size, sep)
        if key not in self._ends:
            has = file.suffix not in OTHER_CODECS and any(
                has_white_records(text, sep) for text in _chunks(file)
            )
            self._ends[key] = plain_ends(file) if has else frozenset()
        return self._ends[key]


def plain_ends(file: Path) -> frozenset[str]:
    """Return the line ends of a file."""
    ends = set[str]()
    if file.suffix in OTHER_CODECS:
        return frozenset()
    for text in _chunks(file):
        both = text.count("\r\n")
        counts = {"\r\n": both, "\n": text.count("\n") - both, "\r": text.count("\r") - both}
        ends |= {end for end, count in counts.items() if count}
    return frozenset(ends)


def _chunks(file: Path) -> Iterator[str]:
    """Yield parts that end with a line, and have a character for each byte."""
    with open_file(str(file)) as opened:
        while part := opened.read(CHUNK) + opened.readline(CHUNK):
            yield part.decode("latin-1")
