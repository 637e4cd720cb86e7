"""A run notes its contracts: those of its arguments, and those that it applies."""

import json

import pytest

from tidemark.glue_job.process.observed_contracts import note_contracts_of, observe_contracts
from tidemark.local_state.observed_schemas import noted_contracts
from tidemark.local_state.run_warnings import RUN_FOLDER_VARIABLE
from watermarks import Contract


def test_contracts_of_arguments_have_the_place_of_their_data(tmp_path, monkeypatch):
    monkeypatch.setenv(RUN_FOLDER_VARIABLE, str(tmp_path))
    terms = {"schema": "id INT", "types": "rescue"}
    words = ["--source", "s3://lake/in/", "--schema_of_source", json.dumps(terms)]

    note_contracts_of(["job.py", *words, f"--schema_of_other={json.dumps(terms)}"])
    note_contracts_of(["job.py", *words, "--schema_of_broken", "{"])

    of_data = [{**terms, "place": "s3://lake/in/"}, {**terms, "place": ""}]
    assert noted_contracts(tmp_path) == of_data


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
    assert noted["schema"]
