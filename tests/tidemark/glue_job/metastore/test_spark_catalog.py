"""Spark SQL of a job on the local Data Catalog, in whole job runs that share a JVM."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tests.tidemark.glue_job.process.test_job_process import finish, job, put_script
from tidemark.glue_service.runs.job_run_process import plan_job_run, start_job_run
from tidemark.glue_service.runs.run_variables import Machine
from tidemark.local_state.catalog.definitions import put_databases
from tidemark.local_state.catalog.partitions import partitions_of
from tidemark.local_state.catalog.tables import find_table, put_tables, table_or_none
from tidemark.local_state.home import Home
from tidemark.local_state.machine.java import find_java_home
from tidemark.local_state.run_warnings import read_warnings
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_databases import database_of_request
from tidemark.model.assembly.catalog_tables import table_of_request

pytestmark = pytest.mark.stress

LAZY = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
FLIGHTS = {
    "DatabaseName": "db",
    "TableInput": {
        "Name": "flights",
        "TableType": "EXTERNAL_TABLE",
        "Parameters": {"classification": "csv", "skip.header.line.count": "1"},
        "PartitionKeys": [{"Name": "day", "Type": "int"}],
        "StorageDescriptor": {
            "Columns": [{"Name": "id", "Type": "int"}, {"Name": "name", "Type": "string"}],
            "Location": "s3://data/flights/",
            "SerdeInfo": {"SerializationLibrary": LAZY, "Parameters": {"field.delim": ","}},
        },
    },
}
BEGIN = """
import json
from awsglue.context import GlueContext
from pyspark.context import SparkContext
gc = GlueContext(SparkContext.getOrCreate())
spark = gc.spark_session
found = {}
def rows(query):
    return sorted([list(row) for row in spark.sql(query).collect()], key=str)
"""
END = "\nprint(json.dumps(found))\n"
FIRST = """
found["header"] = rows("SELECT * FROM db.flights")
found["pruned"] = rows("SELECT count(*) FROM db.flights WHERE day = 2")
found["databases"] = rows("SHOW DATABASES")
found["listed"] = [table.name for table in spark.catalog.listTables("db")]
found["partitions"] = rows("SHOW PARTITIONS db.flights")
found["orders"] = rows("SELECT orderid, total, paid FROM db.orders")
found["tabs"] = rows("SELECT * FROM db.tabs")
late = spark.createDataFrame([('{"orderId": true}',)], "value string").coalesce(1)
late.write.mode("append").text("s3://data/orders/")
found["late"] = rows("SELECT count(*) FROM db.orders")

spark.sql("CREATE TABLE mart.ctas USING parquet AS SELECT * FROM db.flights WHERE id IS NOT NULL")
spark.sql("INSERT INTO mart.ctas VALUES (9, 'z', 9)")
found["ctas"] = rows("SELECT * FROM mart.ctas")
ids = spark.range(5).selectExpr("id", "id % 2 AS odd")
ids.where("id < 3").write.partitionBy("odd").saveAsTable("mart.ids")
ids.where("id >= 3").write.mode("append").partitionBy("odd").saveAsTable("mart.ids")
found["ids"] = rows("SHOW PARTITIONS mart.ids")
found["dynamic"] = gc.create_dynamic_frame.from_catalog(database="mart", table_name="ctas").count()

spark.sql("CREATE EXTERNAL TABLE mart.hive (a INT, b STRING) PARTITIONED BY (d STRING) "
          "STORED AS PARQUET LOCATION 's3://data/hive/'")
spark.sql("INSERT INTO mart.hive PARTITION (d='1') VALUES (1, 'x')")
spark.sql("INSERT OVERWRITE TABLE mart.hive SELECT 2, 'y', '2'")
found["hive"] = rows("SELECT * FROM mart.hive")
spark.sql("ALTER TABLE mart.hive DROP PARTITION (d='1')")
found["dropped"] = rows("SELECT * FROM mart.hive")
spark.sql("MSCK REPAIR TABLE mart.hive")
found["repaired"] = rows("SELECT * FROM mart.hive")
spark.sql("ALTER TABLE mart.hive ADD COLUMNS (c DOUBLE)")
spark.sql("SELECT 3 a, 'z' b, 0.5D c").write.parquet("s3://data/elsewhere/")
spark.sql("ALTER TABLE mart.hive ADD PARTITION (d='3') LOCATION 's3://data/elsewhere/'")
found["added"] = rows("SELECT * FROM mart.hive WHERE d = '3'")

for day in (1, 2):
    spark.sql(f"ALTER TABLE db.flights ADD PARTITION (day={day})")
try:
    spark.sql("ALTER TABLE db.flights ADD PARTITION (day=1)")
