"""Which events a pattern of EventBridge matches."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from tidemark.model.schedules.event_matching import OPERATORS, matches
from tidemark.model.schedules.event_patterns import OPERANDS, faults_of_pattern, find_problems

EVENT = {
    "source": "aws.s3",
    "detail": {
        "bucket": {"name": "landing"},
        "object": {"key": "orders/2026/A.csv", "size": 12},
        "tags": ["a", "b"],
        "parts": [{"n": 1, "of": "x"}, {"n": 2, "of": "y"}],
        "ip": "10.0.0.7",
        "none": None,
        "yes": True,
    },
}
DETAIL = {
    "exact": {"bucket": {"name": ["other", "landing"]}},
    "one of a list": {"tags": ["b"]},
    "number": {"object": {"size": [12.0]}},
    "null": {"none": [None]},
    "true": {"yes": [True]},
    "prefix": {"object": {"key": [{"prefix": "orders/"}]}},
    "prefix, any case": {"object": {"key": [{"prefix": {"equals-ignore-case": "ORD"}}]}},
    "suffix": {"object": {"key": [{"suffix": ".csv"}]}},
    "any case": {"bucket": {"name": [{"equals-ignore-case": "LANDING"}]}},
    "wildcard": {"object": {"key": [{"wildcard": "orders/*/*.csv"}]}},
    "numeric": {"object": {"size": [{"numeric": [">", 0, "<=", 12]}]}},
    "anything but": {"bucket": {"name": [{"anything-but": ["a", "b"]}]}},
    "anything but a prefix": {"object": {"key": [{"anything-but": {"prefix": ["in/", "x"]}}]}},
    "exists": {"ip": [{"exists": True}]},
    "does not exist": {"nothing": [{"exists": False}]},
    "cidr": {"ip": [{"cidr": "10.0.0.0/24"}]},
    "or": {"$or": [{"ip": ["1.1.1.1"]}, {"object": {"size": [12]}}]},
    "fields of an item of a list": {"parts": {"n": [2], "of": ["y"]}},
}
NOT = {
    "exact": {"bucket": {"name": ["Landing"]}},
    "text is no number": {"object": {"size": ["12"]}},
    "true is no number": {"yes": [1]},
    "a field that is not there": {"nothing": ["x"]},
    "anything but, not there": {"nothing": [{"anything-but": "x"}]},
    "one field of two": {"bucket": {"name": ["landing"], "arn": ["x"]}},
    "wildcard, a star that is meant": {"object": {"key": [{"wildcard": r"orders/\*.csv"}]}},
    "numeric": {"object": {"size": [{"numeric": [">", 0, "<", 12]}]}},
    "numeric of a text": {"ip": [{"numeric": [">", 0]}]},
    "anything but one of a list": {"bucket": {"name": [{"anything-but": ["landing"]}]}},
    "anything but a suffix": {"object": {"key": [{"anything-but": {"suffix": ".csv"}}]}},
    "exists on what has fields": {"bucket": [{"exists": True}]},
    "cidr of a name": {"bucket": {"name": [{"cidr": "10.0.0.0/24"}]}},
    "or": {"$or": [{"ip": ["1.1.1.1"]}, {"object": {"size": [13]}}]},
    "fields of different items": {"parts": {"n": [1], "of": ["y"]}},
}


@pytest.mark.parametrize("name", DETAIL)
def test_a_pattern_matches(name):
    pattern = {"source": ["aws.s3"], "detail": DETAIL[name]}

    assert faults_of_pattern(pattern) == []
    assert matches(pattern, EVENT)


@pytest.mark.parametrize("name", NOT)
def test_a_pattern_does_not_match(name):
    pattern = {"detail": NOT[name]}

    assert faults_of_pattern(pattern) == []
    assert not matches(pattern, EVENT)


@pytest.mark.parametrize(
    "pattern",
    [
        [],
        {},
        "x",
        None,
        {"source": "aws.s3"},
        {"source": []},
        {"source": [["x"]]},
        {"a": [{"prefix": 1}]},
        {"a": [{"like": "x"}]},
        {"a": [{}]},
        {"$or": [{"a": ["x"]}]},
        {"a": [{"numeric": ["~", 1]}]},
        {"a": [{"numeric": [">"]}]},
        {"a": [{"exists": 1}]},
        {"a": [{"anything-but": []}]},
        {"a": [{"anything-but": {"numeric": [">", 1]}}]},
        {"a": [{"prefix": "x", "suffix": "y"}]},
    ],
)
def test_what_is_no_pattern_is_named(pattern):
    assert faults_of_pattern(pattern)


BIG = 5_000_000_001
TAKEN = {
    "prefix, any case": [{"prefix": {"equals-ignore-case": "a"}}],
    "an empty text": [""],
    "numbers and texts": [1, "1", True, -1.5],
    "a bound": [{"numeric": ["<", 5]}],
    "two bounds": [{"numeric": [">=", 0, "<", 5]}],
    "not one of texts": [{"anything-but": ["a", "b"]}],
    "not one of numbers": [{"anything-but": [1, 2]}],
    "not a wildcard": [{"anything-but": {"wildcard": "*/lib/*"}}],
    "not one of suffixes": [{"anything-but": {"suffix": [".png", ".jpg"]}}],
    "a block with an address of it": [{"cidr": "10.0.0.7/24"}],
    "a block of version 6": [{"cidr": "2001:db8::/32"}],
    "a star that is meant": [{"wildcard": r"a\*\\*"}],
}
REFUSED = {
    "prefix of a number": [{"prefix": 5}],
    "suffix of a list": [{"suffix": ["a"]}],
    "prefix of another operator": [{"prefix": {"suffix": "a"}}],
    "cidr of a number": [{"cidr": 1}],
    "cidr of a name": [{"cidr": "nonsense"}],
    "cidr without a mask": [{"cidr": "10.0.0.1"}],
    "cidr of a large mask": [{"cidr": "10.0.0.0/33"}],
    "anything-but of nothing": [{"anything-but": []}],
    "anything-but of an empty prefix": [{"anything-but": {"prefix": ""}}],
    "anything-but of objects": [{"anything-but": [{"prefix": "a"}]}],
    "anything-but of numeric": [{"anything-but": {"numeric": [">", 1]}}],
    "anything-but of null": [{"anything-but": None}],
    "anything-but of a boolean": [{"anything-but": [True]}],
    "anything-but of texts and numbers": [{"anything-but": ["a", 1]}],
    "a list in a list": [["a"]],
    "equals-ignore-case of a number": [{"equals-ignore-case": 1}],
    "equals-ignore-case of a list": [{"equals-ignore-case": ["a"]}],
    "two stars": [{"wildcard": "a**"}],
    "a backslash before a letter": [{"wildcard": r"a\b"}],
    "bounds in the other order": [{"numeric": ["<", 5, ">", 0]}],
    "bounds without numbers between": [{"numeric": [">", 5, "<", 5]}],
    "equal, and a bound": [{"numeric": ["=", 5, "<", 9]}],
    "a large number": [{"numeric": ["=", BIG]}],
    "a boolean as a number": [{"numeric": ["=", True]}],
    "exists of a text": [{"exists": "true"}],
    "two operators in one": [{"prefix": "a", "suffix": "b"}],
    "no operator": [{}],
    "an operator that is none": [{"like": "a"}],
    "a number that is none": [float("nan")],
    "$or of one": {"$or": [{"a": [1]}]},
    "$or of no patterns": {"$or": [1, 2]},
    "$or with a fault in it": {"$or": [{"a": [1]}, {"b": [{"cidr": "x"}]}]},
    "nothing": [],
    "no list": "a",
    "too long": ["a" * 2_048],
}


def with_detail(value):
    return {"source": ["my.app"], "detail": value if isinstance(value, dict) else {"x": value}}


@pytest.mark.parametrize("name", TAKEN)
def test_what_eventbridge_takes_is_taken_at_synthesis_and_by_the_port(port, name):
    pattern = with_detail(TAKEN[name])
    port.client("events").put_rule(Name="taken", EventPattern=json.dumps(pattern))

    assert find_problems(pattern) is None
    assert matches(pattern, EVENT) in (True, False)


@pytest.mark.parametrize("name", REFUSED)
def test_what_eventbridge_refuses_is_refused_at_synthesis_and_by_the_port(port, name):
    pattern = with_detail(REFUSED[name])
    with pytest.raises(ClientError) as caught:
        port.client("events").put_rule(Name="refused", EventPattern=json.dumps(pattern))

    assert caught.value.response["Error"]["Code"] == "InvalidEventPatternException"
    assert "not an event pattern" in (find_problems(pattern) or "")


def test_a_wildcard_of_many_stars_is_judged_at_once():
    pattern = {"a": [{"wildcard": "*a" * 30 + "b"}]}

    assert not matches(pattern, {"a": "a" * 5000})
    assert matches(pattern, {"a": "a" * 5000 + "b"})


def test_every_operator_that_is_taken_can_be_matched():
    assert set(OPERANDS) == {*OPERATORS, "exists"}


LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.sampled_from(["", "a", "ab"]))
JSON = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["a", "b", "$or", "prefix", "numeric", "exists", "anything-but", "cidr"]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "b", "$or"]), JSON), st.dictionaries(st.text(), JSON))
def test_what_is_taken_as_a_pattern_can_be_matched_against_anything(pattern, event):
    if not faults_of_pattern(pattern):
        assert matches(pattern, json.loads(json.dumps(event))) in (True, False)
