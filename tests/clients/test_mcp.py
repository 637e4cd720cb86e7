"""AWS's MCP server for data processing, unmodified, by the client of its protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.conftest import PROGRAMS
from tests.tidemark.glue_service.sessions.conftest import ROLE, Sessions

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
    "Targets": {"S3Targets": [{"Path": "s3://mcp/orders/"}]},
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


def test_crawlers_are_refused_with_what_to_do(tools):
    of_crawler = {"crawler_name": "c", "crawler_definition": CRAWLER}
    answers = tools(("crawlers", "create-crawler", of_crawler), ("crawlers", "get-crawlers", {}))

    for is_error, text in answers:
        assert is_error
        assert "tidemark catalog crawl" in text
