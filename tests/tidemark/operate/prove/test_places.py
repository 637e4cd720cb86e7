"""Which folders are compared: those of runs that write a folder each are one."""

from __future__ import annotations

import pytest

from tidemark.operate.prove.places import is_load, places_of


@pytest.mark.parametrize(
    ("written", "others", "compared"),
    [
        (["lake/out"], ["lake/out"], ["lake/out"]),
        (["lake/out/jr_1"], ["lake/out/jr_2"], ["lake/out"]),
        (["lake/out/b-1/x"], ["lake/out/b-2/x", "lake/out/b-3/x"], ["lake/out"]),
        (["lake/out", "lake/sums"], ["lake/out/more"], ["lake/out", "lake/sums"]),
        (["lake/a/jr_1", "lake/b/jr_1"], ["lake/a/jr_2"], ["lake/a", "lake/b/jr_1"]),
        (["lake-1/1"], ["lake-1/2", "lake-2/2"], ["lake-1/*"]),
        (["lake/out_1", "lake/sums"], ["lake/out_2", "lake/sums"], ["lake/out_*", "lake/sums"]),
        ([f"lake/v-{'0a' * 16}"], [f"lake/v-{'b1' * 16}"], ["lake/v-*"]),
        (["lake/1/a", "lake/1/b"], ["lake/2/b", "lake/2/a"], ["lake/*/a", "lake/*/b"]),
        # Another bucket, or nothing but the bucket in common: it is not the same target.
        (["lake/out"], ["other/out"], ["lake/out"]),
        (["lake/out"], ["lake/in"], ["lake/out"]),
    ],
)
def test_the_folders_of_runs_are_compared_as_one(written, others, compared):
    of_parquet = [[(one, "parquet") for one in some] for some in (written, others)]

    found = places_of(*of_parquet, names_vary=True)

    assert found == [(one, "parquet") for one in compared]


@pytest.mark.parametrize(
    ("other", "compared"), [("lake/a/tmp", "lake/a/v1"), ("lake/a/v2", "lake/a/v*")]
)
def test_what_a_crash_leaves_beside_a_target_whose_name_is_fixed_is_no_part_of_it(other, compared):
    found = places_of([("lake/a/v1", "json")], [(other, "json")], names_vary=False)

    assert found == [(compared, "json")]


def test_formats_are_compared_apart():
    found = places_of([("l/out/1", "json")], [("l/out/2", "parquet")], names_vary=True)

    assert found == [("l/out/1", "json")]


@pytest.mark.parametrize(
    ("location", "folder", "is_inside"),
    [
        ("lake/orders/load-1/", "lake/orders/load-*", True),
        ("lake/orders/load-1/", "lake/orders", True),
        ("lake/orders/", "lake/orders", False),  # the table is the target, with all of its files
        ("lake/orders-2/", "lake/orders", False),
        ("lake/orders/year=2024/", "lake/orders", False),  # a part: the other years count, too
    ],
)
def test_a_table_may_show_one_of_several_loads(location, folder, is_inside):
    assert is_load(location, folder) is is_inside
