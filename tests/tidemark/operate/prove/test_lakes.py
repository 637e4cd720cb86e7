"""The lake of the experiments: a folder, or rows that are made for them."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from pyspark.sql import functions as F  # noqa: N812

from tests.tidemark.operate.prove.jobs import BOOKMARK, COMMIT, NEW, WHERE_ANY
from tidemark.cli.main import main
from tidemark.errors import UsageError
from tidemark.glue_service.commands import region
from tidemark.local_state.dynamodb import dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.operate.prove.lakes import home_of
from tidemark.operate.prove.sample_job import rows_of
from tidemark.operate.prove.subject import not_together_reason

ABOUT_OWN = NEW + WHERE_ANY + 'rows.write.mode("append").parquet(OUT)' + COMMIT


def test_a_folder_becomes_the_lake_of_a_new_home(tmp_path):
    (tmp_path / "lake" / "landing").mkdir(parents=True)
    (tmp_path / "lake" / "landing" / "a.json").write_text("{}", encoding="utf-8")
    home = Home.open(tmp_path / "home")
    (home.lake / "own").mkdir()

    base = home_of(home, tmp_path / "base", tmp_path / "lake")

    assert [bucket.name for bucket in base.lake.iterdir()] == ["landing"]
    assert not base.dynamodb_tables.exists()  # no engine has run
    with dynamodb_endpoint(base) as endpoint, dynamodb_client(endpoint, region()) as client:
        assert client.list_tables()["TableNames"] == ["glue-watermarks"]


@pytest.mark.parametrize(("content", "said"), [(None, "not a folder"), ("file", "has the file x")])
def test_what_is_no_lake_is_refused(tmp_path, content, said):
    lake = tmp_path / "lake"
    if content:
        lake.mkdir()
        (lake / "x").write_text(content, encoding="utf-8")

    with pytest.raises(UsageError, match=said):
        home_of(Home.open(tmp_path / "home"), tmp_path / "base", lake)


def test_a_script_has_one_run_at_once():
    assert "MaxConcurrentRuns of 1" in not_together_reason(None, None)


@pytest.mark.spark
@pytest.mark.nightly
def test_rows_are_made_with_the_schema_of_the_files(project):
    script = project / "job.py"
    script.write_text(ABOUT_OWN, encoding="utf-8")

    words = ["prove", "--sample", "40", "--kind", "again", "--format", "json", str(script)]
    result = CliRunner().invoke(main, [*words, *BOOKMARK])

    assert result.exit_code == 0, result.output
    (again,) = json.loads(result.stdout)["experiments"]
    assert (again["verdict"], again["targets"][0]["expected"]) == ("equal", 40)
    home = Home.open(project / "home")
    assert len(list((home.lake / "lake" / "in").iterdir())) == 4  # as they were


@pytest.mark.spark
def test_values_that_files_have_in_common_are_in_several_files_of_a_sample(spark, tmp_path):
    for number in (0, 1):
        rows = [
            {"id": 10 * number + at, "day": f"2026-01-0{at % 2}", "file": f"f{number}"}
            for at in range(6)
        ]
        (tmp_path / f"{number}.json").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")

    made = rows_of(spark, {"format": "json", "like": str(tmp_path)}, 40)
    found = made.withColumn("part", F.spark_partition_id()).collect()

    days = [{row["day"] for row in found if row["part"] == part} for part in range(4)]
    assert days == [{"2026-01-00"}, *[{"2026-01-01"}] * 3]  # it grows, as in files that arrive
    assert len({row["id"] for row in found}) == len({row["file"] for row in found}) == 40


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("name", ["nobody", "s3://lake/ou/"])
def test_what_is_ignored_and_is_not_there_is_refused(project, name):
    script = project / "job.py"
    script.write_text(ABOUT_OWN, encoding="utf-8")

    words = ["prove", "--ignore", f"amount,{name}", "--kind", "again", str(script)]
    result = CliRunner().invoke(main, [*words, *BOOKMARK])

    assert result.exit_code == 2
    assert f"--ignore {name}: no target or column has this name" in result.stderr


@pytest.mark.spark
@pytest.mark.nightly
def test_a_key_that_no_target_has_is_refused(project):
    script = project / "job.py"
    script.write_text(ABOUT_OWN, encoding="utf-8")

    words = ["prove", "--key", "nobody", "--kind", "again", str(script)]
    result = CliRunner().invoke(main, [*words, *BOOKMARK])

    assert result.exit_code == 2
    assert "no target has all of these columns; allowed are amount, customer" in result.stderr
