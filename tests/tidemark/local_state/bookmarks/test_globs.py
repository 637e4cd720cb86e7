"""Exclude patterns: which names a glob matches."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.path_patterns import Exclusions, glob_expression


@pytest.mark.parametrize(
    ("pattern", "excluded", "kept"),
    [
        ("*.pdf", "a.pdf", "deep/a.pdf"),
        ("**.pdf", "deep/er/a.pdf", "a.pdf.json"),
        ("**/*.pdf", "deep/a.pdf", "deep/a.json"),
        ("old/*", "old/a.json", "old/deep/a.json"),
        ("old/**", "old/deep/a.json", "older/a.json"),
        ("part-?.json", "part-1.json", "part-12.json"),
        ("part-[0-3].json", "part-2.json", "part-4.json"),
        ("part-[!0-3].json", "part-4.json", "part-2.json"),
        ("*.{csv,tsv}", "a.tsv", "a.json"),
        ("{old,new}/*.json", "new/a.json", "now/a.json"),
        (r"a\*.json", "a*.json", "ab.json"),
        ("a.json", "a.json", "abjson"),
        ("a(1)+.json", "a(1)+.json", "a1.json"),
        ("[^a].json", "b.json", "a.json"),
        ("year=2013/**", "year=2013/a.json", "year=2014/a.json"),
    ],
)
def test_pattern_excludes_what_it_matches_as_a_whole(pattern, excluded, kept):
    exclusions = Exclusions([pattern], "s3://b/in/")

    assert exclusions.matches(excluded)
    assert not exclusions.matches(kept)


@pytest.mark.rule(
    "Files of S3",
    source="S3",
    choice="compared with the name below the path and with the whole URI",
)
@pytest.mark.parametrize("path", ["s3://b/in/", "s3://b/in"])
def test_an_exclusion_may_be_relative_to_the_path_or_a_whole_uri(path):
    assert Exclusions(["old/*"], path).matches("old/a.json")
    assert Exclusions(["s3://b/in/old/*"], path).matches("old/a.json")
    assert not Exclusions(["s3://other/in/old/*"], path).matches("old/a.json")


def test_one_of_several_patterns_is_enough():
    assert Exclusions(["*.pdf", "*.csv"], "s3://b/").matches("a.csv")


@pytest.mark.parametrize("pattern", ["a[b", "a{b,c", "{a,{b}"])
def test_pattern_that_leaves_a_bracket_open_is_refused(pattern):
    with pytest.raises(UsageError, match=r"opens '.' and never closes it"):
        glob_expression(pattern)
