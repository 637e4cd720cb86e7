"""What a proof of a dbt project decides by itself; tests/clients/test_dbt.py runs one."""

from __future__ import annotations

import pytest

from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tidemark.operate.prove.dbt import Model, at_fault, changing, models_of


def node(name: str, *reads: str, kind: str = "model") -> dict[str, object]:
    return {
        "resource_type": kind,
        "unique_id": f"model.shop.{name}",
        "schema": "shop",
        "alias": name.upper(),
        "original_file_path": f"models/{name}.sql",
        "depends_on": {"nodes": [f"model.shop.{other}" for other in reads]},
    }


def test_only_new_states_are_tried():
    assert changing([]) == []
    assert changing(["x"]) == []
    assert changing(["x", "x", "y", "y", "z"]) == [3, 5]


def test_a_target_is_a_model_by_its_place_or_its_table():
    manifest = {"nodes": {"a": node("a"), "b": node("b", "a"), "t": node("t", kind="test")}}
    tables = [("shop.a", "s3://lake/dbt/a"), ("shop.b", ""), ("shop.t", "s3://lake/t")]

    models = models_of(manifest, tables)

    assert {name: model.file for name, model in models.items()} == {
        "s3://lake/dbt/a/": "models/a.sql",
        "table shop.a": "models/a.sql",
        "table shop.b": "models/b.sql",
    }


def test_the_model_at_fault_is_the_one_that_reads_no_wrong_one():
    a, b, c = (Model(name, f"{name}.sql", frozenset(reads)) for name, reads in ("a ", "ba", "cb"))

    assert at_fault(c, [c, b, a]) == a
    assert at_fault(c, [c, a]) == c
    assert at_fault(b, [b]) == b


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["."], "there is no dbt_project.yml"),
        (["shop", "--kind", "crash"], "--dbt and --kind: a project of dbt has no such option"),
        (["shop", "--dbt-command", "nowhere/dbt"], "there is no dbt 'nowhere/dbt' on the PATH"),
    ],
)
def test_what_is_no_project_or_no_dbt_is_refused(words, told, tmp_path, monkeypatch):
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "dbt_project.yml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))

    assert_one_clear_line(tidemark("prove", "--dbt", *words), 2, told)
