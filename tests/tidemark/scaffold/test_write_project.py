"""A new project is written whole, or nothing of it is left."""

from __future__ import annotations

import json
import re
from errno import EACCES, ENOSPC, EROFS
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.app import OLDEST_NODE
from tidemark.cli.main import main
from tidemark.errors import TidemarkError
from tidemark.scaffold.project import TEMPLATES, plan_project, plan_sample, write_project

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


def takes(engines: str, node: tuple[int, int]) -> bool:
    """Return whether a range of package.json, such as `^20.19.0 || >=23`, has a version."""
    for part in engines.split("||"):
        found = re.fullmatch(r"(\^|>=|)\s*(\d+)\.?(\d+|\*)?.*", part.strip())
        assert found is not None, engines
        least = (int(found[2]), int(found[3] or 0) if found[3] != "*" else 0)
        if node >= least and (found[1] == ">=" or node[0] == least[0]):
            return True
    return False


def test_the_node_that_a_new_project_names_is_the_oldest_of_the_cdk_and_its_packages_take_it():
    root = Path(__file__).parents[3]
    packages = json.loads((root / "package-lock.json").read_text())["packages"].values()
    wanted = [one["engines"]["node"] for one in packages if "node" in one.get("engines", {})]
    plan = plan_project("shop")
    engines = json.loads(plan["package.json"])["engines"]["node"]
    oldest = (OLDEST_NODE, 0)

    assert json.loads((root / "package.json").read_text())["engines"]["node"] == engines
    assert all(takes(one, oldest) for one in wanted)
    assert engines == f">={OLDEST_NODE}"
    for text in (plan["README.md"], plan_sample("shop")["README.md"]):
        assert f"Node {OLDEST_NODE} or newer" in text
    ci = plan[".github/workflows/ci.yml"]
    major = re.search(r'node-version: "(\d+)"', ci)
    assert major is not None
    assert int(major[1]) >= oldest[0]


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
