"""Patterns in the paths of a source: what they match, and what of a file's URI they name."""

from __future__ import annotations

import pytest

from tidemark.errors import UsageError
from tidemark.local_state.bookmarks.path_patterns import hidden_matches_of, matches_of, root_of


@pytest.fixture
def lake(tmp_path):
    """Return where URIs are, with some files there."""
    for key in ("b/a/1/x.csv", "b/a/2/x.csv", "b/a/_hidden/x.csv", "b/c/1/y.csv", "b/a[1]/z.csv"):
        (tmp_path / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / key).touch()
    return lambda uri: tmp_path / uri.removeprefix("s3://")


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("s3://b/a/", ["s3://b/a/"]),
        ("s3://b/gone", ["s3://b/gone"]),
        ("s3://b/a/*", ["s3://b/a/1", "s3://b/a/2"]),
        ("s3://b/*/1/", ["s3://b/a/1", "s3://b/c/1"]),
        ("s3://b/*/[2-9]/*.csv", ["s3://b/a/2/x.csv"]),
        ("s3://b/{a/2,c/1}/?.csv", ["s3://b/a/2/x.csv", "s3://b/c/1/y.csv"]),
        ("s3://b/{a,{c,d}}/1", ["s3://b/a/1", "s3://b/c/1"]),
        (r"s3://b/a\[1\]/*", ["s3://b/a[1]/z.csv"]),
        ("s3://b/*/9", []),
    ],
)
def test_a_path_names_itself_or_what_its_pattern_matches(lake, path, matches):
    assert matches_of(path, lake) == matches


@pytest.mark.parametrize(
    ("path", "matches"),
    [
        ("s3://b/a/", []),
        ("s3://b/_gone/*", []),
        ("s3://b/a/*", ["s3://b/a/_hidden"]),
        ("s3://b/*/*/*.csv", ["s3://b/a/_hidden"]),
        ("s3://b/a/_hidden/*", []),
        ("s3://b/c/1/[y_]*", []),
    ],
)
def test_what_a_pattern_would_name_but_for_hidden_names(lake, path, matches):
    assert hidden_matches_of(path, lake) == matches


@pytest.mark.parametrize(
    ("path", "root"),
    [
        ("s3://b/a/", "s3://b/a"),
        ("s3://b/a/1/x.csv", None),
        ("s3://b/A", None),
        ("s3://b/*/1/", "s3://b/a/1"),
        ("s3://b/{c,a}", "s3://b/a"),
        ("s3://b/*/*/*.csv", None),
        ("s3://b/*/2", None),
    ],
)
def test_the_part_of_a_file_that_a_path_names(path, root):
    assert root_of("s3://b/a/1/x.csv", path) == root


@pytest.mark.parametrize("path", ["s3://b/{a", "s3://b/a}", "s3://b/[a"])
def test_an_open_bracket_is_an_error(lake, path):
    with pytest.raises(UsageError, match="opens"):
        matches_of(path, lake)
