"""The executions that a run of a job has for parents in its events of OpenLineage."""

from __future__ import annotations

from tests.tidemark.glue_service.state_machines.conftest import steps, task
from tidemark.operate.recorded_runs import facts_of_ended


def test_a_run_has_the_execution_that_started_it_and_those_above(port, states):
    port.job("of-child", "raise ValueError", MaxRetries=1)
    load = task("glue:startJobRun.sync", Parameters={"JobName": "of-child"})
    child = states.machine("child", steps("Load", Load=load))
    nested = task("states:startExecution.sync", Parameters={"StateMachineArn": child})
    parent = states.machine("parent", steps("Nested", Nested=nested))

    execution = states.start(parent)
    states.ended(execution)

    runs = port.glue.get_job_runs(JobName="of-child")["JobRuns"]
    facts = facts_of_ended(port.home, [run["Id"] for run in runs])
    assert len(facts) == 2  # a retry is of the same execution
    for of_run in facts:
        assert [name for name, _ in of_run.executions] == ["child", "parent"]
        assert of_run.executions[1][1] == execution
        assert of_run.nominal_start_ms is not None


def test_a_workflow_run_and_a_run_of_no_machine(port, states):
    port.job("in-flow")
    port.glue.create_workflow(Name="in-flow")
    port.glue.create_trigger(
        Name="in-flow", Type="ON_DEMAND", WorkflowName="in-flow", Actions=[{"JobName": "in-flow"}]
    )
    start = task("aws-sdk:glue:startWorkflowRun", Parameters={"Name": "in-flow"})
    states.run("starts-flow", steps("Start", Start=start))
    port.settle()
    (by_machine,) = port.glue.get_job_runs(JobName="in-flow")["JobRuns"]
    by_hand = port.glue.start_job_run(JobName="in-flow")["JobRunId"]
    port.settle()
    look = task("aws-sdk:glue:getJobRun", Parameters={"JobName": "in-flow", "RunId": by_hand})
    states.run("looks", steps("Look", Look=look))

    facts = facts_of_ended(port.home, [by_machine["Id"], by_hand])

    assert [[name for name, _ in run.executions] for run in facts] == [["starts-flow"], []]
