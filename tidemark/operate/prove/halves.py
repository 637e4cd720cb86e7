"""Makes two files of one that a job reads: what arrives in parts, or late, needs two."""

import gzip
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from tidemark.local_state.home import Home
from tidemark.operate.prove.arrivals import home_without
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Bench
from tidemark.operate.rows.answers import is_header
from tidemark.operate.rows.records import records_of

if TYPE_CHECKING:
    from pyarrow import Table

MAX_BYTES = 8_000_000
Change = TypeVar("Change")
Pack: TypeAlias = Callable[[bytes], bytes]
SECOND = "_2"  # behind the name of the first half


def home_of_halves(bench: Bench, run: Baseline) -> Home | None:
    """Return a home like the base, in which the only new file of a run is two; None if it cannot.

    Both have the time of the file, and their rows are those of the file.
    """
    if len(run.sources) != 1:
        return None
    file = bench.base.local_path(run.sources[0])
    halves = in_two(file)
    if halves is None:
        return None
    home = home_without(bench.base, run.sources, bench.folder("of-halves"))
    first = home.local_path(run.sources[0])
    name, *suffixes = first.name.split(".")
    second = first.with_name(".".join((f"{name}{SECOND}", *suffixes)))
    for half, content in zip((first, second), halves, strict=True):
        half.write_bytes(content)
        os.utime(half, ns=(0, file.stat().st_mtime_ns))
    return home


def in_two(file: Path) -> tuple[bytes, bytes] | None:
    """Return the content of two files with half of the rows of one each; None if it cannot be."""
    try:
        divide, content, pack = opened(file, FORMATS)
        halves = divide(content)
    except (ValueError, OSError):  # it is not what it is named
        return None
    return halves and (pack(halves[0]), pack(halves[1]))


def opened(file: Path, formats: Mapping[str, Change]) -> tuple[Change, bytes, Pack]:
    """Return what a file's format has in `formats`, its content unpacked, and what packs it again.

    Raises:
        ValueError: it is of another format, or too large.
        OSError: it is not packed as its name says.
    """
    *names, last = ("", *file.suffixes[-2:])
    is_packed = last == ".gz"
    kind = names[-1] if is_packed else last
    if kind not in formats:
        raise ValueError(f"{file.name} is not a file of JSON, CSV or Parquet")
    if file.stat().st_size > MAX_BYTES:
        raise ValueError(f"{file.name} has more than {MAX_BYTES // 1_000_000} MB")
    content = file.read_bytes()
    if is_packed:
        return formats[kind], gzip.decompress(content), gzip.compress
    return formats[kind], content, lambda content: content


def parquet_table(content: bytes) -> "Table":
    """Return the table in a file of Parquet; raise ValueError if it is none."""
    from pyarrow import ArrowException, parquet

    try:
        return parquet.read_table(io.BytesIO(content))
    except ArrowException as error:
        raise ValueError(f"it is not Parquet: {error}") from error


def parquet_content(table: "Table") -> bytes:
    """Return a table as a file of Parquet."""
    from pyarrow import BufferOutputStream, parquet

    out = BufferOutputStream()
    parquet.write_table(table, out)
    content: bytes = out.getvalue().to_pybytes()
    return content


Halves: TypeAlias = tuple[bytes, bytes] | None
Row = TypeVar("Row")


def _of_json(content: bytes) -> Halves:
    text = content.decode()
    records = list(records_of(text))
    if len(records) == 1 and records[0].startswith("["):
        elements = json.loads(text)
        parts = _divided(elements)
        return parts and (json.dumps(parts[0]).encode(), json.dumps(parts[1]).encode())
    lines = _divided([f"{record}\n" for record in records])
    return lines and ("".join(lines[0]).encode(), "".join(lines[1]).encode())


def _of_lines(content: bytes) -> Halves:
    header, *rows = content.splitlines(keepends=True) or [b""]
    if not is_header(header.decode(errors="replace").rstrip("\r\n")):
        header, rows = b"", [header, *rows]
    if any(row.count(b'"') % 2 for row in rows):  # a quoted line break
        return None
    lines = _divided(rows)
    return lines and (header + b"".join(lines[0]), header + b"".join(lines[1]))


def _of_parquet(content: bytes) -> Halves:
    table = parquet_table(content)
    half = len(table) // 2
    return (parquet_content(table[:half]), parquet_content(table[half:])) if half else None


def _divided(rows: Sequence[Row]) -> tuple[Sequence[Row], Sequence[Row]] | None:
    return (rows[: len(rows) // 2], rows[len(rows) // 2 :]) if len(rows) > 1 else None


FORMATS: Mapping[str, Callable[[bytes], Halves]] = {
    ".json": _of_json,
    ".jsonl": _of_json,
    ".csv": _of_lines,
    ".tsv": _of_lines,
    ".parquet": _of_parquet,
}
