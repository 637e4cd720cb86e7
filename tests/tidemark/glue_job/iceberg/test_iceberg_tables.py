"""Tables of Iceberg in the one Data Catalog, as scripts of Glue make and read them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tidemark.glue_job.process.failures import cause_in_message
from tidemark.glue_service.submission import read_submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home
from tidemark.local_state.run_notes import snapshots_of
from tidemark.local_state.run_warnings import read_warnings
from tidemark.local_state.sparks.installed import own_spark

SCRIPTS = Path(__file__).parents[3] / "data" / "scripts"
ARGUMENTS = ["--datalake-formats", "iceberg", "--enable-glue-datacatalog", "true"]

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(own_spark().major >= 4, reason="the jar of Iceberg is for Spark 3.5"),
]


@pytest.fixture(scope="module")
def ended(tmp_path_factory, jvms):
    """Return the home of a run of the script, and its folder."""
    home = Home.open(tmp_path_factory.mktemp("iceberg") / "home")
    home.create_bucket("lake")
    submission = read_submission(SCRIPTS / "iceberg_tables.py", ARGUMENTS)
    finished, _ = submit(submission, home, lambda _: None, jvms=jvms)
    assert finished.state == "SUCCEEDED", finished.error_message
    return home, home.runs / finished.run_id


@pytest.fixture(scope="module")
def facts(ended):
    """Return what the script has seen."""
    printed = (ended[1] / "stdout.log").read_text(encoding="utf-8").splitlines()
    return json.loads(printed[-1])


MERGED = [["1", "a"], ["2", "c"], ["3", "d"]]


@pytest.mark.parametrize(
    "reader", ["by another catalog", "by rest", "by the session", "by from_catalog"]
)
def test_a_table_is_read_through_every_catalog_of_the_data_catalog(facts, reader):
    assert facts[reader] == MERGED


def test_a_table_is_listed_by_its_catalog_and_by_the_session(facts):
    assert facts["shown"] == [["shop", "orders", "False"]]
    assert facts["shown by the session"][0][:2] in (["", "new"], ["shop", "orders"])
    assert facts["listed by the session"] == ["orders"]
    assert facts["only listed"] == [["only", "MANAGED"]]


def test_an_option_of_from_catalog_reads_an_earlier_snapshot(facts):
    assert facts["operations"] == ["append", "overwrite"]
    assert facts["at a snapshot"] == [["1", "a"], ["2", "b"]]


def test_writers_of_the_data_catalog_commit_to_the_table(facts):
    assert facts["written"] == [*MERGED, ["4", "e"], ["5", "f"]]
    assert facts["written, by the session"] == facts["written"]
    assert facts["written, by the catalog"] == facts["written"]


def test_a_dynamic_frame_of_a_table_is_refused(facts):
    assert "DynamicFrames do not support" in facts["as DynamicFrame"]


def test_the_data_catalog_describes_a_table_as_iceberg_does_on_aws(facts):
    assert facts["in the catalog"] == {
        "type": "EXTERNAL_TABLE",
        "parameters": ["metadata_location", "previous_metadata_location", "table_type"],
        "table_type": "ICEBERG",
        "location": "s3://lake/warehouse/shop.db/orders",
        "columns": [
            ["id", "int", "true"],
            ["title", "string", "true"],
            ["price", "decimal(10,2)", "true"],
            ["name", "string", "false"],
        ],
    }


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("twice", "already exists"),
        ("in no database", "no database none"),
        ("without a place", "warehouse path must not be null"),
        ("in upper case", "Invalid table identifier"),
        ("not empty", "contains tables"),
        ("in S3 Tables", "is one of S3 Tables (1:s3tablescatalog/b"),
        ("view", "PARSE_SYNTAX_ERROR"),
    ],
)
def test_what_fails_on_aws_fails_with_its_reason(facts, case, told):
    assert told in facts[case]


@pytest.mark.parametrize("case", ["cut metadata", "lost metadata"])
def test_lost_metadata_are_named_with_their_table_and_the_way_back(facts, case):
    cause = cause_in_message("Py4JJavaError", facts[case])

    assert "the table later.shop.lost cannot be used: its metadata s3://lake/" in cause
    assert "tidemark home restore" in cause
    assert "tidemark catalog drop shop.lost" in cause


def test_tables_are_renamed_and_dropped(facts):
    assert facts["renamed"] == [["shop", "sales", "False"]]
    assert facts["dropped"] == [["shop", "sales", "False"]]


def test_the_run_has_noted_the_snapshots_that_it_made(ended):
    noted = snapshots_of(ended[1])

    assert [(one["table"], one["operation"]) for one in noted] == [
        ("shop.orders", "append"),
        ("shop.orders", "overwrite"),
        ("shop.orders", "append"),
        ("shop.orders", "append"),
        ("shop.gone", "append"),
    ]
    assert noted[1]["parent"] == noted[0]["id"]
    assert noted[0]["summary"]["added-records"] == "2"


def test_a_read_by_the_session_is_told_to_fail_on_aws(ended):
    (warning,) = [one for one in read_warnings(ended[1]) if "SparkSessionCatalog" in one]

    assert "shop.orders" in warning
    assert "listed.only" not in warning


UNANSWERED = """
from awsglue.context import GlueContext
from pyspark.context import SparkContext
from tidemark.glue_job.iceberg import answers

