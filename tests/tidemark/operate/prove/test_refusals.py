"""Which requests of a run are let fail, and how."""

from __future__ import annotations

import random
from dataclasses import replace

from tidemark.local_state.operations import AwsRead, Operation
from tidemark.operate.prove.changes import place_of, with_short_calls
from tidemark.operate.prove.items import with_items
from tidemark.operate.prove.refusals import MANY, done_before_failure, refusals

OUT = "s3://lake/out/"
PUT = Operation(1, "jr_1", "put", (f"{OUT}a",), "job.py", 7, ("job.py line 7",))
KEPT = [replace(PUT, number=at) for at in (1, 2)]
READ = AwsRead(1, "jr_1", "s3 HeadObject s3://lake/out/a", 0, ("job.py line 5",))


def ways(run, requests=(), **options):
    return [(one.after, one.how) for one in refusals(run, requests, **options)]


def test_every_change_after_which_the_run_may_go_on_is_refused_and_unanswered():
    refused, unanswered = [(1, "refused"), (2, "refused")], [(1, "unanswered"), (2, "unanswered")]

    assert ways(KEPT) == [*refused, *unanswered]


def test_a_request_that_changes_several_objects_fails_as_a_whole_or_is_done_by_half():
    deleted = [replace(put, kind="delete", continues=put.number > 1, in_part=True) for put in KEPT]

    assert ways(deleted) == [(1, "refused"), (1, "unanswered"), (1, "half done")]


def test_what_ends_the_run_is_a_crash_and_is_not_tried_again():
    ends = [replace(one, may_go_on=False) for one in KEPT]

    assert ways(ends) == []
    assert ways([], [replace(READ, may_go_on=False)]) == []


def test_one_task_of_a_write_of_spark_is_refused_whoever_keeps_the_error():
    by_spark = [replace(one, is_of_jvm=True, may_go_on=False) for one in KEPT]

    assert ways(by_spark) == [(1, "refused")]
    assert len(ways(by_spark, draws=random.Random(7), moments=2)) == 2  # noqa: S311 (no secret)


def test_every_kind_of_change_may_be_refused():
    noted = Operation(1, "jr_1", "bookmark", ("",), "job.py", 9)
    deleted = Operation(2, "jr_1", "delete", (f"{OUT}a",), "job.py", 10)
    items = Operation(3, "jr_1", "items", ("dynamodb:orders",), "job.py", 11)
    sent = Operation(4, "jr_1", "request", ("sns Publish topic",), "job.py", 12)

    found = ways([noted, deleted, items, sent])

    assert {after for after, how in found if how == "refused"} == {1, 2, 3, 4}
    assert {after for after, how in found if how == "unanswered"} == {1, 2, 3, 4}


def test_reads_are_refused_and_batches_are_done_by_half():
    batch = replace(READ, number=2, place="dynamodb BatchGetItem orders", may_go_on=False)
    written = replace(PUT, kind="request", may_go_on=False, in_part=True)

    assert ways([], [READ, batch]) == [(0, "refused"), (0, "half done")]
    assert ways([written]) == [(1, "half done")]


def test_one_object_that_spark_opens_is_refused_for_each_line():
    opened = [replace(READ, number=0, place=f"spark GetObject s3://lake/in/{at}") for at in "abc"]
    elsewhere = replace(opened[0], calls=("job.py line 9",))
    ends = replace(opened[0], calls=("job.py line 10",), may_go_on=False)

    made = refusals([], [*opened, elsewhere, ends])

    assert [experiment.request for experiment in made] == [opened[0], elsewhere]


def test_a_batch_of_partitions_is_read_by_half():
    read = replace(READ, place="glue BatchGetPartition days", may_go_on=False)

    assert ways([], [read]) == [(0, "half done")]


def test_a_batch_of_items_is_done_by_half_whichever_tables_are_compared():
    made = Operation(
        1,
        "jr_1",
        "request",
        ("dynamodb BatchWriteItem a, b",),
        "job.py",
        7,
        may_go_on=False,
        in_part=True,
    )

    (items,) = with_items([made], ["b"])

    assert ways([items]) == ways([made]) == [(1, "half done")]
    assert items.places[1:] == ("dynamodb:a", "dynamodb:b")


def test_of_very_many_the_ends_of_each_line_are_tried_and_the_rest_is_counted():
    many = [replace(PUT, number=at) for at in range(1, MANY + 3)]

    *tried, left = refusals(many)

    assert [one.after for one in tried if one.how == "refused"] == [1, 2, MANY + 2]
    assert left.is_open
    assert left.title.startswith(f"{MANY - 1} more requests")


def test_a_line_that_others_call_is_named_with_the_line_that_called_it():
    def called(number: int, *lines: int) -> Operation:
        calls = tuple(f"job.py line {line}" for line in lines)
        return replace(PUT, number=number, line=lines[-1], calls=calls)

    found = with_short_calls([called(1, 30, 20, 3), called(2, 30, 21, 3), called(3, 30, 9)])

    assert list(map(place_of, found)) == [
        "job.py line 3 from line 20",
        "job.py line 3 from line 21",
        "job.py line 9",
    ]


def test_what_a_run_changes_after_a_request_has_failed_begins_behind_it():
    _, second_refused, first_unanswered, _ = refusals(KEPT)
    [of_read] = refusals([], [replace(READ, done=1)])

    errors = (second_refused, first_unanswered, of_read)
    assert [done_before_failure(KEPT, error) for error in errors] == [1, 1, 1]
