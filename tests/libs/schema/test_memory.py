"""Contracts of windows start from the columns that the watermark holds, which go back with it."""

from __future__ import annotations

import copy
import pickle

import pytest
from pyspark.ml.linalg import Vectors
from pyspark.sql import DataFrame

from watermarks import SchemaContractError, TargetSchema, read_committed, write_window
from watermarks.errors import WatermarkConflictError, WatermarkValueError
from watermarks.schema import Contract

pytestmark = pytest.mark.spark
WHY = {"reason": "the source has tips now", "actor": "ana"}
PLAIN = {
    *("jobName", "runId", "watermarks", "wmTypes", "wmVersion", "wmPrev", "wmPrevVersion"),
    *("wmDigest", "wmAt", "wmBounds", "wmRunId", "wmLog", "wmCommitted", "wmKind", "wmRegion"),
    *("wmEpoch", "wmWindows", "wmCheckpoint", "expiresAt"),
}


@pytest.fixture
def load(watermarks, job, spark, tmp_path):
    """Return a function that loads one increment under a contract, in a run of its own."""

    def load(run, columns, contract, *, target="out", option="job-bookmark-enable", source=""):
        window = watermarks.open_window(
            job,
            run_id=f"jr_{run}",
            cursor="id",
            high=run,
            source=source,
            job_bookmark_option=option,
        )
        frame: DataFrame = spark.sql(f"SELECT {columns}")
        write_window(frame, str(tmp_path / target), window, schema=contract)
        watermarks.commit_window(window)
        return window

    return load


@pytest.fixture
def held(watermarks, job, tmp_path):
    """Return a function that gives the columns that a target has beside the watermark."""

    def held(target="out", source=""):
        latest = watermarks.latest(job, source=source)
        schema = latest.schemas.get(f"{tmp_path / target}/") if latest else None
        return schema and ", ".join(" ".join(column) for column in schema.columns.items())

    return held


def test_a_job_without_contracts_writes_no_other_attribute(load, rows):
    load(1, "1 id, 10 amt", None)
    load(2, "2 id, 10 amt", None)

    assert {name for row in rows().values() for name in row} <= PLAIN


@pytest.mark.parametrize("columns", ["rescue", "discard", "evolve", "freeze"])
def test_a_declaration_that_nothing_has_changed_is_not_kept(load, rows, columns):
    contract = Contract("id INT, amt INT", columns=columns, types="rescue")
    load(1, "1 id, 10 amt", contract)

    assert {name for row in rows().values() for name in row} <= PLAIN


def test_a_contract_without_a_schema_has_the_columns_of_the_first_run(load, held, spark, tmp_path):
    contract = Contract(columns="rescue", types="rescue")
    load(1, "1 id, 10 amt", contract)
    window = load(2, "2 id, '20 EUR' amt, 0.5D tip", contract)

    assert held() == "id int, amt int"
    (row,) = read_committed(
        spark, str(tmp_path / "out"), [(window.window_id, window.attempt)]
    ).collect()
    assert (row.id, row.amt) == (2, None)
    assert row["_rescued_data"] == '{"amt":"20 EUR","tip":0.5}'


def test_what_evolves_is_kept_with_the_watermark_and_goes_back_with_it(load, held, watermarks, job):
    contract = Contract("id INT, amt INT")
    load(1, "1 id, 10 amt", contract)
    assert held() is None
    load(2, "2 id, 10 amt, 0.5D tip", contract)
    assert held() == "id int, amt int, tip double"
    load(3, "3 id, 20000000000 amt", contract)
    assert held() == "id int, amt bigint, tip double"

    watermarks.rewind(job, to_run="jr_2", **WHY)
    assert held() == "id int, amt int, tip double"
    watermarks.rewind(job, to_run="jr_1", **WHY)
    assert held() is None
    watermarks.rewind(job, to_run="jr_3", **WHY)
    assert held() == "id int, amt bigint, tip double"
    watermarks.rewind(job, to_run=None, **WHY)
    assert watermarks.latest(job) is None
    load(4, "4 id, 10 amt", contract)
    assert held() is None
    shown = [list(entry.schemas.values()) for entry in watermarks.history(job)]
    assert [len(schemas) for schemas in shown] == [0, 0, 1, 0, 1, 1, 1, 0]


