"""The experiments for a run, from what it changed."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import date

import pytest

from tidemark.local_state.lost_executor import Moment
from tidemark.local_state.operations import Operation
from tidemark.operate.prove.arrivals import in_parts
from tidemark.operate.prove.changes import described, is_hidden, is_state, named_after_day
from tidemark.operate.prove.crash_points import crashes, late_first, without_middles
from tidemark.operate.prove.findings import Finding
from tidemark.operate.prove.kinds.every import CHANGE_KINDS, KINDS, at_once
from tidemark.operate.prove.kinds.kind import FirstRun
from tidemark.operate.prove.kinds.machines import drawn_moments
from tidemark.operate.prove.prove import with_numbers

OUT = "s3://lake/out/"
RUN = [
    Operation(1, "jr_1", "put", (f"{OUT}a",), "job.py", 7),
    Operation(2, "jr_1", "put", (f"{OUT}b",), "job.py", 7),
    Operation(3, "jr_1", "put", (f"{OUT}c",), "job.py", 7),
    Operation(4, "jr_1", "bookmark", ("",), "job.py", 8),
]


def draws() -> random.Random:
    return random.Random(7)  # noqa: S311 (not a secret)


def test_a_late_file_follows_a_note_in_the_middle_first_and_a_definition_last():
    before = [
        Operation(1, "jr_1", "catalog", ("db.stage",), "job.py", 5),
        Operation(2, "jr_1", "catalog", ("db.orders",), "job.py", 6),
        Operation(3, "jr_1", "put", ("s3://lake/stage/a",), "job.py", 7),
        Operation(4, "jr_1", "bookmark", ("",), "job.py", 8),
        Operation(5, "jr_1", "put", (f"{OUT}a",), "job.py", 9),
    ]

    assert [one.after for one in late_first(before)] == [4, 3, 5, 1, 2]


def test_of_crashes_that_tell_as_much_those_around_a_note_come_first():
    run = [
        Operation(1, "jr_1", "catalog", ("db.stage",), "job.py", 5),
        Operation(2, "jr_1", "put", (f"{OUT}a",), "job.py", 7),
        Operation(3, "jr_1", "bookmark", ("",), "job.py", 8),
    ]

    assert [one.after for one in crashes(run)] == [2, 3, 1]


@pytest.mark.parametrize(
    "name",
    ["00001-9b.metadata.json", "snap-72-1-ab.avro", "ab-m0.avro", "20_1.stats"],
)
def test_metadata_of_iceberg_are_hidden_until_the_catalog_names_them(name):
    written = Operation(1, "jr_1", "put", (f"s3://wh/db.db/t/metadata/{name}",), "job.py", 7)

    assert is_hidden(written)
    assert not is_hidden(replace(written, places=("s3://wh/db.db/t/data/00000-0-a.parquet",)))


def test_titles_that_are_the_same_are_numbered():
    found = [Finding(one, "equal") for one in (*crashes([RUN[1], RUN[1], RUN[3]]),)]

    titles = [one.experiment.title.rpartition(")")[2] for one in with_numbers(found)]

    assert sorted(titles) == ["", ", 1 of 2", ", 2 of 2"]


def test_there_is_a_crash_after_each_operation_with_the_edge_of_a_commit_first():
    assert [one.after for one in crashes(RUN)] == [3, 4, 1, 2]


def test_within_a_write_of_spark_there_are_crashes_at_its_ends_and_after_each_request():
    puts = [Operation(at, "jr_1", "put", (f"{OUT}{at}",), "job.py", 7) for at in range(1, 7)]
    of_spark = [replace(put, is_of_jvm=True) for put in puts]
    noted = Operation(7, "jr_1", "bookmark", ("",), "job.py", 8)

    def tried(run: list[Operation]) -> list[int]:
        return sorted(crash.after for crash in without_middles(crashes([*run, noted])))

    assert tried(puts) == [1, 2, 3, 4, 5, 6, 7]
    assert tried(of_spark) == [1, 5, 6, 7]


def test_a_crash_in_a_repair_names_the_deaths_before_it():
    first = crashes(RUN)[0]

    second = crashes(RUN[3:], repairs=first)[0]
    third = crashes(RUN[3:], repairs=second)[0]

    assert [crash.deaths for crash in (first, second, third)] == [1, 2, 3]
    assert third.title.startswith(f"{first.title}, then in the next run after committing")


@pytest.mark.parametrize(
    ("place", "hidden"),
    [
        (f"{OUT}_temporary/0/part-0", True),
        (f"{OUT}.spark-staging-1/day=1/part-0", True),
        (f"{OUT}_SUCCESS", True),
        (f"{OUT}_day=1/part-0", False),
        (f"{OUT}day=_1/part-0", False),
        ("s3://_bucket/part-0", False),
    ],
)
def test_objects_are_hidden_by_their_names(place, hidden):
    assert is_hidden(Operation(1, "jr_1", "delete", (place,))) is hidden
    assert is_hidden(Operation(1, "jr_1", "copy", (f"{OUT}a", place))) is hidden
    assert not is_hidden(Operation(1, "jr_1", "rename", (f"{OUT}a", place)))


def test_every_kind_is_planned_besides_those_of_changes():
    plan = at_once(FirstRun(4, looks=2))

    kinds = [experiment.kind for experiment in plan]
    assert list(dict.fromkeys(kinds)) == [kind for kind in KINDS if kind not in CHANGE_KINDS]
    assert not [experiment for experiment in plan if experiment.not_tried]


def test_executors_are_lost_after_the_first_change_and_at_moments_that_are_drawn():
    assert drawn_moments(RUN, draws(), 1) == [Moment()]

    found = drawn_moments(RUN, draws(), 3)

    assert found == drawn_moments(RUN, draws(), 3)
    assert len(set(found)) == 3
    assert all(one.number <= 3 for one in found)
    titles = {one.title for one in at_once(FirstRun(4, moments=found)) if one.kind == "executors"}
    assert len(titles) == 3


@pytest.mark.parametrize(
    ("looks", "after"),
    [(0, []), (1, []), (2, [1]), (3, [1, 2]), (4, [1, 2, 3]), (9, [1, 4, 8])],
)
def test_a_file_arrives_between_two_listings(looks, after):
    found = [one for one in at_once(FirstRun(4, looks)) if one.kind == "reading"]

    assert [one.look for one in found if not one.not_tried] == after
    assert bool(after) is not any(one.not_tried for one in found)


@pytest.mark.parametrize(
    ("files", "not_tried"),
    [
        (1, {"parts", "order", "meanwhile", "reading", "tied"}),
        (0, {"parts", "order", "meanwhile", "reading", "tied", "twice", "replaced", "drift"}),
    ],
)
def test_what_cannot_be_tried_says_why(files, not_tried):
    plan = at_once(FirstRun(files, impossible={"together": "MaxConcurrentRuns of job is 1"}))

    found = {one.kind: one.not_tried for one in plan if one.not_tried}
    assert found.pop("together") == "MaxConcurrentRuns of job is 1"
    assert found.keys() == not_tried


def test_a_file_may_have_the_time_of_another_or_an_earlier_one():
    tied = [experiment for experiment in at_once(FirstRun(2)) if experiment.kind == "tied"]

    assert [experiment.is_dated_earlier for experiment in tied] == [False, True]
    assert len({experiment.title for experiment in tied}) == 2


def test_a_crash_after_a_line_has_begun_to_delete_comes_before_those_of_its_writes():
    run = [
        Operation(1, "jr_1", "put", ("s3://lake/other/a",), "job.py", 5),
        Operation(2, "jr_1", "delete", (f"{OUT}a",), "job.py", 7),
        Operation(3, "jr_1", "delete", (f"{OUT}b",), "job.py", 7),
        Operation(4, "jr_1", "put", (f"{OUT}c",), "job.py", 7),
        Operation(5, "jr_1", "bookmark", ("",), "job.py", 8),
    ]

    assert [one.after for one in crashes(run)] == [2, 4, 5, 1, 3]


@pytest.mark.parametrize(
    ("operation", "state"),
    [
        (RUN[0], False),
        (RUN[3], True),
        (Operation(5, "jr_1", "request", ("dynamodb UpdateItem marks",)), True),
        (Operation(5, "jr_1", "request", ("dynamodb CreateTable marks",)), False),
        (Operation(5, "jr_1", "request", ("sns Publish topic",)), False),
        (Operation(5, "jr_1", "catalog", ("sales.orders",)), False),
    ],
)
def test_bookmarks_and_items_of_dynamodb_say_how_far_a_job_is(operation, state):
    assert is_state(operation) is state


def test_a_file_arrives_after_the_most_telling_crashes_first():
    late = late_first(RUN)

    assert [crash.after for crash in late] == [3, 4, 1, 2]
    assert all(crash.is_late for crash in late)
    assert "a file arrives before the next run" in late[0].title


def test_an_operation_is_described_by_its_target_and_line():
    assert described(RUN[0]) == f"writing {OUT}a (job.py line 7)"
    copied = Operation(1, "jr_1", "copy", (f"{OUT}_temporary/a", f"{OUT}a"))
    assert described(copied) == f"copying to {OUT}a"
    attempt = "_temporary/0/_temporary/attempt_2026112921233276_0001_m_000000_2/part-0.json"
    deleted = Operation(1, "jr_1", "delete", (f"{OUT}{attempt}",))
    assert described(deleted) == f"deleting {OUT}_temporary/…/part-0.json"


@pytest.mark.parametrize(("count", "parts"), [(1, [1]), (2, [1, 1]), (3, [1, 2]), (8, [4, 4])])
def test_files_are_parted_in_their_order(count, parts):
    files = [f"f{number}" for number in range(count)]

    found = in_parts(files)

    assert [len(part) for part in found] == parts
    assert [file for part in found for file in part] == files


def test_of_what_is_named_after_the_day_the_place_that_readers_see_is_told():
    staged = f"{OUT}.spark-staging-1/day=2026-11-30/a.json"
    places = [staged, f"{OUT}day=2026-11-30/a.json"]
    puts = [Operation(at, "jr_1", "put", (place,)) for at, place in enumerate(places, 1)]

    assert named_after_day(puts, date(2026, 11, 30)) == f"{OUT}day=2026-11-30"
    assert named_after_day(puts[:1], date(2026, 11, 30)) == staged.removesuffix("/a.json")


@pytest.mark.parametrize(
    ("key", "named"),
    [
        ("day=2026-11-30/a.json", "day=2026-11-30"),
        ("20261130/a.json", "20261130"),
        ("year=2026/month=11/day=30/a.json", "year=2026/month=11/day=30"),
        ("2026/11/30/12/a.json", "2026/11/30"),
        ("orders_2026-11-30.json", "orders_2026-11-30"),
        ("hour=2026113019/a.json", "hour=20261130"),
        ("2026-11-30-19/a.json", "2026-11-30"),
        ("20261130_195816/a.json", None),
        ("2026-11-30T19:58/a.json", None),
        ("120261130/a.json", None),
        ("day=2026-11-29/a.json", None),
    ],
)
def test_what_is_named_after_the_day_is_told_from_what_each_run_names_anew(key, named):
    put = Operation(1, "jr_1", "put", (f"{OUT}{key}",), "job.py", 7)

    assert named_after_day([put], date(2026, 11, 30)) == (f"{OUT}{named}" if named else "")
