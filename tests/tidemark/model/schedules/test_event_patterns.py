"""What EventBridge refuses, or would match anything, is told of a pattern before it is deployed."""

import pytest

from tidemark.model.schedules.event_patterns import find_problems


@pytest.mark.parametrize(
    ("pattern", "why"),
    [
        (None, "not an event pattern"),
        ("source", "not an event pattern"),
        ({}, "not an event pattern"),
        ({"source": "acme"}, "not an event pattern"),
        ({"source": []}, "not an event pattern"),
        ({"detail-type": ["x"]}, "names no source"),
        ({"source": [{"prefix": ""}]}, "any string"),
        ({"source": ["a", {"wildcard": "*"}], "detail-type": ["x"]}, "any string"),
        ({"source": [{"exists": True}]}, "any string"),
        ({"source": ["a"], "detail": {}}, "not an event pattern"),
        ({"source": ["a"], "detail": ["x"]}, "whose detail is not a dict"),
        ({"source": ["a"], "what": ["x"]}, "'what' no event has"),
        ({"source": ["a"], 7: ["x"]}, "not an event pattern"),
        ({"source": ["a"], "detail": {"x": {1}}}, "not an event pattern"),
        ({"source": ["a"], "detail": {"x": [{1}]}}, "detail.x has {1}"),
        ({"source": ["a"], "detail": {"x": [float("nan")]}}, "detail.x has nan"),
        ({"source": ["a"], "$or": [{"region": [None]}, {"account": ["1"]}]}, "has null"),
        ({"source": ["a"], "detail": {"x": [None]}}, "has null"),
        ({"source": ["a" * 2_050]}, "characters"),
    ],
)
def test_what_is_no_pattern_is_told(pattern, why):
    assert why in (find_problems(pattern) or "")


@pytest.mark.parametrize(
    "pattern",
    [
        {"source": ["a"]},
        {"source": ["a"], "detail": {"x": [{"anything-but": {"prefix": "y"}}, 5, True]}},
        {"source": ["a"], "$or": [{"region": ["x"]}, {"account": ["1"]}]},
        {"source": ["a"], "detail": {"n": [{"numeric": [">=", 0, "<", 1.5]}, {"exists": False}]}},
    ],
)
def test_what_eventbridge_takes_is_taken(pattern):
    assert find_problems(pattern) is None
