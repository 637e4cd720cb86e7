"""The commands of the pages do what the text says, one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pages import PROJECT, Page
from tests.projects import shell
from tests.tidemark.adopt.apps import new_project
from tidemark.checks.state.plan import parse_plan
from tidemark.local_state.home import Home

OUTSIDE = f"PYTHONPATH={PROJECT}:{PROJECT}/libs"
Run = Callable[[str], list[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs the lines of a block, and returns what each prints."""
    return lambda block: [shell(tmp_path, f"{OUTSIDE} {line}") for line in block.splitlines()]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_bookmark_is_tried(run: Run, tmp_path: Path) -> None:
    blocks = Page("docs/bookmarks.md").blocks
    (tmp_path / "count_rows.py").write_text(blocks["count_rows.py"], encoding="utf-8")

    _, _, first, second, explained, one_file, shown, reset = run(blocks["try it"])

    assert "rows: 1" in first
    assert "rows: 0" in second
    assert "would read 0 of 1 file" in explained
    assert "from s3://landing/\n" in one_file
    assert "\na.json  no " in one_file
    assert "landed_orders" in shown
    assert "at the beginning" in reset


@pytest.mark.stress
@pytest.mark.nightly
def test_the_local_data_catalog_is_filled_and_listed(run: Run, tmp_path: Path) -> None:
    lake = Home.open(tmp_path / ".tidemark").lake
    for day in ("day=1", "day=2"):
        (lake / f"landing/orders/{day}").mkdir(parents=True)
        (lake / f"landing/orders/{day}/a.json").write_text('{"id": 1}\n{"id": 2}\n')
    blocks = Page("docs/catalog.md").blocks
    (tmp_path / "daily_orders.py").write_text(blocks["daily orders"])

    crawled, *_, listed = run(f"{blocks['local catalog']}tidemark catalog list")

    assert crawled == "sales.raw_orders: new, json, id int; 2 new partitions by day\n"
    assert re.search(r"mart\.daily.*parquet.*day string, orders bigint", listed)


@pytest.mark.synth
@pytest.mark.spark
@pytest.mark.nightly
def test_an_app_of_ones_own_is_checked_and_run_by_every_command(run: Run, tmp_path: Path) -> None:
    blocks = Page("docs/another-repository.md").blocks
    for name in ("app.py", "cdk.json", "jobs/orders.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(blocks[name], encoding="utf-8")
    landed = tmp_path / ".tidemark" / "lake" / "shop-deliveries" / "orders" / "1.json"
    landed.parent.mkdir(parents=True)
    landed.write_text(json.dumps({"id": 1}) + "\n", encoding="utf-8")

    *_, first, second = run(f"{blocks['commands']}tidemark run")

    assert "1 row read, 1 written" in first
    assert "0 rows read, 0 written" in second
    assert list((tmp_path / "tests" / "snapshots").rglob("shop-orders.txt"))


def test_a_project_adopts_what_the_page_shows(tmp_path: Path) -> None:
    project = new_project(tmp_path)
    blocks = Page("docs/adopt.md").blocks
    (project / "orders.template.json").write_text(blocks["template"], encoding="utf-8")

    printed = shell(project, f"PYTHONPATH={PROJECT} {blocks['adopt']}")

    assert "wrote infra/nightly_v2_stack.py" in printed
    stack = (project / "infra" / "nightly_v2_stack.py").read_text(encoding="utf-8")
    assert blocks["jobs"] in stack
    plan = (project / "nightly-v2-migration.md").read_text(encoding="utf-8")
    assert "| job orders_report | GlueVersion | 4.0 |" in plan
    assert "acme-raw/orders/ (argument orders) is taken for input" in plan


def test_the_plan_of_a_change_of_state_can_be_carried_out() -> None:
    plan = parse_plan(json.loads(Page("docs/state.md").blocks["plan"]), "docs/state.md")

    kinds = [next(iter(entry.document)) for entry in plan]
    assert kinds == ["rename_job", "rename_ctx", "reread", "discard", "discard"]
