"""The ten minutes of docs/your-repository.md, in an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.pages import Page

PAGE = Page("docs/your-repository.md")


@pytest.mark.nightly
@pytest.mark.spark
def test_the_ten_minutes_in_a_repository_of_yours(tmp_path: Path) -> None:
    for name in ("etl/orders.py", "tests/test_orders.py"):
        file = tmp_path / name
        file.parent.mkdir()
        file.write_text(PAGE.blocks[name], encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "TIDEMARK_HOME"}
    environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])

    def said(block: str, code: int = 0) -> str:
        done = subprocess.run(
            ["sh", "-ec", PAGE.blocks[block]],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    assert "1 row read, 1 written" in said("first run").replace("rows read", "row read")
    looked = said("look")
    assert "SUCCEEDED" in looked
    assert "would read 0 of 1 file" in looked
    proved = said("prove", 1)
    assert "doubled" in proved
    assert "orders.py" in proved
    assert "1 passed" in said("pytest")
