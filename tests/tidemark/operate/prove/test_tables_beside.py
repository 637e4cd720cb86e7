"""Rows that a job writes to databases and to DynamoDB: right and wrong jobs get their verdicts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.tidemark.operate.prove.jobs import ALL, BOOKMARK, COMMIT, NEW, WHERE_ANY
from tidemark.cli.main import main
from tidemark.glue_service.commands import region
from tidemark.glue_service.http.serving import serving
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.home import Home
from tidemark.local_state.operations import (
    WITHHELD,
    read_operations,
    record_operations,
)
from tidemark.local_state.outside import withhold_others
from tidemark.model.assembly.definitions import TableDefinition
from tidemark.operate.prove.judged import worst
from tidemark.operate.prove.subject import RUN_HERE, _not_newer_reason
from tidemark.operate.versions.targets import files_of

pytestmark = [pytest.mark.spark, pytest.mark.nightly]
KINDS = "crash,error,again,parts,meanwhile,twice"
TO_DERBY = (
    '.write.jdbc("jdbc:derby:shop;create=true", "orders", "{mode}", '
    '{{"driver": "org.apache.derby.jdbc.EmbeddedDriver"}})'
)
COLUMNS = 'rows.selectExpr("cast(id AS INT) id", "day", "cast(amount AS DOUBLE) amount")'
PUT_ITEMS = """
import boto3

for row in rows.collect():
    item = {{"id": {{"N": str(row["id"])}}, "day": {{"S": row["day"]}}}}
    {call}
"""
PUT = 'boto3.client("dynamodb").put_item(TableName="orders", Item=item)'
COUNT = (
    'boto3.client("dynamodb").update_item(TableName="orders", Key={{"id": {{"N": "1"}}}}, '
    'UpdateExpression="ADD n :n", ExpressionAttributeValues={{":n": {{"N": "1"}}}})'
)

# A count that the job itself adds to, in one request: DynamoDB does not know that it is one.
READ_AND_PUT = """api = boto3.client("dynamodb")
    old = api.get_item(TableName="orders", Key={{"id": {{"N": "1"}}}}).get("Item", {{}})
    n = str(int(old.get("n", {{"N": "0"}})["N"]) + 1)
    api.put_item(TableName="orders", Item={{"id": {{"N": "1"}}, "n": {{"N": n}}}})"""


def verdicts(project: Path, script: str, only: str = KINDS, *words: str) -> dict[str, str]:
    file = project / "job.py"
    file.write_text(script, encoding="utf-8")
    command = ["prove", "--kind", only, "--format", "json", *words, str(file), *BOOKMARK]
    result = CliRunner().invoke(main, command)
    assert result.exit_code in (0, 1), result.output
    found: dict[str, list[str]] = {}
    assert result.stdout, result.output
    for one in json.loads(result.stdout)["experiments"]:
        found.setdefault(one["kind"], []).append(one["verdict"])
    return {kind: worst(of_kind) for kind, of_kind in found.items()}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        pytest.param(
            NEW + WHERE_ANY + COLUMNS + TO_DERBY.format(mode="append") + COMMIT,
            {"crash": "doubled", "again": "equal", "parts": "equal", "meanwhile": "equal"},
            id="append",
        ),
        pytest.param(
            ALL + COLUMNS + TO_DERBY.format(mode="overwrite"),
            # The table is dropped and made anew, but each run makes all of it.
            {"crash": "equal", "again": "equal", "parts": "equal", "twice": "doubled"},
            id="overwrite with all",
        ),
        pytest.param(
            NEW
            + "rows.cache().count()"
            + COMMIT
            + WHERE_ANY
            + COLUMNS
            + TO_DERBY.format(mode="append"),
            {"crash": "lost", "again": "equal", "parts": "equal", "twice": "doubled"},
            id="commit first",
        ),
    ],
)
def test_rows_of_an_embedded_database_are_compared(project, script, expected):
    found = verdicts(project, script)

    assert {kind: found[kind] for kind in expected} == expected


@pytest.mark.skipif(bool(_not_newer_reason(["5.1"], RUN_HERE[-1])), reason="no newer Glue is here")
def test_rows_of_a_database_that_the_newest_version_has_written_are_compared(project):
    script = NEW + WHERE_ANY + COLUMNS + TO_DERBY.format(mode="append") + COMMIT

    assert verdicts(project, script, "versions") == {"versions": "equal"}


INTO_VIEWS = """
CREATED = "CREATE TEMPORARY VIEW {{}} USING jdbc OPTIONS (url '{url}', dbtable 'orders')"
if rows.columns:
    rows = rows.selectExpr("cast(id AS INT) id", "cast(amount AS DOUBLE) amount")
    rows.createOrReplaceTempView("rows")
    spark.sql(CREATED.format("first"))
    spark.sql("INSERT INTO first SELECT * FROM rows")
    spark.read.jdbc("{url}", "orders").createOrReplaceTempView("second")
    rows.write.insertInto("second")
    rows.write.parquet("s3://lake/out/", mode="append")
