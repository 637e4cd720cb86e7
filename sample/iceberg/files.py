"""Finds the data files of a table of Iceberg without Iceberg: by its metadata alone.

Source: https://iceberg.apache.org/spec/#manifests
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fastavro

DELETED, DATA = 2, 0  # the status of an entry, and the content of a file, in a manifest


def data_files(lake: Path, metadata: str) -> list[Path]:
    """Return the files with the rows of a table's current snapshot.

    Args:
        lake: the folder with the buckets.
        metadata: the place of the table's metadata, ``s3://...``.

    Raises:
        ValueError: the table has files of deletions, so not every row of a file counts.
    """
    table = json.loads(_local(lake, metadata).read_text(encoding="utf-8"))
    current = table["current-snapshot-id"]
    (snapshot,) = (one for one in table["snapshots"] if one["snapshot-id"] == current)
    found: list[Path] = []
    for manifest in _records(lake, snapshot["manifest-list"]):
        if manifest["content"] != DATA:
            raise ValueError(f"{manifest['manifest_path']} lists files of deletions")
        entries = _records(lake, manifest["manifest_path"])
        live = [entry["data_file"] for entry in entries if entry["status"] != DELETED]
        found += [_local(lake, one["file_path"]) for one in live]
    return found


def _records(lake: Path, place: str) -> Iterator[dict[str, Any]]:
    with _local(lake, place).open("rb") as file:
        for record in fastavro.reader(file):
            assert isinstance(record, dict)  # noqa: S101 (a manifest has no other records)
            yield record


def _local(lake: Path, place: str) -> Path:
    return lake / place.removeprefix("s3://")
