"""Sides with the same bytes are read once."""

from __future__ import annotations

from pathlib import Path

from tidemark.operate.prove.judge import distinct


def side(folder: Path, files: dict[str, str]) -> dict[str, object]:
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return {"folder": str(folder), "files": [str(folder / name) for name in files], "all": True}


def test_sides_are_alike_whatever_the_names_and_the_order_of_their_files(tmp_path):
    first = side(tmp_path / "1", {"day=1/a": "x", "day=1/b": "y"})
    same = side(tmp_path / "2", {"day=1/c": "y", "day=1/d": "x"})

    assert distinct([first, same]) == ([first], [0, 0])


def test_sides_differ_by_a_copy_a_partition_and_other_files(tmp_path):
    first = side(tmp_path / "1", {"day=1/a": "x"})
    twice = side(tmp_path / "2", {"day=1/a": "x", "day=1/b": "x"})
    moved = side(tmp_path / "3", {"day=2/a": "x"})
    not_all = {**first, "all": False}
    none = side(tmp_path / "5", {})

    found, which = distinct([first, twice, moved, not_all, none, first])

    assert found == [first, twice, moved, not_all, none]
    assert which == [0, 1, 2, 3, 4, 0]
