"""Circles of triggers, and watermarks in two tables: named with the reason; the rest goes on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.tidemark.adopt.finds import PLAIN, WHOLE, found, trigger, why
from tidemark.adopt.adoption import adopt
from tidemark.errors import UsageError

CIRCLE = (trigger("t1", "a", after=("b",)), trigger("t2", "b", after=("a",)))


def names(adoption):
    return [job.old for job in adoption.jobs]


def marks(table):
    return PLAIN | {"DefaultArguments": {"--watermark_table": table}}


@pytest.mark.parametrize(
    ("circle", "told"),
    [
        (CIRCLE, {"a": "a <- b <- a", "b": "b <- a <- b"}),
        ((trigger("t", "a", after=("a",)),), {"a": "a <- a"}),
        (
            (
                trigger("t1", "a", after=("b",)),
                trigger("t2", "b", after=("crawler raw",)),
                trigger("t3", "crawler raw", after=("a",)),
            ),
            {"a": "a <- b <- crawler raw <- a", "crawler raw": "crawler raw <- a <- b <- crawler"},
        ),
    ],
)
def test_jobs_that_start_each_other_in_a_circle_are_named_and_the_rest_goes_on(circle, told):
    folder = WHOLE | {"Targets": {"S3Targets": [{"Path": "s3://acme-lake/raw/"}]}}
    jobs = {"a": PLAIN, "b": PLAIN, "free": PLAIN}
    first = trigger("start", "free") if len(circle) > 1 else trigger("start", "free", "b")
    adoption = adopt(found(jobs, first, *circle, crawlers={"raw": folder}))

    assert "free" in names(adoption)
    for node, text in told.items():
        assert node not in names(adoption)
        assert text in why(adoption)[node]
    listed = {*adoption.start_triggers, *adoption.other_triggers}
    assert listed.isdisjoint({one["Name"] for one in circle})


def test_what_waits_for_a_circle_is_left_out_too_and_says_so():
    adoption = adopt(
        found(
            {"a": PLAIN, "b": PLAIN, "after": PLAIN, "free": PLAIN},
            *CIRCLE,
            trigger("t3", "after", after=("b",)),
            trigger("t4", "free"),
        )
    )

    assert names(adoption) == ["free"]
    assert why(adoption)["after"] == "it waits for b, which is not adopted"


def test_a_trigger_that_stays_and_waits_for_what_moves_is_told():
    """Of the two starts of `a` one would never come again, since the old `d` runs no more."""
    starts = (trigger("t0", "a"), trigger("back", "a", after=("d",)))
    read = found({"a": PLAIN, "d": PLAIN}, *starts, trigger("then", "d", after=("a",)))
    resources = tuple(("AWS::Glue::Trigger", name) for name in ("t0", "back", "then"))

    adoption = adopt(replace(read, resources=resources))

    assert names(adoption) == ["d"]
    (left_out,) = adoption.left_out
    assert "back waits for d" in left_out.do
    others = {one.job.rpartition(" ")[2]: one for one in adoption.others}
    assert set(others) == {"t0", "back"}
    assert "waits for d" in others["back"].why
    assert "waits for" not in others["t0"].why


def test_a_circle_alone_is_refused_with_its_names():
    with pytest.raises(UsageError, match="a <- b <- a"):
        adopt(found({"a": PLAIN, "b": PLAIN}, *CIRCLE))


def test_jobs_with_another_table_of_watermarks_are_named_and_the_rest_goes_on():
    adoption = adopt(
        found(
            {"a": marks("one"), "b": marks("two"), "c": marks("two"), "d": PLAIN},
            trigger("start", "a", "b", "c", "d"),
        )
    )

    assert sorted(names(adoption)) == ["b", "c", "d"]
    assert "one" in why(adoption)["a"]
    assert "two" in why(adoption)["a"]
    assert {job.watermark_table for job in adoption.jobs} == {"two", None}


def test_the_table_is_chosen_by_what_can_be_adopted_with_it():
    """Of the two jobs of the table `one` none can be adopted: they are a circle."""
    adoption = adopt(
        found(
            {"a": marks("one"), "b": marks("one"), "c": marks("two")},
            *CIRCLE,
            trigger("start", "c"),
        )
    )

    assert names(adoption) == ["c"]
    assert "<-" in why(adoption)["a"]


def test_a_table_that_a_fixed_argument_names_counts():
    fixed = PLAIN | {"NonOverridableArguments": {"--watermark_table": "two"}}

    adoption = adopt(
        found(
            {"a": marks("one"), "b": marks("one"), "c": fixed},
            trigger("start", "a", "b", "c"),
        )
    )

    assert sorted(names(adoption)) == ["a", "b"]
    assert "two" in why(adoption)["c"]
