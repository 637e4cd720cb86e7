"""A pipeline that is a step of a state machine of the app."""

from __future__ import annotations

import json

import pytest

from tests.fixtures.pipelines import Declared
from tidemark.errors import JobDefinitionError
from tidemark.model.schedules.schedules import Schedule

pytestmark = pytest.mark.synth


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def with_job(declared, **given):
    from tidemark.constructs import BookmarkOption

    pipeline = declared.pipeline(**given)
    pipeline.add_job("one", script="job.py", bookmark=BookmarkOption.DISABLE)
    return pipeline


def machine_of(declared, pipeline):
    from aws_cdk import aws_stepfunctions as sfn

    chain = pipeline.start_task(declared.stack, "Load", wait_seconds=5)
    chain = chain.next(sfn.Pass(declared.stack, "After"))
    body = sfn.DefinitionBody.from_chainable(chain)
    return sfn.StateMachine(declared.stack, "Nightly", definition_body=body)


def test_a_task_starts_the_workflow_waits_for_it_and_may_do_no_more(declared):
    from aws_cdk.assertions import Template

    from tidemark.constructs import ByStateMachine

    machine_of(declared, with_job(declared, starts=[ByStateMachine()]))

    template = Template.from_stack(declared.stack)
    (machine,) = template.find_resources("AWS::StepFunctions::StateMachine").values()
    parts = machine["Properties"]["DefinitionString"]["Fn::Join"][1]
    text = "".join(part if isinstance(part, str) else "aws" for part in parts)
    states = json.loads(text)["States"]
    names = "Load|Load Wait|Load Look|Load Ended?|Load Done|Load Failed|After"
    assert set(states) == set(names.split("|"))
    assert states["Load"]["Parameters"] == {"Name": "orders"}
    assert states["Load"]["Resource"].endswith(":aws-sdk:glue:startWorkflowRun")
    policies = template.find_resources("AWS::IAM::Policy").values()
    statements = [
        statement
        for policy in policies
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
        if "WorkflowRun" in json.dumps(statement["Action"])
    ]
    assert {json.dumps(s["Resource"]).count(":workflow/orders") for s in statements} == {1}


def test_another_start_beside_a_state_machine_is_refused(declared):
    from tidemark.constructs import ByStateMachine

    six = Schedule("cron(0 6 * * ? *)")

    with pytest.raises(JobDefinitionError, match="is started by a state machine and by something"):
        with_job(declared, name="first", starts=[ByStateMachine(), six])
    pipeline = with_job(declared, starts=[six])
    with pytest.raises(JobDefinitionError, match="has start_task, and is also started by `cron"):
        pipeline.start_task(declared.stack, "Load")


def test_a_pipeline_that_no_machine_starts_is_refused_at_synthesis(declared):
    from tidemark.constructs import ByStateMachine

    with_job(declared, starts=[ByStateMachine()])

    with pytest.raises(RuntimeError, match="and no task starts it; put pipeline"):
        declared.app.synth()


def test_a_wait_that_step_functions_does_not_know_is_refused(declared):
    pipeline = with_job(declared, starts=[])

    with pytest.raises(JobDefinitionError, match=r"wait_seconds 0.*allowed: an integer from 1"):
        pipeline.start_task(declared.stack, "Load", wait_seconds=0)
