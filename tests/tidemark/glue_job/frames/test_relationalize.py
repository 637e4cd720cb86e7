"""Relationalize: nested rows in, flat tables out, ids across runs."""

from __future__ import annotations

import json

import pytest
from pyspark.sql import functions

from tidemark.errors import UsageError
from tidemark.glue_job.frames.errors import ErrorThresholdError
from tidemark.glue_job.process.bookmark_session import current_session

pytestmark = pytest.mark.spark

PEOPLE = [
    {"name": "Nancy", "age": 47, "friends": ["Fred", "Lakshmi"]},
    {"name": "Stephanie", "age": 28, "friends": ["Yao", "Phil", "Alvin"]},
    {"name": "Nathan", "age": 54, "friends": ["Nicolai", "Karen"]},
]


@pytest.fixture
def frame_of(glue_context):
    """Return a maker of DynamicFrames from documents, in their order, in several partitions."""
    from awsglue.dynamicframe import DynamicFrame

    def frame_of(documents, schema=None, partitions=2):
        texts = glue_context.spark_session.sparkContext.parallelize(
            [json.dumps(document) for document in documents], partitions
        )
        reader = glue_context.spark_session.read
        frame = (reader.schema(schema) if schema else reader).json(texts)
        return DynamicFrame.fromDF(frame, glue_context, "nested")

    return frame_of


def rows(collection, name):
    frame = collection.select(name).toDF()
    return frame.columns, sorted(map(tuple, frame.collect()), key=repr)


@pytest.mark.rule(
    "Relationalize",
    source="SDF",
)
def test_an_array_becomes_a_table_whose_ids_start_at_1(frame_of):
    tables = frame_of(PEOPLE).relationalize("people", "s3://tests/staging/")

    assert list(tables.keys()) == ["people", "people_friends"]
    assert rows(tables, "people") == (
        ["age", "friends", "name"],
        [(28, 2, "Stephanie"), (47, 1, "Nancy"), (54, 3, "Nathan")],
    )
    assert rows(tables, "people_friends") == (
        ["id", "index", "friends.val"],
        [
            (1, 0, "Fred"),
            (1, 1, "Lakshmi"),
            (2, 0, "Yao"),
            (2, 1, "Phil"),
            (2, 2, "Alvin"),
            (3, 0, "Nicolai"),
            (3, 1, "Karen"),
        ],
    )
    assert tables["people_friends"].toDF().dtypes[:2] == [("id", "bigint"), ("index", "int")]


@pytest.mark.rule(
    "Relationalize",
    source="SDF",
)
def test_structs_become_columns_with_dots(frame_of):
    nested = frame_of([{"a": {"b": {"c": 1}, "d": "x"}, "e": 2}, {"e": 3}])

    tables = nested.relationalize("root", None)

    assert list(tables.keys()) == ["root"]
    assert rows(tables, "root") == (["a.b.c", "a.d", "e"], [(1, "x", 2), (None, None, 3)])


@pytest.mark.rule("Relationalize", source="NEST")
def test_arrays_within_arrays_become_tables_named_by_their_path(frame_of):
    season = {"works": [{"title": "A", "soloists": ["x", "y"]}, {"title": "B", "soloists": ["z"]}]}
    nested = frame_of([{"season": season}, {"season": {"works": [{"title": "C", "soloists": []}]}}])

    tables = nested.relationalize("root", None)

    works, soloists = "root_season.works", "root_season.works.val.soloists"
    assert list(tables.keys()) == ["root", works, soloists]
    assert rows(tables, "root") == (["season.works"], [(1,), (2,)])
    assert rows(tables, works) == (
        ["id", "index", "season.works.val.soloists", "season.works.val.title"],
        [(1, 0, 1, "A"), (1, 1, 2, "B"), (2, 0, 3, "C")],
    )
    assert rows(tables, soloists) == (
        ["id", "index", "season.works.val.soloists.val"],
        [(1, 0, "x"), (1, 1, "y"), (2, 0, "z")],
    )


@pytest.mark.nightly
def test_arrays_of_arrays_and_several_arrays_in_a_row(frame_of):
    tables = frame_of([{"a": [[1, 2], [3]], "b": ["x"]}]).relationalize("root", None)

    assert list(tables.keys()) == ["root", "root_a", "root_b", "root_a.val"]
    assert rows(tables, "root") == (["a", "b"], [(1, 1)])
    assert rows(tables, "root_a") == (["id", "index", "a.val"], [(1, 0, 1), (1, 1, 2)])
    assert rows(tables, "root_b") == (["id", "index", "b.val"], [(1, 0, "x")])
    assert rows(tables, "root_a.val") == (
        ["id", "index", "a.val.val"],
        [(1, 0, 1), (1, 1, 2), (2, 0, 3)],
    )


