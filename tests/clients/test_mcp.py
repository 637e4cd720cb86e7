"""AWS's MCP server for data processing, unmodified, by the client of its protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import PROGRAMS
from tests.tidemark.glue_service.sessions.conftest import ROLE, Sessions
from tests.waiting import wait_until

pytestmark = pytest.mark.clients
COLUMNS = [{"Name": "id", "Type": "bigint"}]
TABLE = {
    "Name": "orders",
    "StorageDescriptor": {"Columns": COLUMNS, "Location": "s3://mcp/orders/"},
}
COMMAND = {"Name": "glueetl", "PythonVersion": "3"}
SCRIPT = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": "s3://mcp/job.py"}
CRAWLER = {
    "Role": ROLE,
    "DatabaseName": "mcp",
    "Targets": {"S3Targets": [{"Path": "s3://mcp-crawls/orders/"}]},
}


@pytest.fixture
def tools(client):
    """Return what calls tools, one after the other, each (name, operation, arguments)."""

    def call(*calls: tuple[str, str, dict[str, Any]]) -> list[tuple[bool, str]]:
        asked = [
            (f"manage_aws_glue_{name}", {"operation": operation, **arguments})
            for name, operation, arguments in calls
        ]
        program = str(PROGRAMS / "mcp_tools.py")
        done = client("mcp", "python", program, given=json.dumps(asked), AWS_REGION="us-east-1")
        answers = json.loads(done.stdout.splitlines()[-1])
        return [(is_error, "\n".join(texts)) for is_error, texts in answers]

    return call


def right(answers: list[tuple[bool, str]]) -> list[str]:
    """Return the texts of answers that are no errors."""
    assert not any(is_error for is_error, _ in answers), answers
    return [text for _, text in answers]


def test_tools_for_the_catalog_and_jobs_work_on_the_port(tools, port):
    port.home.create_bucket("mcp")
    (port.home.lake / "mcp" / "job.py").write_text("print('hello')\n", encoding="utf-8")
    database, table = {"database_name": "mcp"}, {"database_name": "mcp", "table_name": "orders"}
    job = {"job_name": "of-mcp"}

    texts = right(
        tools(
            ("databases", "create-database", database),
            ("databases", "get-database", database),
            ("tables", "create-table", {**table, "table_input": TABLE}),
            ("tables", "list-tables", database),
            ("jobs", "create-job", {**job, "job_definition": {"Role": ROLE, "Command": SCRIPT}}),
            ("jobs", "get-job", job),
            ("jobs", "start-job-run", job),
        )
    )
    assert '"orders"' in texts[3]
    assert "s3://mcp/job.py" in texts[5]
    (run,) = port.glue.get_job_runs(JobName="of-mcp")["JobRuns"]
    assert port.ended("of-mcp", run["Id"])["JobRunState"] == "SUCCEEDED"
    texts = right(
        tools(
            ("jobs", "get-job-runs", job),
            ("jobs", "delete-job", job),
            ("tables", "delete-table", table),
            ("databases", "delete-database", database),
        )
    )
    assert "SUCCEEDED" in texts[0]
    assert "of-mcp" not in port.glue.list_jobs()["JobNames"]


def test_tools_for_sessions_and_statements_work_on_the_port(tools, port):
    session = {"session_id": "of-mcp"}
    made = {"role": ROLE, "command": COMMAND, "glue_version": "5.1", "idle_timeout": 10}
    right(tools(("sessions", "create-session", {**session, **made})))
    sessions = Sessions(port.glue)
    sessions.becomes("of-mcp", "READY")

    code = {**session, "code": "spark.range(3).count()"}
    right(tools(("sessions", "list-sessions", {}), ("statements", "run-statement", code)))
    sessions.ended("of-mcp", 0)
    texts = right(
        tools(
            ("statements", "get-statement", {**session, "statement_id": 0}),
            ("statements", "list-statements", session),
            ("statements", "cancel-statement", {**session, "statement_id": 0}),
            ("sessions", "get-session", session),
            ("sessions", "stop-session", session),
        )
    )
    assert '"TextPlain":"3"' in texts[0].replace(" ", "")
    assert '"READY"' in texts[3]
    sessions.becomes("of-mcp", "STOPPED")
    right(tools(("sessions", "delete-session", session)))
    assert "of-mcp" not in port.glue.list_sessions()["Ids"]


def test_tools_for_crawlers_work_on_the_port(tools, port):
    folder = port.home.lake / "mcp-crawls" / "orders"
    folder.mkdir(parents=True)
    (folder / "a.json").write_text('{"id": 1}\n', encoding="utf-8")
    crawler = {"crawler_name": "of-mcp"}

    right(
        tools(
            ("crawlers", "create-crawler", {**crawler, "crawler_definition": CRAWLER}),
            (
                "crawlers",
                "update-crawler",
                {**crawler, "crawler_definition": {"TablePrefix": "a_"}},
            ),
            ("crawlers", "start-crawler", crawler),
        )
    )

    def ended():
        member = port.glue.get_crawler(Name="of-mcp")["Crawler"]
        return member.get("LastCrawl") if member["State"] == "READY" else None

    assert wait_until(ended)["Status"] == "SUCCEEDED"
    assert port.glue.get_table(DatabaseName="mcp", Name="a_orders")["Table"]["PartitionKeys"] == []
    names = {"crawler_names": ["of-mcp"]}
    texts = right(
        tools(
            ("crawlers", "get-crawler", crawler),
            ("crawlers", "get-crawlers", {}),
            ("crawlers", "list-crawlers", {}),
            ("crawlers", "batch-get-crawlers", names),
            ("crawler_management", "get-crawler-metrics", {"crawler_name_list": ["of-mcp"]}),
            ("crawlers", "delete-crawler", crawler),
        )
    )
    assert all("of-mcp" in text for text in texts)
    assert "of-mcp" not in port.glue.list_crawlers()["CrawlerNames"]


def test_what_crawlers_here_do_not_do_says_what_to_do_instead(tools):
    schedule = {"crawler_name": "c", "schedule": "cron(0 1 * * ? *)"}
    answers = tools(
        ("crawler_management", "update-crawler-schedule", schedule),
        ("classifiers", "get-classifiers", {}),
    )

    for (is_error, text), instead in zip(answers, ("StartCrawler", "CreateTable"), strict=True):
        assert is_error
        assert instead in text
