"""A DAG of Airflow that starts executions of a state machine, waits for them, and reads outputs."""

import os
from datetime import datetime

from airflow.exceptions import AirflowException
from airflow.providers.amazon.aws.operators.step_function import (
    StepFunctionGetExecutionOutputOperator,
    StepFunctionStartExecutionOperator,
)
from airflow.providers.amazon.aws.sensors.step_function import StepFunctionExecutionSensor
from airflow.sdk import DAG, task

MACHINE = os.environ["STATE_MACHINE"]

with DAG("state_machines", schedule=None, start_date=datetime(2026, 1, 1)):  # noqa: DTZ001
    begin = StepFunctionStartExecutionOperator(
        task_id="begin",
        state_machine_arn=MACHINE,
        state_machine_input={"job": "airflow-step"},
        name="by-sensor",
    )
    wait = StepFunctionExecutionSensor(
        task_id="wait", execution_arn=begin.output, poke_interval=1, aws_conn_id="aws_default"
    )
    read = StepFunctionGetExecutionOutputOperator(task_id="read", execution_arn=begin.output)
    bad = StepFunctionStartExecutionOperator(
        task_id="bad", state_machine_arn=MACHINE, state_machine_input={"job": "none"}
    )
    await_bad = StepFunctionExecutionSensor(
        task_id="await_bad", execution_arn=bad.output, poke_interval=1, retries=0
    )

    @task
    def check(output: object) -> None:
        """Look at the output of the first execution."""
        if output != {"state": "SUCCEEDED"}:
            raise AirflowException(f"the output is {output}")

    @task(trigger_rule="all_failed")
    def handle() -> None:
        """Run only when the sensor failed: the run of the DAG is a success by this."""

    begin >> wait >> read >> check(read.output) >> bad >> await_bad >> handle()
