"""Arguments that AWS's library refuses: by errors of the same class, which scripts catch."""

from __future__ import annotations

import pytest

from tidemark.errors import ArgumentError, ArgumentTypeError, UnsupportedError, UsageError
from tidemark.glue_job.frames.plan import StepLimits


@pytest.mark.parametrize(
    ("given", "number"), [(0, 0), (5, 5), ("5", 5), (2.0, 2), (True, 1)], ids=repr
)
def test_a_threshold_is_made_a_number(given, number):
    assert StepLimits("map", "", given, given) == StepLimits("map", "", number, number)


@pytest.mark.parametrize(
    ("given", "error"), [("x", ValueError), (None, TypeError), ([], TypeError)]
)
def test_a_threshold_that_is_no_number_is_refused(given, error):
    with pytest.raises(error, match=r"stageThreshold is .* whole number"):
        StepLimits("map", "", given)
    with pytest.raises(error, match=r"totalThreshold is .* whole number"):
        StepLimits("map", "", 0, given)


# What a script calls with a frame f, of its glue context g, and a Spark DataFrame df; the class of
# the error in AWS's library, and what the text says.
CALLS = {
    "both of specs and choice": (
        lambda f, **_: f.resolveChoice([("id", "cast:long")], "make_cols"),
        Exception,
        "choose one",
    ),
    "neither": (lambda f, **_: f.resolveChoice(), Exception, "add one"),
    "a spec of one": (lambda f, **_: f.resolveChoice([("id",)]), ValueError, "tuple of a path"),
    "a spec of three": (lambda f, **_: f.resolveChoice([("id", "a", "b")]), ValueError, "tuple of"),
    "a spec of text": (lambda f, **_: f.resolveChoice(["abc"]), ValueError, "tuple of a path"),
    "a spec of a number": (lambda f, **_: f.resolveChoice([5]), TypeError, "the spec 5"),
    "specs of text": (lambda f, **_: f.resolveChoice("abc"), ValueError, "specs is 'abc'"),
    "specs of a number": (lambda f, **_: f.resolveChoice(5), TypeError, "specs is 5"),
    "mapping of text": (lambda f, **_: f.apply_mapping("id"), TypeError, "list of tuples"),
    "mapping of one": (lambda f, **_: f.apply_mapping([("id",)]), ValueError, "length"),
    "no mappings": (lambda f, **_: f.apply_mapping(None), TypeError, "list of tuples"),
    "split by a list": (lambda f, **_: f.split_rows([1], "a", "b"), AttributeError, "items"),
    "split by a value": (lambda f, **_: f.split_rows({"id": 5}, "a", "b"), TypeError, "dict of"),
    "join with a DataFrame": (
        lambda f, df, **_: f.join("id", "id", df),
        AttributeError,
        r"join needs a DynamicFrame, and got DataFrame: .*\.fromDF",
    ),
    "join with None": (lambda f, **_: f.join("id", "id", None), AttributeError, "got NoneType"),
    "union": (lambda f, df, **_: f.union(df), AttributeError, "union needs a DynamicFrame"),
    "merge": (lambda f, df, **_: f.mergeDynamicFrame(df, ["id"]), AttributeError, "merge"),
    "fromDF of None": (lambda f, g, **_: f.fromDF(None, g, "x"), AttributeError, "got NoneType"),
    "fromDF of a dict": (lambda f, g, **_: f.fromDF({}, g, "x"), AttributeError, "got dict"),
    "write of a DataFrame": (
        lambda df, g, **_: g.write_dynamic_frame.from_options(df, "s3", {"path": "s3://b/"}, "csv"),
        TypeError,
        "must be an instance of DynamicFrame",
    ),
    "write by a connection": (
        lambda df, g, **_: g.write_dynamic_frame.from_jdbc_conf(df, "none", {}),
        TypeError,
        "frame_or_dfc must be DynamicFrame",
    ),
    "writeFrame of a DataFrame": (
        lambda df, g, **_: g.getSink("s3", path="s3://b/").writeFrame(df),
        AttributeError,
        "writeFrame needs a DynamicFrame",
    ),
    "a collection of a tuple": (
        lambda f, c, **_: c((f,), None),
        TypeError,
        "dynamic_frames must be list or dict",
    ),
    "map of a collection": (
        lambda f, c, **_: c([f], None).map(lambda frame, ctx: 5),
        TypeError,
        "callable must return a DynamicFrame",
    ),
    "flatmap of a collection": (
        lambda f, c, **_: c([f], None).flatmap(lambda frame, ctx: 5),
        TypeError,
        "must return DynamicFrame",
    ),
    "a frame that is not there": (lambda f, c, **_: c({"a": f}, None)["b"], KeyError, "'b'"),
    "a target that is not there": (
        lambda f, o, **_: f.toDF([o("id", "Project")]),
        Exception,
        "Missing target type for resolve action Project",
    ),
    "options that are no list": (
        lambda f, o, **_: f.toDF(o("id", "KeepAsStruct")),
        TypeError,
        "not iterable",
    ),
    "connection options of text": (
        lambda g, **_: g.create_dynamic_frame.from_options("s3", "s3://b/", "json"),
        TypeError,
        "connection_options is 's3://b/'; it must be a dict",
    ),
    "format options of text": (
        lambda g, **_: g.create_dynamic_frame.from_options("s3", {"paths": []}, "csv", "header"),
        TypeError,
        "format_options is 'header'; it must be a dict",
    ),
    "options of a sink of text": (
        lambda f, g, **_: g.write_dynamic_frame.from_options(f, "s3", "s3://b/", "json"),
        TypeError,
        "the options of a sink are 's3://b/'",
    ),
    "no database": (
        lambda g, **_: g.create_dynamic_frame.from_catalog(),
        Exception,
        "name_space or database is missing",
    ),
    "no table": (
        lambda g, **_: g.create_dynamic_frame.from_catalog(database="lake"),
        Exception,
        "table_name is missing",
    ),
    "spigot": (lambda f, **_: f.spigot("s3://b/", 5), TypeError, "must be a dict"),
    # Errors of the JVM on AWS, of classes that no script names.
    "spigot to nowhere": (lambda f, **_: f.spigot(None), UsageError, "URI of a folder"),
    "a name of a number": (lambda f, **_: f.rename_field(1, "b"), UsageError, "1 is not a string"),
    "a root without name": (
        lambda f, **_: f.relationalize(None, "s3://b/"),
        UsageError,
        "root_table_name is None",
    ),
    "statements for another database": (
        lambda g, **_: g.getSink("postgresql", url="jdbc:x", dbtable="t", preactions="delete"),
        UnsupportedError,
        "preactions, which AWS documents for redshift only",
    ),
    "statements of a connection": (
        lambda g, **_: g.getSink("mysql", connectionName="none", postactions="delete"),
        UnsupportedError,
        "postactions, which AWS documents for redshift only",
    ),
}


@pytest.mark.spark
@pytest.mark.rule("Frames", source="LIB", choice="with a message that names the remedy")
def test_wrong_arguments_raise_errors_of_the_same_class_as_on_aws(rows_of, glue_context, subtests):
    from awsglue.dynamicframe import DynamicFrameCollection, ResolveOption

    frame = rows_of("id int, s string", (1, "a"))
    given = {
        "f": frame,
        "g": glue_context,
        "df": frame.toDF(),
        "c": DynamicFrameCollection,
        "o": ResolveOption,
    }
    for name, (call, error, text) in CALLS.items():
        with subtests.test(name), pytest.raises(error, match=text):
            call(**given)


def test_errors_of_arguments_are_also_wrong_requests():
    assert issubclass(ArgumentTypeError, UsageError)
    assert issubclass(ArgumentError, UsageError)
