"""dbt with its adapter of Glue, unmodified: models of every kind, twice, against sessions."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.clients.conftest import PROGRAMS, TIMEOUT_S, VENVS
from tests.tidemark.glue_service.sessions.conftest import Sessions
from tidemark.local_state.home import Home

pytestmark = pytest.mark.clients
PROJECT = Path(__file__).with_name("dbt")
RETRIES = PROJECT.with_name("dbt_retries")
LATER = "2,b,25,2026-01-01\n4,c,7,2026-01-03\n"


@pytest.fixture(params=["dbt", "dbt-1.12"])
def dbt(request, client, port, tmp_path):
    """Return what runs `dbt WORDS` in a copy of the project, whose targets are not there yet."""
    shutil.copytree(PROJECT, tmp_path / "shop")
    lake = port.home.lake / "shop-lake"
    if lake.is_dir():
        shutil.rmtree(lake)
        port.glue.delete_database(Name="shop")
    port.home.create_bucket("shop-lake")
    folder = str(tmp_path / "shop")

    def run(*words: str) -> str:
        places = ("--project-dir", folder, "--profiles-dir", folder)
        done = client(request.param, "dbt", "--no-use-colors", *words, *places)
        return str(done.stdout)

    return run


def test_models_of_every_kind_are_right_after_two_runs(dbt, port, tmp_path):
    assert "PASS=1" in dbt("seed")
    assert "PASS=5" in dbt("run")
    dbt("snapshot")
    seed = tmp_path / "shop" / "seeds" / "raw_orders.csv"
    rows = [row for row in seed.read_text(encoding="utf-8").splitlines() if row[:2] != "2,"]
    seed.write_text("\n".join(rows) + f"\n{LATER}", encoding="utf-8")
    dbt("seed")
    assert "ERROR=0" in dbt("run")
    dbt("snapshot")
    assert "PASS=3" in dbt("test")
    dbt("docs", "generate")
    assert (tmp_path / "shop" / "target" / "catalog.json").is_file()

    sessions = Sessions(port.glue)
    look = f"looks-at-{tmp_path.name}"
    sessions.create(look, DefaultArguments={"--datalake-formats": "iceberg"})

    def rows_of(query: str) -> list[tuple[object, ...]]:
        code = f"[tuple(row) for row in spark.sql({query!r}).collect()]"
        rows: list[tuple[object, ...]] = ast.literal_eval(sessions.text(look, code))
        return rows

    assert rows_of("select customer, total from shop.by_customer order by 1") == [
        ("a", 15),
        ("b", 25),
        ("c", 7),
    ]
    assert rows_of("select id, amount from shop.appended order by 1, 2") == [
        (1, 10),
        (2, 20),  # what has changed of a row is not appended
        (3, 5),
        (4, 7),
    ]
    merged = [(1, "a", 10), (2, "b", 25), (3, "a", 5), (4, "c", 7)]
    assert rows_of("select id, customer, amount from shop.merged order by 1") == merged
    by_day = [(1, 10), (2, 25), (3, 5), (4, 7)]
    assert rows_of("select id, amount from shop.by_day order by 1") == by_day
    query = "select id, amount, dbt_valid_to is null from shop.amounts order by 1, 3, 2"
    assert rows_of(query) == [
        (1, 10, True),
        (2, 20, False),
        (2, 25, True),
        (3, 5, True),
        (4, 7, True),
    ]


def test_the_tests_of_adapters_pass(client, port, tmp_path):
    port.home.create_bucket("dbt-lake")
    folder = PROGRAMS / "dbt_adapter"
    own = ("-c", os.devnull, "--rootdir", str(tmp_path), "--confcutdir", str(folder))
    # The profile of the last one counts.
    plugins = ("-p", "no:cacheprovider", "-p", "dbt.tests.fixtures.project", "-p", "of_glue")
    words = ("-q", *own, *plugins, str(folder / "adapter_tests.py"))

    done = client("dbt", "pytest", *words, timeout_s=6 * TIMEOUT_S, PYTHONPATH=str(folder))

    assert re.search(r"^44 passed", done.stdout, re.MULTILINE), done.stdout


def test_a_proof_names_the_model_that_a_retry_doubles(tmp_path):
    home = Home.open(tmp_path / "home")
    home.create_bucket("shop-lake")
    command = [sys.executable, "-m", "tidemark", "prove", "--format", "json"]
    of_dbt = ["--dbt", str(RETRIES), "--dbt-command", str(VENVS / "dbt" / "bin" / "dbt"), "run"]
    done = subprocess.run(
        [*command, *of_dbt],
        env={**os.environ, "TIDEMARK_HOME": str(home.root)},
        capture_output=True,
        text=True,
    )

    assert done.returncode == 1, done.stdout + done.stderr
    proof = json.loads(done.stdout)
    assert proof["verdict"] == "doubled"
    wrong = {
        target["target"]: experiment["causes"][target["target"]]["script"]
        for experiment in proof["experiments"]
        for target in experiment["targets"]
        if target["verdict"] != "equal"
    }
    assert wrong == {
        "s3://shop-lake/dbt/shop/doubles/": "models/doubles.sql",
        "s3://shop-lake/dbt/shop/reads/": "models/doubles.sql",  # which it reads
    }
    titles = [experiment["title"] for experiment in proof["experiments"]]
    assert any("after model.retries.doubles" in title for title in titles)
    assert any(title.endswith("its last statement") for title in titles)
