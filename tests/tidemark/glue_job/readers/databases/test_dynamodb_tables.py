"""DynamoDB as a source and a sink, on the embedded engine."""

from __future__ import annotations

import datetime
import os
from decimal import Decimal

import pytest

from awsglue.dynamicframe import DynamicFrame
from tests.sampled import at_night
from tidemark.errors import EntityNotFoundError, UnsupportedError, UsageError
from tidemark.local_state.catalog.tables import put_tables
from tidemark.local_state.store.database import Store
from tidemark.model.assembly.catalog_tables import table_of_request

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def client(dynamodb):
    """A client of an engine with one table."""
    dynamodb.create_table(
        TableName="songs",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        BillingMode="PAY_PER_REQUEST",
    )
    return dynamodb


def put(client, *items):
    for item in items:
        client.put_item(TableName="songs", Item=item)


SONGS = (
    {
        "id": {"S": "1"},
        "plays": {"N": "7"},
        "rating": {"N": "1.5"},
        "tags": {"SS": ["a", "b"]},
        "by": {"M": {"name": {"S": "Ann"}, "born": {"N": "1970"}}},
        "parts": {"L": [{"S": "x"}, {"S": "y"}]},
        "live": {"BOOL": True},
    },
    {"id": {"S": "2"}, "plays": {"N": "8.5"}, "rating": {"N": "2.5"}, "live": {"NULL": True}},
)


def test_a_scan_is_typed_by_its_values_and_an_export_by_the_json_of_dynamodb(
    client, glue_context, capsys
):
    put(client, *SONGS)
    scan = {"dynamodb.input.tableName": "songs", "dynamodb.throughput.read.percent": "1.0"}
    export = {
        "dynamodb.export": "ddb",
        "dynamodb.tableArn": "arn:aws:dynamodb:us-east-1:123456789012:table/songs",
        "dynamodb.s3.bucket": "exports",
    }
    read = glue_context.create_dynamic_frame.from_options

    scanned = read(connection_type="dynamodb", connection_options=scan)
    exported = read(connection_type="dynamodb", connection_options=export)
    unnested = read("dynamodb", {**export, "dynamodb.unnestDDBJson": True})
    simplified = read("dynamodb", {**export, "dynamodb.simplifyDDBJson": "true"})

    scanned.printSchema()
    shown = capsys.readouterr().out
    assert "|-- plays: choice\n|    |-- double\n|    |-- long\n" in shown
    assert "|-- rating: double" in shown
    assert "|-- live: boolean" in shown
    rows = {row["id"]: row for row in scanned.toDF().collect()}
    assert (rows["1"]["plays"].long, rows["2"]["plays"].double) == (7, 8.5)
    assert (rows["1"]["by"].name, rows["1"]["by"].born) == ("Ann", 1970)
    assert (sorted(rows["1"]["tags"]), rows["1"]["parts"]) == (["a", "b"], ["x", "y"])
    assert (rows["2"]["tags"], rows["2"]["live"]) == (None, None)
    assert exported.toDF().columns == ["Item"]
    assert exported.toDF().select("Item.plays.N").collect()[0].N in ("7", "8.5")
    assert {"id", "plays", "by.name", "by.born", "parts"} <= set(unnested.toDF().columns)
    assert {row["by"].name for row in simplified.toDF().collect() if row["by"]} == {"Ann"}


BIG, NEXT = "11888647184542023637", "11888647184542023638"
LONGEST = "12345678901234567890123456789012345678"
FINE = "0.1234567890123456789"


