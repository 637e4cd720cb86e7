"""Tables of Iceberg that jobs use: their settings, their permissions, their place."""

import pytest

from tests.tidemark.constructs.catalog.test_published_tables import granted, grants, resources
from tidemark.constructs.jobs.glue_arguments import GlueArguments
from tidemark.errors import JobDefinitionError
from tidemark.model.stage.runtime import JobRuntime

pytestmark = pytest.mark.synth
CATALOG = "spark.sql.catalog.glue_catalog"


@pytest.fixture
def iceberg(cdk):
    """Return a function that declares a table of Iceberg in the database `mart`."""
    from tidemark.constructs import IcebergTable

    return lambda name="orders", **given: IcebergTable(**{"database": "mart", "name": name} | given)


@pytest.fixture
def placed(data, iceberg):
    """Return a function from a folder and a table to the data of the table."""
    from tidemark.constructs import Dataset

    def placed(prefix="orders/", table=None, **given):
        table = table or iceberg()
        return Dataset(data(prefix).bucket, prefix, table=table, **{"published": True, **given})

    return placed


def conf_of(add, number=0):
    arguments = add.properties("AWS::Glue::Job")[number]["DefaultArguments"]
    return dict(one.split("=", 1) for one in arguments["--conf"].split(" --conf "))


def test_a_job_of_a_table_gets_iceberg_and_its_catalog(add, placed):
    add("first", writes=[placed()])

    assert conf_of(add) == {
        "spark.sql.extensions": (
            "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
        ),
        CATALOG: "org.apache.iceberg.spark.SparkCatalog",
        f"{CATALOG}.catalog-impl": "org.apache.iceberg.aws.glue.GlueCatalog",
        f"{CATALOG}.io-impl": "org.apache.iceberg.aws.s3.S3FileIO",
        f"{CATALOG}.warehouse": "s3://lake/orders/",
    }
    (job,) = add.properties("AWS::Glue::Job")
    assert job["DefaultArguments"]["--datalake-formats"] == "iceberg"


def test_no_resource_makes_the_table(add, placed):
    add("first", writes=[placed()])

    assert not resources(add, "AWS::Glue::Table")


def test_the_settings_of_the_job_come_with_those_of_the_table(add, placed):
    conf = {"spark.sql.shuffle.partitions": "8", f"{CATALOG}.glue.skip-archive": "true"}
    add(
        "first",
        writes=[placed()],
        glue_arguments=GlueArguments(conf=conf, datalake_formats=["hudi", "iceberg"]),
    )

    (job,) = add.properties("AWS::Glue::Job")
    assert job["DefaultArguments"]["--datalake-formats"] == "hudi,iceberg"
    assert conf.items() <= conf_of(add).items()


