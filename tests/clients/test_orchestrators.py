"""Dagster, Prefect and Airflow, unmodified, run jobs of the port."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tidemark.glue_service.state_machines.conftest import States, steps, task
from tidemark.local_state.access_key import access_key

pytestmark = pytest.mark.clients
DAGS = Path(__file__).with_name("dags")


def lines_of(port, run_id):
    events = port.logs.get_log_events(
        logGroupName="/aws-glue/python-jobs/output", logStreamName=run_id, startFromHead=True
    )["events"]
    return [event["message"] for event in events]


def test_dagster_runs_a_job_as_an_asset(facts, port):
    found = facts("dagster", "dagster_pipes_of_glue.py")

    assert (found["by S3"]["rows"], found["by log"]["rows"]) == (3, 3)
    assert "a line of the script" in lines_of(port, found["by S3"]["run"])
    assert "no such partition" in found["failed"]
    assert port.states("of-dagster") == ["FAILED", "SUCCEEDED", "SUCCEEDED"]


def test_prefect_runs_a_job_by_its_block(facts, port):
    found = facts("prefect", "prefect_glue_job.py")

    assert found["of-prefect"]["state"] == "SUCCEEDED"
    assert lines_of(port, found["of-prefect"]["id"]) == ["2026-01-01"]
    assert found["bad-of-prefect"]["state"] == "FAILED"
    assert "no such day" in found["bad-of-prefect"]["error"]


@pytest.fixture
def airflow(client, port, tmp_path):
    """Return what runs `airflow WORDS` in a home and a database of its own, without a scheduler."""
    key = access_key(port.home)
    connection = {
        "conn_type": "aws",
        "login": key.key_id,
        "password": key.secret,
        "extra": {"endpoint_url": port.url, "region_name": "us-east-1"},
    }
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    (scripts / "load.py").write_text("import sys; print('loaded', sys.argv[-1])", encoding="utf-8")
    (scripts / "report.py").write_text("print('reported')", encoding="utf-8")
    (scripts / "fail.py").write_text("raise ValueError('no orders')", encoding="utf-8")
    variables = {
        "AIRFLOW_HOME": str(tmp_path / "airflow"),
        "AIRFLOW__CORE__DAGS_FOLDER": str(DAGS),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__LOGGING__COLORED_CONSOLE_LOG": "False",
        "AIRFLOW_CONN_AWS_DEFAULT": json.dumps(connection),
        "SCRIPTS": str(scripts),
        "STATE_MACHINE": "arn:aws:states:us-east-1:000000000000:stateMachine:airflow",
        "AWS_ENDPOINT_URL": "",  # the connection says where
    }

    def run(*words):
        done = client("airflow", "airflow", *words, **variables)
        return done.stdout + done.stderr

    run("db", "migrate")
    return run


def test_airflow_creates_runs_updates_and_waits_for_jobs(airflow, port):
    port.home.create_bucket("airflow")
    day = [{"Name": "day", "Type": "string"}]
    location = {"Location": "s3://airflow/orders/"}
    table = {"DatabaseName": "airflow", "TableName": "orders"}
    port.glue.create_database(DatabaseInput={"Name": "airflow"})
    port.glue.create_table(
        DatabaseName="airflow",
        TableInput={"Name": "orders", "PartitionKeys": day, "StorageDescriptor": location},
    )
    port.glue.create_partition(**table, PartitionInput={"Values": ["2026-01-01"]})

    output = airflow("dags", "test", "glue_jobs", "2026-01-01")

    job = port.glue.get_job(JobName="airflow-load")["Job"]
    arn = f"arn:aws:glue:us-east-1:000000000000:job/{job['Name']}"
    assert "loaded 2026-01-01" in output  # of verbose=True
    assert "reported" in output
    assert port.states("airflow-load") == ["SUCCEEDED", "SUCCEEDED"]
    assert port.states("airflow-report") == ["SUCCEEDED"]
    assert (job["Timeout"], job["MaxCapacity"]) == (7, 0.0625)
    assert port.glue.get_tags(ResourceArn=arn)["Tags"] == {"team": "other"}
    assert job["Role"] == "arn:aws:iam::000000000000:role/anyone"
    assert "no orders" in output
    assert port.states("airflow-fail") == ["FAILED"]


def test_airflow_starts_executions_waits_for_them_and_reads_outputs(airflow, port):
    port.job("airflow-step")
    step = task(
        "glue:startJobRun.sync",
        Parameters={"JobName.$": "$.job"},
        ResultSelector={"state.$": "$.JobRunState"},
    )
    machine = States(port).machine("airflow", steps("Load", Load=step))

    output = airflow("dags", "test", "state_machines", "2026-01-01")

    listed = States(port).client.list_executions(stateMachineArn=machine)["executions"]
    assert [run["status"] for run in listed] == ["FAILED", "SUCCEEDED"], output
    assert listed[-1]["name"] == "by-sensor"
    assert port.states("airflow-step") == ["SUCCEEDED"]
    assert "state=success" in output
