"""What follows in a template from the contract of a dataset."""

import pytest

from tests.fixtures.pipelines import Declared
from tests.tidemark.constructs.test_declarations import statement_about
from watermarks import metrics
from watermarks.schema import Contract, terms

pytestmark = pytest.mark.synth
METRICS = {"RescuedRows", "QuarantinedRows"}
DDL = "id BIGINT, amount DECIMAL(10, 2), Address STRUCT<zip: STRING>, day DATE"


@pytest.fixture
def lake(cdk):
    from aws_cdk import aws_s3 as s3

    return s3.Bucket.from_bucket_name(cdk.Stack(cdk.App(), "lakes"), "Lake", "lake")


def quarantined(lake, prefix="out/", **given):
    """Return data under a contract that takes rows out, to `aside/`."""
    from tidemark.constructs import Dataset, SchemaPolicy

    aside = Dataset(lake, "aside/")
    policy = SchemaPolicy.discard_row("id BIGINT", quarantine=aside)
    return Dataset(lake, prefix, schema=policy, published=True, **given)


def arguments_of(add):
    (job,) = add.properties("AWS::Glue::Job")
    return job["DefaultArguments"]


def test_a_job_gets_the_contract_of_what_it_writes_beside_its_address(add, lake):
    out = quarantined(lake)

    add("one", writes=[out], arguments={"target": out}, watermark=True)

    arguments = arguments_of(add)
    assert arguments["--target"] == "s3://lake/out/"
    assert Contract.from_json(arguments["--schema_of_target"]) == Contract(
        "id BIGINT", types="discard_row", quarantine="s3://lake/aside/"
    )


SPARK = """{"type": "struct", "fields": [
 {"name": "id", "type": "long", "nullable": true, "metadata": {}},
 {"name": "amount", "type": "decimal(10,2)", "nullable": true, "metadata": {}},
 {"name": "lines", "nullable": true, "metadata": {}, "type": {"type": "array", "containsNull": true,
  "elementType": {"type": "struct", "fields": [
   {"name": "n", "type": "integer", "nullable": true, "metadata": {}},
   {"name": "notes", "nullable": true, "metadata": {}, "type":
    {"type": "map", "keyType": "string", "valueType": "short", "valueContainsNull": true}}]}}}]}"""


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            "-- what the shop sends\nid BIGINT, -- its number\n amount DECIMAL(10, 2)\n",
            {"id": "bigint", "amount": "decimal(10,2)"},
        ),
        (
            SPARK,
            {
                "id": "bigint",
                "amount": "decimal(10,2)",
                "lines": "array<struct<n:int,notes:map<string,smallint>>>",
            },
        ),
    ],
)
def test_the_columns_may_be_in_a_file_of_the_repository(cdk, tmp_path, text, fields):
    from tidemark.constructs import SchemaPolicy

    file = tmp_path / "orders.schema"
    file.write_text(text, encoding="utf-8")
    policy = SchemaPolicy.freeze(file)

    assert policy.fields == fields
    assert SchemaPolicy.freeze(Contract.from_json(policy.argument).schema).fields == fields


@pytest.mark.parametrize(
    "text", [None, b"\xff", b"{", b"{}", b'{"fields": [{"name": "a"}]}', b"[1]"]
)
def test_a_file_that_says_no_columns_is_refused_with_what_is_allowed(cdk, tmp_path, text):
    from tidemark.constructs import SchemaPolicy
    from tidemark.errors import JobDefinitionError

    file = tmp_path / "orders.schema"
    if text is not None:
        file.write_bytes(text)
    with pytest.raises(JobDefinitionError, match=r"a file with DDL|has the column") as error:
        SchemaPolicy.freeze(file)
    assert "allowed" in str(error.value)


