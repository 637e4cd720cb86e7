"""Commands that change or list something tell programs what they did, as JSON."""

from __future__ import annotations

import json
from pathlib import Path

from tests.fixtures.commands import WriteAssembly
from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.home import Home


def as_json(*command: str) -> object:
    result = tidemark(*command, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_lines_of_a_log_have_their_stream_and_time(
    home: Path, write_assembly: WriteAssembly
) -> None:
    script = "import sys\nprint('out')\nprint('err', file=sys.stderr)\n"
    assert tidemark("run", "--app", str(write_assembly({"first": script}))).exit_code == 0

    result = tidemark("logs", "first", "--format", "json")

    lines = [json.loads(line) for line in result.stdout.splitlines()]
    assert {(line["stream"], line["text"]) for line in lines} >= {
        ("stdout", "out"),
        ("stderr", "err"),
    }
    assert all(line["at"].endswith("+00:00") for line in lines)
    assert as_json("stop", "first") == {"name": "first", "stopping": []}


def test_tables_are_listed(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "table.json"
    columns = [{"Name": "id", "Type": "bigint"}]
    storage = {"Location": "s3://lake/t/", "Columns": columns}
    table = {
        "Name": "t",
        "Parameters": {"classification": "parquet"},
        "PartitionKeys": [{"Name": "day", "Type": "string"}],
        "StorageDescriptor": storage,
    }
    file.write_text(json.dumps({"DatabaseName": "d", "TableInput": table}), encoding="utf-8")
    Home.open(home)
    database = tmp_path / "database.json"
    database.write_text(json.dumps({"DatabaseInput": {"Name": "d"}}), encoding="utf-8")
    tidemark("catalog", "put", str(database))
    assert tidemark("catalog", "put", str(file)).exit_code == 0

    assert as_json("catalog", "list") == [
        {
            "table": "d.t",
            "format": "parquet",
            "columns": {"id": "bigint"},
            "partition_keys": {"day": "string"},
            "location": "s3://lake/t/",
        }
    ]
