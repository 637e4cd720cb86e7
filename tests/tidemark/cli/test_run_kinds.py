"""`tidemark run` of workflows with jobs without Spark, crawlers, and streaming jobs beside them."""

import json
from pathlib import Path

import pytest

from tests.fixtures.commands import WriteAssembly
from tests.tidemark.cli.test_cli import assert_one_clear_line, tidemark
from tidemark.local_state.catalog.tables import find_table
from tidemark.local_state.home import Home
from tidemark.local_state.store.database import Store

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


def test_a_crawler_that_cannot_run_here_is_refused_by_name_before_anything_starts(
    home: Path, kinds: Path
) -> None:
    result = tidemark("run", "--app", str(kinds))

    assert_one_clear_line(result, 1, "crawler landing", "S3Targets", "--skip-crawlers")
    assert not list((home / "runs").glob("*"))


@pytest.mark.nightly
def test_a_crawler_of_a_workflow_crawls_before_the_job_behind_it(home: Path, kinds: Path) -> None:
    template = json.loads((kinds / "template.json").read_text(encoding="utf-8"))
    targets = {"S3Targets": [{"Path": "s3://raw/orders/"}]}
    template["Resources"]["Crawler"]["Properties"] |= {"DatabaseName": "shop", "Targets": targets}
    template["Resources"]["Raw"] = {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "raw"}}
    (kinds / "template.json").write_text(json.dumps(template), encoding="utf-8")
    orders = Home.open(home).lake / "raw" / "orders"
    orders.mkdir(parents=True)
    (orders / "a.json").write_text('{"id": 1}\n', encoding="utf-8")

    result = tidemark("run", "--app", str(kinds))

    assert result.exit_code == 0, result.output
    with Store(Home(home).database) as store:
        runs = [(run.job_name, run.state) for run in store.all_job_runs()]
        table = find_table(store, "shop", "orders")
    names = ("fetch", "crawler landing", "load")
    assert sorted(runs) == sorted((name, "SUCCEEDED") for name in names)
    assert list(table.columns) == [("id", "int")]


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