def test_each_policy_becomes_the_contract_of_its_modes(cdk):
    from tidemark.constructs import SchemaPolicy

    for policy, contract in [
        (SchemaPolicy.evolve(), Contract()),
        (SchemaPolicy.evolve("  "), Contract()),
        (SchemaPolicy.freeze(DDL), Contract(DDL, "freeze", "freeze", "freeze")),
        (SchemaPolicy.rescue(DDL), Contract(DDL, "rescue", "rescue")),
        (
            SchemaPolicy(DDL, columns="discard", rescued="_r"),
            Contract(DDL, "discard", rescued="_r"),
        ),
    ]:
        assert Contract.from_json(policy.argument) == contract


def test_the_modes_and_metrics_are_those_of_the_watermark_library(cdk):
    from tidemark.constructs.catalog import schema_policy as ours

    for mode in ("ColumnsMode", "TypesMode", "MissingMode"):
        assert getattr(ours, mode) == getattr(terms, mode)
    assert {metrics.RESCUED, metrics.QUARANTINED} == METRICS


def test_a_contract_of_a_bucket_of_the_app_is_known_at_deployment(cdk, tmp_path):
    from aws_cdk import aws_s3 as s3

    declared = Declared(cdk, tmp_path)
    out = quarantined(s3.Bucket(declared.stack, "Lake"))
    declared.add(declared.pipeline(), writes=[out], arguments={"target": out})

    (job,) = declared.resources("AWS::Glue::Job")
    _, parts = job["DefaultArguments"]["--schema_of_target"]["Fn::Join"]
    text = "".join(part if isinstance(part, str) else "lake" for part in parts)
    assert Contract.from_json(text).quarantine == "s3://lake/aside/"


def test_only_a_job_that_holds_data_to_a_contract_may_write_its_quarantine(add, lake):
    out = quarantined(lake)
    writer = add("one", writes=[out], arguments={"target": out})
    add("two", reads=[out], arguments={"source": out}, after=[writer])

    (written,) = statement_about(add, "s3:PutObject")
    assert [resource.partition(":::")[2] for resource in map(str_of, written["Resource"])] == [
        "lake/out/*",
        "lake/aside/*",
    ]
    reader = add.properties("AWS::Glue::Job")[1]["DefaultArguments"]
    assert "--schema_of_source" not in reader


def str_of(resource):
    """Return an ARN with the partition as text."""
    return "".join(map(str, resource["Fn::Join"][1])) if isinstance(resource, dict) else resource


def test_a_reader_gets_a_contract_that_its_script_asks_for_and_of_delivered_data(add, lake):
    from tidemark.constructs import Dataset, SchemaPolicy

    policy = SchemaPolicy.evolve("id INT")
    landing = Dataset(lake, "in/", schema=policy, delivered=True)
    other = Dataset(lake, "more/", schema=policy)
    third = Dataset(lake, "third/", schema=policy)
    (add.root / "job.py").write_text("print('schema_of_other')\n")

    data = {"landing": landing, "other": other, "third": third}
    add("one", reads=[*data.values()], arguments=data)

    told = {name for name in arguments_of(add) if name.startswith("--schema_of")}
    assert told == {"--schema_of_landing", "--schema_of_other"}


def test_a_start_with_other_data_has_the_contract_of_that(add, lake):
    from tidemark.constructs import ActionOptions, Dataset, SchemaPolicy

    one = Dataset(lake, "one/", schema=SchemaPolicy.evolve("id INT"))
    two = Dataset(lake, "two/", schema=SchemaPolicy.freeze("id INT"))
    add(
        "one",
        writes=[one, two],
        arguments={"target": one, "second": two},
        started=ActionOptions({"target": two}),
    )

    (trigger,) = add.properties("AWS::Glue::Trigger")
    started = trigger["Actions"][0]["Arguments"]
    assert Contract.from_json(started["--schema_of_target"]).columns == "freeze"


def columns(properties):
    (table,) = properties
    told = table["TableInput"]["StorageDescriptor"]["Columns"]
    return [(column["Name"], column["Type"]) for column in told]


