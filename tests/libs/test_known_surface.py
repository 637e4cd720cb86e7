"""What users of the v1 class call, on new tables and on tables it wrote."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import boto3
import pytest
from boto3.dynamodb.types import TypeDeserializer

from watermarks import (
    AmbiguousWatermarkError,
    WatermarkNotFoundError,
    Watermarks,
    WatermarksError,
    WatermarkTableError,
)


def run_ids(count):
    source = random.Random(2013)  # noqa: S311 - run ids, not secrets
    return [f"jr_{source.randbytes(32).hex()}" for _ in range(count)]


def original_reader(client, table_name, job):
    """Read the most recent watermark with the two requests of the v1 class."""
    response = client.query(
        TableName=table_name,
        KeyConditionExpression="jobName = :jobName",
        ExpressionAttributeValues={":jobName": {"S": job}},
        ScanIndexForward=False,
        Limit=1,
    )
    run_id = response["Items"][0]["runId"]["S"]
    key = {"jobName": {"S": job}, "runId": {"S": run_id}}
    response = client.get_item(TableName=table_name, Key=key)
    return {k: TypeDeserializer().deserialize(v) for k, v in response["Item"].items()}


def add(watermarks, job, run_id, **values):
    watermarks.add_watermark(watermarks.create_watermark_item(job, run_id, **values))


def test_created_item_has_the_original_shape():
    item = Watermarks.create_watermark_item(job_id="load", run_id="jr_1", latest_data="x", rows=8)

    assert item == {
        "jobName": "load",
        "runId": "jr_1",
        "watermarks": {"latest_data": "x", "rows": 8},
    }


def test_key_names_the_attribute_of_a_created_item():
    item = Watermarks.create_watermark_item("load", "jr_1", "state", rows=8)

    assert item == {"jobName": "load", "runId": "jr_1", "state": {"rows": 8}}


def test_added_watermark_is_read_back_through_every_reader(watermarks, job):
    latest_data = "2023-03-16 15:45:00"
    item = watermarks.create_watermark_item(
        job_id=job, run_id="jr_1", latest_data=latest_data, rows_collected=808
    )

    assert watermarks.add_watermark(item) is None

    run_id = watermarks.get_most_recent_run_id(job_id=job)
    assert run_id == "jr_1"
    assert watermarks.get_watermark(job_id=job, run_id=run_id) == item
    assert watermarks.get_watermark(job) == item
    assert watermarks.get_watermark_values(job, run_id) == item["watermarks"]
    assert watermarks.get_watermark_values(job)["latest_data"] == latest_data


@pytest.mark.nightly
def test_most_recent_run_is_right_after_each_of_200_random_run_ids(watermarks, job):
    for count, run_id in enumerate(run_ids(200)):
        add(watermarks, job, run_id, count=count)

        assert watermarks.get_most_recent_run_id(job) == run_id
    assert watermarks.get_watermark_values(job) == {"count": 199}


def test_original_reader_gets_the_current_watermark(client, table_name, watermarks, job):
    for count, run_id in enumerate(run_ids(10)):
        add(watermarks, job, run_id, count=count, latest_data=f"2023-03-{count + 1:02}")

        found = original_reader(client, table_name, job)["watermarks"]
        assert found == {"count": count, "latest_data": f"2023-03-{count + 1:02}"}


def test_adding_replaces_all_values_of_the_run_before(watermarks, job):
    add(watermarks, job, "jr_1", orders=1, customers=2)

    add(watermarks, job, "jr_2", orders=3)

    assert watermarks.get_watermark_values(job) == {"orders": 3}
    assert watermarks.get_watermark_values(job, "jr_1") == {"orders": 1, "customers": 2}


def test_added_watermark_may_go_back(watermarks, job):
    add(watermarks, job, "jr_1", high=9)

    add(watermarks, job, "jr_2", high=1)

    assert watermarks.get_watermark_values(job) == {"high": 1}


def test_adding_the_same_item_twice_makes_one_version(watermarks, job):
    add(watermarks, job, "jr_1", high=9)

    add(watermarks, job, "jr_1", high=9)

    assert watermarks.latest(job).version == 1


def test_one_run_may_add_again_while_it_is_the_latest(watermarks, job, rows):
    add(watermarks, job, "jr_0", high=1)
    add(watermarks, job, "jr_1", high=2)

    add(watermarks, job, "jr_1", high=3)

    assert watermarks.get_watermark_values(job, "jr_1") == {"high": 3}
    assert watermarks.latest(job).version == 3
    assert rows()["jr_1"]["wmPrev"] == {"S": "jr_0"}


def test_custom_key_is_read_back_and_replaced_by_the_next_key(watermarks, job, rows):
    item = watermarks.create_watermark_item(job, "jr_1", key="state", high=1)
    watermarks.add_watermark(item)
    assert watermarks.get_watermark_values(job, key="state") == {"high": 1}
    assert watermarks.get_watermark(job) == item

    add(watermarks, job, "jr_2", high=2)

    assert "state" not in rows()["~HEAD"]
    assert watermarks.get_watermark_values(job) == {"high": 2}


def test_values_under_another_key_are_not_found_and_the_keys_are_named(watermarks, job):
    add(watermarks, job, "jr_1", high=1)

    with pytest.raises(KeyError, match=r"has no 'state': it has \['jobName', 'runId', 'waterma"):
        watermarks.get_watermark_values(job, key="state")


@pytest.mark.parametrize(
    ("item", "message"),
    [
        ({"jobName": "j", "watermarks": {}}, "has jobName, runId and one dict"),
        ({"jobName": "j", "runId": "r", "a": {}, "b": {}}, "has jobName, runId and one dict"),
        ({"jobName": "j", "runId": "r", "watermarks": 1}, "has jobName, runId and one dict"),
        ({"jobName": "j", "runId": "r", "wmTypes": {}}, "key is 'wmTypes'.*use another"),
        ({"jobName": "j", "runId": "r", "expiresAt": {}}, "key is 'expiresAt'.*use another"),
        ({"jobName": "", "runId": "r", "watermarks": {}}, "job_id is ''"),
        ({"jobName": "j", "runId": "", "watermarks": {}}, "run_id is ''"),
        ({"jobName": "j", "runId": "~HEAD", "watermarks": {}}, "run_id is '~HEAD'.*jr_"),
    ],
)
def test_malformed_item_is_refused_before_any_request(watermarks, item, message):
    with pytest.raises(ValueError, match=message):
        watermarks.add_watermark(item)


def test_exists_tells_whether_the_named_table_exists(watermarks, table_name):
    assert watermarks.exists(table_name)
    assert not watermarks.exists("no-such-table")


def test_client_is_made_from_the_environment(monkeypatch, endpoint_url, table_name, job):
    monkeypatch.setenv("AWS_ENDPOINT_URL_DYNAMODB", endpoint_url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-2")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)  # which keeps the key that it was made with
    watermarks = Watermarks(table_name=table_name)

    add(watermarks, job, "jr_1", high=1)

    assert watermarks.get_most_recent_run_id(job) == "jr_1"
    watermarks.dynamodb_client.close()


def test_job_without_watermarks_is_not_found_and_latest_is_none(watermarks, job):
    assert watermarks.latest(job) is None
    for error in (WatermarkNotFoundError, WatermarksError, KeyError, IndexError):
        with pytest.raises(error, match=f"^job '{job}' has no watermark in table 'glue-waterma"):
            watermarks.get_most_recent_run_id(job)
        with pytest.raises(error, match="has no watermark"):
            watermarks.get_watermark(job)


def test_run_that_never_committed_is_not_found(watermarks, job):
    add(watermarks, job, "jr_1", high=1)

    with pytest.raises(KeyError, match="there is no watermark of run 'jr_2' of job"):
        watermarks.get_watermark(job, "jr_2")


@pytest.mark.parametrize("run_id", ["", "~HEAD", "~", "é", None])
def test_unusable_run_id_is_refused(watermarks, job, run_id):
    with pytest.raises(ValueError, match=r"run_id is .*; give|run_id is .*: give"):
        watermarks.advance(job_id=job, run_id=run_id, to={"high": 1}, base=None)


def test_empty_names_and_no_history_are_refused(watermarks, client):
    with pytest.raises(ValueError, match="job_id is '': give a non-empty str"):
        watermarks.latest("")
    with pytest.raises(ValueError, match="table_name is '': give a non-empty str"):
        Watermarks("", client)
    with pytest.raises(ValueError, match="history_days is 0: give an integer"):
        Watermarks("t", client, history_days=0)


def test_legacy_row_is_read_as_it_is(watermarks, job, put_legacy):
    put_legacy("jr_1", latest_data={"S": "x"}, rows={"N": "8"}, done={"BOOL": True})

    assert watermarks.get_watermark(job, "jr_1") == {
        "jobName": job,
        "runId": "jr_1",
        "watermarks": {"latest_data": "x", "rows": Decimal(8), "done": True},
    }


def test_legacy_row_without_a_map_of_values_is_readable_but_no_base(
    watermarks, client, table_name, job
):
    item = {"jobName": {"S": job}, "runId": {"S": "jr_1"}, "latest_data": {"S": "x"}}
    client.put_item(TableName=table_name, Item=item)

    assert watermarks.get_watermark(job) == {"jobName": job, "runId": "jr_1", "latest_data": "x"}
    with pytest.raises(WatermarksError, match=r"no 'watermarks' map but \['latest_data'\]"):
        watermarks.latest(job)


def test_single_legacy_row_is_taken_as_the_most_recent(watermarks, job, put_legacy):
    put_legacy("jr_1", high={"N": "8"})

    latest = watermarks.latest(job)

    assert (latest.run_id, latest.version, latest.watermarks) == ("jr_1", 0, {"high": Decimal(8)})
    assert watermarks.get_most_recent_run_id(job) == "jr_1"
    assert watermarks.get_watermark_values(job) == {"high": 8}


def test_job_advances_from_a_single_legacy_row(watermarks, job, put_legacy):
    put_legacy("jr_1", high={"N": "8"})

    latest = watermarks.advance(
        job_id=job, run_id="jr_2", to={"high": 9}, base=watermarks.latest(job)
    )

    assert (latest.version, latest.prev) == (1, "jr_1")
    assert watermarks.latest(job) == latest


def test_several_legacy_rows_are_ambiguous_until_a_head_is_written(watermarks, job, put_legacy):
    put_legacy("jr_1", high={"N": "8"})
    put_legacy("jr_2", high={"N": "5"})
    for read in (watermarks.latest, watermarks.get_most_recent_run_id, watermarks.get_watermark):
        with pytest.raises(AmbiguousWatermarkError, match=r"name a run id.*adopt\(job, run,"):
            read(job)

    watermarks.adopt(job, "jr_1", reason="started last", actor="ada")

    assert watermarks.get_most_recent_run_id(job) == "jr_1"
    assert watermarks.get_watermark_values(job) == {"high": 8}
    assert watermarks.get_watermark_values(job, "jr_2") == {"high": 5}


def test_first_commits_during_a_read_are_not_taken_for_legacy_rows(watermarks, new_client, job):
    client = new_client()

    def commit_twice(**_):
        add(watermarks, job, "jr_1", high=1)
        add(watermarks, job, "jr_2", high=2)

    client.meta.events.register("before-call.dynamodb.Query", commit_twice)

    latest = Watermarks(watermarks.table_name, client).latest(job)

    assert (latest.run_id, latest.version) == ("jr_2", 2)


def test_legacy_writer_does_not_disturb_the_head(watermarks, job, put_legacy):
    add(watermarks, job, "jr_1", high=1)

    put_legacy("jr_9", high={"N": "5"})

    assert watermarks.get_most_recent_run_id(job) == "jr_1"
    assert watermarks.get_watermark_values(job, "jr_9") == {"high": 5}


def test_latest_run_is_readable_after_its_row_expired(watermarks, client, table_name, job):
    add(watermarks, job, "jr_1", high=1)
    add(watermarks, job, "jr_2", high=2)
    for run_id in ("jr_1", "jr_2"):  # as the time to live does, some day
        key = {"jobName": {"S": job}, "runId": {"S": run_id}}
        client.delete_item(TableName=table_name, Key=key)

    item = watermarks.get_watermark(job, "jr_2")

    assert item == {"jobName": job, "runId": "jr_2", "watermarks": {"high": 2}}
    with pytest.raises(WatermarkNotFoundError, match="its row has expired"):
        watermarks.get_watermark(job, "jr_1")


def test_missing_table_is_named_with_its_region_and_the_remedy(client, job):
    watermarks = Watermarks("glue-watermark", client)
    message = r"no DynamoDB table 'glue-watermark' in region eu-west-2 \(http://.*\): deploy"

    for call in (
        lambda: watermarks.latest(job),
        lambda: watermarks.get_watermark(job, "jr_1"),
        lambda: watermarks.advance(job_id=job, run_id="jr_1", to={"high": 1}, base=None),
        lambda: add(watermarks, job, "jr_1", high=1),
    ):
        with pytest.raises(WatermarkTableError, match=message):
            call()


def test_the_class_is_where_it_was_and_its_methods_have_a_module(watermarks, job):
    from watermarks import v1

    assert v1.Watermarks is Watermarks
    names = {"exists", "create_watermark_item", "add_watermark", "get_most_recent_run_id"}
    names |= {"get_watermark", "get_watermark_values"}
    assert names <= set(vars(v1.V1Methods))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        v1.nonsense  # noqa: B018


def open_window_only(watermarks, job):
    watermarks.open_window(job, run_id="jr_1", cursor="id", high=5)


def rewound_to_the_beginning(watermarks, job):
    add(watermarks, job, "jr_1", id=5)
    watermarks.rewind(job, to_run=None, reason="x", actor="y")


def backfill_only(watermarks, job):
    request = {"backfill_id": "b", "cursor": "id", "low": 0, "high": 5, "run_id": "jr_1"}
    for window in watermarks.backfill(job, **request):
        assert window.high == 5


@pytest.mark.parametrize(
    "state", [open_window_only, rewound_to_the_beginning, backfill_only], ids=lambda f: f.__name__
)
def test_what_the_document_says_that_an_old_reader_cannot_read(
    client, table_name, watermarks, job, state
):
    state(watermarks, job)

    assert "watermarks" not in original_reader(client, table_name, job)
    assert watermarks.latest(job) is None


def test_what_the_document_says_that_an_old_reader_gets(client, table_name, watermarks, job):
    at = datetime(2013, 1, 1, 12, tzinfo=UTC)
    watermarks.advance(job_id=job, run_id="jr_1", to={"at": at, "id": 5}, base=None)

    found = original_reader(client, table_name, job)

    assert found["runId"] == "~HEAD"
    assert found["watermarks"] == {"at": "2013-01-01T12:00:00.000000Z", "id": 5}


def test_a_text_of_the_v1_class_becomes_a_datetime_when_it_is_adopted(watermarks, job, put_legacy):
    put_legacy("jr_1", at={"S": "2013-01-01 12:00:00"}, rows={"N": "8"})
    put_legacy("jr_2", at={"S": "2013-01-02 12:00:00"})

    latest = watermarks.adopt(
        job,
        "jr_1",
        as_type={"at": lambda text: datetime.fromisoformat(text).replace(tzinfo=UTC)},
        reason="from the v1 class",
        actor="ada",
    )

    at = datetime(2013, 1, 1, 12, tzinfo=UTC)
    assert latest.watermarks == {"at": at, "rows": 8}
    window = watermarks.open_window(job, run_id="jr_3", cursor="at", high=at + timedelta(days=1))
    assert window.low == at


@pytest.mark.parametrize(
    ("as_type", "message"),
    [
        ({"nothing": int}, "as_type has 'nothing', and run 'jr_1'"),
        ({"rows": float}, "is a float"),
    ],
)
def test_a_conversion_that_cannot_be_is_refused(
    watermarks, job, put_legacy, rows, as_type, message
):
    put_legacy("jr_1", rows={"N": "8"})
    before = rows()

    with pytest.raises(WatermarksError, match=message):
        watermarks.adopt(job, "jr_1", as_type=as_type, reason="x", actor="y")

    assert rows() == before


def test_an_item_that_another_run_has_replaced_is_not_taken_for_the_current_one(watermarks, job):
    add(watermarks, job, "jr_1", id=1)
    add(watermarks, job, "jr_1", id=1)
    add(watermarks, job, "jr_2", id=2)

    with pytest.raises(WatermarksError, match="run 'jr_2' has committed version 2 since"):
        add(watermarks, job, "jr_1", id=1)

    assert watermarks.get_watermark_values(job) == {"id": 2}
