"""The classes of transforms: called as scripts call them, by position and by keyword."""

from __future__ import annotations

import json

import pytest
from pyspark.sql.types import StructType

import awsglue.transforms as transforms

pytestmark = pytest.mark.spark


@pytest.fixture
def frame(rows_of):
    return rows_of("id int, name string, s struct<x: string>", (1, "a", ('{"k": 2}',)), name="f")


def columns(found):
    return found.toDF().columns


CALLS = {
    "ApplyMapping": lambda t, f: t.apply(frame=f, mappings=[("id", "int", "n", "long")]),
    "Coalesce": lambda t, f: t.apply(f, 1),
    "DropFields": lambda t, f: t.apply(f, ["name"]),
    "DropNullFields": lambda t, f: t.apply(frame=f, transformation_ctx="x"),
    "ErrorsAsDynamicFrame": lambda t, f: t.apply(f),
    "Filter": lambda t, f: t.apply(frame=f, f=lambda row: row["id"] == 1),
    "Join": lambda t, f: t.apply(f, f, "id", "id"),
    "Map": lambda t, f: t.apply(frame=f, f=lambda row: row),
    "RenameField": lambda t, f: t.apply(f, "id", "n"),
    "Repartition": lambda t, f: t.apply(frame=f, num_partitions=2),
    "ResolveChoice": lambda t, f: t.apply(frame=f, choice="make_struct", transformation_ctx="x"),
    "SelectFields": lambda t, f: t.apply(frame=f, paths=["id"], transformation_ctx="x"),
    "Unbox": lambda t, f: t.apply(f, "s.x", "json"),
    "Union": lambda t, f: t.apply(f, f),
    "UnnestFrame": lambda t, f: t.apply(f),
}
FOUND = {
    "ApplyMapping": ["n"],
    "DropFields": ["id", "s"],
    "ErrorsAsDynamicFrame": ["error"],
    "Join": [".id", ".name", ".s", "id", "name", "s"],
    "RenameField": ["n", "name", "s"],
    "SelectFields": ["id"],
    "UnnestFrame": ["id", "name", "s.x"],
}
COLLECTION_CALLS = {"FlatMap", "MapToCollection", "SelectFromCollection"}
TO_COLLECTIONS = {"Relationalize", "SplitFields", "SplitRows"}


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_transform_is_applied_to_a_frame(frame, name):
    found = CALLS[name](getattr(transforms, name), frame)

    assert columns(found) == FOUND.get(name, ["id", "name", "s"])


@pytest.mark.rule("Frames", source="INFER", choice="no columns, no error and no warning")
def test_transforms_of_a_source_with_nothing_new_return_nothing(glue_context, warned):
    from awsglue.dynamicframe import DynamicFrame

    empty = glue_context.spark_session.createDataFrame([], StructType([]))
    frame = DynamicFrame.fromDF(empty, glue_context, "f")

    found = {name: CALLS[name](getattr(transforms, name), frame) for name in CALLS}
    found |= dict(frame.split_rows({"id": {">": 1}}, "high", "low")._frames)
    found["merged"] = frame.mergeDynamicFrame(frame, ["id"])
    found["tables"] = frame.relationalize("root", None)["root"]

    columns = {name: one.toDF().columns for name, one in found.items()}
    assert {name: names for name, names in columns.items() if names} == {
        "ErrorsAsDynamicFrame": ["error"]
    }
    assert [one.count() + one.errorsCount() for one in found.values()] == [0] * len(found)
    assert warned() == []


def test_what_spark_can_express_runs_no_python_and_is_the_plan_of_the_data_frame(rows_of):
    frame = rows_of("id int, name string, s struct<x: string>", (1, "a", ("b",)))

    mapped = frame.apply_mapping([("s.x", "string", "x", "string"), ("id", "int", "n", "long")])
    plan = mapped.rename_field("n", "m").drop_fields("x").resolveChoice(choice="make_cols").toDF()

    text = plan._jdf.queryExecution().optimizedPlan().toString()
    assert text.count("Project") == 1
    assert "Python" not in text


