"""What a contract refuses, rescues and takes out is shown wherever a run is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tidemark.cli.test_cli import tidemark
from tidemark.local_state.home import Home

pytestmark = pytest.mark.spark
SCRIPT = """
import sys
from awsglue.context import GlueContext
from awsglue.job import Job
from awsglue.utils import getResolvedOptions
from pyspark.context import SparkContext
from watermarks import Contract, Watermarks, newest, rows_of, write_window

args = getResolvedOptions(sys.argv, ["JOB_NAME", "schema_of_target"])
glue = GlueContext(SparkContext.getOrCreate())
job = Job(glue)
job.init(args["JOB_NAME"], args)
rows = glue.create_dynamic_frame.from_options(
    "s3", {"paths": ["s3://lake/in/"]}, "json", transformation_ctx="orders"
).toDF()
contract = Contract.from_json(args["schema_of_target"])
windows = Watermarks().windows(
    args["JOB_NAME"], run_id=args["JOB_RUN_ID"], cursor="id", high=newest(rows)
)
for window in windows:
    write_window(rows_of(rows, window), "s3://lake/out/", window, schema=contract)
"""
ASIDE = {"types": "discard_row", "columns": "rescue", "quarantine": "s3://lake/aside/"}


def test_changes_counts_and_a_refusal_are_shown_in_status_pages_and_reports(home, tmp_path):
    script, folder = tmp_path / "orders.py", Home.open(home).lake / "lake" / "in"
    script.write_text(SCRIPT, encoding="utf-8")
    folder.mkdir(parents=True)
    assert tidemark("table", "glue-watermarks").exit_code == 0

    def run(number: int, terms: dict[str, str], **row: object) -> int:
        Path(folder, f"{number}.json").write_text(json.dumps({"id": number, **row}))
        contract = json.dumps({"schema": "id BIGINT, amt BIGINT", **terms})
        return tidemark("submit", str(script), "--schema_of_target", contract).exit_code

    assert run(1, ASIDE, amt=5) == 0
    assert run(2, ASIDE, amt="x", tip=0.5) == 0
    tells = (
        "source orders (s3://lake/in/): amt was int and is choice",
        "1 row of s3://lake/out/ did not fit the contract, and went into its quarantine",
    )
    (last, _) = json.loads(tidemark("runs", "--format", "json").stdout)
    by_job = {row["job"]: row for row in json.loads(tidemark("status", "--format", "json").stdout)}
    status = by_job["orders"]  # the folder may have an app, too
    shown = json.loads(tidemark("run", "show", last["run_id"], "--format", "json").stdout)
    for told in tells:
        assert any(told in warning["text"] for warning in status["warnings"])
        assert any(told in text for text in shown["warnings"])
        assert told in tidemark("report", "--format", "json").stdout

    assert run(3, {"columns": "freeze"}, tip=0.5) == 1
    told = " ".join(tidemark("status").stdout.split())
    assert "refused orders, run of " in told
    assert "the column tip (double) is new" in told
    assert "let the contract take it (docs/schema.md), then run the job again" in told
