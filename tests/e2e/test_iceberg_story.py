"""The second story: flights in a table of Iceberg, merged also after a kill; its check can fail."""

from __future__ import annotations

import json

import fastavro
import pytest
from rich.console import Console

from sample.iceberg.files import data_files
from sample.iceberg.story import play
from tidemark.local_state.home import Home


@pytest.mark.nightly
@pytest.mark.spark
@pytest.mark.synth
def test_the_table_has_every_flight_once_although_a_run_was_killed(tmp_path):
    console = Console(record=True, width=160)

    play(console, Home.open(tmp_path / "home"))

    told = console.export_text()
    assert "rows of the table of Iceberg equal the curated flights" in told
    assert "Merge 4: nothing new" in told


ENTRY = {
    "type": "record",
    "name": "entry",
    "fields": [
        {"name": "status", "type": "int"},
        {
            "name": "data_file",
            "type": {
                "type": "record",
                "name": "file",
                "fields": [{"name": "file_path", "type": "string"}],
            },
        },
    ],
}
MANIFEST = {
    "type": "record",
    "name": "manifest",
    "fields": [
        {"name": "manifest_path", "type": "string"},
        {"name": "content", "type": "int"},
    ],
}


def write_avro(lake, name, schema, records):
    with (lake / "b" / name).open("wb") as file:
        fastavro.writer(file, schema, records)


@pytest.fixture
def lake(tmp_path):
    """Return a lake with a table of two snapshots, the second of which has replaced a file."""
    (tmp_path / "b").mkdir()
    entries = [
        {"status": status, "data_file": {"file_path": f"s3://b/{name}.parquet"}}
        for status, name in ((0, "kept"), (1, "added"), (2, "deleted"))
    ]
    write_avro(tmp_path, "m.avro", ENTRY, entries)
    write_avro(tmp_path, "l.avro", MANIFEST, [{"manifest_path": "s3://b/m.avro", "content": 0}])
    snapshots = [
        {"snapshot-id": 1, "manifest-list": "s3://b/gone.avro"},
        {"snapshot-id": 2, "manifest-list": "s3://b/l.avro"},
    ]
    metadata = {"current-snapshot-id": 2, "snapshots": snapshots}
    (tmp_path / "b" / "v.json").write_text(json.dumps(metadata))
    return tmp_path


def test_the_files_of_a_table_are_those_of_its_snapshot(lake):
    assert [file.name for file in data_files(lake, "s3://b/v.json")] == [
        "kept.parquet",
        "added.parquet",
    ]


def test_a_table_with_files_of_deletions_is_refused(lake):
    write_avro(lake, "l.avro", MANIFEST, [{"manifest_path": "s3://b/m.avro", "content": 1}])

    with pytest.raises(ValueError, match="files of deletions"):
        data_files(lake, "s3://b/v.json")
