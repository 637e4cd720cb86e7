"""Every operation of Glue that the port answers, by the AWS CLI."""

from __future__ import annotations

import json
import re

import pytest

from tests.clients.conftest import PROGRAMS
from tidemark.glue_service.http.services import OPERATIONS

pytestmark = pytest.mark.clients
ERROR = re.compile(r"\(\w+Exception\)")
ARN = "arn:aws:glue:us-east-1:000000000000:job/every"
SHELL = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": "s3://scripts/every.py"}
STORAGE = {"Columns": [{"Name": "id", "Type": "int"}], "Location": "s3://scripts/t/"}
KEYS = [{"Name": "day", "Type": "string"}]
TABLE = {"Name": "t", "StorageDescriptor": STORAGE, "PartitionKeys": KEYS}
CONNECTION = {
    "Name": "c",
    "ConnectionType": "NETWORK",
    "ConnectionProperties": {},
    "PhysicalConnectionRequirements": {"AvailabilityZone": "us-east-1a"},
}
ROLE = "arn:aws:iam::000000000000:role/anyone"
NEWER = {"GetJobUpgradeAnalysis", "GetSystemLogsForJobRun", "GetSystemLogsForSession"}  # than it
FOLDERS = {"S3Targets": [{"Path": "s3://scripts/t/"}]}
CONDITION = {"LogicalOperator": "EQUALS", "JobName": "every", "State": "SUCCEEDED"}
WATCH = {"Predicate": {"Conditions": [CONDITION]}, "Actions": [{"JobName": "other"}]}


def command(name, /, **options):
    """Return the words of one command of Glue; an option that is no text is given as JSON."""
    words = ["glue", name]
    for option, value in options.items():
        words.append(f"--{option.replace('_', '-')}")
        if value is not True:
            words.append(value if isinstance(value, str) else json.dumps(value))
    return words


def of_table(name, /, **options):
    return command(name, database_name="every", table_name="t", **options)


BEFORE = [
    command("create-job", name="every", role="r", command=SHELL, tags={"a": "b"}),
    command("create-job", name="other", role="r", command=SHELL),
    command("update-job", job_name="every", job_update={"Role": "r2", "Command": SHELL}),
    command("get-job", job_name="every"),
    command("get-jobs"),
    command("list-jobs"),
    command("batch-get-jobs", job_names=["every", "none"]),
    command("tag-resource", resource_arn=ARN, tags_to_add={"c": "d"}),
    command("untag-resource", resource_arn=ARN, tags_to_remove=["a"]),
    command("get-tags", resource_arn=ARN),
    command("create-workflow", name="every"),
    command("update-workflow", name="every", description="new"),
    command("get-workflow", name="every"),
    command("list-workflows"),
    command("batch-get-workflows", names=["every"]),
    command(
        "create-trigger",
        name="begin",
        type="ON_DEMAND",
        workflow_name="every",
        actions=[{"JobName": "every"}],
    ),
    command(
        "create-trigger",
        name="watch",
        type="CONDITIONAL",
        predicate=WATCH["Predicate"],
        actions=WATCH["Actions"],
    ),
    command("update-trigger", name="watch", trigger_update={"Description": "new", **WATCH}),
    command("start-trigger", name="watch"),
    command("stop-trigger", name="watch"),
    command("get-trigger", name="watch"),
    command("get-triggers"),
    command("list-triggers"),
    command("batch-get-triggers", trigger_names=["watch"]),
    command("start-job-run", job_name="every"),
    command("start-workflow-run", name="every"),
    command("create-database", database_input={"Name": "every"}),
    command("update-database", name="every", database_input={"Name": "every", "Description": "d"}),
    command("get-database", name="every"),
    command("get-databases"),
    command("create-table", database_name="every", table_input=TABLE),
    command("update-table", database_name="every", table_input={**TABLE, "Description": "d"}),
    command("get-table", database_name="every", name="t"),
    command("get-tables", database_name="every"),
    command("search-tables", search_text="t"),
    of_table("get-table-version", version_id="0"),
    of_table("get-table-versions"),
    of_table("create-partition", partition_input={"Values": ["1"]}),
    of_table("batch-create-partition", partition_input_list=[{"Values": [v]} for v in "2345"]),
    of_table("update-partition", partition_value_list=["1"], partition_input={"Values": ["9"]}),
    of_table(
        "batch-update-partition",
        entries=[{"PartitionValueList": ["2"], "PartitionInput": {"Values": ["8"]}}],
    ),
    of_table("get-partition", partition_values=["9"]),
    of_table("get-partition-indexes"),
    of_table("get-partitions", expression="day > '3'"),
    of_table("batch-get-partition", partitions_to_get=[{"Values": ["9"]}]),
    of_table("delete-partition", partition_values=["9"]),
    of_table("batch-delete-partition", partitions_to_delete=[{"Values": ["8"]}]),
    of_table("delete-table-version", version_id="0"),
    of_table("batch-delete-table-version", version_ids=["7"]),
    command("create-connection", connection_input=CONNECTION),
    command("update-connection", name="c", connection_input={**CONNECTION, "Description": "d"}),
    command("get-connection", name="c"),
    command("get-connections"),
    command("create-security-configuration", name="s", encryption_configuration={}),
    command("get-security-configuration", name="s"),
    command("get-security-configurations"),
    command("create-crawler", name="every", role="r", database_name="every", targets=FOLDERS),
    command("update-crawler", name="every", description="new"),
    command("get-crawler", name="every"),
    command("get-crawlers"),
    command("list-crawlers"),
    command("batch-get-crawlers", crawler_names=["every"]),
    command("get-crawler-metrics"),
    command("list-crawls", crawler_name="every"),
    command("create-session", id="every", role=ROLE, command={"Name": "glueetl"}),
    command("get-session", id="every"),
    command("list-sessions"),
    command("stop-session", id="every"),
]
REFUSED = [
    command("get-job-bookmark", job_name="every"),  # there is none
    command("reset-job-bookmark", job_name="every"),
    command("test-connection", connection_name="c"),
    command("get-dev-endpoints"),
    command("stop-crawler", name="every"),  # it does not run
    command("start-crawler", name="none"),
    *(command(name, session_id="none") for name in ("list-statements", "get-session-endpoint")),
    *(command(name, session_id="none", id="0") for name in ("get-statement", "cancel-statement")),
    command("run-statement", session_id="none", code="1"),
    command("delete-session", id="none"),
]
AFTER = [
    command("delete-connection", connection_name="c"),
    command("batch-delete-connection", connection_name_list=["none"]),
    command("delete-security-configuration", name="s"),
    command("delete-table", database_name="every", name="t"),
    command("batch-delete-table", database_name="every", tables_to_delete=["none"]),
    command("delete-database", name="every"),
    command("delete-trigger", name="begin"),
    command("delete-trigger", name="watch"),
    command("delete-workflow", name="every"),
    command("delete-job", job_name="every"),
    command("delete-crawler", name="every"),
]


