"""A new project is written whole, or nothing of it is left."""

from __future__ import annotations

from errno import EACCES, ENOSPC, EROFS
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.main import main
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


@pytest.mark.parametrize(("number", "exit_code"), [(EACCES, 2), (EROFS, 2), (ENOSPC, 1)])
def test_a_folder_that_may_not_be_written_is_wrong_usage(tmp_path, monkeypatch, number, exit_code):
    def refused(*args, **options):
        raise OSError(number, "refused")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "mkdir", refused)

    result = CliRunner().invoke(main, ["init", "shop"])

    assert result.exit_code == exit_code
    assert "cannot write shop/" in result.stderr
    assert list(tmp_path.iterdir()) == []


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
