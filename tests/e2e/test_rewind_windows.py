"""A rewind of a job that writes windows, and of those that read the committed ones, for real."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import tidemark

pytestmark = [pytest.mark.spark, pytest.mark.nightly]  # nine runs of Spark

LOAD = """
import sys
from pyspark.sql import SparkSession
from watermarks import Watermarks, newest, rows_of, write_window
spark = SparkSession.builder.getOrCreate()
given = dict(zip(sys.argv[1::2], sys.argv[2::2]))
watermarks = Watermarks(table_name="glue-watermarks")
frame = spark.read.schema("id INT, name STRING").json("s3://lake/in/")
for window in watermarks.windows(
    "load", run_id=given["--JOB_RUN_ID"], cursor="id", high=newest(frame, "id")
):
    write_window(rows_of(frame, window), "s3a://lake/raw", window)
"""
PUBLISH = """
from pyspark.sql import SparkSession
from watermarks import Watermarks, read_committed
spark = SparkSession.builder.getOrCreate()
committed = Watermarks(table_name="glue-watermarks").committed_windows("load")
rows = read_committed(spark, "s3a://lake/raw", committed)
rows.drop("window", "attempt").coalesce(1).write.mode("overwrite").json("s3://lake/mart/")
"""
COUNT = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
rows = spark.read.parquet("s3://lake/raw/")
rows.coalesce(1).write.mode("overwrite").json("s3://lake/counted/")
"""


@pytest.fixture
def app(write_assembly, home) -> Path:
    folder = write_assembly(
        {"load": LOAD, "publish": PUBLISH, "count": COUNT},
        {"publish": ["load"], "count": ["load"]},
    )
    library = Path(__file__).parents[2] / "libs" / "watermarks"
    with zipfile.ZipFile(home.parent / "libs.zip", "w") as archive:
        for file in sorted(library.rglob("*.py")):
            archive.write(file, file.relative_to(library.parent))
    template = folder / "template.json"
    document = json.loads(template.read_text(encoding="utf-8"))
    for name in ("load", "publish"):
        document["Resources"][name]["Properties"]["DefaultArguments"] = {
            "--extra-py-files": str(home.parent / "libs.zip"),
            "--watermark_table": "glue-watermarks",
        }
    template.write_text(json.dumps(document), encoding="utf-8")
    return folder


def put(home: Path, name: str, *rows: tuple[int, str]) -> None:
    folder = home / "lake" / "lake" / "in"
    folder.mkdir(parents=True, exist_ok=True)
    lines = (json.dumps({"id": number, "name": name}) + "\n" for number, name in rows)
    (folder / name).write_text("".join(lines), encoding="utf-8")


def rows(home: Path, target: str) -> list[tuple[int, str]]:
    files = (home / "lake" / "lake" / target).glob("part-*.json")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    return sorted((line["id"], line["name"]) for line in lines)


def run(app: Path, *words: str) -> str:
    done = tidemark(*words, "--app", str(app))
    assert done.exit_code == 0, done.output
    return done.output


def test_committed_windows_are_right_after_a_rewind_and_the_plan_knows_it(app, home):
    put(home, "1.json", (1, "a"), (2, "a"))
    run(app, "run")
    put(home, "2.json", (3, "wrong"))
    run(app, "run")
    assert rows(home, "mart") == [(1, "a"), (2, "a"), (3, "wrong")]

    put(home, "2.json", (3, "right"), (4, "new"))
    shown = run(app, "rewind", "load", "--to", "previous", "--dry-run", "--format", "json")
    run(app, "rewind", "load", "--to", "previous", "--yes", "--reason", "a wrong name")
    run(app, "run")

    plan = {
        effect["dataset"]: effect["verdict"]
        for job in json.loads(shown)["jobs"]
        for effect in job["effects"]
    }
    assert plan == {
        "s3://lake/raw/": "doubles",  # for the job that counts all files
        "s3://lake/mart/": "right",
        "s3://lake/counted/": "unknown",
    }
    assert rows(home, "mart") == [(1, "a"), (2, "a"), (3, "right"), (4, "new")]
    assert len(rows(home, "counted")) == 5
