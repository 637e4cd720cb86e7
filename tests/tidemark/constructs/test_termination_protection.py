"""Each stack that holds a pipeline or a lake is protected, if the stage says so."""

import pytest

from tests.fixtures.pipelines import KEY, Declared, stage_of

pytestmark = pytest.mark.synth


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


def protected(declared):
    return {
        stack.stack_name
        for stack in declared.app.synth().stacks_recursively
        if stack.termination_protection
    }


@pytest.mark.parametrize("on", [True, False])
def test_the_stack_of_a_user_with_a_pipeline(declared, on):
    declared.add(declared.pipeline(stage=stage_of(termination_protection=on)))

    assert protected(declared) == ({"stack"} if on else set())


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("in_a_stage", [True, False])
def test_every_stack_of_a_pipeline_set_and_no_other(declared, cdk, in_a_stage, on):
    from aws_cdk import aws_kms as kms

    from tidemark.constructs import PipelineSet

    stage = stage_of(termination_protection=on)
    pipelines = PipelineSet(
        cdk.Stage(declared.app, "prod") if in_a_stage else declared.app,
        stage=stage,
        watermarks=None,
        key=kms.Key.from_key_arn(declared.stack, "Key", KEY),
        root=declared.root,
        env=cdk.Environment(),
    )
    for name in ("orders", "returns"):
        declared.add(pipelines.add(name), name)

    made = {p.node.scope.stack_name for p in pipelines.pipelines.values()}
    assert protected(declared) == (made if on else set())


def test_the_stack_around_a_lake_in_a_nested_one(declared, cdk):
    from tidemark.constructs import Lake

    nested = cdk.NestedStack(declared.stack, "Nested")
    Lake(nested, "Lake", stage=stage_of(termination_protection=True))

    assert protected(declared) == {"stack"}
