"""Plans: what is run in which parts, and what is told of rows that are there."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tidemark.operate.backfill.test_ledger import EVIDENCE, RANGES, STALE
from tests.tries import tries
from tidemark.errors import UsageError
from tidemark.model.checkpoints.checkpoint import Checkpoint, DatasetRead, DatasetWritten
from tidemark.operate.backfill.ledger import (
    TO_RUN,
    Evidence,
    Folder,
    Interval,
    Loaded,
    RangeState,
    ledger,
)
from tidemark.operate.backfill.plan import Targets, plan, rest_of, targets_of
from tidemark.operate.backfill.ranges import Span, Unit
from tidemark.operate.rewind.datasets import DataFlow

NUMBER = Unit.NUMBER


def points(ranges) -> list[int]:
    return [point for it in ranges for point in range(it.low, it.high)]


@settings(max_examples=tries(50))
@given(RANGES, EVIDENCE, st.data())
def test_only_missing_runs_exactly_what_can_be_loaded_and_nothing_twice(asked, evidence, data):
    parts = data.draw(st.integers(1, asked.size))
    intervals = ledger(asked, evidence)

    found = plan("job", NUMBER, asked, parts, intervals, only_missing=True)

    wanted = [it.range for it in intervals if it.state in TO_RUN and not it.is_empty]
    assert points(found.parts) == points(wanted)


@settings(max_examples=tries(50))
@given(RANGES, EVIDENCE, st.data())
def test_an_interrupted_backfill_runs_only_what_is_missing_when_it_is_repeated(
    asked, evidence, data
):
    """After any number of parts, the rest in other parts; then nothing is left."""
    size = st.integers(1, asked.size)
    first = plan(
        "job", NUMBER, asked, data.draw(size), ledger(asked, evidence), only_missing=True
    ).parts
    done = first[: data.draw(st.integers(0, len(first)))]
    loaded = [*evidence.loaded, *(Loaded(it.low, it.high, 100) for it in done)]
    after = replace(evidence, loaded=loaded)

    again = plan(
        "job", NUMBER, asked, data.draw(size), ledger(asked, after), only_missing=True
    ).parts

    assert sorted(points(done) + points(again)) == points(first)


@settings(max_examples=tries(50))
@given(RANGES, EVIDENCE, st.data())
def test_all_is_run_in_as_many_parts_as_are_asked_for(asked, evidence, data):
    parts = data.draw(st.integers(1, asked.size))

    found = plan("job", NUMBER, asked, parts, ledger(asked, evidence))

    assert len(found.parts) == parts
    assert points(found.parts) == points([asked])
    assert found.skipped == ()
    done = data.draw(st.integers(0, parts))
    rest = rest_of(found, found.parts[:done])
    assert points(found.parts[done:]) == (points([rest]) if rest else [])


def test_parts_are_cut_the_same_whatever_is_missing_of_them():
    day = date(2013, 1, 1).toordinal()
    asked = Span(day, day + 8)
    evidence = Evidence([Loaded(day + 1, day + 3, 1)])

    found = plan("job", Unit.DAY, asked, 2, ledger(asked, evidence), only_missing=True)

    assert [it.text(Unit.DAY) for it in found.parts] == [
        "2013-01-01",
        "2013-01-04",
        "2013-01-05 to 2013-01-08",
    ]
    assert [it.state for it in found.skipped] == [RangeState.DONE]


def test_days_without_files_are_not_run():
    asked = Span(1, 4)
    evidence = Evidence(folders=[Folder(Span(2, 3), 1, 1)], is_listed=True)

    found = plan("job", NUMBER, asked, 1, ledger(asked, evidence), only_missing=True)

    assert found.parts == (Span(2, 3),)
    assert [it.is_empty for it in found.skipped] == [True, True]


def test_more_parts_than_points_are_refused():
    with pytest.raises(UsageError, match="--parts 4 is more than the 3 numbers of 1 to 3"):
        plan("job", NUMBER, Span(1, 4), 4, [])


DONE_ONE = [Interval(Span(1, 3), RangeState.DONE), Interval(Span(3, 4), RangeState.MISSING)]


def writes(mode: str) -> tuple[DatasetWritten, ...]:
    return (DatasetWritten("s3://raw/a/", mode),)


@pytest.mark.parametrize(
    ("mode", "only_missing", "told"),
    [
        ("append", False, "runs add to s3://raw/a/: rows of 2 numbers that were loaded before"),
        ("window", False, "runs add to s3://raw/a/: rows of 2 numbers that were loaded before"),
        ("unknown", False, "how runs write s3://raw/a/ is not known"),
        ("overwrite", True, "a run replaces all of s3://raw/a/"),
        ("append", True, ""),
        ("merge", False, ""),
        ("overwrite_partitions", False, ""),
    ],
)
def test_what_becomes_of_rows_that_are_there_is_told(mode, only_missing, told):
    targets = Targets(writes(mode), is_known=True)

    planned = plan("job", NUMBER, Span(1, 4), 1, DONE_ONE, targets, only_missing=only_missing)

    assert [told in it for it in planned.warnings] == ([True] if told else [])


def test_rows_of_stale_points_are_there_already():
    stale = [Interval(Span(1, 4), STALE)]

    planned = plan(
        "job", NUMBER, Span(1, 4), 1, stale, Targets(writes("append")), only_missing=True
    )

    assert planned.warnings == (
        "unless the script does otherwise when it fills a range, runs add to s3://raw/a/: rows of "
        "3 numbers that were loaded before will be there twice",
    )


def test_rows_that_the_next_run_loads_too_are_told_by_how_that_run_writes():
    targets = Targets(writes("overwrite_partitions"), writes("append"), is_known=True)
    intervals = [Interval(Span(1, 3), RangeState.DONE), Interval(Span(3, 4), STALE, is_ahead=True)]

    assert plan("job", NUMBER, Span(1, 4), 1, intervals, targets).warnings == (
        "the next incremental run reads 1 number of this as well, and adds to s3://raw/a/: their "
        "rows will be there twice",
    )


def test_targets_are_those_of_the_newest_runs_of_each_kind():
    fills = {"--backfill_from": "1", "--backfill_to": "2"}
    ones = [
        Checkpoint("orders", "jr_1", 1, written=writes("unknown")),
        Checkpoint("orders", "jr_2", 2, written=writes("append")),
        Checkpoint("orders", "jr_3", 3, written=writes("merge"), arguments=fills),
        Checkpoint("orders", "jr_4", 4),
    ]

    assert targets_of(ones) == Targets(writes("merge"), writes("append"), is_known=True)
    assert targets_of(ones[:2]) == Targets(writes("append"), writes("append"))


LOG = "table:db.log"


def table(mode: str, snapshots: tuple[str, ...] = ()) -> tuple[DatasetWritten, ...]:
    return (DatasetWritten(LOG, mode, snapshots=snapshots),)


def planned(written: DatasetWritten, transforms=None, flows=()):
    fills = {"--backfill_from": "1", "--backfill_to": "2"}
    ones = [
        Checkpoint("orders", "jr_1", 1, written=table("append")),
        Checkpoint("orders", "jr_2", 2, written=written, arguments=fills),
    ]
    targets = targets_of(ones, lambda write: transforms)
    return plan("job", NUMBER, Span(1, 4), 1, DONE_ONE, targets, flows).warnings


CLEARING = (
    "`tidemark rewind --clear` cannot take table:db.log back to before this afterwards: it takes "
    "back the snapshots of incremental runs, and none of a backfill"
)


@pytest.mark.parametrize(
    ("mode", "transforms", "told"),
    [
        ("append", None, "runs add to table:db.log: rows of 2 numbers that were loaded before"),
        ("merge", None, ""),
        ("overwrite_partitions", None, ""),
        ("overwrite_partitions", ("day",), ""),
        ("overwrite_partitions", ("month", "identity"), ""),
        ("overwrite_partitions", (), "a run replaces all of table:db.log"),
        ("overwrite_partitions", ("month",), "a run replaces whole partitions of table:db.log"),
    ],
)
def test_what_becomes_of_a_table_of_iceberg_is_told(mode, transforms, told):
    *first, last = planned(table(mode), transforms)

    assert last == CLEARING
    assert [one.startswith(told) for one in first] == ([True] if told else [])


@pytest.mark.parametrize(("mode", "fails"), [("append", False), ("merge", True)])
def test_a_reader_of_snapshots_is_told_of_rows_that_are_replaced(mode, fails):
    read = DatasetRead(LOG, after={"kind": "snapshots", "values": {}})
    flow = DataFlow("job", "clean", *table("append"), read)

    told = [one for one in planned(table(mode), flows=[flow]) if "clean reads" in one]

    assert ["SnapshotRewrittenError" in one for one in told] == ([True] if fails else [])
