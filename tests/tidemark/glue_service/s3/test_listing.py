"""The listings of a bucket, by boto3 and on any keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tidemark.glue_service.s3.conftest import code_of, keys_of, prefixes_of, put
from tidemark.glue_service.s3.calls import key_problem
from tidemark.glue_service.s3.listing import walk


@pytest.mark.parametrize("version", ["list_objects", "list_objects_v2"])
def test_keys_come_in_the_order_of_their_bytes_in_pages(s3, bucket, version):
    keys = ["a", "a-b", "a.b/c", "a/b", "aé", "b/1", "b/2/3", "b0", "z &<>+%"]
    put(s3, bucket, *[key for key in keys if key != "a"])

    pages = s3.get_paginator(version).paginate(Bucket=bucket, PaginationConfig={"PageSize": 2})
    found = [keys_of(page) for page in pages]
    folders = s3.get_paginator(version).paginate(
        Bucket=bucket, Delimiter="/", PaginationConfig={"PageSize": 3}
    )

    assert [key for page in found for key in page] == sorted(keys[1:], key=str.encode)
    assert max(map(len, found)) == 2
    rolled = [item for page in folders for item in keys_of(page) + prefixes_of(page)]
    assert sorted(rolled) == sorted(["a-b", "a.b/", "a/", "aé", "b/", "b0", "z &<>+%"])
    below = getattr(s3, version)(Bucket=bucket, Prefix="b/", Delimiter="/")
    assert (keys_of(below), prefixes_of(below)) == (["b/1"], ["b/2/"])
    assert keys_of(getattr(s3, version)(Bucket=bucket, Prefix="a.")) == ["a.b/c"]
    assert prefixes_of(getattr(s3, version)(Bucket=bucket, Delimiter="b/")) == ["a.b/", "b/"]
    after = "StartAfter" if version.endswith("v2") else "Marker"
    assert keys_of(getattr(s3, version)(Bucket=bucket, **{after: "b/1"})) == [
        "b/2/3",
        "b0",
        "z &<>+%",
    ]


def test_the_pages_of_a_listing_are_of_one_walk_and_a_token_is_good_without_it(s3, bucket):
    put(s3, bucket, *"abcde")
    first = s3.list_objects_v2(Bucket=bucket, MaxKeys=2)
    put(s3, bucket, "bb")
    s3.delete_object(Bucket=bucket, Key="d")
    token = first["NextContinuationToken"]

    of_the_walk = s3.list_objects_v2(Bucket=bucket, ContinuationToken=token)
    walked_again = s3.list_objects_v2(Bucket=bucket, ContinuationToken=token)

    assert keys_of(of_the_walk) == ["c", "e"]
    assert keys_of(walked_again) == ["bb", "c", "e"]


@pytest.mark.parametrize("version", ["list_objects", "list_objects_v2"])
def test_a_listing_behind_a_key_has_what_came_since_that_key_was_listed(port, s3, bucket, version):
    after = "StartAfter" if version.endswith("v2") else "Marker"
    put(s3, bucket, *"abc")
    getattr(s3, version)(Bucket=bucket, MaxKeys=1)
    if version.endswith("v2"):
        (port.home.lake / bucket / "d").touch()  # as a job does
    else:
        put(s3, bucket, "d")

    assert keys_of(getattr(s3, version)(Bucket=bucket, **{after: "a"})) == ["b", "c", "d"]


@pytest.mark.parametrize("version", ["list_objects", "list_objects_v2"])
def test_keys_with_control_characters_are_listed_once_in_pages(s3, bucket, version):
    keys = ["a\rb", "a\nb", "a\tb", "a b ", "a+b", "a%2Bb", "b\rc/d"]
    put(s3, bucket, *keys)

    pages = s3.get_paginator(version).paginate(Bucket=bucket, PaginationConfig={"PageSize": 1})
    found = [key for page in pages for key in keys_of(page)]
    deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": key} for key in keys]})

    assert found == sorted(keys)
    assert [one["Key"] for one in deleted["Deleted"]] == keys
    assert keys_of(s3.list_objects_v2(Bucket=bucket)) == []


@pytest.mark.parametrize("version", ["list_objects", "list_objects_v2"])
def test_a_common_prefix_is_behind_a_key_if_another_key_in_it_is(s3, bucket, version):
    after = "StartAfter" if version.endswith("v2") else "Marker"
    put(s3, bucket, "a/1", "a/2", "b/1", "c")

    def listed(key):
        answer = getattr(s3, version)(Bucket=bucket, Delimiter="/", **{after: key})
        return prefixes_of(answer) + keys_of(answer)

    assert listed("a/1") == ["a/", "b/", "c"]
    assert listed("a/2") == listed("a/") == ["b/", "c"]
    assert listed("b/2") == ["c"]


def test_a_token_that_no_page_gave_is_refused(s3, bucket):
    for token in ("a/b", "%2"):
        code = code_of(s3.list_objects_v2, Bucket=bucket, ContinuationToken=token)
        assert code == "InvalidArgument"


@given(st.sets(st.text("ab/.-é", min_size=1, max_size=6), max_size=12), st.text("ab/.", max_size=4))
def test_a_listing_is_that_of_s3_on_any_keys(tmp_path_factory, keys, prefix):
    bucket = tmp_path_factory.mktemp("bucket")
    there = set()
    for key in sorted(keys):
        parents = {key[:n] for n, letter in enumerate(key) if letter == "/"}
        is_free = not any(k.startswith(f"{key}/") for k in there) and not parents & there
        if key_problem(key) or key.endswith("/") or not is_free:
            continue
        (bucket / key).parent.mkdir(parents=True, exist_ok=True)
        (bucket / key).touch()
        there.add(key)
    below = [key for key in there if key.startswith(prefix)]
    rolled = {
        key[: key.index("/", len(prefix)) + 1] if "/" in key[len(prefix) :] else key
        for key in below
    }

    assert walk(bucket, prefix, "", []) == sorted(below, key=str.encode)
    assert walk(bucket, prefix, "/", []) == sorted(rolled, key=str.encode)
