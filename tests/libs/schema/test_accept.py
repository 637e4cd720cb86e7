"""What a contract has refused may be accepted beside the watermark, and the next run takes it."""

from __future__ import annotations

import pytest
from botocore.exceptions import EndpointConnectionError
from pyspark.sql import DataFrame

from watermarks import (
    SchemaContractError,
    WatermarkAdmin,
    WatermarkConflictError,
    WatermarkCorruptError,
    WatermarkNotFoundError,
    Watermarks,
    read_committed,
    write_window,
)
from watermarks.admin.accept import Acceptance
from watermarks.errors import WatermarkValueError
from watermarks.schema import Contract
from watermarks.table.schema import Owner

pytestmark = pytest.mark.spark
WHY = {"reason": "the source has tips now", "actor": "ana"}
FROZEN = Contract("id INT, amt INT", columns="freeze", types="freeze", missing="freeze")


@pytest.fixture
def load(watermarks, job, spark, tmp_path):
    """Return a function that loads an increment under a contract, and its window."""

    def load(run, columns, contract=FROZEN, *, high=None, target="out", watermarks=watermarks):
        window = watermarks.open_window(job, run_id=f"jr_{run}", cursor="id", high=high or run)
        frame: DataFrame = spark.sql(f"SELECT {columns}")
        write_window(frame, str(tmp_path / target), window, schema=contract)
        watermarks.commit_window(window)
        return window

    return load


def refused(load, *arguments, told="accept it by `tidemark schema accept", **options):
    with pytest.raises(SchemaContractError) as error:
        load(*arguments, **options)
    assert told in str(error.value)


def test_a_refused_column_is_accepted_and_the_same_window_is_written(
    load, watermarks, job, spark, tmp_path
):
    first = load(1, "1 id, 10 amt")
    refused(load, 2, "2 id, 20 amt, 0.5D tip")
    left = watermarks.refused(job)
    assert left.target == f"{tmp_path}/out/"
    assert (left.changes, left.blocked) == ("the column tip (double) is new", "")
    assert (left.run_id, left.columns) == ("jr_2", {"id": "int", "amt": "int", "tip": "double"})
    refused(load, 3, "2 id, 20 amt, 0.5D tip", high=2)
    assert watermarks.refused(job).run_id == "jr_3"

    tried = watermarks.accept_schema(job, dry_run=True, **WHY)
    assert watermarks.latest(job).version == 1
    latest = watermarks.accept_schema(job, **WHY)

    assert latest == tried
    assert (latest.version, latest.watermarks) == (2, {"id": 1})
    assert latest.schemas[left.target].is_accepted
    assert watermarks.latest(job) == latest
    second = load(4, "2 id, 20 amt, 0.5D tip", high=9)
    assert (second.is_recovered, second.high) == (True, 2)
    committed = watermarks.committed_windows(job)
    assert committed == [(first.window_id, 1), (second.window_id, second.attempt)]
    rows = read_committed(spark, str(tmp_path / "out"), committed).select("id", "amt", "tip")
    assert sorted(rows.collect()) == [(1, 10, None), (2, 20, 0.5)]
    held = watermarks.latest(job).schemas[left.target]
    assert (held.columns, held.is_accepted) == (left.columns, False)
    assert watermarks.refused(job) is None
    refused(load, 5, "5 id, 5 amt", told="the column tip (double) is missing")
    refused(load, 6, "5 id, 5 amt, 1D tip, 1 more", high=5, told="the column more (int) is new")


def test_the_history_says_who_accepted_what_and_the_v1_class_reads_on(load, watermarks, job, rows):
    load(1, "1 id, 10 amt")
    refused(load, 2, "2 id, 20 amt, 0.5D tip")
    watermarks.accept_schema(job, **WHY)
    load(3, "2 id, 20 amt, 0.5D tip")

    commit, accept, oldest = watermarks.history(job)

    assert (commit.kind, accept.kind, oldest.kind) == ("commit", "accept", "commit")
    assert (accept.version, accept.run_id, accept.watermarks) == (2, "jr_1", {"id": 1})
    assert (accept.actor, accept.reason, accept.windows) == ("ana", WHY["reason"], ())
    assert accept.accepted.changes == "the column tip (double) is new"
    assert [len(entry.schemas) for entry in (commit, accept, oldest)] == [1, 1, 0]
    assert max(rows()) == "~HEAD"
    assert rows()["~HEAD"]["watermarks"] == {"M": {"id": {"N": "2"}}}
    assert watermarks.get_watermark_values(job) == {"id": 2}
    assert [record.run_id for record in watermarks.run_records(job)] == ["jr_3", "jr_1"]
    assert watermarks.run_records(job)[0].before == {"id": 1}


