"""Jobs of tables of Iceberg: what fails on AWS, or reads everything in every run."""

import json

import pytest

from tidemark.checks.lint.iceberg_rules import IcebergJob, iceberg_findings
from tidemark.checks.lint.linter import lint_jobs, lint_source
from tidemark.model.assembly.cloud_assembly import read_assembly

CATALOG = "spark.sql.catalog.glue_catalog"
CONF = (
    f"{CATALOG}=org.apache.iceberg.spark.SparkCatalog "
    f"--conf {CATALOG}.catalog-impl=org.apache.iceberg.aws.glue.GlueCatalog "
    f"--conf {CATALOG}.warehouse=s3://lake/warehouse/"
)
FORMATS = {"--datalake-formats": "iceberg"}
DECLARED = {**FORMATS, "--conf": CONF}


def rules(script, arguments=None, tables=(), bookmarks=False):
    job = IcebergJob(DECLARED if arguments is None else arguments, frozenset(tables))
    found = iceberg_findings(script, job, has_bookmarks=bookmarks)
    return [(one.rule, one.severity, one.place.line) for one in found]


USES = [
    "spark.table('glue_catalog.sales.orders')",
    "spark.read.format('iceberg').load('glue_catalog.sales.orders')",
    "df.writeTo('glue_catalog.sales.orders').append()",
    "spark.sql('SELECT * FROM glue_catalog.sales.orders')",
    "spark.sql(f\"MERGE INTO glue_catalog.{args['database']}.orders t USING new n ON t.i = n.i\")",
    "spark.sql('CREATE TABLE IF NOT EXISTS glue_catalog.sales.orders (id INT) USING iceberg')",
    "spark.sql('''\n  INSERT INTO `glue_catalog`.`sales`.`orders` SELECT * FROM new''')",
    "spark.sql(\"CALL glue_catalog.system.expire_snapshots('sales.orders')\")",
    "TABLE = 'glue_catalog.sales.orders'\nmerge_window(df, TABLE, window, ['id'])",
    "append_window(df, table='glue_catalog.sales.orders', window=window)",
    "read_snapshots(spark, 'glue_catalog.sales.orders', window)",
    "table = f\"{args['catalog']}.sales.orders\"\nspark.table(table)",
]


@pytest.mark.parametrize("script", USES)
def test_a_catalog_that_nothing_declares_fails_the_run(script):
    arguments = {**FORMATS, "--catalog": "glue_catalog"}

    assert [rule for rule, *_ in rules(script, arguments)] == ["iceberg-no-catalog"]
    assert rules(script, {**DECLARED, "--catalog": "glue_catalog"}) == []


@pytest.mark.parametrize(
    "settings",
    [
        f"SparkConf().set('{CATALOG}', 'org.apache.iceberg.spark.SparkCatalog')\n",
        f"conf.setAll([('{CATALOG}.warehouse', 's3://lake/')])\n",
        "from common.sessions import spark\n",
        "for key, value in settings.items():\n    builder = builder.config(key, value)\n",
        "conf = SparkConf()\nconf.setAll(json.load(file).items())\n",
        "spark.conf.set(name, value)\n",
        "NAME = 'glue_catalog'\nspark.conf.set(f'spark.sql.catalog.{NAME}', 'x')\n",
    ],
)
def test_a_catalog_that_the_script_declares_is_there(settings):
    assert rules(settings + USES[0], FORMATS) == []


@pytest.mark.parametrize(
    "script",
    [
        "spark.table('sales.orders')",
        "spark.read.format('iceberg').load('sales.orders.snapshots')",
        "spark.table('spark_catalog.sales.orders')",
        "spark.sql('SELECT o.price.amount FROM orders o')",
        "spark.read.load('s3://lake/a.b.c')",
        "spark.table(name)",
        "not python",
    ],
)
def test_what_may_be_no_catalog_is_not_judged(script):
    assert rules(script, FORMATS) == []


@pytest.mark.parametrize("script", USES[:-1])
def test_a_job_that_declares_no_iceberg_at_all_has_no_catalog_either(script):
    assert [rule for rule, *_ in rules(script, {})] == ["iceberg-no-catalog"]


@pytest.mark.parametrize(
    "script",
    [
        "df = spark.table('sales.orders')",
        "df.write.saveAsTable('sales.orders')",
        "df = spark.read.load('orders.day.json')",
        "df = spark.read.format('csv').load('a.b.c')",
        "spark.sql('SELECT o.price.net.amount FROM sales.orders o WHERE o.a.b.c = 1')",
        "spark.sql('SELECT x FROM orders LATERAL VIEW explode(a.b.c) AS x')",
        "import duckdb\nduckdb.sql('SELECT * FROM a.b.c')",
        "spark.read.format('jdbc').option('query', 'SELECT * FROM a.b.c').load()",
        "connection.execute('SELECT * FROM glue_catalog.sales.orders')",
    ],
)
def test_a_job_without_iceberg_and_without_a_catalog_is_right(script):
    assert rules(script, {}) == []