@pytest.fixture
def cli(client):
    """Return what runs commands, and returns how each ended."""

    def run(commands):
        done = client("aws-cli", "python", str(PROGRAMS / "aws_cli.py"), given=json.dumps(commands))
        return json.loads(done.stdout)

    return run


def test_each_is_answered(cli, port):
    port.script("every", "")

    started = cli(BEFORE)
    run_id = json.loads(started[BEFORE.index(command("start-job-run", job_name="every"))]["output"])
    flow = json.loads(started[BEFORE.index(command("start-workflow-run", name="every"))]["output"])
    port.ended("every", run_id["JobRunId"])
    of_run = {"name": "every", "run_id": flow["RunId"]}
    during = [
        command("get-job-run", job_name="every", run_id=run_id["JobRunId"]),
        command("get-job-runs", job_name="every"),
        command("batch-stop-job-run", job_name="every", job_run_ids=["jr_none"]),
        command("get-workflow-run", **of_run),
        command("get-workflow-runs", name="every"),
        command("put-workflow-run-properties", **of_run, run_properties={"a": "b"}),
        command("get-workflow-run-properties", **of_run),
    ]
    answers = list(zip(BEFORE, started, strict=True))
    for commands in (during, AFTER):
        answers += zip(commands, cli(commands), strict=True)
    ended = [
        command("stop-workflow-run", **of_run),
        command("resume-workflow-run", **of_run, node_ids=["none"]),
        *REFUSED,
    ]
    refused = list(zip(ended, cli(ended), strict=True))

    assert [(words, one["errors"]) for words, one in answers if one["code"]] == []
    assert [
        words for words, one in refused if not re.search(r"\(\w+Exception\)", one["errors"])
    ] == []
    asked = {words[1].replace("-", "") for words, _ in (*answers, *refused)}
    not_asked = {name for name in OPERATIONS["glue"] if name.lower() not in asked}
    assert not_asked == NEWER
    texts = {words[1]: one["errors"] for words, one in refused}
    assert "TestConnection of glue" in texts["test-connection"]
    assert "GetDevEndpoints of glue" in texts["get-dev-endpoints"]