def test_a_rewind_to_before_forgets_what_was_accepted(load, watermarks, job):
    load(1, "1 id, 10 amt")
    refused(load, 2, "2 id, 20 amt, 0.5D tip")
    watermarks.accept_schema(job, **WHY)
    load(3, "2 id, 20 amt, 0.5D tip", high=3)

    watermarks.rewind(job, to_run="jr_1", **WHY)

    refused(load, 4, "2 id, 20 amt, 0.5D tip")
    watermarks.rewind(job, to_run="jr_3", **WHY)
    assert watermarks.refused(job) is None
    load(5, "5 id, 20 amt, 0.5D tip")


def test_a_first_run_may_be_refused_and_accepted(load, watermarks, job):
    refused(load, 1, "1 id, 10 amt, 0.5D tip")
    assert watermarks.latest(job) is None

    watermarks.accept_schema(job, **WHY)

    (entry,) = watermarks.history(job)
    assert (entry.kind, entry.run_id, entry.watermarks) == ("accept", "", {})
    load(2, "1 id, 10 amt, 0.5D tip", high=1)
    assert watermarks.latest(job).watermarks == {"id": 1}
    assert [entry.kind for entry in watermarks.history(job)] == ["commit", "accept"]


def test_a_wider_type_is_accepted_and_only_that(load, watermarks, job):
    load(1, "1 id, 10 amt")
    refused(load, 2, "2L id, 20000000000 amt", told="`tidemark schema accept")

    (schema,) = watermarks.accept_schema(job, **WHY).schemas.values()

    assert schema.columns == {"id": "int", "amt": "bigint"}  # each id fits an int
    load(3, "2L id, 20000000000 amt", high=2)


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ("2 id, 'x' amt", "no type of the target holds the values of both"),
        ("2 id", 'only missing="null" lets a column be missing'),
        ("2 id, 2 amt, NULL tip", "it has no type yet"),
    ],
)
def test_what_cannot_be_accepted_says_why(load, watermarks, job, columns, why):
    load(1, "1 id, 10 amt")
    with pytest.raises(SchemaContractError) as error:
        load(2, columns)
    assert "schema accept" not in str(error.value)

    with pytest.raises(WatermarkValueError, match=why):
        watermarks.accept_schema(job, **WHY)
    assert watermarks.latest(job).version == 1


def test_nothing_is_accepted_that_nobody_has_refused(load, watermarks, job, tmp_path):
    load(1, "1 id, 10 amt")
    with pytest.raises(WatermarkNotFoundError, match="no contract has refused anything since"):
        watermarks.accept_schema(job, **WHY)
    refused(load, 2, "2 id, 20 amt, 0.5D tip")
    with pytest.raises(WatermarkNotFoundError, match="name that target, or none"):
        watermarks.accept_schema(job, target="s3://lake/other/", **WHY)
    with pytest.raises(ValueError, match="reason"):
        watermarks.accept_schema(job, reason="", actor="ana")

    assert watermarks.accept_schema(job, target=f"{tmp_path}/out", **WHY).version == 2
    with pytest.raises(WatermarkNotFoundError, match="no contract has refused"):
        watermarks.accept_schema(job, **WHY)


def test_a_contract_that_was_changed_instead_takes_the_refusal_away(load, watermarks, job):
    load(1, "1 id, 10 amt")
    refused(load, 2, "2 id, 20 amt, 0.5D tip")
    load(3, "2 id, 20 amt, 0.5D tip", Contract("id INT, amt INT, tip DOUBLE"), high=2)

    assert watermarks.refused(job) is None


def test_an_acceptance_whose_answer_is_lost_is_made_once(load, watermarks, job, lossy_client):
    load(1, "1 id, 10 amt")
    refused(load, 2, "2 id, 20 amt, 0.5D tip")
    lossy = WatermarkAdmin(watermarks.table_name, lossy_client(1), sleep=lambda _: None)

    assert lossy.accept_schema(job, **WHY).version == 2
    assert [entry.kind for entry in watermarks.history(job)] == ["accept", "commit"]