@pytest.fixture
def numbers(client):
    """A function that makes a table of items with numbers, and returns its name."""
    made = list[str]()

    def numbers(*items):
        name = f"numbers-{len(made)}"
        made.append(name)
        client.create_table(
            TableName=name,
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        for place, item in enumerate(items):
            client.put_item(TableName=name, Item={"id": {"S": str(place)}, **item})
        return name

    yield numbers
    for name in made:
        client.delete_table(TableName=name)


def scanned(glue_context, table):
    read = glue_context.create_dynamic_frame.from_options
    return read("dynamodb", {"dynamodb.input.tableName": table})


@pytest.mark.rule(
    "Formats",
    source="INFER",
    choice="a number of DynamoDB is a long or a double that holds all its digits, else a decimal; "
    "numbers that no decimal of 38 digits holds together are doubles, with a warning",
)
@pytest.mark.parametrize(
    ("texts", "kinds"),
    [
        ((BIG, "7", "1.5"), "choice decimal double long"),
        ((str(2**63), str(-(2**63) - 1)), "decimal"),
        *at_night(
            ((BIG, NEXT), "decimal"),
            ((LONGEST, f"-{LONGEST}", BIG), "decimal"),
            ((FINE, "-1.5000000000000000001"), "decimal"),
            ((str(2**63 - 1), str(-(2**63)), "3"), "long"),
            (("1.5", "1E100", "1E-100", "0.1"), "double"),
            ((BIG, "-0.123456789012345678"), "decimal"),
        ),
    ],
)
def test_numbers_of_dynamodb_keep_all_their_digits(
    numbers, client, glue_context, warned, texts, kinds
):
    def in_all_places(text):
        number = {"N": text}
        return {
            "n": number,
            "m": {"M": {"deep": {"L": [number]}}},
            "s": {"NS": [text]},
        }

    table = numbers(*map(in_all_places, texts))

    frame = scanned(glue_context, table)

    of_n = frame.schema().field_map["n"].dataType
    named = [of_n.typeName(), *sorted(getattr(of_n, "choices", {}))]
    assert " ".join(named) == kinds
    client_items = {str(n): Decimal(text) for n, text in enumerate(texts)}
    glue_context.write_dynamic_frame_from_options(
        frame=frame.map(lambda record: {**record, "id": f"copy-{record['id']}"}),
        connection_type="dynamodb",
        connection_options={"dynamodb.output.tableName": table},
    )
    for place, number in client_items.items():
        item = client.get_item(TableName=table, Key={"id": {"S": f"copy-{place}"}})["Item"]
        assert Decimal(item["n"]["N"]) == number
        assert Decimal(item["m"]["M"]["deep"]["L"][0]["N"]) == number
        assert [Decimal(part["N"]) for part in item["s"]["L"]] == [number]
    assert warned() == []


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        ((BIG, FINE, NEXT), (Decimal(BIG), float(FINE), Decimal(NEXT))),
        (("1.2345678901234567890E-30",), (1.234567890123456789e-30,)),
        (("1.2345678901234567890E+50", "7"), (1.234567890123456789e50, 7)),
    ],
)
def test_fractions_that_no_decimal_holds_beside_the_others_are_doubles_and_named(
    numbers, glue_context, warned, texts, values
):
    table = numbers(*({"n": {"N": text}, "t": {"N": BIG}} for text in texts))

    rows = scanned(glue_context, table).map(lambda record: {**record, "n": str(record["n"])})

    assert [row.n for row in rows.toDF().orderBy("id").collect()] == [*map(str, values)]
    assert {row.t for row in rows.toDF().collect()} == {Decimal(BIG)}
    assert ("DYNAMODB_ROUNDED", "n") in warned()


def test_an_export_and_the_files_that_a_job_writes_keep_all_digits(numbers, glue_context, s3):
    table = numbers({"n": {"N": BIG}}, {"n": {"N": FINE}}, {"n": {"N": LONGEST}})
    export = {"dynamodb.export": "ddb", "dynamodb.tableArn": table}
    export |= {"dynamodb.simplifyDDBJson": "true"}
    read = glue_context.create_dynamic_frame.from_options

    simple = read("dynamodb", export).toDF().orderBy("id")

    assert [row.n for row in simple.collect()] == [BIG, FINE, LONGEST]
    frame = scanned(glue_context, numbers({"n": {"N": BIG}}, {"n": {"N": NEXT}}, {"n": {"N": "3"}}))
    for kind in ("json", "csv"):
        glue_context.write_dynamic_frame_from_options(
            frame=frame,
            connection_type="s3",
            connection_options={"path": f"{s3.uri}{kind}/"},
            format=kind,
        )
        lines = glue_context.spark_session.read.text(f"{s3.uri}{kind}/").collect()
        text = " ".join(row.value for row in lines)
        assert BIG in text
        assert NEXT in text


