"""The AWS CLI, unmodified, against the port."""

from __future__ import annotations

import json
import urllib.request

import pytest

from tests.waiting import wait_until

pytestmark = pytest.mark.clients
SHELL = {"Name": "pythonshell", "PythonVersion": "3.9"}


def test_a_script_is_uploaded_run_and_its_log_read(aws, port, tmp_path):
    (tmp_path / "hello.py").write_text("print('hello')", encoding="utf-8")
    aws("s3", "mb", "s3://cli-scripts")
    aws("s3", "cp", "hello.py", "s3://cli-scripts/jobs/hello.py")
    command = {**SHELL, "ScriptLocation": "s3://cli-scripts/jobs/hello.py"}
    created = aws(
        "glue",
        "create-job",
        "--name",
        "hello",
        "--role",
        "anyone",
        "--command",
        json.dumps(command),
        "--tags",
        "team=data",
    )
    run_id = aws("glue", "start-job-run", "--job-name", "hello")["JobRunId"]
    port.ended("hello", run_id)

    run = aws("glue", "get-job-run", "--job-name", "hello", "--run-id", run_id)["JobRun"]
    runs = aws("glue", "get-job-runs", "--job-name", "hello")["JobRuns"]
    events = aws(
        "logs",
        "get-log-events",
        "--log-group-name",
        "/aws-glue/python-jobs/output",
        "--log-stream-name",
        run_id,
    )["events"]
    filtered = aws(
        "logs",
        "filter-log-events",
        "--log-group-name",
        "/aws-glue/python-jobs/output",
        "--filter-pattern",
        "hello",
        "--start-time",
        str(events[0]["timestamp"]),
    )["events"]

    assert created == {"Name": "hello"}
    assert (run["JobRunState"], [one["Id"] for one in runs]) == ("SUCCEEDED", [run_id])
    assert [event["message"] for event in events] == ["hello"]
    assert [event["logStreamName"] for event in filtered] == [run_id]
    listed = aws("glue", "list-jobs", "--tags", "team=data")
    assert listed["JobNames"] == ["hello"]
    account = aws("sts", "get-caller-identity")["Account"]
    arn = f"arn:aws:glue:us-east-1:{account}:job/hello"
    assert aws("glue", "get-tags", "--resource-arn", arn)["Tags"] == {"team": "data"}
    assert aws("iam", "get-role", "--role-name", "r")["Role"]["RoleName"] == "r"


def test_a_workflow_is_started_watched_and_resumed(aws, port):
    for name, text in (("first", ""), ("second", "raise ValueError('no')")):
        port.job(name, text)
    aws("glue", "create-workflow", "--name", "flow", "--default-run-properties", "day=1")
    in_flow = ("--workflow-name", "flow")
    aws(
        "glue",
        "create-trigger",
        "--name",
        "start",
        "--type",
        "ON_DEMAND",
        *in_flow,
        "--actions",
        "JobName=first",
    )
    condition = {"LogicalOperator": "EQUALS", "JobName": "first", "State": "SUCCEEDED"}
    aws(
        "glue",
        "create-trigger",
        "--name",
        "then",
        "--type",
        "CONDITIONAL",
        *in_flow,
        "--start-on-creation",
        "--actions",
        "JobName=second,Arguments={--a=1}",
        "--predicate",
        json.dumps({"Conditions": [condition]}),
    )

    def finished(run_id):
        words = ("glue", "get-workflow-run", "--name", "flow", "--run-id", run_id)
        wait_until(lambda: aws(*words)["Run"]["Status"] == "COMPLETED")
        return aws(*words, "--include-graph")["Run"]

    run = finished(aws("glue", "start-workflow-run", "--name", "flow")["RunId"])
    port.script("second", "")
    (node,) = [one for one in run["Graph"]["Nodes"] if one["Name"] == "second"]
    resumed = aws(
        "glue",
        "resume-workflow-run",
        "--name",
        "flow",
        "--node-ids",
        node["UniqueId"],
        "--run-id",
        run["WorkflowRunId"],
    )
    again = finished(resumed["RunId"])

    assert (run["Statistics"]["SucceededActions"], run["Statistics"]["FailedActions"]) == (1, 1)
    assert (again["Statistics"]["SucceededActions"], again["PreviousRunId"]) == (
        2,
        run["WorkflowRunId"],
    )
    properties = ("--name", "flow", "--run-id", again["WorkflowRunId"])
    aws("glue", "put-workflow-run-properties", *properties, "--run-properties", "a=b")
    found = aws("glue", "get-workflow-run-properties", *properties)["RunProperties"]
    assert found == {"day": "1", "a": "b"}
    assert aws("glue", "get-triggers", "--dependent-job-name", "second")["Triggers"]


