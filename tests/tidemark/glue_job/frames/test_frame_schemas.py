"""A frame gets the schema that it is given."""

from __future__ import annotations

import json

import pytest

from tidemark.errors import UsageError

pytestmark = pytest.mark.spark


def test_a_frame_gets_a_schema(rows_of, warned):
    from awsglue.gluetypes import Field, LongType, StringType, StructType

    schema = StructType([Field("b", StringType()), Field("a", LongType()), Field("c", LongType())])

    frame = rows_of("a int, b int, left int", (1, 2, 3)).with_frame_schema(schema)

    assert frame.toDF().dtypes == [("b", "string"), ("a", "bigint"), ("c", "bigint")]
    assert frame.toDF().collect() == [("2", 1, None)]
    assert warned() == [("SCHEMA_LACKS", "left")]


def test_a_frame_gets_a_schema_with_choices(rows_of, printed):
    from awsglue.gluetypes import ChoiceType, Field, LongType, StringType, StructType

    mixed = rows_of("id int, t string", (1, '"x"'), (2, "5")).unbox("t", "json")
    choice = ChoiceType([StringType(), LongType()])
    schema = StructType([Field("n", choice), Field("new", choice)])

    same = mixed.with_frame_schema(mixed.schema())
    made = rows_of("n long", (7,), (None,)).with_frame_schema(schema)

    assert printed(same) == printed(mixed)
    assert same.toDF().collect() == mixed.toDF().collect()
    assert made.toDF().collect() == [((7, None), None), (None, None)]
    with pytest.raises(UsageError, match=r"'n' of a schema has a choice .* boolean"):
        rows_of("n boolean", (True,)).with_frame_schema(schema)


def test_the_schema_of_a_frame_whose_fields_had_no_value_yet_fits_later_rows(glue_context, s3):
    def read(**options):
        return glue_context.create_dynamic_frame.from_options(
            "s3", {"paths": [s3.uri]}, "json", options
        )

    s3.put("a.json", '{"n": null, "s": {"m": null, "i": 1}}')
    schema = read().schema()
    s3.put("a.json", '{"n": 5, "s": {"m": "x", "i": 2}}')

    assert read().with_frame_schema(schema).toDF().collect() == [(5, ("x", 2))]
    assert read(withSchema=json.dumps(schema.jsonValue())).toDF().collect() == [("5", ("x", 2))]