@pytest.mark.parametrize(
    ("conf", "told"),
    [
        ({"spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension"}, "IcebergSpark"),
        ({CATALOG: "org.apache.iceberg.spark.SparkSessionCatalog"}, "SparkCatalog"),
        ({f"{CATALOG}.catalog-impl": "org.example.Catalog"}, "GlueCatalog"),
        ({f"{CATALOG}.type": "hadoop"}, "glue"),
        ({f"{CATALOG}.io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}, "S3FileIO"),
    ],
)
def test_a_setting_that_contradicts_the_table_is_refused(add, placed, conf, told):
    with pytest.raises(JobDefinitionError, match=f"job 'first' has .*{told}"):
        add("first", writes=[placed()], glue_arguments=GlueArguments(conf=conf))


def test_a_jar_of_ones_own_takes_the_place_of_the_one_of_glue(add, placed):
    jars = GlueArguments(extra_jars=["s3://theirs/iceberg-spark-runtime-3.5_2.12-1.10.2.jar"])
    add("first", writes=[placed()], glue_arguments=jars)

    (job,) = add.properties("AWS::Glue::Job")
    assert "--datalake-formats" not in job["DefaultArguments"]
    assert CATALOG in conf_of(add)


def test_two_jars_of_iceberg_are_refused(add, placed):
    both = GlueArguments(extra_jars=["s3://theirs/iceberg.jar"], datalake_formats=["iceberg"])

    with pytest.raises(JobDefinitionError, match=r"extra_jars \(s3://theirs/iceberg\.jar\)"):
        add("first", writes=[placed()], glue_arguments=both)


def test_the_type_glue_stands_for_the_class_of_the_catalog(add, placed):
    add(
        "first",
        writes=[placed()],
        glue_arguments=GlueArguments(conf={f"{CATALOG}.type": "glue"}),
    )

    assert f"{CATALOG}.catalog-impl" not in conf_of(add)


def test_extensions_of_the_job_may_include_those_of_iceberg(add, placed):
    both = (
        "io.delta.sql.DeltaSparkSessionExtension,"
        "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions"
    )
    add(
        "first",
        writes=[placed()],
        glue_arguments=GlueArguments(conf={"spark.sql.extensions": both}),
    )

    assert conf_of(add)["spark.sql.extensions"] == both


def test_who_writes_may_create_and_commit_and_who_reads_may_look(add, placed):
    orders = placed()
    first = add("first", writes=[orders])
    add("second", after=[first], reads=[orders])

    read = ("GetDatabase", "GetTable")
    assert granted(add) == {
        "first": grants((*read, "CreateTable", "UpdateTable"), "orders"),
        "second": grants(read, "orders"),
    }
    assert granted(add, "s3:Put")["first"] >= {("s3:PutObject", "lake/orders/*")}
    assert ("s3:PutObject", "lake/orders/*") not in granted(add, "s3:Put")["second"]


def test_a_table_that_exists_is_not_created(add, placed, iceberg):
    add("first", writes=[placed(table=iceberg(create=False))])

    assert granted(add)["first"] == grants(("GetDatabase", "GetTable", "UpdateTable"), "orders")


def test_a_folder_in_a_warehouse_names_the_warehouse(add, placed):
    add("first", writes=[placed("warehouse/mart.db/orders/")])

    assert conf_of(add)[f"{CATALOG}.warehouse"] == "s3://lake/warehouse/"


def test_tables_of_one_warehouse_are_made_by_one_job(add, placed, iceberg):
    add(
        "first",
        writes=[
            placed("warehouse/mart.db/orders/"),
            placed("warehouse/mart.db/lines/", iceberg("lines")),
        ],
    )

    assert conf_of(add)[f"{CATALOG}.warehouse"] == "s3://lake/warehouse/"


def test_tables_without_a_common_warehouse_are_refused(add, placed, iceberg):
    with pytest.raises(JobDefinitionError, match=r"mart\.lines.*LOCATION"):
        add("first", writes=[placed("orders/"), placed("lines/", iceberg("lines"))])


def test_a_script_that_names_the_location_needs_no_common_warehouse(add, placed, iceberg):
    (add.root / "job.py").write_text(
        "spark.sql(f\"CREATE TABLE glue_catalog.mart.orders (id INT) LOCATION '{place}'\")\n"
    )

    add("first", writes=[placed("orders/"), placed("lines/", iceberg("lines"))])

    assert conf_of(add)[f"{CATALOG}.warehouse"] == "s3://lake/orders/"


def test_a_warehouse_where_the_job_may_not_write_is_refused(add, placed):
    conf = {f"{CATALOG}.warehouse": "s3://lake/elsewhere/"}

    with pytest.raises(JobDefinitionError, match=r"s3://lake/elsewhere/mart\.db/orders"):
        add("first", writes=[placed()], glue_arguments=GlueArguments(conf=conf))


def test_a_reader_may_have_any_warehouse(add, placed):
    conf = {f"{CATALOG}.warehouse": "s3://lake/elsewhere/"}

    add("first", reads=[placed(delivered=True)], glue_arguments=GlueArguments(conf=conf))

    assert conf_of(add)[f"{CATALOG}.warehouse"] == "s3://lake/elsewhere/"


def test_the_place_of_a_database_counts_before_the_warehouse(add, placed, iceberg):
    from aws_cdk import aws_glue as glue

    located = glue.CfnDatabase(
        add.stack,
        "Database",
        catalog_id="123456789012",
        database_input=glue.CfnDatabase.DatabaseInputProperty(
            name="sales", location_uri="s3://lake/sales/"
        ),
    )
    inside = placed("sales/orders/", iceberg(database=located))
    outside = placed("lines/", iceberg("lines", database=located))

    add("first", writes=[inside])
    with pytest.raises(JobDefinitionError, match=r"s3://lake/sales/lines"):
        add("second", writes=[outside])


def test_a_table_has_its_own_catalog_in_spark(add, placed, iceberg):
    add("first", writes=[placed(table=iceberg(catalog="lake"))])

    assert conf_of(add)["spark.sql.catalog.lake"] == "org.apache.iceberg.spark.SparkCatalog"


def test_a_format_version_is_the_default_of_new_tables(add, placed, iceberg):
    orders = placed(table=iceberg(format_version=3))
    first = add("first", writes=[orders])
    add("second", after=[first], reads=[orders])

    assert conf_of(add)[f"{CATALOG}.table-default.format-version"] == "3"
    assert f"{CATALOG}.table-default.format-version" not in conf_of(add, 1)


def test_an_old_glue_cannot_use_format_version_3(add, placed, iceberg):
    runtime = JobRuntime(glue_version="5.0")

    with pytest.raises(JobDefinitionError, match=r"format_version 3.*5\.1"):
        add("first", reads=[placed(table=iceberg(format_version=3))], runtime=runtime)


def test_two_format_versions_in_one_catalog_are_refused(add, placed, iceberg):
    tables = [
        placed("w/mart.db/orders/", iceberg(format_version=2)),
        placed("w/mart.db/lines/", iceberg("lines", format_version=3)),
    ]

    with pytest.raises(JobDefinitionError, match="format_version"):
        add("first", writes=tables)


def test_a_python_shell_job_gets_permissions_and_no_settings_of_spark(add, placed):
    add.pipeline.add_shell_job("first", script="job.py", reads=[placed(delivered=True)])

    (job,) = add.properties("AWS::Glue::Job")
    assert "--conf" not in job["DefaultArguments"]
    assert granted(add)["first"] == grants(("GetDatabase", "GetTable"), "orders")


def test_one_table_has_one_declaration(add, placed):
    first = add("first", writes=[placed()])

    with pytest.raises(JobDefinitionError, match=r"declares the table 'mart\.orders'.*differently"):
        add("second", after=[first], writes=[placed("others/")])


def test_one_name_is_not_of_two_kinds_of_table(add, placed, data):
    from tidemark.constructs import Column, Dataset, Table

    columns = [Column("id", "bigint")]
    files = Dataset(data("files/").bucket, "files/", table=Table("mart", "orders", columns))
    first = add("first", writes=[placed()])

    with pytest.raises(JobDefinitionError, match=r"declares the table 'mart\.orders'.*differently"):
        add("second", after=[first], writes=[files])


def test_a_streaming_job_writes_a_table(add, placed, data):
    add.pipeline.add_streaming_job(
        "first", script="job.py", checkpoint=data("checkpoint/"), writes=[placed()]
    )

    assert conf_of(add)[CATALOG] == "org.apache.iceberg.spark.SparkCatalog"


def test_a_word_of_a_docstring_is_no_location(add, placed, iceberg):
    (add.root / "job.py").write_text('"""Write to the location of the table."""\nprint()\n')

    with pytest.raises(JobDefinitionError, match="LOCATION"):
        add("first", writes=[placed("orders/"), placed("lines/", iceberg("lines"))])


def test_a_database_of_the_app_without_a_name_is_known_at_deployment(cdk, add, iceberg):
    from aws_cdk import aws_glue as glue

    database = glue.CfnDatabase(
        add.stack,
        "Database",
        catalog_id="123456789012",
        database_input=glue.CfnDatabase.DatabaseInputProperty(description="named by AWS"),
    )

    assert cdk.Token.is_unresolved(iceberg(database=database).spark_name)


def test_a_crawler_of_the_data_is_refused(add, placed):
    with pytest.raises(JobDefinitionError, match="Iceberg"):
        add.pipeline.add_crawler("crawl", targets=[placed()], database="mart")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"name": "Orders"}, "name 'Orders'"),
        ({"name": "my-orders"}, "name 'my-orders'"),
        ({"database": "Mart"}, "database 'Mart'"),
        ({"database": "sales-eu"}, "database 'sales-eu'"),
        ({"catalog": "glue catalog"}, "catalog 'glue catalog'"),
        ({"catalog": "spark_catalog"}, "catalog 'spark_catalog'"),
        ({"format_version": 4}, "format_version 4"),
    ],
)
def test_what_aws_refuses_is_refused(iceberg, given, told):
    with pytest.raises(JobDefinitionError, match=told):
        iceberg(**given)
