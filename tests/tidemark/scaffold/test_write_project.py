"""A new project is written whole, or nothing of it is left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.errors import TidemarkError
from tidemark.scaffold.project import TEMPLATES, plan_project, write_project

FILES = {"a/one.py": "1", "b.txt": "2", "c/d/three.py": "3"}


@pytest.mark.parametrize("is_there", [True, False])
def test_what_fails_halfway_leaves_nothing(tmp_path, monkeypatch, is_there):
    folder = tmp_path / "shop"
    if is_there:
        folder.mkdir()
    write_text = Path.write_text

    def full_disk(path, *args, **options):
        if path.name == "three.py":
            raise OSError(28, "No space left on device")
        return write_text(path, *args, **options)

    monkeypatch.setattr(Path, "write_text", full_disk)

    with pytest.raises(TidemarkError, match=r"cannot write .*three\.py: No space left on device"):
        write_project(folder, FILES)

    assert list(tmp_path.rglob("*")) == ([folder] if is_there else [])
    monkeypatch.undo()
    write_project(folder, FILES)
    assert (folder / "c/d/three.py").read_text() == "3"


def test_what_tools_leave_beside_the_templates_is_no_part_of_a_project():
    left = TEMPLATES / "project" / ".ruff_cache" / "left-by-a-test"
    left.parent.mkdir(exist_ok=True)
    left.write_bytes(b"\x8b")
    try:
        files = plan_project("shop")
    finally:
        left.unlink()

    assert not [path for path in files if "cache" in path]
    assert {"app.py", "cdk.json", ".gitignore"} <= files.keys()
