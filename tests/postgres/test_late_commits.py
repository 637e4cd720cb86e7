"""Rows that become visible out of order, while a job reads them from PostgreSQL through JDBC.

A transaction sets `updated_at` when it inserts and becomes visible when it commits, so a row may
appear behind rows that a run has read already. The tests say what is lost then, and what never is.
"""

from __future__ import annotations

import itertools
import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from random import Random
from typing import Any

import pytest

from watermarks import Dialect, newest_jdbc, window_predicate

pytestmark = pytest.mark.spark

CURSOR = "updated_at"
SECOND = timedelta(seconds=1)
MAX_SECONDS = 59  # seconds from the first insert of a transaction to its end
SETTLE = 60 * SECOND
TRANSACTIONS = 80
RUNS = 8
NO_SETTLE = timedelta(0)
SEED = 11  # with it, a settle five seconds too short loses a row already


class DiedError(Exception):
    """A job run died before it could commit."""


class IngestJob:
    """A job that copies windows of the orders; a window replaces what was written of it before."""

    def __init__(self, orders, watermarks, spark, **options: Any) -> None:
        self.orders = orders
        self.watermarks = watermarks
        self.spark = spark
        self.options = options
        self.name = f"ingest-{uuid.uuid4().hex}"
        self.written: dict[str, list[int]] = {}
        self.repeated: list[tuple[list[int], list[int]]] = []
        self._runs = itertools.count(1)

    @property
    def copied(self) -> list[int]:
        return sorted(order for window in self.written.values() for order in window)

    def run(self, meanwhile: Callable[[], None] = lambda: None, *, dies: bool = False) -> None:
        """Read every new window; `meanwhile` happens between its opening and the reading."""
        for window in self.watermarks.windows(
            job_id=self.name,
            run_id=f"jr_{next(self._runs)}",
            cursor=CURSOR,
            high=self._newest,
            **self.options,
        ):
            meanwhile()
            found = self._read(window)
            if window.is_recovered:
                self.repeated.append((self.written[window.window_id], found))
            self.written[window.window_id] = found
            if dies:
                raise DiedError

    def _newest(self, low):
        options = self.orders.server.options
        return newest_jdbc(self.spark, options, self.orders.table, CURSOR, above=low)

    def _read(self, window) -> list[int]:
        predicate = window_predicate(window, CURSOR, Dialect.POSTGRESQL)
        query = f"SELECT id FROM {self.orders.table} WHERE {predicate}"  # noqa: S608 (our own name)
        reader = self.spark.read.format("jdbc").options(**self.orders.server.options)
        return sorted(row["id"] for row in reader.option("query", query).load().collect())


@pytest.fixture
def new_job(orders, watermarks, spark) -> Callable[..., IngestJob]:
    """Return a maker of jobs that copy the same orders with options of their own."""
    return lambda **options: IngestJob(orders, watermarks, spark, **options)


def test_without_settle_a_row_that_is_committed_late_is_missed(new_job, orders, clock):
    job = new_job(settle=NO_SETTLE)
    orders.insert("A", 1, clock.time)
    orders.insert("B", 2, clock.time + SECOND)
    orders.commit("B")
    job.run()
    orders.commit("A")
    orders.insert("C", 3, clock.time + 2 * SECOND)
    orders.commit("C")

    job.run()

    assert job.copied == [2, 3]


def test_with_settle_a_row_that_is_committed_late_is_read(new_job, orders, clock):
    job = new_job(settle=SETTLE)
    orders.insert("A", 1, clock.time)
    orders.insert("B", 2, clock.time + SECOND)
    orders.commit("B")
    clock.time += SETTLE - SECOND
    job.run()
    assert job.copied == []
    orders.commit("A")
    clock.time += 2 * SECOND

    job.run()

    assert job.copied == [1, 2]


@pytest.mark.nightly
def test_with_lookback_a_late_row_is_read_together_with_rows_read_before(new_job, orders, clock):
    job = new_job(settle=NO_SETTLE, lookback=SETTLE)
    orders.insert("A", 1, clock.time)
    orders.insert("B", 2, clock.time + SECOND)
    orders.commit("B")
    job.run()
    orders.commit("A")
    job.run()
    assert job.copied == [2]  # it takes a newer row to look back at all
    orders.insert("C", 3, clock.time + 2 * SECOND)
    orders.commit("C")

    job.run()

    assert job.copied == [1, 2, 2, 3]


