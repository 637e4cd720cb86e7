"""The commands of docs/catalog.md about the local Data Catalog run, and do what the page says."""

import re
import shlex
import subprocess
import sys

import pytest

from tests.pages import Page
from tidemark.local_state.home import Home

pytestmark = pytest.mark.stress
BLOCKS = Page("docs/catalog.md").blocks


def test_the_commands_about_the_local_data_catalog_run(home, tmp_path):
    lake = Home.open(home).lake
    for day in ("day=1", "day=2"):
        (lake / f"landing/orders/{day}").mkdir(parents=True)
        (lake / f"landing/orders/{day}/a.json").write_text('{"id": 1}\n{"id": 2}\n')
    (tmp_path / "daily_orders.py").write_text(BLOCKS["daily orders"])
    said = {}

    for line in [*BLOCKS["local catalog"].splitlines(), "tidemark catalog list"]:
        words = shlex.split(line)[1:]
        done = subprocess.run(
            [sys.executable, "-m", "tidemark", *words],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        said[line] = done.stdout

    crawled, *_ = said.values()
    assert crawled == "sales.raw_orders: new, json, id int; 2 new partitions by day\n"
    assert re.search(
        r"mart\.daily.*parquet.*day string, orders bigint", said["tidemark catalog list"]
    )
