"""A proof changes no database that is elsewhere, and tries all the rest of a job."""

from __future__ import annotations

import json
import shutil
import uuid

import pytest
from click.testing import CliRunner

from tests.pages import PROJECT
from tests.tidemark.operate.prove.jobs import BOOKMARK, COMMIT, NEW
from tidemark.cli.main import main
from tidemark.local_state.home import Home

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
WRITE = """
options = {options}
if rows.columns:
    numbers = rows.selectExpr("cast(id AS INT) AS id")
    numbers.write.jdbc(options["url"], "{table}", "append", options)
    numbers.write.format("jdbc").options(**options, dbtable="{table}_new").mode("overwrite").save()
    connection = spark._jvm.java.sql.DriverManager.getConnection(
        options["url"], options["user"], options["password"]
    )
    connection.createStatement().executeUpdate("DELETE FROM {table}")
    prepared = connection.prepareStatement("INSERT INTO {table} VALUES (?)")
    prepared.setInt(1, 5)
    prepared.addBatch()
    prepared.executeBatch()
    connection.close()
"""
UPSERT = """
from watermarks import Window, upsert_jdbc

if rows.columns:
    rows.write.mode("append").parquet(OUT)
    window = Window("job", args["JOB_RUN_ID"], "id", "1-a", 1, None, 100)
    upsert_jdbc(rows, {options}, "{table}", window, ["id"])
"""
OBJECTS = WRITE.replace(
    "if rows.columns:", 'if rows.columns:\n    rows.write.mode("append").parquet(OUT)'
)


@pytest.fixture
def table(server):
    name = f"numbers_{uuid.uuid4().hex}"
    with server.connect() as connection:
        connection.execute(f"CREATE TABLE {name} (id INT)")
        connection.execute(f"INSERT INTO {name} VALUES (1)")  # noqa: S608 (our own name)
    return name


@pytest.fixture
def proved(tmp_path, monkeypatch, server, table, jdbc_jar):
    """Return what proves a job that writes to the table, with objects or without."""

    def proved(write, *words):
        monkeypatch.setenv("TIDEMARK_HOME", str(tmp_path / "home"))
        folder = Home.open(tmp_path / "home").lake / "lake" / "in"
        folder.mkdir(parents=True)
        (folder / "a.json").write_text(json.dumps({"id": 1}), encoding="utf-8")
        script = tmp_path / "job.py"
        write = write.format(options=server.options, table=table)
        script.write_text(NEW + write + COMMIT, encoding="utf-8")
        libs = shutil.make_archive(str(tmp_path / "libs"), "zip", PROJECT / "libs", "watermarks")
        more = ["--extra-jars", str(jdbc_jar), "--extra-py-files", libs]
        return CliRunner().invoke(main, ["prove", *words, str(script), *BOOKMARK, *more])

    return proved


@pytest.mark.parametrize("write", [OBJECTS, UPSERT], ids=["statements", "upsert_jdbc"])
def test_the_rows_there_stay_as_they_are_and_the_objects_are_tried(server, table, proved, write):
    result = proved(write, "--kind", "crash,again")

    assert result.exit_code == 1, result.output
    place = f"jdbc:postgresql://127.0.0.1:{server.port}/postgres"
    assert f"not tried the rows of {place} (job.py line" in result.stdout
    assert "doubled" in result.stdout
    assert server.password not in result.output
    with server.connect() as connection:
        assert connection.execute(f"SELECT * FROM {table}").fetchall() == [(1,)]  # noqa: S608
        there = connection.execute("SELECT to_regclass(%s)", [f"{table}_new"]).fetchone()
    assert there == (None,)


def test_a_job_that_changes_nothing_else_says_so(proved):
    result = proved(WRITE)

    assert result.exit_code == 3, result.output
    assert "it changes nothing but jdbc:postgresql:" in result.stderr