@pytest.mark.parametrize(("bounds", "copied"), [("(]", [1, 3]), ("[)", [1, 2])])
def test_tie_that_is_committed_late_is_read_only_if_the_upper_bound_was_not(
    new_job, orders, clock, bounds, copied
):
    job = new_job(settle=NO_SETTLE, bounds=bounds)
    orders.insert("A", 1, clock.time)
    orders.insert("B", 2, clock.time)
    orders.commit("A")
    job.run()
    orders.commit("B")
    job.run()
    orders.insert("C", 3, clock.time + SECOND)
    orders.commit("C")

    job.run()

    assert job.copied == copied


@pytest.mark.nightly
def test_ties_on_both_sides_of_a_bound_are_read_once(new_job, orders, clock):
    """Three orders in each of eight microseconds; a run after every four orders."""
    jobs = {bounds: new_job(settle=NO_SETTLE, bounds=bounds) for bounds in ("(]", "[)")}
    for order in range(24):
        orders.insert("A", order, clock.time + timedelta(microseconds=order // 3))
        orders.commit("A")
        if order % 4 == 3:
            jobs["[)"].run()
    orders.insert("A", 24, clock.time + SECOND)
    orders.commit("A")

    for job in jobs.values():
        job.run()

    assert jobs["(]"].copied == list(range(25))
    assert jobs["[)"].copied == list(range(24))


class Traffic:
    """Transactions that insert orders and end in any order, the last after MAX_SECONDS seconds."""

    def __init__(self, orders, clock, random: Random) -> None:
        self.orders = orders
        self.clock = clock
        self.begin = clock.time
        self.committed: list[int] = []
        self._events: list[tuple[int, str, int, int]] = []
        numbers = itertools.count(1)
        for transaction in range(TRANSACTIONS):
            begin = random.randrange(600)
            end = begin + random.choice((random.randrange(MAX_SECONDS), MAX_SECONDS))
            ids = list(itertools.islice(numbers, random.randint(1, 4)))
            # In whole seconds, so that there are ties; "insert" sorts before the "then ...".
            times = [begin, *(random.randint(begin, end) for _ in ids[1:])]
            self._events += [
                (at, "insert", transaction, n) for at, n in zip(times, ids, strict=True)
            ]
            is_committed = random.random() < 0.9
            self._events += [(end, f"then {'commit' * is_committed}", transaction, 0)]
            self.committed += ids if is_committed else []
        self._events.sort()

    def go_on(self, seconds: int) -> None:
        """Let time pass, and what happens in it."""
        self.clock.time += seconds * SECOND
        passed = (self.clock.time - self.begin) // SECOND
        while self._events and self._events[0][0] <= passed:
            at, event, transaction, order = self._events.pop(0)
            if event == "insert":
                self.orders.insert(str(transaction), order, self.begin + at * SECOND)
            elif event == "then commit":
                self.orders.commit(str(transaction))
            else:
                self.orders.rollback(str(transaction))


def copy_all(job: IngestJob, traffic: Traffic, random: Random) -> None:
    """Run the job now and then, some runs to their death; once more when all is committed."""
    for _ in range(RUNS):
        traffic.go_on(random.randint(40, 90))
        with suppress(DiedError):
            job.run(lambda: traffic.go_on(random.randint(0, 20)), dies=random.random() < 0.3)
    traffic.go_on(600 + 2 * SETTLE.seconds)
    job.run()


@pytest.mark.nightly
@pytest.mark.parametrize("bounds", ["(]", "[)"])
def test_with_settle_no_row_is_lost_or_doubled(new_job, orders, clock, bounds):
    random = Random(SEED)  # noqa: S311 - no secret
    traffic = Traffic(orders, clock, random)
    job = new_job(settle=SETTLE, bounds=bounds)

    copy_all(job, traffic, random)
    # What is at the greatest value is for "[)" still arriving.
    orders.insert("last", 0, clock.time)
    orders.commit("last")
    job.run()

    assert job.copied == traffic.committed
    assert len(job.copied) > 150
    assert job.repeated
    assert all(before == after for before, after in job.repeated)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "settle",
    [
        pytest.param(NO_SETTLE, id="none", marks=pytest.mark.nightly),
        pytest.param(SETTLE - 5 * SECOND, id="too short"),
    ],
)
def test_with_less_settle_the_same_traffic_loses_rows_and_doubles_none(
    new_job, orders, clock, settle
):
    random = Random(SEED)  # noqa: S311 - no secret
    traffic = Traffic(orders, clock, random)
    job = new_job(settle=settle)

    copy_all(job, traffic, random)

    assert set(job.copied) < set(traffic.committed)
    assert len(set(job.copied)) == len(job.copied)