spark = GlueContext(SparkContext.getOrCreate()).spark_session
spark.conf.set("spark.sql.catalog.c", "org.apache.iceberg.spark.SparkCatalog")
spark.conf.set("spark.sql.catalog.c.type", "glue")
spark.conf.set("spark.sql.catalog.c.cache-enabled", "false")
spark.sql("CREATE DATABASE c.unanswered")
spark.sql("CREATE TABLE c.unanswered.t (id INT) USING iceberg LOCATION 's3://lake/unanswered/'")
note, find = answers.note_snapshots, answers.table_or_none


def fail(*arguments):
    raise OSError("No space left on device")


def fail_after_the_commit(*arguments):
    answers.table_or_none = fail
    fail()


answers.note_snapshots = fail
spark.sql("INSERT INTO c.unanswered.t VALUES (1)")
assert spark.table("c.unanswered.t").count() == 1
answers.note_snapshots = fail_after_the_commit
try:
    spark.sql("INSERT INTO c.unanswered.t VALUES (2)")
    raise AssertionError("nobody could say whether it was committed")
except Exception as error:
    assert "CommitStateUnknown" in str(error), error
answers.note_snapshots, answers.table_or_none = note, find
assert spark.table("c.unanswered.t").count() == 2
"""


@pytest.mark.nightly
def test_a_commit_whose_answer_is_lost_leaves_the_table_readable(ended, jvms, tmp_path):
    script = tmp_path / "unanswered.py"
    script.write_text(UNANSWERED, encoding="utf-8")
    finished, _ = submit(read_submission(script, ARGUMENTS), ended[0], lambda _: None, jvms=jvms)
    assert finished.state == "SUCCEEDED", finished.error_message


VIEWS = """
import json
from awsglue.context import GlueContext
from pyspark.context import SparkContext

spark = GlueContext(SparkContext.getOrCreate()).spark_session


def rows(query):
    return [list(row) for row in spark.sql(query).collect()]


spark.sql("CREATE DATABASE views LOCATION 's3://lake/views/'")
spark.sql("CREATE TABLE views.t (id INT) USING iceberg LOCATION 's3://lake/views/t'")
spark.sql("INSERT INTO views.t VALUES (1), (2)")
spark.sql("CREATE VIEW views.v AS SELECT id FROM views.t WHERE id > 1")
seen = [rows("SELECT * FROM views.v")]
spark.sql("CREATE VIEW IF NOT EXISTS views.v AS SELECT 7 AS n")
spark.sql("CREATE OR REPLACE VIEW views.v (n COMMENT 'a number') AS WITH q AS (TABLE views.t) "
          "SELECT count(*) AS c FROM q")
seen += [rows("SELECT n FROM views.v"), rows("DESCRIBE TABLE views.v")]
spark.sql("DROP VIEW views.v")
spark.sql("DROP VIEW IF EXISTS views.v")
# What Iceberg's extensions add to SQL works on the session's catalog as before.
for change in ("CREATE BRANCH b", "CREATE TAG g", "ADD PARTITION FIELD id", "WRITE ORDERED BY id"):
    spark.sql(f"ALTER TABLE views.t {change}")
