"""The app of docs/another-repository.md is checked and runs, outside of this repository."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.projects import PROJECT, shell

pytestmark = [pytest.mark.synth, pytest.mark.spark, pytest.mark.nightly]
TEXT = (PROJECT / "docs" / "another-repository.md").read_text(encoding="utf-8")


def snippet(name: str) -> str:
    (found,) = re.findall(rf"<!-- test: {re.escape(name)} -->\n```\w+\n(.*?)```", TEXT, re.DOTALL)
    return str(found)


def run(folder: Path, line: str) -> str:
    return shell(folder, f"PYTHONPATH={PROJECT}:{PROJECT}/libs {line}")


def test_an_app_of_ones_own_is_checked_and_run_by_every_command(tmp_path: Path) -> None:
    for name in ("app.py", "cdk.json", "jobs/orders.py"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(snippet(name), encoding="utf-8")
    landed = tmp_path / ".tidemark" / "lake" / "shop-deliveries" / "orders" / "1.json"
    landed.parent.mkdir(parents=True)
    landed.write_text(json.dumps({"id": 1}) + "\n", encoding="utf-8")

    printed = [run(tmp_path, line) for line in snippet("commands").splitlines()]

    assert "1 row read, 1 written" in printed[-1]
    assert "0 rows read, 0 written" in run(tmp_path, "tidemark run")
    assert list((tmp_path / "tests" / "snapshots").rglob("shop-orders.txt"))
