"""The states that start a workflow run, and wait for its end.

Step Functions has no `.sync` for workflows of Glue: the task starts a run, and asks for its state.

Source: https://docs.aws.amazon.com/step-functions/latest/dg/supported-services-awssdk.html
"""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_stepfunctions as sfn
from constructs import Construct

FAILURES = ("FailedActions", "TimeoutActions", "StoppedActions", "ErroredActions")
RUN = "WorkflowRun"  # the member of a state's input that names the run


def start_task(scope: Construct, id_: str, *, workflow: str, wait_seconds: int) -> sfn.Chain:
    """Return states that start a workflow run, and wait for its end.

    A run with a job that failed, timed out or was stopped fails, as `Tidemark.WorkflowRunFailed`.

    Args:
        scope: the construct that owns the states.
        id_: the name of the first state, and the beginning of the names of the others.
        workflow: the name of the workflow.
        wait_seconds: between two looks at the run.
    """
    start = _call(
        scope,
        id_,
        "startWorkflowRun",
        workflow,
        {"Name": workflow},
        {"RunId": sfn.JsonPath.string_at("$.RunId")},
    )
    pause = sfn.Wait(
        scope, f"{id_} Wait", time=sfn.WaitTime.duration(cdk.Duration.seconds(wait_seconds))
    )
    numbers = {name: sfn.JsonPath.number_at(f"$.Run.Statistics.{name}") for name in FAILURES}
    look = _call(
        scope,
        f"{id_} Look",
        "getWorkflowRun",
        workflow,
        {"Name": workflow, "RunId": sfn.JsonPath.string_at(f"$.{RUN}.RunId")},
        {
            "RunId": sfn.JsonPath.string_at("$.Run.WorkflowRunId"),
            "Status": sfn.JsonPath.string_at("$.Run.Status"),
            **numbers,
        },
    )
    status = f"$.{RUN}.Status"
    is_at_work = sfn.Condition.or_(
        *(sfn.Condition.string_equals(status, state) for state in ("RUNNING", "STOPPING"))
    )
    went_well = sfn.Condition.and_(
        sfn.Condition.string_equals(status, "COMPLETED"),
        *(sfn.Condition.number_equals(f"$.{RUN}.{name}", 0) for name in FAILURES),
    )
    failed = sfn.Fail(
        scope,
        f"{id_} Failed",
        error="Tidemark.WorkflowRunFailed",
        cause=f"a job of the workflow {workflow} did not succeed, or its run was stopped",
    )
    done = sfn.Pass(scope, f"{id_} Done")
    choice = sfn.Choice(scope, f"{id_} Ended?")
    choice.when(is_at_work, pause).when(went_well, done).otherwise(failed)
    start.next(pause)
    pause.next(look)
    look.next(choice)
    return sfn.Chain.custom(start, [done], done)


def _call(
    scope: Construct,
    id_: str,
    action: str,
    workflow: str,
    parameters: dict[str, Any],
    result: dict[str, Any],
) -> Any:
    from aws_cdk import aws_stepfunctions_tasks as tasks  # slow: it has the services of all tasks

    arn = cdk.Stack.of(scope).format_arn(
        service="glue", resource="workflow", resource_name=workflow
    )
    return tasks.CallAwsService(
        scope,
        id_,
        service="glue",
        action=action,
        parameters=parameters,
        iam_resources=[arn],
        result_selector=result,
        result_path=f"$.{RUN}",
    )