except Exception as error:
    found["twice"] = str(error).splitlines()[0]
spark.sql("CREATE TABLE mart.texts (a INT, b STRING) ROW FORMAT DELIMITED FIELDS TERMINATED BY '|' "
          "STORED AS TEXTFILE")
spark.sql("INSERT INTO mart.texts VALUES (1, 'say \\"a\\"'), (2, NULL)")
found["texts"] = rows("SELECT * FROM mart.texts")
spark.sql("CREATE TABLE mart.parts PARTITIONED BY (b) STORED AS ORC AS SELECT 1 AS a, 'x y' AS b")
found["parts"] = rows("SELECT * FROM mart.parts")
spark.sql("CREATE VIEW mart.more AS SELECT id + 1 AS id FROM mart.ids")
spark.sql("ANALYZE TABLE mart.ctas COMPUTE STATISTICS")
spark.sql("CREATE TABLE mart.gone USING json AS SELECT 1 AS a")
spark.sql("DROP TABLE mart.gone")
spark.sql("CREATE DATABASE made LOCATION 's3://data/made'")
spark.sql("USE made")
spark.sql("CREATE TABLE inside (a INT) USING csv OPTIONS (header 'true')")
"""
WITH_HIVE = """
from pyspark.sql import SparkSession
SparkSession.builder.enableHiveSupport().getOrCreate()
"""
SECOND = """
found["view"] = rows("SELECT sum(id) FROM mart.more")
found["made"] = [table.name for table in spark.catalog.listTables("made")]
found["hive"] = rows("SELECT a, c FROM mart.hive")
found["stats"] = spark.sql("DESCRIBE EXTENDED mart.ctas").where("col_name = 'Statistics'").count()
for query in ("SELECT * FROM mart.gone", "SELECT * FROM nothing.gone", "DROP DATABASE made",
              "CREATE TABLE db.managed (a INT) USING parquet", "SELECT * FROM db.letters",
              "ALTER TABLE mart.ids RENAME TO mart.other", "CREATE FUNCTION db.f AS 'x.Y'",
              "CREATE TABLE mart.seq (a INT) STORED AS SEQUENCEFILE"):
    try:
        spark.sql(query).collect()
        found[query] = "it ran"
    except Exception as error:
        found[query] = str(error).splitlines()[0]
"""
WITHOUT = """
spark.sql("CREATE TABLE kept (a INT) USING parquet")
found["tables"] = [table.name for table in spark.catalog.listTables()]
"""
HIVE_WITHOUT = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.enableHiveSupport().getOrCreate()
spark.sql("CREATE TABLE own (a INT) STORED AS ORC")
spark.sql("INSERT INTO own VALUES (1)")
print(spark.table("own").count(), [one.name for one in spark.catalog.listDatabases()])
spark.sql("SELECT * FROM db.flights")
"""
FACTORY = "com.amazonaws.glue.catalog.metastore.AWSGlueDataCatalogHiveClientFactory"
BY_FACTORY = f"""
from pyspark.sql import SparkSession
spark = (SparkSession.builder.config("hive.metastore.client.factory.class", "{FACTORY}")
         .config("spark.sql.extensions", "").enableHiveSupport().getOrCreate())
print(spark.table("db.flights").count())
"""


class Runs:
    """Runs scripts in one home, and reads what they printed."""

    def __init__(self, home: Home, jvms) -> None:
        self.home = home
        self._machine = Machine(home, find_java_home(), "http://127.0.0.1:1", "eu-west-1", jvms)

    def run(self, name: str, text: str, asks: bool):
        put_script(self.home, text, f"{name}.py")
        definition = job(script_location=f"s3://scripts/{name}.py")
        arguments = {"--enable-glue-datacatalog": "true"} if asks else {}
        run = plan_job_run(self._machine, definition, arguments, f"jr_{name}", 0)
        finished = finish(start_job_run(self._machine, definition, arguments, run))
        printed = (self.home.runs / f"jr_{name}" / "stdout.log").read_text(encoding="utf-8")
        return finished, printed

    def found(self, name: str, text: str, *, asks: bool = True, first: str = ""):
        finished, printed = self.run(name, f"{first}{BEGIN}{text}{END}", asks)
        assert finished.state == "SUCCEEDED", finished.error_message
        return json.loads(printed.splitlines()[-1])


