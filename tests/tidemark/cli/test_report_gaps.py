"""The gaps on the page of a report are those that `tidemark gaps` lists."""

from __future__ import annotations

from tests.tidemark.cli.test_backfill import RANGE
from tests.tidemark.cli.test_cli import tidemark
from tidemark.glue_service.deployments import deploy_on_port

GAP = "2013-01-02 to 2013-01-02: missing"


def test_a_day_between_two_that_were_filled_is_a_gap(
    stage,
    home,
    tmp_path,
    monkeypatch,
):
    stage.deploy({"load": "", "report": ""})
    stage.edit(lambda it: it["Properties"].setdefault("DefaultArguments", {}).update(RANGE))
    stage.port.engine.ask(lambda glue: deploy_on_port(glue, stage.app))
    for day in ("2013-01-01", "2013-01-03"):
        filled = stage.ask("backfill", "load", "--from", day, "--to", day, "--yes")
        assert filled.exit_code == 0, filled.output
    file = tmp_path / "page.html"

    deployed = stage.ask("report", "--output", str(file))
    page = file.read_text(encoding="utf-8")
    monkeypatch.setenv("TIDEMARK_HOME", str(stage.port.home.root))
    here = tidemark("report", "--app", str(stage.app), "--output", str(file))

    assert deployed.exit_code == 0, deployed.output
    assert here.exit_code == 0, here.output
    assert page.count(": missing") == 1  # `report` has been told no range
    for shown in (page, file.read_text(encoding="utf-8")):
        assert GAP in shown
        assert "tidemark backfill load --from 2013-01-02 --to 2013-01-02" in shown