def test_a_frame_that_lacks_what_has_evolved_is_filled(load, spark, tmp_path):
    load(1, "1 id, 0.5D tip", Contract("id INT"))
    window = load(2, "2 id", Contract("id INT", columns="freeze"))

    rows = read_committed(spark, str(tmp_path / "out"), [(window.window_id, window.attempt)])
    assert rows.select("id", "tip").collect() == [(2, None)]


def test_another_declaration_starts_anew(load, held):
    load(1, "1 id, 0.5D tip", Contract("id INT"))
    load(2, "2 id", Contract("id  int"))  # says the same
    assert held() == "id int, tip double"

    load(3, "3 id", Contract("id BIGINT"))
    assert held() is None
    load(4, "4 id", Contract("id INT"))
    assert held() is None


def test_a_contract_whose_declaration_was_removed_takes_the_columns_that_are_held(load, held):
    load(1, "1 id, 0.5D tip", Contract("id INT"))
    load(2, "2 id", Contract())

    assert held() == "id int, tip double"


def test_two_targets_of_one_window_have_columns_each(watermarks, job, spark, tmp_path, held):
    for window in watermarks.windows(job, run_id="jr_1", cursor="id", high=1):
        for target in ("a", "b"):
            frame = spark.sql(f"SELECT 1 id, 2 {target}")
            write_window(frame, str(tmp_path / target), window, schema=Contract())

    assert (held("a"), held("b")) == ("id int, a int", "id int, b int")


def test_windows_of_one_run_follow_each_other(watermarks, job, spark, tmp_path, held):
    tables = {1: "1 id", 2: "2 id, 0.5D tip", 3: "3 id, 1 n", 4: "4 id", 5: "5 id"}
    windows = watermarks.windows(
        job, run_id="jr_1", cursor="id", high=5, initial=0, max_span=1, bounds="(]"
    )
    seen = []
    for window in windows:
        frame = spark.sql(f"SELECT {tables[window.high]}")
        write_window(frame, str(tmp_path / "out"), window, schema=Contract())
        seen.append(held())

    assert seen[0] is None
    assert seen[1:] == [
        "id int",
        "id int, tip double",
        "id int, tip double, n int",
        "id int, tip double, n int",
    ]


def test_each_source_has_columns_of_its_own(load, held):
    load(1, "1 id, 2 a", Contract(), source="left")
    load(2, "1 id, 2 b", Contract(), source="right")

    assert held(source="left") == "id int, a int"
    assert held(source="right") == "id int, b int"
    assert held() is None


def test_a_run_that_dies_before_its_commit_leaves_the_columns(
    watermarks, job, spark, tmp_path, held
):
    first = watermarks.open_window(job, run_id="jr_1", cursor="id", high=1)
    write_window(spark.sql("SELECT 1 id, 1 lost"), str(tmp_path / "out"), first, schema=Contract())
    assert held() is None

    again = watermarks.open_window(job, run_id="jr_2", cursor="id", high=1)
    assert again.is_recovered
    write_window(spark.sql("SELECT 1 id"), str(tmp_path / "out"), again, schema=Contract())
    watermarks.commit_window(again)
    assert held() == "id int"


def test_a_window_that_a_rewind_discards_leaves_the_columns(
    watermarks, job, spark, tmp_path, load, held
):
    load(1, "1 id", Contract())
    late = watermarks.open_window(job, run_id="jr_2", cursor="id", high=2)
    write_window(spark.sql("SELECT 2 id, 1 x"), str(tmp_path / "out"), late, schema=Contract())
    watermarks.rewind(job, to_run="jr_1", **WHY)
    with pytest.raises(WatermarkConflictError):
        watermarks.commit_window(late)

    assert held() == "id int"


def test_a_paused_run_and_a_backfill_move_no_columns(watermarks, job, spark, tmp_path, load, held):
    load(1, "1 id", Contract())
    load(2, "2 id, 1 x", Contract(), option="job-bookmark-pause")
    assert held() == "id int"

    frozen = Contract(columns="freeze")
    again = {"backfill_id": "b", "cursor": "id", "low": 0, "high": 1, "run_id": "jr_3"}
    for window in watermarks.backfill(job, **again):
        evolved = spark.sql("SELECT 1 id, 1 y")
        with pytest.raises(SchemaContractError, match="the column y"):
            write_window(evolved, str(tmp_path / "out"), window, schema=frozen)
        write_window(evolved, str(tmp_path / "out"), window, schema=Contract())
    assert held() == "id int"
    assert watermarks.refused(job) is None