def test_rows_become_items_that_replace_those_of_their_keys(client, glue_context):
    schema = "id string, n bigint, price decimal(10,2), at timestamp, by struct<name:string>"
    schema += ", none string"
    at = datetime.datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001 (Spark's, in the zone of the session)
    rows = [
        *[(f"many-{number}", number, None, None, None, None) for number in range(30)],
        ("3", 1, None, None, None, None),
        ("3", 2, Decimal("1.50"), at, ("Bob",), None),
    ]
    frame = glue_context.spark_session.createDataFrame(rows, schema).coalesce(1)
    dynamic = DynamicFrame.fromDF(frame, glue_context, "songs")

    glue_context.write_dynamic_frame_from_options(
        frame=dynamic,
        connection_type="dynamodb",
        connection_options={
            "dynamodb.output.tableName": "songs",
            "dynamodb.throughput.write.percent": "1.0",
        },
    )

    item = client.get_item(TableName="songs", Key={"id": {"S": "3"}})["Item"]
    assert Decimal(item.pop("price")["N"]) == Decimal("1.5")
    assert item == {
        "id": {"S": "3"},
        "n": {"N": "2"},
        "at": {"S": "2024-01-02T03:04:05"},
        "by": {"M": {"name": {"S": "Bob"}}},
    }
    assert client.get_item(TableName="songs", Key={"id": {"S": "many-29"}})["Item"]["n"] == {
        "N": "29"
    }


def test_a_float_is_an_item_with_the_digits_of_its_text(client, glue_context):
    schema = "id string, `a.b` float, s struct<l:array<float>>, d double"
    frame = glue_context.spark_session.createDataFrame([("4", 1.1, ([0.1],), -0.1)], schema)
    sink = {"dynamodb.output.tableName": "songs"}
    write = glue_context.write_dynamic_frame_from_options

    write(DynamicFrame.fromDF(frame, glue_context, "floats"), "dynamodb", sink)

    assert client.get_item(TableName="songs", Key={"id": {"S": "4"}})["Item"] == {
        "id": {"S": "4"},
        "a.b": {"N": "1.1"},
        "s": {"M": {"l": {"L": [{"N": "0.1"}]}}},
        "d": {"N": "-0.1"},
    }
    endless = glue_context.spark_session.sql("SELECT '5' AS id, array(double('NaN')) AS l")
    with pytest.raises(UsageError, match="the field l is nan, and DynamoDB has no such number"):
        write(DynamicFrame.fromDF(endless, glue_context, "endless"), "dynamodb", sink)


@pytest.mark.parametrize("option", ["job-bookmark-enable", "job-bookmark-disable"])
def test_a_job_with_bookmarks_is_told_that_dynamodb_has_none(
    client, glue_context, start_job, warned, option
):
    start_job(option=option)
    read = glue_context.create_dynamic_frame.from_options

    read("dynamodb", {"dynamodb.input.tableName": "songs"}, transformation_ctx="in")

    named = [("NO_BOOKMARK", "in (dynamodb)")]
    assert warned() == (named if option == "job-bookmark-enable" else [])


def test_what_is_wrong_about_a_table_is_said(client, glue_context):
    read = glue_context.create_dynamic_frame.from_options

    with pytest.raises(UsageError, match=r"has no dynamodb\.input.tableName"):
        read("dynamodb", {})
    with pytest.raises(UnsupportedError, match=r"\['dynamodb.filter'\] of a dynamodb source"):
        read("dynamodb", {"dynamodb.input.tableName": "songs", "dynamodb.filter": "x"})
    with pytest.raises(UnsupportedError, match="'s3'; only 'ddb' runs here"):
        read("dynamodb", {"dynamodb.export": "s3"})
    with pytest.raises(EntityNotFoundError, match="there is no table none in the DynamoDB at"):
        read("dynamodb", {"dynamodb.input.tableName": "none"})
    assert os.environ["AWS_REGION"] == "us-east-1"


def test_a_table_of_the_catalog_that_a_crawler_made_of_one_is_scanned(
    client, glue_context, spark_home
):
    put(client, *SONGS)
    table = {
        "Name": "songs",
        "Parameters": {"classification": "dynamodb"},
        "StorageDescriptor": {
            "Columns": [{"Name": "id", "Type": "string"}],
            "Location": "arn:aws:dynamodb:us-east-1:123456789012:table/songs",
        },
    }
    with Store(spark_home.database) as store:
        put_tables(store, [table_of_request({"DatabaseName": "music", "TableInput": table})])

    frame = glue_context.create_dynamic_frame.from_catalog(
        "music", "songs", additional_options={"dynamodb.throughput.read.percent": "0.5"}
    )

    assert {"id", "plays", "rating"} <= set(frame.toDF().columns)
    assert [row["id"] for row in frame.toDF().filter("rating > 2").collect()] == ["2"]