def test_every_transform_is_tried():
    names = {one.__name__ for one in transforms.ALL_TRANSFORMS}

    assert names - CALLS.keys() - COLLECTION_CALLS - TO_COLLECTIONS == {"Spigot"}


def test_transforms_that_make_collections(frame):
    fields = transforms.SplitFields.apply(frame=frame, paths=["id"])
    rows = transforms.SplitRows.apply(frame, {"id": {">": 0}})
    tables = transforms.Relationalize.apply(frame, None, "root")

    assert list(fields.keys()) == ["f1", "f2"]
    assert list(rows.keys()) == ["frame1", "frame2"]
    assert columns(tables["root"]) == ["id", "name", "s.x"]


def test_transforms_of_collections(frame):
    fields = transforms.SplitFields.apply(frame, ["id"], "one", "two")

    picked = transforms.SelectFromCollection.apply(dfc=fields, key=next(iter(fields.keys())))
    contexts = []

    def renamed(one, context):
        contexts.append(context)
        return one.rename_field("id", "n")

    mapped = transforms.MapToCollection.apply(fields, renamed, "ctx")
    flat = transforms.FlatMap.apply(
        fields, transforms.SplitFields, "frame", transformation_ctx="c", paths=["id", "name"]
    )

    assert columns(picked) == ["id"]
    assert [columns(one) for one in mapped.values()] == [["n"], ["name", "s"]]
    assert contexts == ["ctx:one", "ctx:two"]
    assert list(flat.keys()) == ["one1", "one2", "two1", "two2"]
    with pytest.raises(TypeError, match="callable must return a DynamicFrame"):
        fields.map(lambda one, _: one.toDF())
    with pytest.raises(TypeError, match="DynamicFrame or DynamicFrameCollection"):
        fields.flatmap(lambda one, _: one.toDF())


def test_a_transform_of_the_script_is_one_like_others(frame):
    class Upper(transforms.GlueTransform):
        def __call__(self, frame, field):
            return frame.rename_field(field, field.upper())

    assert columns(Upper.apply(frame, field="id")) == ["ID", "name", "s"]
    assert Upper.name() == "Upper"
    assert repr(Upper()) == "<Transform: Upper>"
    assert Upper() == Upper()
    with pytest.raises(NotImplementedError, match="describeArgs method not implemented"):
        Upper.describe()


def test_transforms_describe_themselves():
    described = json.loads(transforms.describe_transform("join"))["transform"]

    assert described["name"] == "Join"
    assert [one["name"] for one in described["args"]] == [
        "frame1",
        "frame2",
        "keys1",
        "keys2",
        "transformation_ctx",
    ]
    assert [one["optional"] for one in described["args"]] == [False, False, False, False, True]
    assert described["returns"]["type"] == "DynamicFrame"
    assert transforms.get_transform("other") is None
    assert transforms.describe_transform("other") == "{}"
    assert all(one.describe() for one in transforms.ALL_TRANSFORMS)


def test_a_data_frame_is_mapped_by_tuples_of_two_three_or_four(glue_context):
    from awsglue.dataframe_transforms import ApplyMapping

    frame = glue_context.sql("SELECT 1 AS a, 'x' AS b, '3' AS c")

    mapped = ApplyMapping.apply(
        frame, [("a", "n"), ("b", "t", "string"), ("c", "string", "c", "int")]
    )

    assert mapped.dtypes == [("n", "int"), ("t", "string"), ("c", "int")]
    assert mapped.collect() == [(1, "x", 3)]
    assert ApplyMapping.apply(frame, ("a", "n")).collect() == [(1,)]
    with pytest.raises(Exception, match="must be specified as a tuple"):
        ApplyMapping.apply(frame, [["a", "n"]])


def test_functions_of_columns(glue_context):
    from awsglue.functions import explodeWithIndex, namedStruct, replaceArrayElement

    frame = glue_context.sql("SELECT array(1, 2) AS a, 9 AS b")

    assert frame.select(replaceArrayElement("a", "b", 1)).collect() == [([1, 9],)]
    assert frame.select(namedStruct(["a", "b"]).alias("s")).collect() == [(([1, 2], 9),)]
    assert frame.select(explodeWithIndex("a")).collect() == [(0, 1), (1, 2)]
