"""The app of docs/another-repository.md is checked and runs, outside of this repository."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pages import Page
from tests.projects import PROJECT, shell

pytestmark = [pytest.mark.synth, pytest.mark.spark, pytest.mark.nightly]
BLOCKS = Page("docs/another-repository.md").blocks


def run(folder: Path, line: str) -> str:
    return shell(folder, f"PYTHONPATH={PROJECT}:{PROJECT}/libs {line}")


def test_an_app_of_ones_own_is_checked_and_run_by_every_command(tmp_path: Path) -> None:
    for name in ("app.py", "cdk.json", "jobs/orders.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(BLOCKS[name], encoding="utf-8")
    landed = tmp_path / ".tidemark" / "lake" / "shop-deliveries" / "orders" / "1.json"
    landed.parent.mkdir(parents=True)
    landed.write_text(json.dumps({"id": 1}) + "\n", encoding="utf-8")

    printed = [run(tmp_path, line) for line in BLOCKS["commands"].splitlines()]

    assert "1 row read, 1 written" in printed[-1]
    assert "0 rows read, 0 written" in run(tmp_path, "tidemark run")
    assert list((tmp_path / "tests" / "snapshots").rglob("shop-orders.txt"))
