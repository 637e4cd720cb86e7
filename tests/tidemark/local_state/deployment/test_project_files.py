"""Which file of a project a script is a copy of."""

from __future__ import annotations

import pytest

from tidemark.local_state.deployment.deployed_apps import digests_of
from tidemark.local_state.deployment.project_files import files_like


@pytest.fixture
def put(tmp_path):
    def put(name, text):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return put


def test_the_one_file_with_the_content_of_a_script_is_found(put, tmp_path):
    orders = put("project/glue_jobs/orders.py", "print(1)")
    put("project/glue_jobs/others.py", "print(2)")
    for elsewhere in ("cdk.out", ".venv", "node_modules", "venv/lib", "state/lake"):
        put(f"project/{elsewhere}/copy.py", "print(1)")
    put("project/venv/pyvenv.cfg", "")
    put("project/state/tidemark-home", "")
    script = put("lake/assets/4f2a.py", "print(1)")

    assert files_like(tmp_path / "project", {"orders": script}) == {"orders": str(orders)}


@pytest.mark.parametrize("text", ["twice", "nowhere"])
def test_a_script_that_no_single_file_equals_keeps_its_own_name(put, tmp_path, text):
    put("project/a.py", "twice")
    put("project/b.py", "twice")
    script = put("lake/assets/4f2a.py", text)

    assert files_like(tmp_path / "project", {"orders": script}) == {}
    assert files_like(tmp_path / "project", {"gone": tmp_path / "gone.py"}) == {}


def test_a_code_file_that_cannot_be_read_has_no_digest(tmp_path):
    (tmp_path / "job.py").write_text("", encoding="utf-8")
    (tmp_path / "other.py").symlink_to("/proc/self/mem")  # a file, whose first page nobody reads

    assert list(digests_of(tmp_path)) == ["job.py"]
