"""Which events a pattern of EventBridge matches."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.local_glue.port.eventbridge.patterns import faults_of_pattern, matches

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
        *([], {}, "x", None, {"source": "aws.s3"}, {"source": []}, {"source": [["x"]]}),
        *({"a": [{"prefix": 1}]}, {"a": [{"like": "x"}]}, {"a": [{}]}, {"$or": [{"a": ["x"]}]}),
        *({"a": [{"numeric": ["~", 1]}]}, {"a": [{"numeric": [">"]}]}, {"a": [{"exists": 1}]}),
        *({"a": [{"anything-but": []}]}, {"a": [{"anything-but": {"numeric": [">", 1]}}]}),
        {"a": [{"prefix": "x", "suffix": "y"}]},
    ],
)
def test_what_is_no_pattern_is_named(pattern):
    assert faults_of_pattern(pattern)


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