@pytest.mark.rule(
    "Relationalize",
    source="INFER",
    choice="an empty array has an id and no rows; a null has neither",
)
def test_empty_and_missing_arrays_can_be_told_apart(frame_of):
    nested = frame_of([{"n": 1, "a": []}, {"n": 2}, {"n": 3, "a": [None, "x"]}])

    tables = nested.relationalize("root", None)

    assert rows(tables, "root") == (["a", "n"], [(1, 1), (3, 3), (None, 2)])
    assert rows(tables, "root_a") == (["id", "index", "a.val"], [(3, 0, None), (3, 1, "x")])


@pytest.mark.rule("Relationalize", source="BM")
def test_ids_continue_after_those_of_the_last_committed_run(frame_of, start_job):
    first = start_job()
    frame_of(PEOPLE).relationalize("people", None, transformation_ctx="flat")
    first.commit()

    start_job()
    tables = frame_of(PEOPLE[:1]).relationalize("people", None, transformation_ctx="flat")

    assert rows(tables, "people")[1] == [(47, 4, "Nancy")]
    assert rows(tables, "people_friends")[1] == [(4, 0, "Fred"), (4, 1, "Lakshmi")]


@pytest.mark.nightly
@pytest.mark.rule(
    "Relationalize",
    source="INFER",
    choice="one counter for all tables: ids continue after the greatest one",
)
def test_ids_of_nested_tables_are_unique_across_runs_too(frame_of, start_job):
    nested = [{"a": [{"b": [1]}, {"b": [2]}, {"b": [3]}]}]
    first = start_job()
    frame_of(nested).relationalize("root", None, transformation_ctx="flat")
    first.commit()

    start_job()
    tables = frame_of(nested).relationalize("root", None, transformation_ctx="flat")

    assert rows(tables, "root")[1] == [(4,)]
    assert rows(tables, "root_a")[1] == [(4, 0, 4), (4, 1, 5), (4, 2, 6)]
    assert [row[0] for row in rows(tables, "root_a.val.b")[1]] == [4, 5, 6]


@pytest.mark.nightly
@pytest.mark.rule("Relationalize", source="BM")
def test_ids_of_an_uncommitted_run_are_reused(frame_of, start_job):
    start_job()
    frame_of(PEOPLE).relationalize("people", None, transformation_ctx="flat")

    start_job()
    tables = frame_of(PEOPLE[:1]).relationalize("people", None, transformation_ctx="flat")

    assert rows(tables, "people")[1] == [(47, 1, "Nancy")]


@pytest.mark.rule("Relationalize", source="BM")
@pytest.mark.parametrize(
    ("option", "ctx"),
    [("job-bookmark-enable", ""), ("job-bookmark-disable", "flat")],
    ids=["no context", "disabled"],
)
def test_without_a_bookmark_ids_restart_at_1(frame_of, start_job, option, ctx):
    for _ in range(2):
        job = start_job(option)
        tables = frame_of(PEOPLE[:1]).relationalize("people", None, transformation_ctx=ctx)
        job.commit()

        assert rows(tables, "people")[1] == [(47, 1, "Nancy")]


@pytest.mark.nightly
def test_paused_run_continues_the_ids_and_keeps_the_state(frame_of, start_job):
    first = start_job()
    frame_of(PEOPLE).relationalize("people", None, transformation_ctx="flat")
    first.commit()
    for _ in range(2):
        paused = start_job("job-bookmark-pause")
        tables = frame_of(PEOPLE[:1]).relationalize("people", None, transformation_ctx="flat")
        paused.commit()

        assert rows(tables, "people")[1] == [(47, 4, "Nancy")]


def test_nothing_new_keeps_the_ids_where_they_are(frame_of, start_job):
    first = start_job()
    frame_of(PEOPLE).relationalize("people", None, transformation_ctx="flat")
    first.commit()
    second = start_job()
    schema = "name STRING, friends ARRAY<STRING>"

    empty = frame_of([], schema).relationalize("people", None, transformation_ctx="flat")
    second.commit()

    assert rows(empty, "people") == (["name", "friends"], [])
    assert list(empty.keys()) == ["people"]
    assert current_session().states["flat"] == {"kind": "relationalize", "next_id": 4}


