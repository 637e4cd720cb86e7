"""A job whose contract refuses a new column, until somebody accepts it, for real."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import tidemark

pytestmark = [pytest.mark.spark, pytest.mark.nightly]  # several runs of Spark

LOAD = """
import sys
from pyspark.sql import SparkSession
from watermarks import Contract, Watermarks, newest, rows_of, write_window
spark = SparkSession.builder.getOrCreate()
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
watermarks = Watermarks(table_name="glue-watermarks")
frame = spark.read.json("s3://lake/in/")
contract = Contract.from_file("orders.sql", columns="freeze", types="freeze")
for window in watermarks.windows(
    "load", run_id=given["--JOB_RUN_ID"], cursor="id", high=newest(frame, "id")
):
    write_window(rows_of(frame, window), "s3a://lake/raw", window, schema=contract)
"""
COPY = """
from pyspark.sql import SparkSession
from watermarks import Watermarks, read_committed
spark = SparkSession.builder.getOrCreate()
committed = Watermarks(table_name="glue-watermarks").committed_windows("load")
rows = read_committed(spark, "s3a://lake/raw", committed).drop("window", "attempt")
rows.write.mode("overwrite").json("s3://lake/copy/")
"""
WHY = ("--reason", "the shop sends tips", "--actor", "ana")


@pytest.fixture
def app(write_assembly, home) -> Path:
    folder = write_assembly({"load": LOAD, "copy": COPY}, {"copy": ["load"]})
    library = Path(__file__).parents[2] / "libs" / "watermarks"
    with zipfile.ZipFile(home.parent / "libs.zip", "w") as archive:
        for file in sorted(library.rglob("*.py")):
            archive.write(file, file.relative_to(library.parent))
    put(home, "code/orders.sql", "id BIGINT, -- of the order\namt BIGINT")
    template = folder / "template.json"
    document = json.loads(template.read_text(encoding="utf-8"))
    for job in ("load", "copy"):
        document["Resources"][job]["Properties"]["DefaultArguments"] = {
            "--extra-py-files": str(home.parent / "libs.zip"),
            "--extra-files": "s3://lake/code/orders.sql",
            "--watermark_table": "glue-watermarks",
        }
    template.write_text(json.dumps(document), encoding="utf-8")
    return folder


def put(home: Path, name: str, text: str) -> None:
    file = home / "lake" / "lake" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def run(app: Path, *words: str, code: int = 0) -> str:
    done = tidemark(
        *words, *(("--app", str(app)) if words[0] in {"run", "rewind", "resume"} else ())
    )
    assert done.exit_code == code, done.output
    return done.output


def copied(home: Path) -> list[dict[str, int]]:
    files = sorted((home / "lake" / "lake" / "copy").glob("*.json"))
    lines = [line for file in files for line in file.read_text("utf-8").splitlines()]
    rows = [json.loads(line) for line in lines]
    return sorted(rows, key=lambda row: int(row["id"]))


def test_a_workflow_whose_job_was_refused_is_resumed_once_the_column_is_accepted(app, home):
    put(home, "in/1.json", '{"id": 1, "amt": 10}\n')
    run(app, "run")
    put(home, "in/2.json", '{"id": 2, "amt": 20, "tip": 5}\n')
    run(app, "run", code=1)
    told = "a contract has refused the last run: the column tip (bigint) is new; the next run"
    assert f"{told} meets the same, until" in " ".join(run(app, "explain", "load").split())
    assert copied(home) == [{"id": 1, "amt": 10}]
    assert "was refused" not in run(app, "resume", code=1)  # it meets the same
    assert copied(home) == [{"id": 1, "amt": 10}]

    run(app, "schema", "accept", "load", *WHY)
    assert "it is accepted, and the next run" in " ".join(run(app, "explain", "load").split())
    run(app, "resume")

    rows = [{"id": 1, "amt": 10}, {"id": 2, "amt": 20, "tip": 5}]
    assert copied(home) == rows
    assert json.loads(run(app, "explain", "load", "--format", "json"))["refused"] is None
    run(app, "run")
    assert copied(home) == rows


def test_a_refused_column_is_accepted_and_a_rewind_forgets_it(app, home):
    put(home, "in/1.json", '{"id": 1, "amt": 10}\n')
    run(app, "run")
    put(home, "in/2.json", '{"id": 2, "amt": 20, "tip": 5}\n')
    assert "schema accept load" in run(app, "run", code=1)

    shown = " ".join(run(app, "schema", "show", "load").split())
    assert "for s3://lake/raw/: the column tip (bigint) is new" in shown
    assert "dry run" in run(app, "schema", "accept", "load", *WHY, "--dry-run")
    assert "accepted as version 2" in run(app, "schema", "accept", "load", *WHY)
    run(app, "run")

    history = json.loads(run(app, "schema", "history", "load", "--format", "json"))["kept"][0]
    (version,) = history["versions"]
    assert (version["kind"], version["actor"]) == ("accept", "ana")
    assert version["changes"] == ["tip is new (bigint)"]
    entries = json.loads(run(app, "watermark", "history", "load", "--format", "json"))
    assert [entry["kind"] for entry in entries] == ["commit", "accept", "commit"]

    run(app, "rewind", "load", "--to", "previous", "--yes", "--reason", "again")
    run(app, "run", code=1)
    run(app, "schema", "accept", "load", *WHY)
    run(app, "run")
    run(app, "watermark", "history", "load")
    run(app, "rewind", "load", "--to", entries[0]["run_id"], "--dry-run")

    kept = json.loads(run(app, "schema", "show", "load", "--format", "json"))["kept"]
    run(app, "home", "backup", str(home.parent / "backup"))
    run(app, "home", "reset", "--yes")
    run(app, "home", "restore", str(home.parent / "backup"))
    again = json.loads(run(app, "schema", "show", "load", "--format", "json"))["kept"]
    assert again == kept
    assert kept[0]["targets"]["s3://lake/raw/"]["columns"]["tip"] == "bigint"
