"""Makes two files of one that a job reads: what arrives in parts, or late, needs two."""

import gzip
import io
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, TypeVar

from tidemark.local_state.home import Home
from tidemark.operate.prove.arrivals import home_without
from tidemark.operate.prove.baselines import Baseline
from tidemark.operate.prove.bench import Bench
from tidemark.operate.rows.answers import is_header
from tidemark.operate.rows.records import records_of

MAX_BYTES = 8_000_000
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
    kind, is_packed = format_of(file)
    if kind not in FORMATS or file.stat().st_size > MAX_BYTES:
        return None
    content = file.read_bytes()
    try:
        halves = FORMATS[kind](gzip.decompress(content) if is_packed else content)
    except (ValueError, OSError):  # it is not what it is named
        return None
    if halves is None or not is_packed:
        return halves
    return gzip.compress(halves[0]), gzip.compress(halves[1])


def format_of(file: Path) -> tuple[str, bool]:
    """Return the suffix that names the format of a file, and whether it is packed."""
    suffixes = file.suffixes[-2:]
    is_packed = suffixes[-1:] == [".gz"]
    return (suffixes[0 if is_packed else -1] if suffixes else ""), is_packed


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
    from pyarrow import ArrowException, BufferOutputStream, parquet

    try:
        table = parquet.read_table(io.BytesIO(content))
    except ArrowException as error:
        raise ValueError(error) from error
    if len(table) < 2:
        return None
    halves = []
    for part in (table.slice(0, len(table) // 2), table.slice(len(table) // 2)):
        out = BufferOutputStream()
        parquet.write_table(part, out)
        halves.append(out.getvalue().to_pybytes())
    return halves[0], halves[1]


def _divided(rows: Sequence[Row]) -> tuple[Sequence[Row], Sequence[Row]] | None:
    return (rows[: len(rows) // 2], rows[len(rows) // 2 :]) if len(rows) > 1 else None


FORMATS: Mapping[str, Callable[[bytes], Halves]] = {
    ".json": _of_json,
    ".jsonl": _of_json,
    ".csv": _of_lines,
    ".tsv": _of_lines,
    ".parquet": _of_parquet,
}