"""
MAKE = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
rows = spark.createDataFrame([(0, 0.5)], "id INT, amount DOUBLE")
rows.write.jdbc("{url};create=true", "orders")
"""
COUNTED = """
from pyspark.sql import SparkSession

spark = SparkSession.builder.getOrCreate()
print("rows there:", spark.read.jdbc("{url}", "orders").count())
"""


def submitted(project: Path, script: str, *words: str, options: Sequence[str] = ()) -> str:
    file = project / "other.py"
    file.write_text(script, encoding="utf-8")
    result = CliRunner().invoke(main, ["submit", *options, str(file), *words])
    assert result.exit_code == 0, result.output
    return result.output


PUT_BY_WORKERS = """
def put(part):
    import boto3

    for row in part:
        boto3.client("s3").put_object(Bucket="lake", Key=f"out/{row['id']}.json", Body=b"{}")

rows.foreachPartition(put)
"""


@pytest.mark.parametrize("jvm", [[], ["--isolated"]])
def test_what_python_workers_put_is_recorded_whoever_has_started_their_jvm(project, jvm):
    home = Home.open(project / "home")
    record_operations(home)

    submitted(project, NEW + PUT_BY_WORKERS + COMMIT, *BOOKMARK, options=jvm)

    found = [one for one in read_operations(home) if one.kind == "put"]
    written = {(home.uri_of(file),) for file in (home.lake / "lake" / "out").iterdir()}
    assert {one.places for one in found} == written
    lines = (NEW + PUT_BY_WORKERS).splitlines()
    assert {lines[(one.line or 0) - 1].strip()[:13] for one in found} == {"boto3.client("}


TWICE_INTO_NEW = """
rows = rows.selectExpr("cast(id AS INT) id", "cast(amount AS DOUBLE) amount")
for _ in range(2):
    rows.write.jdbc("{url};create=true", "new", mode="append")
"""


def test_a_table_elsewhere_that_would_be_new_takes_several_appends(project):
    url = f"jdbc:derby:{project / 'elsewhere'}"
    home = Home.open(project / "home")
    withhold_others(home)
    record_operations(home)

    submitted(project, NEW + TWICE_INTO_NEW.format(url=url) + COMMIT, *BOOKMARK)

    assert {one.kind for one in read_operations(home)} == {WITHHELD, "bookmark"}


def test_a_home_that_is_served_is_proved_and_stays_as_it_is(project):
    home = Home.open(project / "home")
    before = files_of(home.lake)
    script = NEW + WHERE_ANY + 'rows.write.mode("append").parquet("s3://lake/out/")' + COMMIT

    with serving(home):
        found = verdicts(project, script, "again,twice")

    assert found["again"] == "equal"
    assert found["twice"] == "doubled"
    assert files_of(home.lake) == before


def test_inserts_into_views_of_a_database_of_the_home_are_changes(project):
    submitted(project, MAKE.format(url="jdbc:derby:shop"))

    found = verdicts(project, NEW + INTO_VIEWS.format(url="jdbc:derby:shop") + COMMIT, "crash")

    assert found["crash"] == "doubled"


def test_inserts_into_views_of_a_database_elsewhere_are_not_made(project):
    url = f"jdbc:derby:{project / 'elsewhere'}"
    submitted(project, MAKE.format(url=url))
    home = Home.open(project / "home")
    withhold_others(home)
    record_operations(home)

    submitted(project, NEW + INTO_VIEWS.format(url=url) + COMMIT, *BOOKMARK)

    withheld = {(one.places, one.line) for one in read_operations(home) if one.kind == WITHHELD}
    assert [places for places, _ in withheld] == [(url,)] * 2  # of two lines
    assert "rows there: 1\n" in submitted(project, COUNTED.format(url=url))


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        pytest.param(PUT, {"crash": "equal", "again": "equal", "twice": "equal"}, id="put"),
        pytest.param(COUNT, {"crash": "changed", "twice": "changed"}, id="count"),
        pytest.param(READ_AND_PUT, {"crash": "changed", "again": "equal"}, id="read and put"),
    ],
)
def test_items_of_a_table_in_dynamodb_are_compared(project, call, expected):
    table = {
        "TableName": "orders",
        "KeySchema": [{"AttributeName": "id", "KeyType": "HASH"}],
        "AttributeDefinitions": [{"AttributeName": "id", "AttributeType": "N"}],
        "BillingMode": "PAY_PER_REQUEST",
    }
    home = Home.open(project / "home")
    with (
        dynamodb_endpoint(home) as endpoint,
        dynamodb_client(endpoint, region()) as client,
    ):
        create_tables(client, [TableDefinition("orders", table, None)])

    found = verdicts(project, NEW + PUT_ITEMS.format(call=call.format()) + COMMIT)

    assert {kind: found[kind] for kind in expected} == expected