@pytest.fixture(scope="module")
def runs(tmp_path_factory, jvms) -> Runs:
    home = Home.open(tmp_path_factory.mktemp("catalog") / "home")
    for day, text in ((1, "id,name\n1,a\n2,b\n"), (2, "id,name\n3,c\n")):
        folder = home.lake / f"data/flights/day={day}"
        folder.mkdir(parents=True)
        (folder / "a.csv").write_text(text, encoding="utf-8")
    (home.lake / "data/orders").mkdir()
    (home.lake / "data/orders/a.json").write_text(
        '{"orderId": 7, "Total": 1.5, "Paid": "yes"}\n', encoding="utf-8"
    )
    (home.lake / "data/orders/b.json").write_text('{"orderId": 8', encoding="utf-8")
    kinds = {"orderid": "bigint", "total": "double", "paid": "boolean"}
    columns = [{"Name": name, "Type": kind} for name, kind in kinds.items()]
    serde = {"SerializationLibrary": "org.openx.data.jsonserde.JsonSerDe"}
    orders = {
        "DatabaseName": "db",
        "TableInput": {
            "Name": "orders",
            "StorageDescriptor": {
                "Columns": columns,
                "Location": "s3://data/orders/",
                "SerdeInfo": serde,
            },
        },
    }
    letters = {
        "DatabaseName": "db",
        "TableInput": {
            "Name": "letters",
            "Parameters": {"classification": "xml"},
            "StorageDescriptor": {"Location": "s3://data/letters/"},
        },
    }
    (home.lake / "data/tabs").mkdir()
    (home.lake / "data/tabs/a.tsv").write_text("x\ty\n\t\n", encoding="utf-8")
    (home.lake / "data/tabs/_old.tsv").write_text("y\tz\n", encoding="utf-8")
    tabs = {
        "DatabaseName": "db",
        "TableInput": {
            "Name": "tabs",
            "StorageDescriptor": {
                "Columns": [{"Name": name, "Type": "string"} for name in "ab"],
                "Location": "s3://data/tabs/",
                "SerdeInfo": {"SerializationLibrary": LAZY, "Parameters": {"field.delim": "\t"}},
            },
        },
    }
    mart = {"DatabaseInput": {"Name": "mart", "LocationUri": "s3://data/mart/"}}
    with Store(home.database) as store:
        put_tables(store, [table_of_request(one) for one in (FLIGHTS, letters, orders, tabs)])
        put_databases(store, [database_of_request(mart)])
    return Runs(home, jvms)


@pytest.fixture(scope="module")
def first(runs):
    return runs.found("first", FIRST)


@pytest.fixture(scope="module")
def second(runs, first):
    return runs.found("second", SECOND, first=WITH_HIVE)


def test_spark_sees_the_tables_of_the_data_catalog_and_reads_a_header_as_a_row(first):
    assert first["header"] == [
        [1, "a", 1],
        [2, "b", 1],
        [3, "c", 2],
        [None, "name", 1],
        [None, "name", 2],
    ]
    assert first["pruned"] == [[2]]
    assert first["databases"] == [["db"], ["default"], ["mart"]]
    assert first["listed"] == ["flights", "letters", "orders", "tabs"]
    assert first["partitions"] == [["day=1"], ["day=2"]]


def test_columns_of_json_are_found_in_any_case(first):
    assert first["orders"] == [[7, 1.5, None], [None, None, None]]


def test_what_surprises_on_aws_too_is_a_warning_of_the_run(first, runs):
    found = read_warnings(runs.home.runs / "jr_first")

    assert [text for text in found if "skip.header.line.count" in text and "db.flights" in text]
    assert [text for text in found if "json-serde.jar" in text and "db.orders" in text]
    assert [text for text in found if "column paid of the table db.orders" in text]
    assert [text for text in found if "1 lines, the first one in the file b.json" in text]
    assert [text for text in found if text.startswith("s3://data/tabs/_old.tsv: skipped")]
    assert [text for text in found if text.startswith("1 values of the column orderid, the first")]


def test_tables_that_spark_makes_are_read_by_glue_in_the_same_run(first):
    assert first["ctas"] == [[1, "a", 1], [2, "b", 1], [3, "c", 2], [9, "z", 9]]
    assert first["dynamic"] == 4
    assert first["parts"] == [[1, "x y"]]
    assert first["ids"] == [["odd=0"], ["odd=1"]]


def test_table_of_hive_replaces_the_partitions_that_it_writes_only(first):
    assert first["hive"] == [[1, "x", "1"], [2, "y", "2"]]


def test_dropped_partition_keeps_its_folder_which_repair_registers_again(first):
    assert first["dropped"] == [[2, "y", "2"]]
    assert first["repaired"] == [[1, "x", "1"], [2, "y", "2"]]


def test_folder_that_is_there_can_be_registered_once(first):
    assert "PARTITIONS_ALREADY_EXIST" in first["twice"]


def test_partition_may_be_anywhere(first):
    assert first["added"] == [[3, "z", 0.5, "3"]]


