"""The snippets of the documents on watermarks run as they stand."""

from __future__ import annotations

import json
import random
from datetime import UTC, datetime, timedelta

import boto3
import pytest

from tests.iceberg import run_with_iceberg
from tests.pages import DOCUMENTS, Page
from tidemark.local_state.dynamodb import create_tables, dynamodb_client, dynamodb_endpoint
from tidemark.local_state.watermark_tables import watermark_table

pytestmark = pytest.mark.spark

SNIPPETS = {
    name: text
    for document in DOCUMENTS
    if document.name.startswith("watermarks")
    for name, text in Page(f"docs/{document.name}").blocks.items()
}
DERBY = "jdbc:derby:memory:document;create=true"
ORDERS = """
    SELECT * FROM VALUES
        (1, TIMESTAMP'2013-01-05 10:00:00.000001'),
        (2, TIMESTAMP'2013-01-20 10:00:00'),
        (3, TIMESTAMP'2013-02-05 10:00:00')
    AS orders(id, updated_at)
"""
TABLE = watermark_table("glue-watermarks")


@pytest.fixture
def dynamodb(spark_home, monkeypatch):
    """A DynamoDB with the watermark table, which boto3 finds by the environment."""
    with dynamodb_endpoint(spark_home) as endpoint:
        with dynamodb_client(endpoint, "us-east-1") as client:
            create_tables(client, [TABLE])
        for name, value in {
            "AWS_ENDPOINT_URL_DYNAMODB": endpoint,
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_DEFAULT_REGION": "us-east-1",
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
        yield


def run(snippet: str, names: dict[str, object], job: str) -> None:
    code = SNIPPETS[snippet].replace("ingest-orders", job)
    exec(compile(code, f"docs: {snippet}", "exec"), names)  # noqa: S102


def test_snippets_run_one_after_the_other(spark, s3, dynamodb, capsys):
    job = f"document-{s3.folder.name}"
    names: dict[str, object] = {
        "spark": spark,
        "orders": spark.sql(ORDERS),
        "target_path": s3.uri,
        "run_id": "jr_1",
        "good_run_id": "jr_1",
        "datetime": datetime,
        "UTC": UTC,
    }

    run("window loop", names, job)
    run("operations", names, job)
    run("committed reader", names, job)

    assert "1 commit jr_1 {'updated_at'" in capsys.readouterr().out
    assert sorted(row["id"] for row in names["orders_so_far"].collect()) == [1, 2, 3]
    run("committed schema", names, job)
    assert names["orders_so_far"].columns == ["id", "origin", "updated_at", "window", "attempt"]
    assert sorted(row["id"] for row in names["orders_so_far"].collect()) == [1, 2, 3]
    assert names["watermarks"].latest(job).watermarks == {
        "updated_at": datetime(2013, 2, 5, 10, tzinfo=UTC)
    }
    backfilled = spark.read.option("basePath", s3.uri).parquet(f"{s3.uri}window=backfill-*")
    assert sorted(row["id"] for row in backfilled.collect()) == [1, 2]


@pytest.fixture
def options(spark):
    """The options of a database with the tables orders and customers."""
    driver = "org.apache.derby.jdbc.EmbeddedDriver"
    for table in ("orders", "customers"):
        writer = spark.sql(ORDERS).write.mode("overwrite")
        writer.jdbc(DERBY, f'"{table}"', properties={"driver": driver})
    return {"url": DERBY, "driver": driver}


@pytest.mark.nightly
def test_recipe_for_jdbc_reads_a_table(spark, s3, names, options):
    job = f"recipe-{s3.folder.name}"

    run("jdbc recipe", {**names, "options": options}, job)

    found = spark.read.parquet(names["target_path"]).collect()
    assert sorted(row["id"] for row in found) == [1, 2, 3]
    assert names["watermarks"].latest(job).version == 1


@pytest.mark.nightly
def test_recipe_for_ids_waits_until_the_bound_was_seen_long_enough(
    spark, s3, names, options, dynamodb
):
    from watermarks import Watermarks

    job, time = f"ids-{s3.folder.name}", datetime(2013, 1, 1, tzinfo=UTC)
    names |= {"options": options, "watermarks": Watermarks("glue-watermarks", now=lambda: time)}
    run("id recipe", {**globals_of("jdbc recipe"), **names}, job)
    assert names["watermarks"].latest(job) is None
    time += timedelta(minutes=5)

    run("id recipe", {**globals_of("jdbc recipe"), **names, "run_id": "jr_2"}, job)

    assert names["watermarks"].latest(job).watermarks == {"id": 3}


def globals_of(snippet):
    """Return the names that a snippet imports."""
    names: dict[str, object] = {}
    lines = SNIPPETS[snippet].splitlines()
    exec("\n".join(line for line in lines if line.startswith("from ")), names)  # noqa: S102
    return names


@pytest.mark.nightly
def test_recipe_for_sources_keeps_them_apart(spark, s3, names, options):
    job = f"shop-{s3.folder.name}"
    imports = globals_of("jdbc recipe")

    code = SNIPPETS["sources recipe"].replace("ingest-shop", job)
    exec(code, {**imports, **names, "options": options})  # noqa: S102

    for table in ("orders", "customers"):
        assert names["watermarks"].latest(job, source=table).version == 1
        assert spark.read.parquet(f"{names['target_path']}{table}/").count() == 3


ICEBERG = """
from watermarks import Watermarks, newest, rows_of

columns = "id INT, op STRING, updated_at TIMESTAMP"
for table in ("orders_table", "sales.orders_log", "sales.orders_clean", "sales.orders",
              "sales.orders_mirror"):
    spark.sql(f"CREATE TABLE {table} ({columns}) USING iceberg")
at = "TIMESTAMP'2013-01-05 10:00:00'"
rows = f"VALUES (1, 'I', {at}), (2, 'I', {at}), (2, 'D', {at} + INTERVAL 1 HOUR)"
names = {
    "orders": spark.sql(f"SELECT * FROM {rows} AS orders(id, op, updated_at)"),
    "newest": newest,
    "rows_of": rows_of,
    "run_id": "jr_1",
    "spark": spark,
    "watermarks": Watermarks("glue-watermarks"),
}
for code in json.loads(sys.argv[2]):
    exec(code.replace("glue_catalog.", "lake."), names)
found = {name: sorted(row["id"] for row in spark.table(name).collect())
         for name in ("orders_table", "sales.orders_log", "sales.orders_clean",
                      "sales.orders_mirror")}
print(json.dumps(found))
"""
RECIPES = (
    "merge recipe",
    *(f"iceberg {one}" for one in ("append", "merge", "snapshots", "changes")),
)


@pytest.mark.nightly
def test_recipes_for_iceberg_write_each_row_once_and_delete_what_is_deleted(s3, dynamodb, tmp_path):
    code = []
    for recipe in RECIPES:
        code.append(SNIPPETS[recipe])
        for job in ("ingest", "merge", "clean", "mirror"):
            code[-1] = code[-1].replace(f"{job}-orders", f"{recipe} {job} {s3.folder.name}")
    twice = [*code, *(text for text in code if "_snapshot" in text)]

    found = json.loads(run_with_iceberg(ICEBERG, tmp_path, json.dumps(twice))[-1])

    assert found == {
        "orders_table": [1],
        "sales.orders_log": [1, 2, 2],
        "sales.orders_clean": [1, 2, 2],
        "sales.orders_mirror": [1],
    }


PAUSED = """
from watermarks import Watermarks, append_window, newest_snapshot, read_snapshots

for table in ("source", "target"):
    spark.sql(f"CREATE TABLE s.{table} (id INT) USING iceberg")
watermarks, found = Watermarks("glue-watermarks"), []
for number, (option, dies) in enumerate(json.loads(sys.argv[3])):
    spark.sql(f"INSERT INTO s.source VALUES ({number})")
    windows = watermarks.windows(
        sys.argv[2], run_id=f"jr_{number}", cursor="snapshot", max_rows=2,
        high=newest_snapshot(spark, "s.source"), job_bookmark_option=f"job-bookmark-{option}",
    )
    try:
        for window in windows:
            assert dies != "before"
            append_window(read_snapshots(spark, "s.source", window), "s.target", window)
            assert dies != "after"
    except AssertionError:
        pass
    except Exception as error:
        found.append(f"{type(error).__name__}: {error}")
    found.append(sorted(row["id"] for row in spark.table("s.target").collect()))
print(json.dumps(found))
"""


@pytest.fixture
def targets(s3, dynamodb, tmp_path):
    """Return a function: the rows of a table after each of these runs into it."""
    return lambda runs: json.loads(
        run_with_iceberg(PAUSED, tmp_path, s3.folder.name, json.dumps(runs))[-1]
    )


@pytest.mark.nightly
def test_windows_over_snapshots_are_paused_and_disabled_as_a_bookmark(targets):
    options = ("pause", "pause", "enable", "disable", "enable")

    *rows, refused, disabled, enabled = targets([(option, "") for option in options])

    assert rows == [[0], [0], [0, 1, 2]]
    assert "append_window cannot write window disabled-" in refused
    assert disabled == [0, 1, 2]
    assert enabled == [0, 1, 2, 3, 4]


@pytest.mark.nightly
def test_snapshots_are_appended_once_whatever_runs_are_paused_or_killed(targets):
    choose = random.Random(2013).choice  # noqa: S311 (no secret)
    runs = [(choose(["enable", "pause"]), choose(["", "before", "after"])) for _ in range(20)]

    found = targets([*runs, ("enable", "")])

    assert all(len(rows) == len(set(rows)) for rows in found)
    assert found[-1] == list(range(21))


def test_a_row_of_the_v1_class_is_adopted_with_the_type_that_windows_need(s3, dynamodb):
    from watermarks import WatermarkAdmin

    job = f"load-{s3.folder.name}"
    admin = WatermarkAdmin("glue-watermarks")
    item = {"jobName": {"S": job}, "runId": {"S": "jr_1"}}
    item["watermarks"] = {"M": {"updated_at": {"S": "2023-03-16 15:45:00"}}}
    admin.dynamodb_client.put_item(TableName="glue-watermarks", Item=item)

    code = SNIPPETS["adopt"].replace("load-orders", job)
    exec(code, {"admin": admin, "datetime": datetime, "UTC": UTC})  # noqa: S102

    at = datetime(2023, 3, 16, 15, 45, tzinfo=UTC)
    assert admin.latest(job).watermarks == {"updated_at": at}
    window = admin.open_window(job, run_id="jr_2", cursor="updated_at")
    assert window.low == at
    assert [entry.kind for entry in admin.history(job)] == ["adopt", "legacy"]


@pytest.fixture
def names(spark, s3, dynamodb):
    from watermarks import Watermarks, newest, rows_of, write_window

    return {
        "spark": spark,
        "watermarks": Watermarks(table_name="glue-watermarks"),
        "landing_path": f"{s3.uri}landing/",
        "target_path": f"{s3.uri}raw/",
        "run_id": "jr_1",
        "newest": newest,
        "rows_of": rows_of,
        "write_window": write_window,
        "datetime": datetime,
        "UTC": UTC,
    }


@pytest.mark.nightly
def test_recipe_for_an_option_pauses_and_refuses_to_write_everything(spark, s3, names):
    from watermarks import WatermarksError

    job, names = f"option-{s3.folder.name}", names | {"orders": spark.sql(ORDERS)}
    options = [{"job_bookmark_option": f"job-bookmark-{it}"} for it in ("pause", "enable")]
    seen = []
    for number, args in enumerate(options):
        run("option recipe", {**names, "args": args, "run_id": f"jr_{number}"}, job)
        seen.append((names["watermarks"].latest(job) is None, spark.read.parquet(s3.uri).count()))

    assert seen == [(True, 3), (False, 3)]
    args = {"job_bookmark_option": "job-bookmark-disable"}
    with pytest.raises(WatermarksError, match="write_window cannot write window disabled-"):
        run("option recipe", {**names, "args": args}, job)


def test_recipe_for_files_reads_what_landed_since(spark, s3, names):
    job = f"files-{s3.folder.name}"
    s3.put("landing/landed_on=2013-01-05/a.csv", "1,2013-01-05T10:00:00Z\n")
    run("files recipe", names, job)
    s3.put("landing/landed_on=2013-01-05/b.csv", "2,2013-01-05T11:00:00Z\n")
    s3.put("landing/landed_on=2013-01-06/c.csv", "3,2013-01-06T10:00:00Z\n")

    run("files recipe", {**names, "run_id": "jr_2"}, job)
    run("files recipe", {**names, "run_id": "jr_3"}, job)

    assert sorted(row["id"] for row in spark.read.parquet(f"{s3.uri}raw/").collect()) == [1, 2, 3]
    assert names["watermarks"].latest(job).version == 2


def test_recipe_for_an_api_asks_for_ranges_that_meet(spark, s3, names):
    job = f"api-{s3.folder.name}"
    asked = []

    def fetch_orders(since, until):
        asked.append((since, until))
        return spark.range(1)

    run("api recipe", {**names, "fetch_orders": fetch_orders}, job)
    run("api recipe", {**names, "fetch_orders": fetch_orders, "run_id": "jr_2"}, job)

    assert asked[0][0] == datetime(2013, 1, 1, tzinfo=UTC)
    assert asked[0][1] == asked[1][0] < asked[1][1]