@pytest.mark.parametrize(
    ("script", "arguments"),
    [
        ("print()", {"--conf": CONF}),
        (f"SparkConf().set('{CATALOG}', 'org.apache.iceberg.spark.SparkCatalog')", {}),
        ("print()", {"--conf": CONF, "--datalake-formats": "hudi,delta"}),
    ],
)
def test_settings_of_iceberg_without_its_jar_fail_the_run(script, arguments):
    assert rules(script, arguments) == [("iceberg-no-format", "error", 1)]
    assert rules(script, {**arguments, "--datalake-formats": "hudi, iceberg"}) == []
    assert rules(script, {**arguments, "--extra-jars": "s3://jars/iceberg.jar"}) == []


def test_a_new_table_without_a_place_is_told():
    create = "spark.sql('CREATE TABLE glue_catalog.sales.orders (id INT) USING iceberg')"
    located = "spark.sql(\"CREATE TABLE glue_catalog.sales.orders (id INT) LOCATION 's3://x/'\")"
    without = {**FORMATS, "--conf": CONF.partition(f" --conf {CATALOG}.warehouse")[0]}

    assert rules(create, without) == [("iceberg-no-warehouse", "warning", 1)]
    assert rules(located, without) == []
    assert rules(create) == []
    assert rules(f"W = '{CATALOG}.warehouse'\n{create}", without) == []


READS = [
    "gc.create_data_frame.from_catalog(\n"
    "  database='sales', table_name='orders', transformation_ctx='orders')",
    "gc.create_data_frame_from_catalog('sales', args['table'], '', 'orders')",
    "gc.create_data_frame.from_options('iceberg', {'path': t}, transformation_ctx='orders')",
    "gc.create_data_frame.from_options('s3', {}, format='iceberg', transformation_ctx='orders')",
]


@pytest.mark.parametrize("script", READS)
def test_a_ctx_of_a_table_of_iceberg_has_no_bookmark(script):
    given = {"tables": ["sales.orders"], "arguments": {**DECLARED, "--table": "orders"}}

    assert rules(script, **given, bookmarks=True) == [("iceberg-bookmark", "warning", 1)]
    assert rules(script, **given) == []


def test_a_ctx_of_another_table_has_one():
    assert rules(READS[0], tables=["sales.others"], bookmarks=True) == []


@pytest.mark.parametrize(
    ("script", "is_found"),
    [
        ("spark.conf.set('spark.sql.extensions', 'x')", True),
        ("NAME = 'spark.sql.extensions'\ncontext.spark_session.conf.set(NAME, 'x')", True),
        ("spark.conf.set('spark.sql.shuffle.partitions', '8')", False),
        ("conf = SparkConf()\nconf.set('spark.sql.extensions', 'x')", False),
        ("SparkSession.builder.config('spark.sql.extensions', 'x')", False),
    ],
)
def test_extensions_are_not_set_while_the_session_runs(script, is_found):
    found = [one.rule for one in lint_source(script, "job.py", None, is_local=False).findings]

    assert ("extensions-too-late" in found) == is_found


def test_a_job_is_judged_by_its_tables_and_arguments(write_app, job_resource, tmp_path):
    script = (
        "import sys\n"
        "from awsglue.context import GlueContext\n"
        "from awsglue.job import Job\n"
        "from awsglue.utils import getResolvedOptions\n"
        "args = getResolvedOptions(sys.argv, ['JOB_NAME'])\n"
        "context = GlueContext(sc)\n"
        "job = Job(context)\n"
        "job.init(args['JOB_NAME'], args)\n"
        "orders = context.create_data_frame.from_catalog(database='sales', table_name='orders')\n"
        "spark.table('other.sales.lines')\n"
        "job.commit()\n"
    )
    job = job_resource("merge", job__bookmark__option="job-bookmark-enable")
    job["Properties"]["GlueVersion"] = "5.1"
    job["Properties"]["DefaultArguments"] |= DECLARED
    data = {"uri": "s3://lake/orders/", "table": "sales.orders", "format": "iceberg"}
    job["Metadata"] = {"Tidemark": {"reads": [data]}}
    folder = write_app({"app": {"Job": job}}, {"script.py": script})

    (linted,) = lint_jobs(read_assembly(folder), tmp_path)

    # A table of Iceberg needs no transformation_ctx.
    assert [one.rule for one in linted.findings] == ["iceberg-no-catalog"]
    assert json.dumps([one.as_json() for one in linted.findings])
