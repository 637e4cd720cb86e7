"""`tidemark run` of workflows with jobs without Spark, crawlers, and streaming jobs beside them."""

import json
from pathlib import Path

import pytest

from tests.fixtures.commands import WriteAssembly
from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark

SHELL = {"Command": {"Name": "pythonshell", "PythonVersion": "3.9"}, "GlueVersion": "3.0"}
STREAMING = {
    "Type": "AWS::Glue::Job",
    "Properties": {
        "Name": "clicks",
        "Command": {"Name": "gluestreaming", "ScriptLocation": "s3://assets/clicks.py"},
    },
}


@pytest.fixture
def kinds(write_assembly: WriteAssembly) -> Path:
    """Write an assembly: a Python shell job, a crawler behind it, and another job behind that."""
    folder = write_assembly({"fetch": "print('fetched')", "load": ""}, others={"Clicks": STREAMING})
    path = folder / "template.json"
    template = json.loads(path.read_text(encoding="utf-8"))
    resources = template["Resources"]
    for name in ("fetch", "load"):
        properties = resources[name]["Properties"]
        command = {**properties["Command"], **SHELL["Command"]}
        resources[name]["Properties"] = {**properties, **SHELL, "Command": command}
    resources["Crawler"] = {"Type": "AWS::Glue::Crawler", "Properties": {"Name": "landing"}}
    resources["Start"]["Properties"]["Actions"] = [{"JobName": "fetch"}]
    for name, action, watched in (
        ("Crawl", {"CrawlerName": {"Ref": "Crawler"}}, {"JobName": "fetch", "State": "SUCCEEDED"}),
        ("Load", {"JobName": "load"}, {"CrawlerName": "landing", "CrawlState": "SUCCEEDED"}),
    ):
        resources[name] = {
            "Type": "AWS::Glue::Trigger",
            "Properties": {
                "WorkflowName": "flow",
                "Type": "CONDITIONAL",
                "StartOnCreation": True,
                "Actions": [action],
                "Predicate": {"Conditions": [{**watched, "LogicalOperator": "EQUALS"}]},
            },
        }
    path.write_text(json.dumps(template), encoding="utf-8")
    return folder


def test_a_workflow_with_a_crawler_is_refused_by_name_before_anything_starts(
    home: Path, kinds: Path
) -> None:
    result = tidemark("run", "--app", str(kinds))

    assert_one_clear_line(result, 1, "workflow flow starts crawler landing", "--skip-crawlers")
    assert not home.exists() or not list((home / "runs").glob("*"))


def test_crawlers_that_are_skipped_are_said_and_count_as_succeeded(home: Path, kinds: Path) -> None:
    result = tidemark("run", "--app", str(kinds), "--skip-crawlers")

    assert result.exit_code == 0, result.output
    assert "Taken as SUCCEEDED, without a crawl: crawler landing" in result.output
    assert "Streaming jobs do not run on this machine: clicks" in result.output
    runs = sorted(path.name for path in (home / "runs").glob("*/*.py"))
    assert runs == ["fetch.py", "load.py"]
    printed = [path.read_text() for path in (home / "runs").glob("*/stdout.log")]
    assert sorted(printed) == ["", "fetched\n"]


def test_status_shows_an_app_with_a_crawler(home: Path, kinds: Path) -> None:
    result = tidemark("status", "--app", str(kinds))

    assert result.exit_code == 0, result.output
    assert "fetch" in result.output
    assert "clicks" not in result.output  # it streams: it does not run here