def test_an_acceptance_of_what_a_run_has_moved_on_from_is_refused(load, watermarks, job):
    load(1, "1 id, 10 amt")
    refused(load, 2, "2 id, 20 amt, 0.5D tip")
    owner = Owner(job)
    head = watermarks._client.head(owner)
    change = Acceptance.of(owner, head, "", "ana", "late", watermarks._now())
    load(3, "2 id, 20 amt", high=2)

    with pytest.raises(WatermarkConflictError, match="look at what was refused last"):
        watermarks._client.commit(change)
    assert watermarks.latest(job).version == 2


def test_fields_of_structs_and_arrays_are_accepted(load, watermarks, job):
    contract = Contract(columns="freeze")
    load(1, "1 id, named_struct('x', 1) a, array(named_struct('y', 1)) l", contract)
    more = "named_struct('x', 1, 'z', 'z') a, array(named_struct('y', 1L, 'w', true)) l"
    refused(load, 2, f"2 id, {more}", contract, told="the column l.element.w (boolean) is new")

    (schema,) = watermarks.accept_schema(job, **WHY).schemas.values()

    assert schema.columns["a"] == "STRUCT<`x`: int, `z`: string>"
    assert schema.columns["l"] == "ARRAY<STRUCT<`y`: bigint, `w`: boolean>>"
    load(3, f"2 id, {more}", contract, high=2)


def test_a_refusal_is_told_although_it_cannot_be_noted(load, watermarks, job, new_client):
    client = new_client()

    def lose(params, **_):
        if b"wmRefused" in params["body"]:
            raise EndpointConnectionError(endpoint_url="http://lost")

    client.meta.events.register("before-call.dynamodb.UpdateItem", lose)
    own = Watermarks(watermarks.table_name, client, sleep=lambda _: None)
    refused(load, 1, "1 id, 10 amt, 1 tip", watermarks=own, told="the column tip (int) is new")
    assert watermarks.refused(job) is None


def test_a_superseded_run_notes_no_refusal(watermarks, job, spark, tmp_path):
    late = watermarks.open_window(job, run_id="jr_1", cursor="id", high=1)
    watermarks.open_window(job, run_id="jr_2", cursor="id", high=1)
    with pytest.raises(SchemaContractError):
        write_window(spark.sql("SELECT 1 tip"), str(tmp_path / "out"), late, schema=FROZEN)

    assert watermarks.refused(job) is None


def test_a_run_in_flight_commits_after_an_acceptance_of_another_target(
    watermarks, job, spark, tmp_path
):
    def opened(cursor):
        return watermarks.open_window(job, run_id="jr_1", cursor=cursor, high=1)

    one, two = opened("a"), opened("b")
    frame = spark.sql("SELECT 1 id, 1 amt")
    write_window(frame, str(tmp_path / "one"), one, schema=Contract())
    with pytest.raises(SchemaContractError):
        write_window(spark.sql("SELECT 1 tip"), str(tmp_path / "two"), two, schema=FROZEN)
    with pytest.raises(WatermarkValueError, match="missing"):
        watermarks.accept_schema(job, **WHY)
    wide = frame.selectExpr("*", "1 tip")
    with pytest.raises(SchemaContractError):
        write_window(wide, str(tmp_path / "two"), two, schema=FROZEN)
    watermarks.accept_schema(job, **WHY)
    watermarks.commit_window(one)
    assert len(watermarks.latest(job).schemas) == 2

    with pytest.raises(SchemaContractError):
        write_window(wide, str(tmp_path / "two"), two, schema=FROZEN)  # it started before


def test_a_renamed_job_keeps_columns_and_what_was_refused(load, watermarks, job, tmp_path):
    load(1, "1 id, 10 amt, 1 n", Contract("id INT, amt INT"))
    refused(load, 2, "2 id, 20 amt, 1 n, 0.5D tip")
    name = f"{job}-new"

    watermarks.rename_job(job, name)

    assert [s.columns for s in watermarks.latest(name).schemas.values()] == [
        {"id": "int", "amt": "int", "n": "int"}
    ]
    latest = watermarks.accept_schema(name, **WHY)
    assert latest.schemas[f"{tmp_path}/out/"].columns == {
        "id": "int",
        "amt": "int",
        "n": "int",
        "tip": "double",
    }
    with pytest.raises(WatermarkConflictError, match="carried over"):
        watermarks.accept_schema(job, **WHY)


