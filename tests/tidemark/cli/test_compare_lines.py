"""How `tidemark compare-versions` shows a comparison to people."""

from __future__ import annotations

from tidemark.cli.compare_versions import lines_of
from tidemark.operate.versions.outcomes import Comparison, RunOutcome, TargetOutcome

GOOD = RunOutcome("a", "SUCCEEDED", None, 2, 2)


def shown(*targets, settings=None):
    found = Comparison("5.1", "6.0", [GOOD], [GOOD], targets, (1.0, 1.0), settings)
    return list(lines_of(found))


def test_files_of_several_formats_in_one_folder_are_told_apart():
    table = TargetOutcome("s3://b/t/", (2, 2), "parquet")
    note = TargetOutcome("s3://b/t/", (1, 1), "json")

    assert shown(table, note)[1:3] == [
        "✓ s3://b/t/ (parquet): equal, 2 rows",
        "✓ s3://b/t/ (json): equal, 1 row",
    ]
    assert shown(table)[1] == "✓ s3://b/t/: equal, 2 rows"


def test_a_comparison_of_nothing_says_so():
    assert "no file was written, so no rows were compared" in shown()


def test_arrays_in_another_order_are_named():
    target = TargetOutcome("s3://b/t/", (2, 2), columns=("n", "s"), by_order=("s",))

    assert "    the same elements in another order: s" in shown(target)


def test_settings_are_not_said_to_bring_back_all():
    target = TargetOutcome("s3://b/t/", (2, 2), columns=("n",))

    assert "the fewest differences on 6.0: --conf a=b" in shown(target, settings=("a=b",))
    assert "no known setting brings the old result back" in shown(target, settings=())