def test_other_cursors_of_a_job_keep_the_columns_of_each_other(
    watermarks, job, spark, tmp_path, held
):
    def opened(cursor, high):
        return watermarks.open_window(job, run_id="jr_1", cursor=cursor, high=high)

    def write(window, columns, target):
        frame = spark.sql(f"SELECT {columns}")
        write_window(frame, str(tmp_path / target), window, schema=Contract())

    one, two = opened("a", 1), opened("b", 1)
    write(one, "1 a", "one")
    write(two, "1 b", "two")
    watermarks.commit_window(one)
    watermarks.commit_window(two)
    assert (held("one"), held("two")) == ("a int", "b int")

    one, two = opened("a", 2), opened("b", 2)
    write(one, "1 a, 1 x", "one")
    write(two, "1 a, 1 y", "one")
    watermarks.commit_window(one)
    with pytest.raises(WatermarkConflictError, match="let this run fail"):
        watermarks.commit_window(two)
    again = opened("b", 2)
    write(again, "1 a, 1 y", "one")
    watermarks.commit_window(again)
    assert held("one") == "a int, x int, y int"


def test_columns_of_any_name_and_type_come_back_as_they_were(load, held):
    types = (
        "named_struct('a b', 1, 'c`d', array(map('k', timestamp'2026-01-01 00:00:00'))) `x.y`, "
        "CAST(1 AS DECIMAL(38, 9)) `order`, date'2026-01-01' `Ü`, X'00' b, "
        "timestamp_ntz'2026-01-01 00:00:00' n, 1.5F f, INTERVAL '1' DAY AS i"
    )
    load(1, f"1 id, {types}", Contract())
    first = held()
    load(2, f"2 id, {types}", Contract(columns="freeze", types="freeze", missing="freeze"))

    assert held() == first
    assert first == (
        "id int, x.y STRUCT<`a b`: int, `c``d`: ARRAY<MAP<string, TIMESTAMP_LTZ>>>, "
        "order decimal(38,9), Ü date, b binary, n timestamp_ntz, f float, i interval day"
    )


def test_a_column_of_nulls_gets_its_type_from_the_run_that_brings_one(
    watermarks, job, spark, tmp_path, held
):
    for number, value in enumerate(("NULL", "NULL", "7"), 1):
        window = watermarks.open_window(job, run_id=f"jr_{number}", cursor="id", high=number)
        frame = spark.sql(f"SELECT {number} id, {value} x")
        write_window(frame, str(tmp_path / "out"), window, "json", schema=Contract())
        watermarks.commit_window(window)
        assert held() == f"id int, x {'int' if value == '7' else 'void'}"


def test_a_type_that_sql_has_no_name_for_is_refused_before_it_is_written(
    watermarks, job, spark, tmp_path
):
    window = watermarks.open_window(job, run_id="jr_1", cursor="id", high=1)
    frame = spark.createDataFrame([(1, Vectors.dense([1.0]))], ["id", "v"])
    with pytest.raises(WatermarkValueError, match="`v` vector', which Spark does not take"):
        write_window(frame, str(tmp_path / "out"), window, schema=Contract())

    assert not (tmp_path / "out").exists()


def test_columns_that_have_no_room_are_refused_before_they_are_written(load, tmp_path):
    many = ", ".join(f"{number} a_rather_long_name_of_a_column_{number}" for number in range(4000))
    with pytest.raises(WatermarkValueError, match="have no room beside the watermarks"):
        load(1, f"1 id, {many}", Contract())

    assert not (tmp_path / "out").exists()


def test_a_window_may_be_copied_and_sent_to_another_process(watermarks, job, spark, tmp_path):
    window = watermarks.open_window(job, run_id="jr_1", cursor="id", high=1)
    write_window(spark.sql("SELECT 1 id"), str(tmp_path / "out"), window, schema=Contract())

    other = pickle.loads(pickle.dumps(copy.deepcopy(window)))  # noqa: S301 (ours)
    latest = watermarks.commit_window(other)
    assert list(latest.schemas.values()) == [TargetSchema({"id": "int"})]
