"""The scripts and the call of docs/backfill.md do what the page says."""

from __future__ import annotations

import json
import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.pages import Page
from tests.tidemark.cli.test_cli import tidemark
from tests.tidemark.glue_service.conftest import Port
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.home import Home

PAGE = Page("docs/backfill.md")
JOB = "ingest-orders"
ARGUMENTS = {
    "--source_path": "s3://landing/orders/",
    "--target_path": "s3://raw/orders/",
    "--backfill_from": "none",
    "--backfill_to": "none",
    "--job-bookmark-option": "job-bookmark-enable",
}


def test_the_call_declares_what_a_backfill_needs():
    call = PAGE.blocks["call"]

    assert '"backfill_from": "none",' in call
    assert '"backfill_to": "none",' in call


@pytest.mark.parametrize("given", ["none", "2013-01-01"])
def test_windows_are_incremental_or_those_of_the_range(given):
    asked: list[tuple[str, dict[str, Any]]] = []

    class Watermarks:
        def __getattr__(self, name):
            return lambda job, **options: asked.append((name, options)) or []

    PAGE.run(
        "windows",
        args={"JOB_NAME": JOB, "backfill_from": given, "backfill_to": "2013-02-01"},
        watermarks=Watermarks(),
        run_id="jr_1",
        newest=lambda rows: rows,
        orders=1,
        UTC=UTC,
        datetime=datetime,
    )

    ((name, options),) = asked
    if given == "none":
        assert name == "windows"
        return
    assert (name, options["backfill_id"], options["bounds"]) == ("backfill", "jr_1", "[)")
    assert (options["low"], options["high"]) == (
        datetime(2013, 1, 1, tzinfo=UTC),
        datetime(2013, 2, 1, tzinfo=UTC),
    )


def land(home: Home, day: str, name: str, *numbers: int, at: float | None = None) -> None:
    folder = home.lake / "landing" / "orders" / f"landed_on={day}"
    folder.mkdir(parents=True, exist_ok=True)
    lines = "".join(json.dumps({"id": it, "day": day}) + "\n" for it in numbers)
    (folder / name).write_text(lines, encoding="utf-8")
    if at is not None:
        os.utime(folder / name, (at, at))


def gaps() -> str:
    answer = tidemark("gaps", JOB, "--format", "json")
    assert answer.exit_code == 0, answer.output
    found = json.loads(answer.stdout)["intervals"]
    return " ".join(f"{it['from'][-2:]}-{it['to'][-2:]}:{it['state']}" for it in found)


@pytest.mark.spark
@pytest.mark.nightly
def test_a_bookmark_job_is_filled_and_its_bookmark_stays_as_it_is(
    spark: SparkSession, home: Path
) -> None:
    where = Home.open(home)
    with serving(where) as (url, engine):
        port = Port(where, url, engine)
        location = port.script("ingest_orders", PAGE.blocks["ingest_orders.py"])
        (where.lake / "raw").mkdir()
        port.glue.create_job(
            Name=JOB,
            Role="anyone",
            Command={"Name": "glueetl", "ScriptLocation": location},
            GlueVersion="5.1",
            DefaultArguments=ARGUMENTS,
        )

        def run() -> None:
            ended = port.ended(JOB, port.start(JOB))
            assert ended["JobRunState"] == "SUCCEEDED", ended

        def written() -> list[int]:
            raw = spark.read.parquet(str(where.lake / "raw" / "orders"))
            return sorted(row["id"] for row in raw.collect())

        def bookmark() -> list[Any]:
            with sqlite3.connect(where.database) as store:
                return store.execute("SELECT * FROM bookmark").fetchall()

        land(where, "2013-01-01", "a.json", 1, 2)
        land(where, "2013-01-02", "a.json", 3)
        run()
        before = bookmark()
        assert gaps() == "01-02:done"

        # What was loaded is loaded again in its place, and the bookmark has not moved.
        filled = tidemark("backfill", JOB, "--from", "2013-01-01", "--to", "2013-01-02", "--yes")
        assert filled.exit_code == 0, filled.output
        assert "unless the script does otherwise when it fills a range, runs add" in filled.output
        assert (written(), bookmark()) == ([1, 2, 3], before)

        # A late file and a missing day; days without a file are no work.
        land(where, "2013-01-01", "late.json", 4)
        land(where, "2013-01-04", "a.json", 5)
        assert gaps() == "01-01:stale 02-02:done 03-03:missing 04-04:missing"
        options = ("--from", "2013-01-01", "--to", "2013-01-04", "--only-missing", "--yes")
        filled = tidemark("backfill", JOB, *options)
        assert filled.exit_code == 0, filled.output
        assert "not run: 1 day for which the source has no file" in filled.output
        assert (written(), bookmark()) == ([1, 2, 3, 4, 5], before)
        assert gaps() == "01-02:done 03-03:missing 04-04:done"

        # The next run reads what it would have read: the plan has said so.
        assert "the next incremental run reads 2 days of this as well" in filled.output
        run()
        assert written() == [1, 2, 3, 4, 4, 5, 5]
