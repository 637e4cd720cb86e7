"""A name that nothing has is refused by every verb, on a stage and on a home, with the nearest."""

from __future__ import annotations

import pytest

from tests.tidemark.cli.deployed_stages import ServedHome, assert_one_clear_line_after, have_run
from tidemark.local_state.bookmarks.versions import delete_bookmark
from tidemark.local_state.dynamodb import create_tables
from tidemark.local_state.watermark_tables import watermark_table
from watermarks import Watermarks

pytestmark = pytest.mark.stress  # starts many processes

TABLE = "table-of-names"
UNKNOWN = {
    "there is no job 'laod'; did you mean load?": [
        "runs laod",
        "logs laod",
        "stop laod",
        "gaps laod",
        "backfill laod --from 2013-01-01 --to 2013-01-02 --yes",
        "bookmark show laod",
        "bookmark reset laod --yes",
        "bookmark rewind laod --to jr_l1 --yes",
        "bookmark rewind laod",
        f"watermark show laod --table {TABLE}",
        "watermark history laod",
        f"watermark rewind laod --to beginning --reason x --yes --table {TABLE}",
        f"watermark rewind laod --to jr_l1 --reason x --yes --table {TABLE}",
        "rewind laod --to beginning --dry-run",
        "run --only laod",
        "resume --from laod",
        "lineage events --job laod",
        "explain laod",
        "schema show laod",
        "schema history laod",
        f"schema accept laod --reason x --table {TABLE}",
    ],
    "there is no workflow 'flwo'; did you mean flow?": [
        "run --workflow flwo",
        "resume --workflow flwo",
        "stop --workflow flwo",
    ],
    "there is no trigger 'stack-strat'; did you mean stack-start?": ["trigger stack-strat"],
    "there is no run 'jr_l9' ": [
        "run show jr_l9",
        "logs load --run jr_l9",
        "stop load --run jr_l9",
        "bookmark show load --run jr_l9",
        "bookmark rewind load --to jr_l9 --yes",
        f"watermark rewind load --to jr_l9 --reason x --yes --table {TABLE}",
        "rewind load --to jr_l9 --dry-run",
    ],
    "there is no run 77 of job load: the numbers are 1 to 2": ["bookmark show load --run 77"],
    "there is no run 'wr_9' of workflow flow": ["stop --run wr_9", "resume --run wr_9"],
    "there is no rewind 9": ["rewind undo 9 --yes"],
}


@pytest.mark.nightly
def test_an_unknown_name_is_refused_with_the_nearest(target, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # lineage writes there
    target.port.engine.ask(lambda glue: delete_bookmark(glue.store, "load"))
    target.deploy({"load": "", "report": ""}, {"report": ["load"]})
    have_run(target, "load", "jr_l1", "jr_l2")
    client = target.port.client("dynamodb")
    create_tables(client, [watermark_table(TABLE)])
    Watermarks(TABLE, client).advance(job_id="load", run_id="jr_l1", to={"id": 1}, base=None)

    for said, commands in UNKNOWN.items():
        for command in commands:
            assert_one_clear_line_after(target.ask(*command.split()), 2, said)
    assert target.port.states("load") == ["SUCCEEDED", "SUCCEEDED"]


def test_a_stage_that_the_assembly_is_not_of_is_refused_with_its_own(stage):
    stage.deploy({"load": ""})

    for words in (("runs",), ("watermark", "show", "load"), ("explain", "load"), ("status",)):
        result = stage.ask(*words, stage="prd")

        assert_one_clear_line_after(result, 2, "the assembly is of the stage prod, not 'prd'")


@pytest.mark.nightly
def test_a_home_that_nobody_serves_refuses_the_same(home, write_assembly, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    here = ServedHome(None, write_assembly)
    here.app = write_assembly({"load": "", "report": ""}, {"report": ["load"]})
    assert here.ask("run").exit_code == 0
    near = [command for said, those in UNKNOWN.items() if "did you" in said for command in those]

    for command in (*near, "run --from laod"):
        if "--table" not in command:
            assert_one_clear_line_after(here.ask(*command.split()), 2, "did you mean ")
    assert len(list(home.glob("runs/*"))) == 2
