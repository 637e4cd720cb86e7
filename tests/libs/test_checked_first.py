"""Everything is checked before the first write, and a rewind repairs every head."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from watermarks import WatermarkAdmin, Watermarks, WatermarkValueError

WHY = {"reason": "test", "actor": "ada"}


class BadZone(tzinfo):
    def utcoffset(self, when):
        raise RuntimeError("no zone file")

    def dst(self, when):
        return None

    def tzname(self, when):
        return None


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"lookback": -1}, WatermarkValueError),
        ({"lookback": True}, WatermarkValueError),
        ({"lookback": "x"}, WatermarkValueError),
        ({"lookback": timedelta(1)}, WatermarkValueError),
        ({"lookback": Decimal("NaN")}, WatermarkValueError),
        ({"settle": Decimal("NaN")}, WatermarkValueError),
        ({"settle": 5}, WatermarkValueError),
        ({"cursor": 5}, ValueError),
        ({"cursor": b"x"}, ValueError),
        ({"cursor": True}, ValueError),
        ({"cursor": ".".join("a" * 40)}, ValueError),
        ({"cursor": "\ud800"}, ValueError),
        ({"cursor": "x" * 256}, ValueError),
        ({"run_id": "x" * 1025}, ValueError),
        ({"run_id": 3}, ValueError),
        ({"job_id": "x" * 2049}, ValueError),
        ({"job_id": "\ud800"}, ValueError),
        ({"high": "x" * 300_000}, WatermarkValueError),
        ({"high": lambda _: "x" * 300_000}, WatermarkValueError),
        ({"high": datetime(2026, 1, 1, tzinfo=BadZone())}, WatermarkValueError),
        ({"initial": 1.5}, WatermarkValueError),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_nothing_is_written_for_what_cannot_be(watermarks, job, rows, options, error, is_first):
    if not is_first:
        watermarks.advance(job_id=job, run_id="jr_0", to={"id": 1}, base=None)
    before = rows()
    request = {"job_id": job, "run_id": "jr_1", "cursor": "id", "high": 10, **options}

    with pytest.raises(error):
        watermarks.open_window(**request)

    assert rows() == before


def test_an_initial_value_that_has_no_order_with_the_bound_is_refused(watermarks, job, rows):
    with pytest.raises(WatermarkValueError, match=r"was a string .* and is now a number"):
        watermarks.open_window(job, run_id="jr_1", cursor="id", initial="a", high=10)

    assert rows() == {}


def test_a_lookback_to_before_the_first_year_is_refused_before_it_is_written(watermarks, job, rows):
    at = datetime(1, 1, 5, tzinfo=UTC)
    watermarks.advance(job_id=job, run_id="jr_0", to={"id": at}, base=None)
    before = rows()

    with pytest.raises(WatermarkValueError, match="there is no year"):
        watermarks.open_window(
            job, run_id="jr_1", cursor="id", high=at + timedelta(1), lookback=timedelta(days=99)
        )

    assert rows() == before


class NowhereZone(tzinfo):
    key = "Mars/Olympus"

    def utcoffset(self, when):
        return timedelta(hours=1)

    def dst(self, when):
        return timedelta()

    def tzname(self, when):
        return "MRS"


def test_a_zone_that_nobody_could_read_back_is_refused(watermarks, job, rows):
    at = datetime(2026, 1, 1, tzinfo=NowhereZone())

    with pytest.raises(WatermarkValueError, match=r"convert it with \.astimezone\(UTC\)"):
        watermarks.advance(job_id=job, run_id="jr_1", to={"at": at}, base=None)
    with pytest.raises(WatermarkValueError, match="Mars/Olympus"):
        watermarks.open_window(job, run_id="jr_1", cursor="at", high=at)

    assert rows() == {}


@pytest.mark.parametrize(
    "attributes",
    [
        {"wmTypes": {"M": {"id": {"S": "tMars/Olympus"}}}},
        {"wmTypes": {"M": {"id": {"S": "?"}}}},
        {"wmVersion": {"S": "x"}},
        {"wmWindows": {"M": {"id": {"S": "x"}}}},
        {"wmSeen": {"M": {"id": {"S": "x"}}}},
        {"wmAt": {"S": "yesterday"}},
        {"watermarks": {"S": "x"}},
        {"wmDigest": {"N": "5"}},
        {"wmRegion": {"N": "5"}},
        {"wmBounds": {"M": {"id": {"S": "x"}}}},
        {"wmSeen": {"M": {"id": {"S": '[{"N": "1"}, {"S": "?"}, "2026-01-01T00:00:00+00:00"]'}}}},
    ],
    ids=[
        "zone",
        "type",
        "version",
        "window",
        "seen",
        "time",
        "values",
        "digest",
        "region",
        "bounds",
        "seen type",
    ],
)
def test_a_rewind_repairs_every_head(watermarks, job, client, table_name, attributes):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    watermarks.advance(job_id=job, run_id="jr_1", to={"id": at}, base=None)
    names = {f"#{i}": name for i, name in enumerate(attributes)}
    client.update_item(
        TableName=table_name,
        Key={"jobName": {"S": job}, "runId": {"S": "~HEAD"}},
        UpdateExpression="SET " + ", ".join(f"{n} = :{n[1:]}" for n in names),
        ExpressionAttributeNames=names,
        ExpressionAttributeValues={f":{i}": v for i, v in enumerate(attributes.values())},
    )
    with pytest.raises(Exception, match=r"corrupt|time zone"):
        watermarks.open_window(job, run_id="jr_2", cursor="id", high=at + timedelta(1))

    assert watermarks.rewind(job, to_run="jr_1", **WHY).watermarks == {"id": at}
    assert watermarks.rewind(job, to_run=None, **WHY).watermarks == {}
    assert watermarks.open_window(job, run_id="jr_2", cursor="id", high=at).low is None


@pytest.mark.parametrize(
    "given",
    [
        {"table_name": "has blank"},
        {"table_name": ""},
        {"table_name": "t", "history_days": "400"},
        {"table_name": "t", "history_days": None},
        {"table_name": "t", "history_days": 10**9},
        {"table_name": "t", "history_days": True},
        {"table_name": "t", "history_days": 0},
    ],
)
def test_watermarks_that_cannot_be_made_are_refused(client, given):
    with pytest.raises(ValueError, match=r"table_name|history_days"):
        Watermarks(dynamodb_client=client, **given)


def test_an_hour_that_comes_twice_is_two_instants(watermarks, job):
    zone = ZoneInfo("America/New_York")
    summer, winter = (datetime(2013, 11, 3, 1, 30, tzinfo=zone, fold=fold) for fold in (0, 1))
    base = watermarks.advance(job_id=job, run_id="jr_0", to={"at": summer}, base=None)
    left = watermarks.open_window(job, run_id="jr_1", cursor="at", high=summer + timedelta(hours=9))
    watermarks.advance(job_id=job, run_id="jr_2", to={"at": winter}, base=base)

    taken = watermarks.open_window(job, run_id="jr_3", cursor="at", high=winter + timedelta(days=1))

    assert not taken.is_recovered
    assert taken.window_id != left.window_id
    assert taken.low.astimezone(UTC) == winter.astimezone(UTC)


def test_a_fixed_offset_and_utc_can_always_be_read_back(watermarks, job):
    at = datetime(2026, 1, 1, tzinfo=timezone(timedelta(hours=5, minutes=45)))
    watermarks.advance(job_id=job, run_id="jr_1", to={"at": at}, base=None)

    assert watermarks.latest(job).watermarks == {"at": at}


def test_what_an_operator_did_names_ten_runs_and_reads_no_more(new_client, table_name, job):
    client, sent = new_client(), []
    admin = WatermarkAdmin(table_name, client)
    for number in range(40):
        latest = admin.latest(job)
        admin.advance(job_id=job, run_id=f"jr_{number}", to={"id": number}, base=latest)
    client.meta.events.register("before-call.dynamodb", lambda model, **_: sent.append(model.name))

    with pytest.raises(KeyError, match="jr_30 and older ones"):
        admin.rewind(job, to_run="jr_mistyped", **WHY)

    assert len(sent) <= 13


def test_a_lookback_that_cannot_be_takes_no_window_over(watermarks, job, rows):
    at = datetime(2026, 1, 1, tzinfo=UTC)
    watermarks.advance(job_id=job, run_id="jr_0", to={"id": at}, base=None)
    left = watermarks.open_window(job, run_id="jr_1", cursor="id", high=at + timedelta(1))
    before = rows()

    with pytest.raises(WatermarkValueError, match="there is no year"):
        watermarks.open_window(
            job, run_id="jr_2", cursor="id", high=at, lookback=timedelta(days=999_999)
        )

    assert rows() == before
    assert watermarks.commit_window(left).version == 2
