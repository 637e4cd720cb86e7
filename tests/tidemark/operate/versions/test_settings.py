"""Which settings are found that bring an old result back."""

from __future__ import annotations

import pytest

from tidemark.operate.versions.compare import find_settings

KNOWN = ("a", "b", "c", "d")


@pytest.mark.parametrize(
    ("differing", "left", "found"),
    [
        (2, {"a": 0}, ("a",)),
        (2, {"b": 0, "abcd": 0}, ("b",)),
        (2, {"a": 1, "c": 1, "ac": 0, "abcd": 0}, ("a", "c")),
        (2, {"abcd": 0}, KNOWN),
        (2, {"a": 1, "c": 1, "ac": 1, "abcd": 0}, KNOWN),
        (2, {"a": 1, "b": 1, "abcd": 1}, ("a",)),
        (2, {"a": 1, "abcd": 2}, ("a",)),
        (2, {}, ()),
    ],
)
def test_as_few_settings_as_bring_most_back(differing, left, found):
    asked = []

    def left_with(settings):
        asked.append("".join(settings))
        return left.get(asked[-1], differing)

    assert find_settings(left_with, differing, KNOWN) == found
    assert len(asked) == len(set(asked))