def test_text_files_of_hive_have_no_quotes_and_a_null_of_their_own(first, runs):
    assert first["texts"] == [[1, 'say "a"'], [2, None]]
    files = (runs.home.lake / "data/mart/texts").glob("part-*")
    lines = sorted(file.read_text(encoding="utf-8") for file in files)
    assert "".join(lines) == '1|say "a"\n2|\\N\n'


def test_a_row_of_a_text_file_of_hive_without_a_value_is_a_row(first):
    assert first["tabs"] == [["x", "y"], [None, None]]


def test_what_spark_made_is_in_the_data_catalog_as_glue_describes_it(first, runs):
    with Store(runs.home.database) as store:
        hive, ids = find_table(store, "mart", "hive"), find_table(store, "mart", "ids")
        partitions = partitions_of(store, hive, runs.home.local_path)
        gone = table_or_none(store, "mart", "gone")

    assert hive.definition["TableType"] == "EXTERNAL_TABLE"
    assert hive.serde_library == "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
    assert hive.columns == [("a", "int"), ("b", "string"), ("c", "double")]
    assert hive.partition_keys == [("d", "string")]
    assert {one.values: one.location for one in partitions} == {
        ("1",): "s3://data/hive/d=1",
        ("2",): "s3://data/hive/d=2",
        ("3",): "s3://data/elsewhere",
    }
    assert (ids.definition["TableType"], ids.location) == ("MANAGED_TABLE", "s3://data/mart/ids")
    assert ids.parameters["spark.sql.sources.provider"] == "parquet"
    assert ids.classification == "parquet"
    assert gone is None
    assert not (runs.home.lake / "data/mart/gone").exists()


def test_next_run_sees_it_with_hive_support_too(second):
    assert second["view"] == [[15]]
    assert second["made"] == ["inside"]
    assert second["hive"] == [[1, None], [2, None], [3, 0.5]]
    assert second["stats"] == 1


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT * FROM mart.gone", "[TABLE_OR_VIEW_NOT_FOUND]"),
        ("SELECT * FROM nothing.gone", "[TABLE_OR_VIEW_NOT_FOUND]"),
        ("DROP DATABASE made", "[SCHEMA_NOT_EMPTY]"),
        ("CREATE TABLE db.managed (a INT) USING parquet", "Can not create a Path from an empty"),
        ("SELECT * FROM db.letters", "the table db.letters has the format xml"),
        ("ALTER TABLE mart.ids RENAME TO mart.other", "Table rename is not supported"),
        ("CREATE FUNCTION db.f AS 'x.Y'", "functions are not kept"),
        ("CREATE TABLE mart.seq (a INT) STORED AS SEQUENCEFILE", "SequenceFileInputFormat"),
    ],
)
def test_error_is_that_of_spark_or_names_what_is_wrong(second, query, error):
    assert error in second[query]


@pytest.mark.nightly
def test_crawl_reads_the_schema_of_parquet_and_names_a_broken_file(first, runs):
    done = crawl(runs.home, "s3://data/mart/ids", "--table-prefix", "raw_")
    odd = runs.home.lake / "data/odd [x]"
    odd.mkdir()
    (odd / "broken.parquet").write_bytes(b"PAR1 and no more")
    broken = crawl(runs.home, "s3://data/odd [x]/")

    assert done.stdout == "crawled.raw_ids: new, parquet, id bigint; 2 new partitions by odd\n"
    assert "error: cannot read s3://data/odd [x]/broken.parquet as parquet" in broken.stderr


def crawl(home, *words):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", "catalog", "crawl", "--database", "crawled", *words],
        env={**os.environ, "TIDEMARK_HOME": str(home.root)},
        capture_output=True,
        text=True,
    )


def test_tables_of_a_job_that_does_not_ask_end_with_its_run(runs):
    assert runs.found("without", WITHOUT, asks=False) == {"tables": ["kept"]}
    assert runs.found("again", WITHOUT, asks=False) == {"tables": ["kept"]}


def test_hive_support_without_the_argument_is_a_catalog_of_the_run_and_tells_of_the_argument(runs):
    finished, printed = runs.run("hive", HIVE_WITHOUT, asks=False)

    assert printed.splitlines()[-1] == "1 ['default']"
    assert finished.state == "FAILED"
    assert "db.flights is in the Data Catalog" in finished.error_message
    assert "--enable-glue-datacatalog" in finished.error_message


def test_factory_of_glue_in_a_script_asks_too_beside_other_extensions(runs):
    finished, printed = runs.run("factory", BY_FACTORY, asks=False)

    assert (finished.state, printed.splitlines()[-1]) == ("SUCCEEDED", "5")
