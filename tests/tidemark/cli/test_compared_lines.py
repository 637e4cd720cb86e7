"""What `tidemark compare-versions` prints of a comparison."""

from __future__ import annotations

from tidemark.cli.compare_versions import lines_of
from tidemark.operate.versions.outcomes import Comparison, RunOutcome, StateOutcome

GOOD = RunOutcome("a", "SUCCEEDED", None, 2, 2)


def lines(*states, **more):
    found = Comparison("5.1", "6.0", [GOOD], [GOOD], [], (1.0, 2.0), states=states, **more)
    return list(lines_of(found))


def test_states_are_told_with_their_values():
    equal = StateOutcome("watermark", "marks: a", ("id = 7", "id = 7"), {})
    moved = {"id": ("7", "8"), "open id": (None, "(8, 9]")}
    other = StateOutcome("watermark", "marks: b", ("id = 7", "id = 8"), moved)
    gone = StateOutcome("database", "mart", ("", None), {"Name": ("mart", None)})

    assert lines(equal, other, gone)[:-1] == [
        "✓ a: equal",
        "✓ watermark marks: a: equal, id = 7",
        "≠ watermark marks: b: differs, id = 7 on 5.1, id = 8 on 6.0",
        "    id: 7 -> 8",
        "    open id: not there -> (8, 9]",
        "≠ database mart: differs, there on 5.1, not there on 6.0",
        "    Name: mart -> not there",
        "no file was written, so no rows were compared",
    ]


def test_many_differences_are_cut_and_what_is_shared_is_named():
    many = StateOutcome("table", "db.t", ("", ""), {f"c{n}": ("1", "2") for n in range(12)})

    found = lines(many, not_compared=["orders:2 writes to a database"])

    assert found[1] == "≠ table db.t: differs"
    assert found[11:14] == [
        "    c9: 1 -> 2",
        "    and 2 more: --format json",
        "- not compared, both versions share it: orders:2 writes to a database",
    ]
    assert found[-1].startswith("≠ Glue 5.1 and 6.0: differs")
