"""A DAG of Airflow whose tasks are Glue's: jobs that it creates, waits for, asks about."""

import os
from datetime import datetime
from pathlib import Path

from airflow.providers.amazon.aws.hooks.glue import GlueJobHook
from airflow.providers.amazon.aws.operators.glue import GlueJobOperator
from airflow.providers.amazon.aws.sensors.glue import GlueJobSensor
from airflow.providers.amazon.aws.sensors.glue_catalog_partition import GlueCatalogPartitionSensor
from airflow.sdk import DAG, task

BUCKET = "airflow"
COMMON = {
    "s3_bucket": BUCKET,
    "iam_role_name": "anyone",
    "num_of_dpus": 0.0625,
    "job_poll_interval": 0.5,
    "verbose": True,
    "replace_script_file": True,
}


def created(name: str, **members: object) -> dict[str, object]:
    """Return what the operator says of a new job: it is of Python, and starts without a JVM."""
    location = f"s3://{BUCKET}/artifacts/glue-scripts/{name}.py"
    command = {"Name": "pythonshell", "PythonVersion": "3.9", "ScriptLocation": location}
    return {"Command": command, **members}


with DAG("glue_jobs", schedule=None, start_date=datetime(2026, 1, 1)):  # noqa: DTZ001
    scripts = Path(os.environ["SCRIPTS"])
    load = GlueJobOperator(
        task_id="load",
        job_name="airflow-load",
        script_location=str(scripts / "load.py"),
        script_args={"--day": "{{ ds }}"},
        create_job_kwargs=created("load", Tags={"team": "data"}),
        **COMMON,
    )
    update = GlueJobOperator(
        task_id="update",
        job_name="airflow-load",
        script_location=str(scripts / "load.py"),
        script_args={"--day": "again"},
        create_job_kwargs=created("load", Tags={"team": "other"}, Timeout=7),
        update_config=True,
        **COMMON,
    )
    begin = GlueJobOperator(
        task_id="begin",
        job_name="airflow-report",
        script_location=str(scripts / "report.py"),
        create_job_kwargs=created("report"),
        wait_for_completion=False,
        **COMMON,
    )
    wait = GlueJobSensor(
        task_id="wait",
        job_name="airflow-report",
        run_id=begin.output,
        verbose=True,
        poke_interval=1,
    )
    partition = GlueCatalogPartitionSensor(
        task_id="partition",
        database_name="airflow",
        table_name="orders",
        expression="day = '2026-01-01'",
        poke_interval=1,
    )

    @task
    def ask(job_run_id: str) -> str:
        """Ask the hook about the jobs."""
        hook = GlueJobHook(job_name="airflow-report", region_name="us-east-1")
        assert hook.has_job("airflow-load")
        assert not hook.has_job("airflow-none")
        return hook.get_job_state("airflow-report", job_run_id)

    fail = GlueJobOperator(
        task_id="fail",
        job_name="airflow-fail",
        script_location=str(scripts / "fail.py"),
        create_job_kwargs=created("fail"),
        **COMMON,
    )

    @task(trigger_rule="all_failed")
    def handle() -> None:
        """Run only when the job before failed: the run of the DAG is a success by this."""

    partition >> load >> update >> begin >> wait >> ask(begin.output)
    fail >> handle()