def test_a_table_has_the_columns_of_the_contract_but_for_its_keys(add, lake):
    from tidemark.constructs import Column, Dataset, SchemaPolicy, Table

    table = Table("sales", "orders", partition_keys=[Column("day", "date")])
    out = Dataset(lake, "out/", table=table, schema=SchemaPolicy.rescue(DDL), published=True)
    add("one", writes=[out], arguments={"target": out})

    assert columns(add.properties("AWS::Glue::Table")) == [
        ("id", "bigint"),
        ("amount", "decimal(10,2)"),
        ("address", "struct<zip:string>"),
        ("_rescued_data", "string"),
    ]


def test_columns_of_a_table_stay_as_they_are_and_get_that_for_what_is_rescued(add, lake):
    from tidemark.constructs import Column, Dataset, SchemaPolicy, Table

    declared = [Column("id", "bigint", "its number")]
    for policy, rescued in [
        (SchemaPolicy.rescue(), ["_rescued_data"]),
        (SchemaPolicy.evolve("id BIGINT"), []),
        (SchemaPolicy("id BIGINT", types="rescue", rescued="_left"), ["_left"]),
    ]:
        table = Dataset(lake, "out/", table=Table("sales", "t", declared), schema=policy).table
        assert [column.name for column in table.columns] == ["id", *rescued]
        assert table.columns[0].comment == "its number"


def alarms_of(add):
    """Return the metrics of the library that alarms of what was taken aside look at."""
    found = {}
    for alarm in add.properties("AWS::CloudWatch::Alarm"):
        metric = alarm["Metrics"][0]["MetricStat"]["Metric"]
        if metric["MetricName"] in METRICS:
            found[metric["MetricName"]] = alarm
            assert metric["Namespace"] == "Tidemark"
            assert metric["Dimensions"] == [{"Name": "JobName", "Value": "one"}]
            assert (alarm["Threshold"], alarm["TreatMissingData"]) == (0, "notBreaching")
            assert alarm["ComparisonOperator"] == "GreaterThanThreshold"
    return set(found)


@pytest.mark.parametrize("watermark", [True, False])
def test_rows_that_are_taken_aside_raise_an_alarm_where_windows_count_them(add, lake, watermark):
    from tidemark.constructs import Dataset, SchemaPolicy

    held = Dataset(lake, "held/", schema=SchemaPolicy.rescue(), published=True)
    out = quarantined(lake)
    data = {"held": held, "out": out}
    add("one", writes=[*data.values()], arguments=data, watermark=watermark)

    assert alarms_of(add) == (METRICS if watermark else set())


def test_a_contract_that_takes_nothing_aside_raises_no_alarm(add, lake):
    from tidemark.constructs import Dataset, SchemaPolicy

    out = Dataset(lake, "out/", schema=SchemaPolicy.freeze(DDL), published=True)
    add("one", writes=[out], arguments={"target": out}, watermark=True)

    assert alarms_of(add) == set()


def test_the_metadata_tells_the_checks_the_contract_and_the_quarantine(cdk, tmp_path):
    from aws_cdk import aws_s3 as s3

    declared = Declared(cdk, tmp_path)
    lake = s3.Bucket.from_bucket_name(declared.stack, "Lake", "lake")
    out = quarantined(lake)
    declared.add(declared.pipeline(), writes=[out], arguments={"target": out})

    (job,) = declared.template("AWS::Glue::Job").values()
    modes = {"columns": "evolve", "types": "discard_row", "missing": "null"}
    assert job["Metadata"]["Tidemark"]["writes"] == [
        {
            "uri": "s3://lake/out/",
            "published": True,
            "schema": {"fields": {"id": "bigint"}, **modes, "rescued": "_rescued_data"},
        },
        {"uri": "s3://lake/aside/", "published": True, "quarantine": True},
    ]
