"""One command at a time works on a rewind of a stage."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest

from tests.tidemark.operate.rewind.model import TABLE
from tidemark.errors import UsageError
from tidemark.operate.rewind.stage_records import (
    AT_WORK_S,
    BEGUN,
    DONE,
    UNDONE,
    Claim,
    StageRecord,
    check_nobody_is_at_work,
    key_of,
    new_holder,
)

NUMBERS = itertools.count(900_001)
NOW = 1_700_000_000_000


@pytest.fixture
def record(dynamodb: Any) -> StageRecord:
    """A rewind that was interrupted."""
    found = StageRecord(next(NUMBERS), BEGUN, 1, "ada", "a bad day", "jr_1", (), ())
    dynamodb.put_item(TableName=TABLE, Item=found.to_item())
    return found


@pytest.fixture
def read(dynamodb: Any, record: StageRecord) -> Callable[[], StageRecord]:
    def read_now() -> StageRecord:
        key = key_of(record.number)
        item = dynamodb.get_item(TableName=TABLE, Key=key, ConsistentRead=True)["Item"]
        return StageRecord.from_item(item)

    return read_now


@pytest.fixture
def claim(dynamodb: Any) -> Callable[[StageRecord], Claim]:
    return lambda record: Claim(dynamodb, TABLE, record, new_holder())


def test_of_many_commands_at_once_one_takes_it(record, read, claim):
    def take(_: int) -> Claim | None:
        own = claim(record)
        try:
            own.take(NOW)
        except UsageError:
            return None
        return own

    with ThreadPoolExecutor(8) as threads:
        taken = [one for one in threads.map(take, range(8)) if one]

    assert [one.holder for one in taken] == [read().holder]


def test_for_a_minute_after_it_said_so_it_is_at_work(record, read, claim):
    own = claim(record)
    own.take(NOW)
    own.hold(NOW + 5000)

    with pytest.raises(UsageError, match=r"was worked on 0 s ago.*ask again in 60 s"):
        check_nobody_is_at_work(read(), NOW + 5000)
    check_nobody_is_at_work(read(), NOW + 5000 + AT_WORK_S * 1000)


def test_it_is_at_work_by_a_clock_that_is_ahead_too(record):
    ahead = replace(record, holder="another", held_ms=NOW + 3000)

    with pytest.raises(UsageError, match=r"just now, by a clock that is ahead.*again in 63 s"):
        check_nobody_is_at_work(ahead, NOW)
    check_nobody_is_at_work(replace(ahead, held_ms=NOW + 3_600_000), NOW)  # no such clock


def test_one_that_said_that_it_goes_on_after_it_was_read_is_not_taken_over(record, read, claim):
    slow = claim(record)
    slow.take(NOW)
    other = claim(read())
    slow.hold(NOW + AT_WORK_S * 1000)

    with pytest.raises(UsageError, match="somebody else"):
        other.take(NOW + AT_WORK_S * 1000 + 1)
    slow.hold(NOW + AT_WORK_S * 1000 + 2)


def test_one_that_was_taken_for_dead_stops_where_it_is(record, read, claim):
    slow, other = claim(record), None
    slow.take(NOW)
    other = claim(read())
    other.take(NOW + AT_WORK_S * 1000)

    for late in (lambda: slow.hold(NOW), lambda: slow.end(DONE)):
        with pytest.raises(UsageError, match="this one stops"):
            late()
    other.end(UNDONE)
    assert read() == replace(record, state=UNDONE)


def test_what_fails_is_free_at_once(record, read, claim):
    own = claim(record)
    own.take(NOW)

    with pytest.raises(KeyboardInterrupt), own.until_failure():
        raise KeyboardInterrupt

    check_nobody_is_at_work(read(), NOW)
    claim(read()).take(NOW)


def test_what_another_command_has_ended_is_not_done_again(record, read, claim):
    first, second = claim(record), claim(record)
    first.take(NOW)
    first.end(DONE)

    with pytest.raises(UsageError, match="somebody else"):
        second.take(NOW)
    assert read().state == DONE
