"""Pipelines over tables of Iceberg, for tests that run them whole: an app, its source, its rows."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import duckdb

from sample.iceberg.files import data_files
from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.catalog.table_metadata import table_of
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.iceberg import METADATA, iceberg_settings

LIBRARY = Path(__file__).parents[2] / "libs" / "watermarks"


def iceberg_app(
    write_assembly: Callable[..., Path],
    folder: Path,
    scripts: Mapping[str, str],
    after: Mapping[str, Sequence[str]],
    arguments: Mapping[str, str],
) -> Path:
    """Write an app with a database, whose jobs have Iceberg, watermarks and the library."""
    app = write_assembly(scripts, after)
    with zipfile.ZipFile(folder / "libs.zip", "w") as archive:
        for file in sorted(LIBRARY.rglob("*.py")):
            archive.write(file, file.relative_to(LIBRARY.parent))
    template = app / "template.json"
    document = json.loads(template.read_text(encoding="utf-8"))
    settings = iceberg_settings("glue_catalog", "s3://lake/")
    database = {"CatalogId": "1", "DatabaseInput": {"Name": "sales"}}
    document["Resources"]["Sales"] = {"Type": "AWS::Glue::Database", "Properties": database}
    for name in scripts:
        properties = document["Resources"][name]["Properties"]
        properties["GlueVersion"] = "5.1"
        properties["DefaultArguments"] = {
            "--extra-py-files": str(folder / "libs.zip"),
            "--watermark_table": "glue-watermarks",
            "--datalake-formats": "iceberg",
            "--conf": " --conf ".join(f"{key}={value}" for key, value in settings.items()),
            **arguments,
        }
    template.write_text(json.dumps(document), encoding="utf-8")
    return app


def put(home: Path, name: str, *rows: tuple[int, str, int]) -> None:
    """Put a file of rows into the source, in place of one of this name."""
    folder = home / "lake" / "lake" / "in"
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps(dict(zip(("id", "name", "at"), row, strict=True))) for row in rows)
    (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def rows_of(home: Path, table: str) -> list[tuple[int, str, int]]:
    """Return the rows of a table, read by another engine."""
    with Store(Home.open(home).database) as store:
        place = table_of(store, f"sales.{table}").parameters[METADATA]
    files = [str(file) for file in data_files(home / "lake", place)]
    with duckdb.connect() as connection:
        return sorted(connection.execute("FROM read_parquet(?)", [files]).fetchall())


def run(app: Path, *words: str) -> str:
    """Give a command of tidemark that succeeds; return what it has printed."""
    done = tidemark(*words, "--app", str(app))
    assert done.exit_code == 0, done.output
    return done.output
