"""The commands of docs/bookmarks.md do what the text says, one after the other."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import Page

BLOCKS = Page("docs/bookmarks.md").blocks


@pytest.mark.spark
def test_trying_a_bookmark_takes_the_commands_of_the_guide(tmp_path, monkeypatch):
    monkeypatch.delenv("TIDEMARK_HOME", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    (tmp_path / "count_rows.py").write_text(BLOCKS["count_rows.py"], encoding="utf-8")
    outputs = []

    for line in BLOCKS["try it"].splitlines():
        run = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)  # noqa: S602
        assert run.returncode == 0, run.stdout + run.stderr
        outputs.append(run.stdout)

    _, _, first, second, explained, one_file, shown, reset = outputs
    assert "rows: 1" in first
    assert "rows: 0" in second
    assert "would read 0 of 1 files" in explained
    assert "from s3://landing/\n" in one_file
    assert "\na.json  no " in one_file
    assert "landed_orders" in shown
    assert "at the beginning" in reset
