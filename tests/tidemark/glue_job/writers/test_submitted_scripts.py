"""Scripts with sinks, run as `tidemark submit` runs them: what one leaves, the next one finds."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tidemark.glue_service.submission import read_submission
from tidemark.glue_service.submit import submit
from tidemark.local_state.home import Home

pytestmark = pytest.mark.spark

SCRIPTS = Path(__file__).parents[3] / "data" / "scripts"
BOOKMARKS = ["--job-bookmark-option", "job-bookmark-enable"]


@pytest.fixture
def run(tmp_path, jvms):
    """Return a runner of a script in a home of the test's own, and the bucket ``shop``."""
    home = Home.open(tmp_path / "home")

    def run(script):
        submission = read_submission(SCRIPTS / script, BOOKMARKS)
        finished, _ = submit(submission, home, lambda _: None, jvms=jvms)
        return finished.state

    return run, home.lake / "shop"


def put(shop, name, *orders):
    (shop / "orders").mkdir(parents=True, exist_ok=True)
    lines = "".join(f"{json.dumps(order)}\n" for order in orders)
    (shop / "orders" / name).write_text(lines, encoding="utf-8")


def written(shop):
    lines = []
    for file in shop.glob("json/part-*.json.gz"):
        lines += gzip.decompress(file.read_bytes()).decode().splitlines()
    return sorted(lines)


@pytest.mark.nightly
def test_a_table_that_a_job_makes_is_read_by_another_job_through_its_bookmark(run):
    run, shop = run
    put(shop, "1.json", {"id": 1, "country": "PT"}, {"id": 2, "country": "SI"})
    assert run("sink_to_catalog.py") == "SUCCEEDED"
    assert run("table_to_json.py") == "SUCCEEDED"
    first = ['{"order_id":1,"country":"PT"}', '{"order_id":2,"country":"SI"}']
    assert written(shop) == first

    put(shop, "2.json", {"id": 3, "country": "FR"})
    assert run("sink_to_catalog.py") == "SUCCEEDED"
    assert run("table_to_json.py") == "SUCCEEDED"

    assert written(shop) == [*first, '{"order_id":3,"country":"FR"}']