def test_frame_without_columns_is_one_empty_table(frame_of):
    tables = frame_of([]).relationalize("root", None)

    assert len(tables) == 1
    assert rows(tables, "root") == ([], [])


@pytest.mark.nightly
def test_tables_agree_on_the_ids_however_often_and_in_whatever_order_they_are_read(
    glue_context, frame_of
):
    from awsglue.dynamicframe import DynamicFrame

    unstable = frame_of([{"n": n, "a": [n]} for n in range(40)]).toDF().orderBy(functions.rand())
    frame = DynamicFrame.fromDF(unstable, glue_context, "unstable")

    tables = frame.relationalize("root", None)

    root, values = tables.select("root").toDF(), tables.select("root_a").toDF()
    for _ in range(2):
        joined = root.repartition(3).join(values, root.a == values.id).where("n = `a.val`")
        assert joined.count() == 40
    glue_context.spark_session.catalog.clearCache()
    assert sorted(row.a for row in root.collect()) == list(range(1, 41))


def test_transforms_are_called_as_scripts_call_them(frame_of):
    namespace = {}
    exec("from awsglue.transforms import *", namespace)  # noqa: S102 (the first line of most scripts)

    tables = namespace["Relationalize"].apply(
        frame=frame_of(PEOPLE), staging_path="s3://tests/staging/", name="people"
    )
    friends = namespace["SelectFromCollection"].apply(dfc=tables, key="people_friends")

    assert friends.count() == 7
    assert [frame.name for frame in tables.values()] == ["people", "people_friends"]


@pytest.mark.rule("Relationalize", source="INFER", choice="a map is an array of its entries")
def test_a_map_becomes_a_table_of_its_entries_at_every_depth(frame_of):
    nested = frame_of(
        [{"m": {"x": {"n": 1}, "y": {"n": 2}}, "a": [{"tags": {"k": "v"}}]}, {"m": {}}],
        "m MAP<STRING, STRUCT<n: INT>>, a ARRAY<STRUCT<tags: MAP<STRING, STRING>>>",
    )

    tables = nested.relationalize("root", None)

    assert rows(tables, "root") == (["m", "a"], [(1, 1), (2, None)])
    assert rows(tables, "root_m") == (
        ["id", "index", "m.val.key", "m.val.value.n"],
        [(1, 0, "x", 1), (1, 1, "y", 2)],
    )
    assert rows(tables, "root_a.val.tags") == (
        ["id", "index", "a.val.tags.val.key", "a.val.tags.val.value"],
        [(1, 0, "k", "v")],
    )


def test_two_columns_of_one_flat_name_are_refused(frame_of):
    nested = frame_of([{"a": {"b": 1}, "a.b": 2}])

    with pytest.raises(UsageError, match=r"two columns named a\.b"):
        nested.relationalize("root", None)
    lists = frame_of([{"a": [{"b": [1]}], "a.val.b": [2]}])
    with pytest.raises(UsageError, match=r"two tables named root_a\.val\.b"):
        lists.relationalize("root", None)


def test_context_of_a_source_is_refused(frame_of, start_job):
    start_job()
    current_session().states["flat"] = {"kind": "s3"}

    with pytest.raises(UsageError, match="a step of kind 's3', not from Relationalize"):
        frame_of(PEOPLE).relationalize("people", None, transformation_ctx="flat")


@pytest.mark.nightly
def test_a_threshold_counts_the_errors_of_the_steps_before(frame_of):
    failing = frame_of(PEOPLE).map(lambda record: record["nothing"])

    assert frame_of(PEOPLE).relationalize("people", None, stageThreshold=1)["people"].count() == 3
    with pytest.raises(ErrorThresholdError, match=r"3 records .* totalThreshold allows 1"):
        failing.relationalize("people", None, totalThreshold=1)


def test_frame_that_a_collection_lacks_is_refused_with_those_it_has(frame_of):
    tables = frame_of(PEOPLE).relationalize("people", None)

    with pytest.raises(KeyError, match=r"no frame 'friends' .* it has people, people_friends"):
        tables.select("friends")


def test_a_collection_of_a_list_is_keyed_by_name(glue_context, frame_of):
    from awsglue.dynamicframe import DynamicFrameCollection

    collection = DynamicFrameCollection([frame_of([{"a": 1}])], glue_context)

    assert list(collection.keys()) == ["nested"]
    assert len(DynamicFrameCollection({}, glue_context)) == 0
    with pytest.raises(TypeError, match=r"^dynamic_frames must be list or dict\.$"):
        DynamicFrameCollection(frame_of([{"a": 1}]), glue_context)
