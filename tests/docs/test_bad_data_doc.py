"""docs/bad-data.md: each message comes from a run, and each remedy keeps the rows it says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.pages import Page
from tidemark.cli.main import main
from tidemark.testing.glue_job import GlueJob
from tidemark.testing.kit import GlueTest
from tidemark.testing.lake import Lake
from tidemark.testing.run import GlueRun

pytestmark = pytest.mark.spark
BLOCKS = Page("docs/bad-data.md").blocks
SCRIPT = BLOCKS["orders.py"]
(LINE,) = (line for line in SCRIPT.splitlines() if line.startswith("rows = "))
Run = Callable[..., GlueRun]


@pytest.fixture
def run(glue_job: GlueJob, tmp_path: Path) -> Run:
    """Return a function that runs the page's job, with a remedy in place of its line."""

    def run(remedy: str = LINE) -> GlueRun:
        script = tmp_path / "orders.py"
        script.write_text(SCRIPT.replace(LINE, BLOCKS.get(remedy, remedy)), encoding="utf-8")
        return glue_job(script, bookmark="enable")

    return run


def deliver(lake: Lake, number: int, text: str, minutes_ago: float = 0) -> None:
    lake.put(f"shop/in/{number}.json", text, minutes_ago=minutes_ago)


def amounts(lake: Lake) -> dict[int, int | None]:
    return {row["id"]: row["amt"] for row in lake.rows("shop/out/", "parquet")}


def message(block: str) -> str:
    return BLOCKS[block].strip()


def test_a_broken_record_is_kept_and_delivered_again(run: Run, lake: Lake) -> None:
    deliver(lake, 2, '{"id": 2, "amt": 10}\n{"id": 3, "amt\n')

    kept = run("keep broken").check()
    deliver(lake, 3, '{"id": 3, "amt": 30}\n')
    run()

    assert message("broken") in "\n".join(kept.warnings)
    (record,) = lake.rows("shop/broken/", "json")
    assert record == {"source": "s3://shop/in/2.json", "input": '{"id": 3, "amt'}
    assert amounts(lake) == {2: 10, 3: 30}


def test_a_choice_fails_the_run_and_is_resolved(run: Run, lake: Lake) -> None:
    deliver(lake, 3, '{"id": 4, "amt": 10}\n{"id": 5, "amt": "20 EUR"}\n')

    failed = run()
    run("resolve").check()

    assert message("choice") in (failed.error or "")
    assert amounts(lake) == {4: 10, 5: None}


@pytest.mark.nightly
def test_a_missing_column_fails_the_run_and_a_contract_takes_it(run: Run, lake: Lake) -> None:
    deliver(lake, 4, '{"id": 6, "amount": 10}\n')

    failed = run()
    run("rescue").check()

    assert message("missing") in (failed.error or "")
    assert amounts(lake) == {6: None}
    assert '"amount":10' in lake.rows("shop/out/", "parquet")[0]["_rescued_data"]


def test_rows_that_do_not_fit_go_into_quarantine(run: Run, lake: Lake) -> None:
    deliver(lake, 5, '{"id": 7, "amt": 10}\n{"id": 8, "amt": "20 EUR"}\n')

    run("quarantine").check()

    assert amounts(lake) == {7: 10}
    assert [row["id"] for row in lake.rows("shop/quarantine/", "json")] == [8]


@pytest.mark.nightly
def test_a_frozen_contract_refuses_a_column_until_it_has_it(run: Run, lake: Lake) -> None:
    deliver(lake, 6, '{"id": 9, "amt": 10, "tip": 1}\n')

    failed = run("freeze")
    nothing = lake.exists("shop/out/")
    run(BLOCKS["freeze"].replace("amt INT", "amt INT, tip INT")).check()

    assert message("frozen") in (failed.error or "")
    assert not nothing
    assert amounts(lake) == {9: 10}


def test_a_late_file_is_read_once_it_is_touched(
    run: Run, lake: Lake, glue_test: GlueTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TIDEMARK_HOME", str(glue_test.home.root))
    explain, touch = BLOCKS["touch"].splitlines()
    deliver(lake, 1, '{"id": 1, "amt": 10}\n')
    run().check()
    deliver(lake, 7, '{"id": 2, "amt": 20}\n', minutes_ago=600)

    late = run()
    explained = CliRunner().invoke(main, explain.split()[1:])
    lake.touch(touch.removeprefix("touch .tidemark/lake/"))
    run().check()

    assert message("late") in "\n".join(late.warnings)
    assert "7.json  no " in explained.output
    assert amounts(lake) == {1: 10, 2: 20}
