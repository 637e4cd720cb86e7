"""The whole jobs of the pages lose and double no row, or say at the write why they may."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from click.testing import CliRunner

from benchmarks.iceberg import CONF
from tests.pages import PROJECT, Page
from tidemark.cli.main import main
from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.sparks.installed import own_spark
from tidemark.local_state.watermark_tables import watermark_table

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
KINDS = "crash,error,again,parts,meanwhile,replaced,rewind"
BOOKMARK = ["--job-bookmark-option", "job-bookmark-enable"]
PATHS = ["--source_path", "s3://lake/in/", "--target_path", "s3://lake/out/"]
CREATE = """
from pyspark.sql import SparkSession

SparkSession.builder.getOrCreate().sql("CREATE DATABASE IF NOT EXISTS glue_catalog.shop")
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    home = Home.open(tmp_path / "home")
    (home.lake / "lake" / "in").mkdir(parents=True)
    return home


def put(home: Home, name: str, rows: list[dict[str, Any]]) -> None:
    file = home.lake / "lake" / "in" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = file.with_suffix(".json")
    lines.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    if file.suffix == ".parquet":
        duckdb.sql(f"COPY (FROM '{lines}') TO '{file}' (FORMAT parquet)")
        lines.unlink()


def verdicts(page: str, block: str, *words: str, kinds: str = KINDS) -> dict[str, set[str]]:
    script = Path(Path(block).name)
    script.write_text(Page(page).blocks[block], encoding="utf-8")
    command = ["prove", "--kind", kinds, "--format", "json", str(script), *BOOKMARK, *words]
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 0, result.output
    found: dict[str, set[str]] = {}
    for one in json.loads(result.stdout)["experiments"]:
        found.setdefault(one["kind"], set()).add(one["verdict"])
    return found


def test_a_copy_of_new_orders_says_why_it_appends(home):
    for number in (1, 2, 3):
        put(home, f"{number}.json", [{"id": number, "amount": 1.5}])

    kinds = f"{KINDS},order"
    found = verdicts("docs/another-repository.md", "jobs/orders.py", *PATHS, kinds=kinds)

    assert found["crash"] == {"equal", "accepted"}


def test_a_job_that_can_be_backfilled_says_why_it_appends(home):
    for day in (1, 2, 3):
        folder = f"landed_on=2026-11-0{day}"
        put(home, f"{folder}/a.json", [{"id": day, "day": f"2026-11-0{day}"}])

    none = ["--backfill_from", "none", "--backfill_to", "none"]
    found = verdicts("docs/backfill.md", "ingest_orders.py", *PATHS, *none)

    assert found["crash"] == {"equal", "accepted"}


def test_a_count_by_day_overwrites_its_days(home):
    for day in (1, 2, 3):
        rows = [{"origin": origin, "flight": day} for origin in ("EWR", "JFK")]
        put(home, f"year=2013/month=1/day={day}/a.parquet", rows)

    kinds = f"{KINDS},order"
    found = verdicts("docs/add-a-job.md", "glue_jobs/publish_origins.py", *PATHS, kinds=kinds)

    assert found["crash"] == {"equal"}


@pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5")
def test_a_merge_of_changes_merges_each_once(home):
    with (
        dynamodb_endpoint(home) as endpoint,
        dynamodb_client(endpoint, region()) as client,
    ):
        create_tables(client, [watermark_table("glue-watermarks")])
    with zipfile.ZipFile(home.lake / "lake" / "libs.zip", "w") as archive:
        for file in (PROJECT / "libs").rglob("*.py"):
            archive.write(file, file.relative_to(PROJECT / "libs"))
    for number, (op, status) in enumerate([("I", "open"), ("U", "paid"), ("D", "paid")]):
        rows = [
            {"Op": "I", "id": 10 + number, "status": "open", "change_seq": f"{number}0"},
            {"Op": op, "id": 1, "status": status, "change_seq": f"{number}1"},
        ]
        put(home, f"{number}.parquet", [{**row, "amount": 1} for row in rows])
    iceberg = ["--datalake-formats", "iceberg", "--conf", CONF]
    create = Path("create.py")
    create.write_text(CREATE, encoding="utf-8")
    made = CliRunner().invoke(main, ["submit", str(create), *iceberg])
    assert made.exit_code == 0, made.output

    place = ["--target_table", "glue_catalog.shop.orders", "--watermark_table", "glue-watermarks"]
    # Not order: a late change brings a deleted row back, as the page says.
    more = ["--extra-py-files", "s3://lake/libs.zip"]
    found = verdicts("docs/iceberg.md", "jobs/merge_orders.py", *PATHS, *place, *more, *iceberg)

    assert found["crash"] == {"equal"}
