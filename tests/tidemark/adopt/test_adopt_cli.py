"""`tidemark adopt` refuses in one line, and then writes nothing."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from tests.tidemark.adopt.apps import APP
from tidemark.cli.main import main

TEMPLATE = APP.with_name("orders.template.yaml")
NIGHTLY = ["--workflow", "Nightly Orders", "--template", str(APP)]


def run(*arguments):
    return CliRunner().invoke(main, ["adopt", *arguments])


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["--from-account"], "--workflow NAME"),
        (["a", "--workflow", "b", "--from-account"], "--workflow NAME"),
        (["a"], "--template PATH"),
        (["a", "--from-account", "--template", str(APP)], "--template PATH"),
        (["a", "a", "--template", str(APP)], "a, a"),
        (["a", "--template", str(APP)], "orders_ingest, orders_merge"),
        (["--workflow", "a", "--template", str(APP)], "Nightly Orders"),
        (["a", "--terraform", "orders.tfstate"], "read them there: --from-account"),
        (["a", "--from-account", "--parameter", "A=b"], "--parameter is for --template"),
        (["a", "--template", "absent.yaml"], "absent.yaml"),
        (["a", "--template", str(TEMPLATE), "--parameter", "A"], "KEY=VALUE"),
        (["a", "--template", str(TEMPLATE), "--parameter", "A=b"], "LandingBucket, Stage"),
        (["a", "--template", str(TEMPLATE), *(2 * ["--parameter", "Stage=b"])], "given twice"),
        (["a", "--template", str(TEMPLATE)], "orders_ingest_prod"),
        (["a", "--template", str(TEMPLATE), "--region", "eu-west-1"], "--region"),
        (["--workflow", "a", "--template", str(TEMPLATE)], "Nightly"),
        (["a", "--template", str(TEMPLATE.parent)], "manifest.json"),
        ([*NIGHTLY, "--name", "Bad Name"], "Bad Name"),
        ([*NIGHTLY, "--name", "Nightly"], "kebab case"),
        (["orders_forecast", "--template", str(APP)], "Ray"),
        (["orders_merge", "--template", str(APP)], "orders_ingest, which is not adopted"),
        (["a", "--from-account", "--profile", "no-such-profile"], "no-such-profile"),
    ],
)
def test_a_wrong_call_is_one_line_that_names_what_is_wrong(tmp_path, monkeypatch, arguments, named):
    monkeypatch.chdir(tmp_path)

    result = run(*arguments)

    assert result.exit_code == 2
    (line,) = result.stderr.splitlines()
    assert line.startswith("error: ")
    assert named in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "file",
    ["infra/nightly_orders_stack.py", "glue_jobs/orders_merge.py", "nightly-orders-migration.md"],
)
def test_nothing_is_written_over_a_file_and_then_nothing_at_all(tmp_path, file):
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text("mine", encoding="utf-8")

    result = run(*NIGHTLY, "--output", str(tmp_path))

    assert result.exit_code == 2
    assert file in result.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [tmp_path / file]
    assert (tmp_path / file).read_text(encoding="utf-8") == "mine"


def test_scripts_among_the_assets_are_copied(tmp_path):
    result = run(*NIGHTLY, "--output", str(tmp_path))

    assert result.exit_code == 0
    for name in ("ingest", "merge", "report", "alert", "export"):
        copied = tmp_path / "glue_jobs" / f"orders_{name}.py"
        assert copied.read_bytes() == (APP / "jobs" / copied.name).read_bytes()


def test_the_plan_as_json_says_what_became_of_every_job(tmp_path):
    assert run(*NIGHTLY, "--output", str(tmp_path), "--format", "json").exit_code == 0

    plan = json.loads((tmp_path / "nightly-orders-migration.json").read_text(encoding="utf-8"))

    assert {job["old"]: job["new"] for job in plan["jobs"]} == {
        "orders_ingest": "orders-ingest",
        "orders_merge": "orders-merge",
        "orders_report": "orders-report",
        "orders_alert": "orders-alert",
        "orders_export": "orders-export",
    }
    assert [left["job"] for left in plan["notAdopted"]] == ["orders_forecast"]
    assert all(step["check"] and step["rollback"] for step in plan["steps"])
    assert "abc123def" not in json.dumps(plan)  # the token of orders_report


def test_another_name_solves_the_clash_with_scripts_that_are_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "glue_jobs").mkdir()
    kept = tmp_path / "glue_jobs" / "orders_ingest.py"
    kept.write_text("kept")

    refused = run(*NIGHTLY)
    named = run(*NIGHTLY, "--name", "other")

    assert (refused.exit_code, named.exit_code) == (2, 0)
    assert "--name" in refused.stderr
    assert kept.read_text() == "kept"
    made = tmp_path / "glue_jobs" / "orders_ingest_v2.py"
    assert made.read_bytes() == (APP / "jobs" / "orders_ingest.py").read_bytes()
    assert '"orders-ingest-v2"' in (tmp_path / "infra" / "other_stack.py").read_text()
