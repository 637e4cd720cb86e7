"""docs/schema.md: its job takes three increments into a target that stays readable."""

from __future__ import annotations

import json

import pytest

from tests.pages import Page

pytestmark = pytest.mark.spark
PAGE = Page("docs/schema.md")


def test_the_target_of_the_story_stays_readable(lake, glue_job, tmp_path):
    script = tmp_path / "orders.py"
    script.write_text(PAGE.blocks["orders.py"], encoding="utf-8")
    paths = {"source_path": "s3://lake/in/", "target_path": "s3://lake/out/"}
    increments = [
        [{"id": 1, "amt": 10}],
        [{"id": 2, "amt": "20 EUR"}],
        [{"id": 3, "amount": 30}],
        [{"id": 4, "amt": 40}, {"id": 5, "amt": "050"}, {"id": 6, "amt": "60"}],
    ]
    for number, rows in enumerate(increments):
        text = "".join(f"{json.dumps(row)}\n" for row in rows)
        lake.put(f"s3://lake/in/{number}.json", text)
        glue_job(str(script), bookmark="enable", **paths).check()

    rows = {row["id"]: row for row in lake.rows("s3://lake/out/", "parquet")}
    amounts = {number: row["amt"] for number, row in rows.items()}
    rescued = {
        number: json.loads(row["_rescued_data"])
        for number, row in rows.items()
        if row["_rescued_data"]
    }
    for values in rescued.values():
        values.pop("_file_path", None)
    assert amounts == {1: 10, 2: None, 3: None, 4: 40, 5: None, 6: 60}
    assert rescued == {2: {"amt": "20 EUR"}, 3: {"amount": 30}, 5: {"amt": "050"}}
