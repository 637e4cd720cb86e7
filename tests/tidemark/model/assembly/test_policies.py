"""What a role lacks is printed, and what it allows is not; what is not sure counts as missing."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark.model.assembly.policies import covers, missing

READ = {"Effect": "Allow", "Action": ["s3:GetObject", "s3:PutObject"], "Resource": "arn:lake/a/*"}
SEEN = {"StringEquals": {"aws:x": "y"}}
PATTERNS = st.text("ab*?", max_size=5)


def allow(action, resource="*", **more):
    return {"Effect": "Allow", "Action": action, "Resource": resource, **more}


def deny(action, resource="*", **more):
    return allow(action, resource, **more) | {"Effect": "Deny"}


@pytest.mark.parametrize(
    ("given_statements", "lacks"),
    [
        ([], ["s3:GetObject", "s3:PutObject"]),
        ([allow("*")], []),
        ([allow("s3:*Object")], []),
        ([allow("S3:getobject"), allow(["s3:PutObject"], ["arn:lake/*"])], []),
        ([allow("s3:GetObject")], ["s3:PutObject"]),
        ([allow("s3:*", "arn:lake/a/b/*")], ["s3:GetObject", "s3:PutObject"]),
        ([allow("s3:*", Condition=SEEN)], ["s3:GetObject", "s3:PutObject"]),
        ([allow("s3:*"), deny("s3:PutObject")], ["s3:PutObject"]),
        ([allow("s3:*"), deny("s3:Put*", "arn:lake/a/b")], ["s3:PutObject"]),
        ([allow("s3:*"), deny("s3:*", "arn:other/*")], []),
        (
            [{"Effect": "Allow", "NotAction": "s3:Put*", "Resource": "*"}],
            ["s3:PutObject"],
        ),
        (
            [{"Effect": "Allow", "Action": "s3:*", "NotResource": "arn:b"}],
            ["s3:GetObject", "s3:PutObject"],
        ),
        (
            [allow("s3:*"), {"Effect": "Deny", "Action": "s3:*", "NotResource": "arn:lake/*"}],
            [],
        ),
    ],
)
def test_what_lacks_is_what_no_statement_surely_allows(given_statements, lacks):
    found = missing([READ], given_statements)

    actions = [
        one
        for it in found
        for one in ([it["Action"]] if isinstance(it["Action"], str) else it["Action"])
    ]
    assert actions == lacks


def test_the_same_condition_allows_what_is_needed_under_it():
    needed = allow("s3:ListBucket", "arn:lake", Condition=SEEN)

    assert missing([needed], [allow("s3:List*", Condition=SEEN)]) == []


def test_resources_that_are_allowed_already_are_left_out():
    needed = allow("s3:GetObject", ["arn:a/*", "arn:b/*"])

    assert missing([needed], [allow("s3:*", "arn:a/*")]) == [allow("s3:GetObject", "arn:b/*")]


@given(PATTERNS, PATTERNS, st.text("ab", max_size=5))
def test_what_covers_a_pattern_matches_all_that_it_does(pattern, other, text):
    is_matched = fnmatchcase(text, other.replace("[", "[[]"))

    assert not (covers(pattern, other) and is_matched) or fnmatchcase(text, pattern)
