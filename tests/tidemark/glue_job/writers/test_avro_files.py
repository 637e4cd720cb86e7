"""Avro files that a sink writes: schemas, folders, and what is read back."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import fastavro
import pytest

from tidemark.errors import UsageError
from tidemark.glue_job.writers.avro_files import avro_schema


def schema_of(ddl, *, logical=False):
    return avro_schema(_parse(ddl), "record", has_logical_types=logical)


def _parse(ddl):
    from pyspark.sql.types import IntegerType, LongType, MapType, StringType, StructType

    kinds = {"int": IntegerType(), "long": LongType(), "map": MapType(StringType(), LongType())}
    kind = StructType()
    for field in ddl.split(","):
        name, _, word = field.partition(":")
        kind.add(name, kinds[word])
    return kind


def test_a_schema_has_nullable_fields():
    assert schema_of("a:int,m:map") == {
        "type": "record",
        "name": "record",
        "fields": [
            {"name": "a", "type": ["int", "null"]},
            {"name": "m", "type": [{"type": "map", "values": ["long", "null"]}, "null"]},
        ],
    }


def test_a_name_that_avro_has_not_is_refused():
    with pytest.raises(UsageError, match=r"\['a\.b'\]; a name has letters"):
        schema_of("a.b:int")


def test_structs_have_names_of_their_own_whatever_their_paths():
    from pyspark.sql.types import IntegerType, StructType

    x, y = StructType().add("x", IntegerType()), StructType().add("y", IntegerType())
    kind = StructType().add("a", StructType().add("b_c", x)).add("a_b", StructType().add("c", y))

    fastavro.parse_schema(avro_schema(kind, "record", has_logical_types=False))


@pytest.mark.spark
def test_rows_are_read_back_from_their_folders(spark, glue_context, s3):
    rows = (
        "SELECT * FROM VALUES "
        "(1, 'é', 2.5D, array('a', null), struct(1L AS x), 'b c'), "
        "(2, null, null, null, null, null) AS rows(id, text, d, list, s, day)"
    )
    sink = glue_context.getSink("s3", path=s3.uri, partitionKeys=["day"], enableUpdateCatalog=True)
    sink.setCatalogInfo("avro", s3.folder.name)
    sink.setFormat("avro", compression="snappy")

    from awsglue.dynamicframe import DynamicFrame

    sink.writeFrame(DynamicFrame.fromDF(spark.sql(rows).coalesce(1), glue_context, "rows"))
    read = glue_context.create_dynamic_frame.from_options("s3", {"paths": [s3.uri]}, "avro")
    table = glue_context.create_dynamic_frame.from_catalog("avro", s3.folder.name)

    assert sorted(one.name for one in s3.folder.iterdir()) == [
        "day=__HIVE_DEFAULT_PARTITION__",
        "day=b c",
    ]
    expected = [
        (1, "é", 2.5, ["a", None], (1,), "b c"),
        (2, None, None, None, None, None),
    ]
    assert read.toDF().orderBy("id").collect() == expected
    assert table.toDF().orderBy("id").collect() == expected


@pytest.mark.spark
def test_a_column_with_parts_names_no_folder(spark, glue_context, s3):
    from awsglue.dynamicframe import DynamicFrame

    rows = spark.sql("SELECT 1 AS id, named_struct('int', 1, 'string', null) AS k")
    frame = DynamicFrame.fromDF(rows, glue_context, "rows")
    target = {"path": s3.uri, "partitionKeys": ["k"]}

    with pytest.raises(UsageError, match=r"the columns \['k'\] have parts, and cannot name"):
        glue_context.write_dynamic_frame.from_options(frame, "s3", target, "avro")


@pytest.mark.spark
def test_dates_times_and_decimals_are_text_in_version_1_7(spark, glue_context, s3):
    from awsglue.dynamicframe import DynamicFrame

    rows = "SELECT DATE'2024-02-29' AS d, TIMESTAMP'2024-02-29 10:00:00.5' AS t, 1.50BD AS n"
    frame = DynamicFrame.fromDF(spark.sql(rows), glue_context, "rows")
    write = glue_context.write_dynamic_frame.from_options

    write(frame, "s3", {"path": f"{s3.uri}new/"}, "avro", {"version": "1.8"})
    write(frame, "s3", {"path": f"{s3.uri}old/"}, "avro")

    (file,) = (s3.folder / "new").iterdir()
    with file.open("rb") as stream:
        assert list(fastavro.reader(stream)) == [
            {
                "d": date(2024, 2, 29),
                "t": datetime(2024, 2, 29, 10, 0, 0, 500000, UTC),
                "n": Decimal("1.50"),
            }
        ]
    old = glue_context.create_dynamic_frame.from_options("s3", {"paths": [f"{s3.uri}old/"]}, "avro")
    assert old.toDF().collect() == [("2024-02-29", "2024-02-29 10:00:00.5", "1.50")]