seen.append(rows("SELECT name FROM views.t.refs ORDER BY 1"))
print(json.dumps(seen))
"""
EXTENDED = "spark.sql.extensions=org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"


def test_views_are_those_of_spark_beside_what_iceberg_adds_to_sql(ended, jvms, tmp_path):
    script = tmp_path / "views.py"
    script.write_text(VIEWS, encoding="utf-8")
    submission = read_submission(script, [*ARGUMENTS, "--conf", EXTENDED])
    finished, _ = submit(submission, ended[0], lambda _: None, jvms=jvms)
    assert finished.state == "SUCCEEDED", finished.error_message

    log = ended[0].runs / finished.run_id / "stdout.log"
    seen = json.loads(log.read_text(encoding="utf-8").splitlines()[-1])
    names = [["b"], ["g"], ["main"]]
    assert seen == [[[2]], [[2]], [["n", "bigint", "a number"]], names]


MERGES = """
import json
from awsglue.context import GlueContext
from pyspark import SparkConf
from pyspark.context import SparkContext

CATALOG = "spark.sql.catalog.glue_catalog"
EXTENSIONS = "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
conf = SparkConf().setAll([
    (CATALOG, "org.apache.iceberg.spark.SparkCatalog"),
    (f"{CATALOG}.warehouse", "s3://lake/merges/"),
    (f"{CATALOG}.catalog-impl", "org.apache.iceberg.aws.glue.GlueCatalog"),
    (f"{CATALOG}.io-impl", "org.apache.iceberg.aws.s3.S3FileIO"),
    ("spark.sql.extensions", EXTENSIONS),
])
glue = GlueContext(SparkContext(conf=conf))
spark = glue.spark_session
spark.sql("CREATE DATABASE IF NOT EXISTS glue_catalog.merges")


def of_files(kind, **options):
    return glue.create_dynamic_frame.from_options(
        "s3", {"paths": [f"s3://lake/sources/{kind}/"]}, kind, options
    )


spark.sql(
    "CREATE TABLE merges.declared (id INT, at TIMESTAMP, amount DECIMAL(9, 2)) USING json "
    "LOCATION 's3://lake/sources/json/'"
)
sources = {
    "json": of_files("json"),
    "csv": of_files("csv", withHeader=True),
    "a declared table": glue.create_dynamic_frame.from_catalog("merges", "declared"),
}
for name, frame in sources.items():
    frame.toDF().createOrReplaceTempView("source")
    table = "glue_catalog.merges.target"
    spark.sql(f"CREATE TABLE {table} (id INT) USING iceberg")
    spark.sql(f"INSERT INTO {table} VALUES (1), (9)")
    spark.sql(
        f"MERGE INTO {table} t USING (SELECT CAST(id AS INT) AS id FROM source) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET t.id = s.id + 100 WHEN NOT MATCHED THEN INSERT *"
    )
    spark.sql(f"DELETE FROM {table} WHERE id - 100 IN (SELECT CAST(id AS INT) FROM source)")
    spark.sql(f"UPDATE {table} SET id = 3 WHERE id IN (SELECT CAST(id AS INT) FROM source)")
    print(json.dumps([name, sorted(row[0] for row in spark.table(table).collect())]))
    spark.sql(f"DROP TABLE {table} PURGE")
"""


def test_rows_of_files_are_merged_updated_and_deleted(jvms, tmp_path):
    """On AWS the frame of a DynamicFrame is a plan of its own, in which nothing may vary."""
    home, script = Home.open(tmp_path / "home"), tmp_path / "merges.py"
    script.write_text(MERGES, encoding="utf-8")
    files = {
        "json/a.json": '{"id": 1, "at": "2026-01-01 00:00:00", "amount": 1.5}\n'
        '{"id": 2, "at": "2026-01-02 00:00:00", "amount": 2.5}\n',
        "csv/a.csv": "id,name\n1,a\n2,b\n",
    }
    home.create_bucket("lake")
    for name, text in files.items():
        file = home.lake / "lake/sources" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    finished, _ = submit(read_submission(script, ARGUMENTS), home, lambda _: None, jvms=jvms)

    assert finished.state == "SUCCEEDED", finished.error_message
    printed = (home.runs / finished.run_id / "stdout.log").read_text(encoding="utf-8").splitlines()
    rows = dict(json.loads(line) for line in printed if line.startswith("["))
    assert rows == {name: [3, 9] for name in ("json", "csv", "a declared table")}
