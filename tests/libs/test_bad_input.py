"""Bad tables, bad rows and bad clocks: each is named, with the remedy, and changes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from watermarks import (
    WatermarkAdmin,
    WatermarkConflictError,
    WatermarkCorruptError,
    WatermarksError,
    WatermarkTableError,
)

WHY = {"reason": "damaged by hand", "actor": "ada"}


def head_key(job):
    return {"jobName": {"S": job}, "runId": {"S": "~HEAD"}}


def calls(watermarks, job):
    """Return the ways to reach the rows of a job, by name."""
    return {
        "latest": lambda: watermarks.latest(job),
        "get_watermark": lambda: watermarks.get_watermark(job),
        "history": lambda: list(watermarks.history(job)),
        "committed_windows": lambda: watermarks.committed_windows(job),
        "advance": lambda: watermarks.advance(job_id=job, run_id="jr_9", to={"id": 1}, base=None),
        "add_watermark": lambda: watermarks.add_watermark(
            watermarks.create_watermark_item(job, "jr_9", id=1)
        ),
        "open_window": lambda: watermarks.open_window(
            job_id=job, run_id="jr_9", cursor="id", high=99
        ),
    }


@pytest.fixture
def spoil(client, table_name, job, watermarks):
    """Return a function that changes attributes of a sound head row with an open window."""
    watermarks.advance(job_id=job, run_id="jr_1", to={"id": 5}, base=None)
    watermarks.open_window(job_id=job, run_id="jr_2", cursor="id", high=20)

    def spoil(**attributes):
        row = client.get_item(TableName=table_name, Key=head_key(job))["Item"]
        row.update(attributes)
        item = {name: value for name, value in row.items() if value is not None}
        client.put_item(TableName=table_name, Item=item)

    return spoil


AWS_TOLD = (
    "User: arn:aws:sts::123456789012:assumed-role/job/GlueJobRunnerSession is not authorized to "
    "perform: dynamodb:{} on resource: arn:aws:dynamodb:eu-west-2:123456789012:table/t because no "
    "identity-based policy allows the dynamodb:{} action"
)


@pytest.mark.parametrize(
    ("method", "operation", "action", "call"),
    [
        ("describe_table", "DescribeTable", "DescribeTable", "exists"),
        ("get_item", "GetItem", "GetItem", "latest"),
        ("get_item", "GetItem", "GetItem", "history"),
        ("transact_write_items", "TransactWriteItems", "PutItem", "advance"),
    ],
    ids=["exists", "latest", "history", "advance"],
)
def test_refused_action_is_named_with_the_table_and_the_region(
    new_client, job, method, operation, action, call
):
    client = new_client()
    watermarks = WatermarkAdmin("glue-watermarks", client)

    with Stubber(client) as stub:
        stub.add_client_error(method, "AccessDeniedException", AWS_TOLD.format(action, action))
        reach = {"exists": lambda: watermarks.exists("glue-watermarks"), **calls(watermarks, job)}
        with pytest.raises(
            WatermarkTableError,
            match=rf"^dynamodb:{action} is not allowed on table 'glue-watermarks' in region "
            r"eu-west-2 \(http.*\): nothing was written; allow dynamodb:GetItem, Query, PutItem",
        ) as caught:
            reach[call]()

    assert isinstance(caught.value.__cause__, ClientError)
    assert caught.value.__cause__.operation_name == operation


def test_refused_action_that_aws_does_not_name_is_named_by_the_request(new_client, job):
    client = new_client()

    with Stubber(client) as stub:
        stub.add_client_error("get_item", "AccessDeniedException", "denied")
        with pytest.raises(WatermarkTableError, match=r"^GetItem is not allowed on table"):
            WatermarkAdmin("glue-watermarks", client).latest(job)


@pytest.fixture(
    scope="module",
    params=[
        [("jobName", "HASH", "S")],
        [("jobName", "HASH", "S"), ("runId", "RANGE", "N")],
        [("pk", "HASH", "S"), ("sk", "RANGE", "S")],
    ],
    ids=["no range key", "range key is a number", "other names"],
)
def wrong_table(new_client, request):
    client = new_client()
    name = f"wrong-keys-{'-'.join(key for key, *_ in request.param)}-{request.param[-1][2]}"
    client.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": key, "KeyType": use} for key, use, _ in request.param],
        AttributeDefinitions=[
            {"AttributeName": key, "AttributeType": kind} for key, _, kind in request.param
        ],
        BillingMode="PAY_PER_REQUEST",
    )
    return name


@pytest.mark.parametrize(
    "call", ["latest", "get_watermark", "history", "advance", "add_watermark", "open_window"]
)
def test_table_with_other_keys_is_named_with_the_keys_it_needs(client, wrong_table, job, call):
    watermarks = WatermarkAdmin(wrong_table, client)

    with pytest.raises(
        WatermarkTableError,
        match=rf"table '{wrong_table}' in region eu-west-2 .* needs, jobName \(hash, string\) and "
        r"runId \(range, string\): nothing was written; .* another table",
    ):
        calls(watermarks, job)[call]()

    assert client.scan(TableName=wrong_table)["Count"] == 0


CORRUPTIONS = {
    "no version": {"wmVersion": None},
    "version is text": {"wmVersion": {"S": "1"}},
    "watermarks are text": {"watermarks": {"S": "x"}},
    "value of another type": {"watermarks": {"M": {"id": {"S": "x"}}}},
    "number that is no int": {"watermarks": {"M": {"id": {"S": "5"}}}},
    "unknown tag": {"wmTypes": {"M": {"id": {"S": "q"}}}},
    "impossible date": {
        "watermarks": {"M": {"id": {"S": "2013-02-30"}}},
        "wmTypes": {"M": {"id": {"S": "a"}}},
    },
    "tags are text": {"wmTypes": {"S": "i"}},
    "windows are text": {"wmWindows": {"S": "x"}},
    "window without a range": {"wmWindows": {"M": {"id": {"M": {"id": {"S": "1"}}}}}},
    "window is text": {"wmWindows": {"M": {"id": {"S": "x"}}}},
    "bounds are text": {"wmBounds": {"S": "(]"}},
    "bounds are a number": {"wmBounds": {"M": {"id": {"N": "1"}}}},
    "epoch is text": {"wmEpoch": {"S": "x"}},
    "log is a number": {"wmLog": {"N": "1"}},
    "time is no time": {"wmAt": {"S": "noon"}},
}


@pytest.mark.parametrize("damage", CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_corrupt_head_is_named_with_the_remedy(watermarks, job, spoil, rows, damage):
    spoil(**damage)
    before = rows()

    for call in calls(watermarks, job).values():
        with pytest.raises(
            WatermarkCorruptError,
            match=rf"row '~HEAD' of job '{job}' in table 'glue-watermarks' is corrupt .* rewind",
        ):
            call()

    assert rows() == before


@pytest.mark.parametrize("damage", CORRUPTIONS.values(), ids=CORRUPTIONS)
def test_rewind_repairs_a_corrupt_head(watermarks, job, spoil, damage):
    spoil(**damage)

    latest = watermarks.rewind(job, to_run="jr_1", **WHY)

    assert latest == watermarks.latest(job)
    assert (latest.version, latest.watermarks) == (2, {"id": 5})
    assert [entry.kind for entry in watermarks.history(job)] == ["rewind", "commit"]
    window = watermarks.open_window(job_id=job, run_id="jr_3", cursor="id", high=30)
    assert watermarks.commit_window(window).watermarks == {"id": 30}


def test_windows_after_a_repair_have_new_ids(watermarks, job, client):
    for high in (10, 20):
        window = watermarks.open_window(job_id=job, run_id=f"jr_{high}", cursor="id", high=high)
        watermarks.commit_window(window)
    client.delete_item(TableName=watermarks.table_name, Key=head_key(job))

    watermarks.adopt(job, "jr_10", **WHY)

    assert [entry.version for entry in watermarks.history(job)] == [3, 2, 1]
    assert len(watermarks.committed_windows(job)) == 1  # what came after jr_10 does not count
    fresh = watermarks.open_window(job_id=job, run_id="jr_30", cursor="id", high=30)
    assert (fresh.low, fresh.window_id > window.window_id) == (10, True)


def test_same_rewind_again_repairs_a_head_that_was_damaged_since(watermarks, job, spoil):
    watermarks.rewind(job, to_run="jr_1", **WHY)
    spoil(wmWindows={"S": "x"})

    assert watermarks.rewind(job, to_run="jr_1", **WHY) == watermarks.latest(job)


def test_corrupt_head_that_a_commit_meets_is_named_too(watermarks, job, spoil, rows):
    base = watermarks.latest(job)
    spoil(wmVersion={"S": "x"})
    before = rows()

    with pytest.raises(WatermarkCorruptError):
        watermarks.advance(job_id=job, run_id="jr_2", to={"id": 6}, base=base)

    assert rows() == before


def test_zone_that_this_machine_does_not_know_is_no_corruption(watermarks, job, spoil):
    spoil(
        watermarks={"M": {"id": {"S": "2013-01-01T00:00:00.000000Z"}}},
        wmTypes={"M": {"id": {"S": "tMars/Olympus"}}},
    )

    with pytest.raises(WatermarksError, match="install the tzdata package") as caught:
        watermarks.latest(job)
    assert not isinstance(caught.value, WatermarkCorruptError)


def test_watermarks_over_400_kilobytes_are_refused(watermarks, job, rows):
    base = watermarks.advance(job_id=job, run_id="jr_1", to={"a": "x" * 300_000}, base=None)
    before = rows()

    with pytest.raises(
        WatermarkTableError, match=r"into one row of table .* 400 KB .*nothing was written"
    ) as caught:
        watermarks.advance(job_id=job, run_id="jr_2", to={"b": "x" * 110_000}, base=base)

    assert caught.value.reason == "too_large"

    assert rows() == before


def test_too_large_item_is_recognised_as_aws_tells_it_in_a_transaction(new_client, job):
    client = new_client()

    with Stubber(client) as stub:
        told = "Item size to update has exceeded the maximum allowed size"
        reasons = [{"Code": "ValidationError", "Message": told}, {"Code": "None"}]
        stub.add_client_error(
            "transact_write_items",
            "TransactionCanceledException",
            modeled_fields={"CancellationReasons": reasons},
        )
        with pytest.raises(WatermarkTableError):
            calls(WatermarkAdmin("glue-watermarks", client), job)["advance"]()


def test_first_write_of_a_job_says_in_which_region(watermarks, job, rows):
    watermarks.open_window(job_id=job, run_id="jr_1", cursor="id", high=20)

    assert rows()["~HEAD"]["wmRegion"] == {"S": "eu-west-2"}


def test_later_write_does_not_change_the_region(watermarks, job, spoil, rows):
    base = watermarks.latest(job)
    spoil(wmRegion={"S": "us-east-1"})

    watermarks.advance(job_id=job, run_id="jr_3", to={"id": 6}, base=base)

    assert rows()["~HEAD"]["wmRegion"] == {"S": "us-east-1"}


def test_copy_of_a_table_of_another_region_is_not_taken_for_that_table(
    watermarks, job, spoil, rows
):
    spoil(wmRegion={"S": "us-east-1"})
    before = rows()

    for call in calls(watermarks, job).values():
        with pytest.raises(
            WatermarkTableError,
            match=r"were written in region us-east-1, and this client is in eu-west-2: the table "
            r"is a copy.*use a client of us-east-1, or.* rewind the job to its run 'jr_1'",
        ):
            call()

    assert rows() == before


def test_rewind_takes_a_job_over_from_another_region(watermarks, job, spoil, rows):
    watermarks.rewind(job, to_run="jr_1", **WHY)
    spoil(wmRegion={"S": "us-east-1"})

    watermarks.rewind(job, to_run="jr_1", **WHY)

    assert watermarks.latest(job).watermarks == {"id": 5}
    assert rows()["~HEAD"]["wmRegion"] == {"S": "eu-west-2"}


def open_with_settle(watermarks, job):
    high = datetime.now(UTC) + timedelta(days=1)
    return watermarks.open_window(
        job_id=job, run_id="jr_2", cursor="at", high=high, settle=timedelta(minutes=1)
    )


@pytest.mark.parametrize("minutes", [-60, 4])
def test_clock_that_is_not_far_behind_is_trusted(watermarks, job, client, minutes):
    watermarks.advance(job_id=job, run_id="jr_1", to={"id": 5}, base=None)
    commit_at(client, job, minutes)

    assert not open_with_settle(watermarks, job).is_empty


def test_clock_behind_the_last_commit_is_refused_where_settle_relies_on_it(
    watermarks, job, client, rows
):
    watermarks.advance(job_id=job, run_id="jr_1", to={"id": 5}, base=None)
    commit_at(client, job, minutes=6)
    before = rows()

    with pytest.raises(
        WatermarkConflictError, match=r"commit was at .* the clock here says .* rewind"
    ):
        open_with_settle(watermarks, job)

    assert rows() == before
    window = watermarks.open_window(job_id=job, run_id="jr_2", cursor="id", high=9)
    assert watermarks.commit_window(window).watermarks == {"id": 9}


def commit_at(client, job, minutes):
    at = datetime.now(UTC) + timedelta(minutes=minutes)
    client.update_item(
        TableName="glue-watermarks",
        Key=head_key(job),
        UpdateExpression="SET wmAt = :at",
        ExpressionAttributeValues={":at": {"S": at.isoformat()}},
    )
