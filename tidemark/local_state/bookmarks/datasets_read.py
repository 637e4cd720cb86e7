"""The sources of a run in its checkpoint: which datasets, how much, and how far."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tidemark.local_state.bookmarks.files import FileVersion
from tidemark.local_state.bookmarks.sources import S3Source
from tidemark.local_state.store.database import Store
from tidemark.model.checkpoints.checkpoint import DatasetRead, Position
from tidemark.model.checkpoints.merging import merged_reads

_S3 = re.compile(r"s3[an]?://")
_GLOB = re.compile(r"[*?\[{]")
_FILE = re.compile(r"/[^/]+\.[A-Za-z][A-Za-z0-9]{1,7}$")
_PARTITION = re.compile(r"(?:/[^/=]+=[^/]*)+/?$")
# user:password@host, and Oracle's user/password@host
_CREDENTIALS = re.compile(r"^(jdbc:oracle:\w+:|[^/]*//).*@")
_DATABASE = re.compile(r";database(?:Name)?=[^;]*", re.IGNORECASE)


def dataset_of_path(path: str) -> str:
    """Return the dataset of a folder or of a pattern: ``s3://bucket/folder/``."""
    text = _S3.sub("s3://", path.strip(), count=1)
    if wildcard := _GLOB.search(text):
        text = text[: wildcard.start()].rpartition("/")[0]
    return f"{text.rstrip('/')}/"


def table_folder(path: str) -> str:
    """Return the dataset of a file, or of a folder that may be one partition of all of them."""
    # Where the library writes a window until its audits have looked at it.
    text = _PARTITION.sub("", path).removesuffix("/_audit")
    return _S3.sub("s3://", text, count=1) if _FILE.search(text) else dataset_of_path(text)


def dataset_of_database(url: str, table: str) -> str:
    """Return the dataset of a table of a database: ``jdbc:...#table``, without credentials."""
    base, _, _ = url.partition("?")
    base, _, rest = base.partition(";")
    name = _DATABASE.search(f";{rest}")
    server = _CREDENTIALS.sub(r"\1", base)
    return f"{server}{name[0] if name else ''}#{table}"


def position_of(state: Mapping[str, Any] | None) -> Position | None:
    """Return how far a source was read by a state of a bookmark; None for nothing."""
    if not state:
        return None
    if "high_ms" in state:
        return {"kind": "files", "until_ms": state["high_ms"]}
    if not state.get("bound"):
        return None
    values = [int(text) if kind == "int" else text for kind, text in state["bound"]]
    return {"kind": "keys", "values": dict(zip(state["keys"], values, strict=True))}


def files_read(
    source: S3Source,
    files: Sequence[FileVersion],
    before: Mapping[str, Any] | None,
    after: Mapping[str, Any] | None,
) -> list[DatasetRead]:
    """Return the datasets that a run reads of a source of files: one for each of its paths."""
    sizes: dict[str, list[int]] = {}
    paths = source.own_paths or [table_folder(path) for path in source.paths[:1]]
    for path in paths:
        is_file = len(files) == 1 and files[0].path == path
        sizes[_S3.sub("s3://", path) if is_file else dataset_of_path(path)] = [0, 0]
    names = sorted(sizes, key=len, reverse=True)
    for file in files:
        of_file = sizes[next((name for name in names if file.path.startswith(name)), names[-1])]
        of_file[0] += 1
        of_file[1] += file.size
    return [
        DatasetRead(
            dataset,
            source.transformation_ctx,
            source.table,
            count,
            size,
            None,
            position_of(before),
            position_of(after),
        )
        for dataset, (count, size) in sizes.items()
    ]


def packed(reads: Iterable[DatasetRead]) -> str:
    """Return the reads as stored next to their source."""
    return json.dumps([asdict(read) for read in reads], separators=(",", ":"))


def reads_of_run(store: Store, job_name: str, run_id: str) -> tuple[DatasetRead, ...]:
    """Return the sources a run has opened so far, in order; a repeated one once."""
    rows = store.query(
        "SELECT datasets FROM source_read WHERE job_name = ? AND run_id = ? "
        "AND datasets IS NOT NULL ORDER BY rowid",
        (job_name, run_id),
    )
    return merged_reads(DatasetRead(**read) for row in rows for read in json.loads(row["datasets"]))