def test_a_run_is_stopped_and_errors_are_told(aws, port):
    port.job("long", "import time; time.sleep(60)")
    run_id = aws("glue", "start-job-run", "--job-name", "long")["JobRunId"]

    twice = aws("glue", "start-job-run", "--job-name", "long", code=255)
    stopped = aws("glue", "batch-stop-job-run", "--job-name", "long", "--job-run-ids", run_id)

    assert "ConcurrentRunsExceededException" in twice
    assert stopped["SuccessfulSubmissions"][0]["JobRunId"] == run_id
    assert port.ended("long", run_id)["JobRunState"] == "STOPPED"
    assert "EntityNotFoundException" in aws("glue", "get-job", "--job-name", "none", code=255)
    assert "GetClassifiers of glue" in aws("glue", "get-classifiers", code=255)


def test_a_table_and_its_partitions_are_defined(aws):
    aws("s3", "mb", "s3://cli-tables")
    aws("glue", "create-database", "--database-input", "Name=sales")
    columns = [{"Name": "id", "Type": "bigint"}]
    definition = {
        "Name": "orders",
        "StorageDescriptor": {"Columns": columns, "Location": "s3://cli-tables/orders/"},
        "PartitionKeys": [{"Name": "day", "Type": "date"}],
        "Parameters": {"classification": "json"},
    }
    table = ("--database-name", "sales", "--table-name", "orders")
    text = json.dumps(definition)
    aws("glue", "create-table", "--database-name", "sales", "--table-input", text)
    aws("glue", "create-partition", *table, "--partition-input", "Values=2026-01-01")

    tables = aws("glue", "get-tables", "--database-name", "sales")["TableList"]
    words = (*table, "--expression", "day >= '2026-01-01'")
    partitions = aws("glue", "get-partitions", *words)["Partitions"]

    assert [(one["Name"], one["VersionId"]) for one in tables] == [("orders", "0")]
    location = partitions[0]["StorageDescriptor"]["Location"]
    assert location == "s3://cli-tables/orders/day=2026-01-01"


def test_folders_are_synchronised_copied_and_removed(aws, port, tmp_path):
    for name in ("a.csv", "b/c d.csv", "é.txt"):
        file = tmp_path / "data" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(name.encode() * 1000)
    (tmp_path / "data" / "big").write_bytes(b"x" * (17 * 1024**2))
    aws("s3", "mb", "s3://cli-data")

    aws("s3", "sync", "data", "s3://cli-data/in")
    again = aws("s3", "sync", "data", "s3://cli-data/in")
    aws("s3", "cp", "--recursive", "s3://cli-data/in", "s3://cli-data/copy")
    aws("s3", "mv", "s3://cli-data/copy/big", "s3://cli-data/moved")
    aws("s3", "sync", "s3://cli-data/in", "back")
    listed = aws("s3", "ls", "--recursive", "s3://cli-data/in/")

    assert again == ""
    assert [line.split(maxsplit=3)[3] for line in listed.splitlines()] == [
        "in/a.csv",
        "in/b/c d.csv",
        "in/big",
        "in/é.txt",
    ]
    for name in ("a.csv", "b/c d.csv", "é.txt", "big"):
        original = (tmp_path / "data" / name).read_bytes()
        assert (tmp_path / "back" / name).read_bytes() == original
        assert (port.home.lake / "cli-data" / "in" / name).read_bytes() == original
    assert (port.home.lake / "cli-data" / "moved").stat().st_size == 17 * 1024**2
    with urllib.request.urlopen(aws("s3", "presign", "s3://cli-data/in/é.txt").strip()) as answer:  # noqa: S310
        assert answer.read() == "é.txt".encode() * 1000
    aws("s3", "rb", "--force", "s3://cli-data")
    assert not (port.home.lake / "cli-data").exists()