def test_a_lost_head_is_adopted_with_its_columns(load, watermarks, job, client, table_name):
    load(1, "1 id, 10 amt, 1 n", Contract("id INT, amt INT"))
    refused(load, 2, "2 id, 20 amt, 1 n, 0.5D tip")
    watermarks.accept_schema(job, **WHY)
    schemas = watermarks.history(job)
    newest = next(schemas).schemas
    client.delete_item(TableName=table_name, Key={"jobName": {"S": job}, "runId": {"S": "~HEAD"}})

    latest = watermarks.adopt(job, "jr_1", **WHY)

    assert latest.version == 3
    assert [schema.columns for schema in latest.schemas.values()] == [
        {"id": "int", "amt": "int", "n": "int"}
    ]
    assert newest != latest.schemas


def test_columns_of_a_head_that_cannot_be_read_are_corrupt_until_a_rewind(
    load, watermarks, job, client, table_name
):
    load(1, "1 id, 10 amt, 1 n", Contract("id INT, amt INT"))
    for name, value in (("wmSchemas", {"M": {"x": {"S": "{"}}}), ("wmRefused", {"S": "[]"})):
        client.update_item(
            TableName=table_name,
            Key={"jobName": {"S": job}, "runId": {"S": "~HEAD"}},
            UpdateExpression=f"SET {name} = :v",
            ExpressionAttributeValues={":v": value},
        )
        with pytest.raises(WatermarkCorruptError, match="corrupt"):
            watermarks.latest(job)
        watermarks.rewind(job, to_run="jr_1", reason=name, actor="ana")
        assert len(watermarks.latest(job).schemas) == 1


def test_a_table_of_iceberg_gets_the_accepted_columns(on_iceberg):
    facts = on_iceberg("iceberg_accepts.py")

    versions = ("first", "accepted", "types accepted", "loaded", "by hand")
    assert [facts[name] for name in versions] == [1, 2, 3, 4, 5]
    assert "the column tip (double) is new" in facts["refused"]
    assert "the column amt is bigint, and was int" in facts["types refused"]
    assert "schema accept" not in facts["not of a table"]
    assert "no type of the target holds the values of both" in facts["not accepted"]
    assert facts["own"] == [
        "struct<id:int,amt:bigint,tip:double>",
        [[1, 10, None], [2, 20000000000, 0.5]],
        {"id": "int", "amt": "bigint", "tip": "double"},
    ]
    assert facts["deep"] == [1, 2, 3]
    assert "accept deep" not in facts["deep refused"]
    assert "--source deep" in facts["deep refused"]
    assert facts["deep type"] == (
        "struct<id:int,a:struct<x:int,z:string>,l:array<struct<y:bigint,w:boolean>>>"
    )
    assert facts["own after"] == [
        "struct<id:int,amt:bigint,by_hand:string>",
        [[1, 10, None], [2, 20000000000, None], [5, 50, "x"]],
        {"id": "int", "amt": "bigint", "by_hand": "string"},
    ]


def test_a_merge_under_a_declaration_forgets_an_acceptance_with_a_rewind(on_iceberg):
    facts = on_iceberg("iceberg_rewinds.py")

    once = [
        "struct<id:int,amt:int,w:string>",
        [[1, 1, None], [2, 2, "a"]],
        {"id": "int", "amt": "int", "w": "string"},
    ]
    assert (facts["once"], facts["again"]) == (once, once)
    refused = "SchemaContractError"
    assert facts["merged"] == [1, refused, 2, 3, 4, refused, 5, 6, 7]
    rows = [[1, 1], [2, 20000000000]]
    wide = ["struct<id:int,amt:bigint>", rows, {"id": "int", "amt": "bigint"}]
    assert (facts["wide 1"], facts["wide 2"]) == (wide, [wide[0], sorted(rows * 2), wide[2]])
    assert facts["appended"] == [1, 2, 4, 5]
    assert (facts["types 3"], facts["types 4"]) == (facts["wide 1"], facts["wide 2"])
    assert facts["typed"] == [1, refused, 2, 3, 5, refused, 6, 7]
