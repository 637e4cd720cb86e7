"""A run notes its contracts: those of its arguments, and those that it applies."""

import json
from datetime import UTC, datetime

import pytest

from tidemark.glue_job.process import observed_contracts
from tidemark.glue_job.process.observed_contracts import (
    note_contracts_of,
    note_rows_aside,
    observe_contracts,
    observe_reports,
)
from tidemark.local_state.observed_schemas import noted_contracts
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE, read_warnings
from watermarks import Contract, metrics


def test_contracts_of_arguments_have_the_place_of_their_data(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    terms = {"schema": "id INT", "types": "rescue"}
    words = ["--source", "s3://lake/in/", "--schema_of_source", json.dumps(terms)]

    note_contracts_of(["job.py", *words, f"--schema_of_other={json.dumps(terms)}"])
    note_contracts_of(["job.py", *words, "--schema_of_broken", "{"])

    of_data = [{**terms, "place": "s3://lake/in/"}, {**terms, "place": ""}]
    assert noted_contracts(tmp_path) == of_data


def test_rows_that_windows_put_aside_are_one_warning_for_each_target(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(metrics, "rows_report", metrics.rows_report)
    monkeypatch.setattr(observed_contracts, "_aside", type(observed_contracts._aside)())
    observe_reports(metrics)

    now = datetime(2026, 11, 30, tzinfo=UTC)
    for metric, rows in (("RescuedRows", 2), ("RescuedRows", 2), ("QuarantinedRows", 1)):
        line = metrics.rows_report("load", metric, rows, "s3://lake/out/", now)
        assert json.loads(line)[metric] == rows
    note_rows_aside()

    rescued, taken = read_warnings(tmp_path)
    assert rescued.startswith("4 rows of s3://lake/out/ had values that do not fit the contract")
    assert taken.startswith("1 row of s3://lake/out/ did not fit the contract, and went into its")


@pytest.mark.spark
def test_a_contract_that_is_applied_is_noted_once(tmp_path, monkeypatch, spark):
    from watermarks.schema import plan

    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    monkeypatch.setattr(plan.Plan, "of", plan.Plan.of)
    observe_contracts(plan)

    rows = spark.createDataFrame([(1, "a")], "id INT, note STRING")
    for _ in range(2):
        fit = Contract("id INT", columns="rescue").apply(rows)

    assert fit.columns == ["id", "_rescued_data"]
    (noted,) = noted_contracts(tmp_path)
    assert (noted["columns"], noted["types"], noted["place"]) == ("rescue", "evolve", "")
    assert noted["schema"] == "id INT"
    Contract(rows.schema).apply(rows)
    assert noted_contracts(tmp_path)[1]["schema"] == "id note"
