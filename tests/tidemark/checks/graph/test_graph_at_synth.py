"""Synthesis refuses a bad graph."""

import re
from tempfile import mkdtemp

import pytest

import app
from tests.tidemark.checks.graph.synthesized import (
    ENABLE,
    disable,
    key_of,
    new_pipeline,
    new_table,
    refusals,
    shown_by,
    synthesized,
)
from tidemark.checks.graph.rules import RULES

pytestmark = pytest.mark.synth


def test_a_graph_made_by_hand_is_checked_too(cdk, project):
    from aws_cdk import aws_glue as glue

    pipeline = new_pipeline(cdk, project)
    first = disable(pipeline, "first")
    glue.CfnTrigger(
        pipeline,
        "ByHand",
        type="CONDITIONAL",
        workflow_name=pipeline.workflow.ref,
        predicate=glue.CfnTrigger.PredicateProperty(
            conditions=[
                glue.CfnTrigger.ConditionProperty(
                    job_name=first.resource.ref, logical_operator="EQUALS", state="SUCCEEDED"
                )
            ]
        ),
        actions=[glue.CfnTrigger.ActionProperty(job_name="nobody")],
    )

    path = "stack/Orders/ByHand"
    assert refusals(pipeline) == [
        (
            path,
            "the trigger names the job 'nobody', which this stage does not define",
            "name a job of the same stage; jobs of other stages cannot be waited for (TM407)",
        ),
        (
            path,
            "the CONDITIONAL trigger is created inactive and will never fire",
            "set StartOnCreation to true (TM409)",
        ),
    ]


def test_a_template_that_cloudformation_refuses_for_its_size_is_refused(cdk, project):
    pipeline = new_pipeline(cdk, project)
    disable(pipeline, "first").resource.add_metadata("much", "x" * 1_000_000)

    ((_, text, fix),) = refusals(pipeline)
    assert "CloudFormation takes 1,000,000" in text
    assert "suppressTemplateIndentation" in fix


def test_a_finding_can_be_acknowledged_with_a_reason(cdk, project):
    pipeline = new_pipeline(cdk, project)
    first = disable(pipeline, "first")
    first.resource.execution_property = {"maxConcurrentRuns": 2}
    first.resource.add_property_override("DefaultArguments.--job-bookmark-option", ENABLE)

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)

    again = new_pipeline(cdk, project)
    first = disable(again, "first")
    first.resource.execution_property = {"maxConcurrentRuns": 2}
    first.resource.add_property_override("DefaultArguments.--job-bookmark-option", ENABLE)
    cdk.Validations.of(first).acknowledge(
        cdk.Acknowledgment(
            id="tidemark::bookmark-concurrent", reason="each run reads a folder of its own"
        )
    )
    assert synthesized(again)["Resources"]


def test_a_race_can_be_acknowledged_at_the_job_with_a_reason(cdk, project):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset
    from tidemark.errors import JobDefinitionError

    def racing():
        pipeline = new_pipeline(cdk, project)
        lake = s3.Bucket.from_bucket_name(pipeline, "Lake", "lake")
        _, second = (
            disable(pipeline, name, writes=[Dataset(lake, "x/", published=True)])
            for name in ("first", "second")
        )
        return pipeline, second

    pipeline, _ = racing()
    ((path, text, fix),) = refusals(pipeline)
    assert path == "stack/Orders/Second/Resource"
    assert "'first' and 'second' can write s3://lake/x/ at the same time" in text
    assert 'job.acknowledge("two-writers", "...")' in fix
    assert fix.endswith(" (TM429)")

    pipeline, second = racing()
    second.acknowledge("TM429", "each writes partitions of its own")
    assert synthesized(pipeline)["Resources"]
    with pytest.raises(JobDefinitionError, match=r"rule 'two-writer'; allowed: .*two-wri"):
        second.acknowledge("two-writer", "each writes partitions of its own")
    with pytest.raises(JobDefinitionError, match="with the reason ''; allowed: a string"):
        second.acknowledge("two-writers", "")


def test_a_secret_that_a_hand_put_in_the_open_is_found_and_not_repeated(cdk, project):
    from aws_cdk import aws_glue as glue

    pipeline = new_pipeline(cdk, project)
    first = disable(pipeline, "first", arguments={"table": "t"})
    host = cdk.CfnParameter(pipeline, "Host").value_as_string
    change = first.resource.add_property_override
    change("NonOverridableArguments.--api_key", "hunter2")
    change("DefaultArguments.--url", f"jdbc:postgresql://{host}/air?password=hunter2")
    change("DefaultArguments.--from", "{{resolve:secretsmanager:air:SecretString:password}}")
    change("DefaultArguments.--token", cdk.Fn.ref("AWS::StackName"))
    pipeline.workflow.add_property_override("DefaultRunProperties.password", "hunter2")
    pipeline._triggers.start.actions = [
        glue.CfnTrigger.ActionProperty(
            job_name=first.resource.ref, arguments={"--db_password": "hunter2"}
        )
    ]

    shown = refusals(pipeline)
    assert sorted((path.removeprefix("stack/Orders/"), text) for path, text, _ in shown) == [
        (path, f"the {what} has a value that looks like a secret")
        for path, what in (
            ("First/Resource", "argument '--api_key'"),
            ("First/Resource", "argument '--from'"),
            ("First/Resource", "argument '--url'"),
            ("Start", "argument '--db_password'"),
            ("Workflow", "run property 'password'"),
        )
    ]
    assert "hunter2" not in str(shown)
    assert all("secrets=" in fix for _, _, fix in shown)


def test_a_warning_is_shown_and_fails_nothing(cdk, project):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset

    pipeline = new_pipeline(cdk, project)
    lake = s3.Bucket.from_bucket_name(pipeline, "Lake", "lake")
    disable(pipeline, "first", reads=[Dataset(lake, "in/")])

    synthesized(pipeline)

    ((path, text, fix),) = shown_by(pipeline)
    assert path == "stack/Orders/First/Resource"
    assert text == "the job 'first' reads s3://lake/in/, which no job writes"
    assert "delivered=True" in fix


def test_two_pipelines_with_a_job_of_one_name_are_refused(cdk, project):
    one = new_pipeline(cdk, project)
    two = another(one, cdk.Stack.of(one), project)
    disable(one, "same")
    disable(two, "same")

    ((path, text, _),) = refusals(one)
    assert path == "stack/Returns/Same/Resource"
    assert text.startswith("the job name 'same' is taken by stack/OrdersSame")


def staged(cdk, project, env=None):
    """Return the app of two stages with the same pipeline."""
    from tidemark.constructs.pipeline import Pipeline

    pipeline = new_pipeline(cdk, project)
    root = cdk.App(analytics_reporting=False, outdir=mkdtemp(dir=project))
    for name in ("Dev", "Prod"):
        stack = cdk.Stack(cdk.Stage(root, name, env=env), "Etl")
        copy = Pipeline(
            stack,
            "Orders",
            name="orders",
            root=project,
            stage=pipeline._stage,
            watermarks=new_table(stack),
            key=key_of(stack),
        )
        disable(copy, "same")
    return root


def test_stages_whose_accounts_are_not_known_yet_are_not_taken_for_one(cdk, project):
    assert staged(cdk, project).synth().stacks_recursively


def test_stages_of_one_account_cannot_have_a_job_of_one_name(cdk, project):
    env = cdk.Environment(account="123456789012", region="eu-west-1")

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        staged(cdk, project, env).synth()


@pytest.mark.parametrize("references", ["strong", "weak"])
def test_what_another_stack_writes_is_known_however_stacks_refer_to_each_other(
    cdk, project, references
):
    from aws_cdk import aws_glue as glue
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset

    flag = "@aws-cdk/core:defaultCrossStackReferences"
    pipeline = new_pipeline(cdk, project, {flag: references})
    app_ = pipeline.node.root
    lake = s3.Bucket(cdk.Stack(app_, "lake"), "Raw")
    raw = Dataset(lake, "raw/")
    first = disable(pipeline, "first", writes=[raw])
    other = another(pipeline, cdk.Stack(app_, "other"), project)
    disable(other, "second", reads=[raw])
    glue.CfnTrigger(
        cdk.Stack(app_, "third"),
        "ByHand",
        type="ON_DEMAND",
        actions=[glue.CfnTrigger.ActionProperty(job_name=first.resource.ref)],
    )

    app_.synth()

    assert shown_by(pipeline) == []


def another(pipeline, stack, project):
    """Return a second pipeline with what the first has."""
    from tidemark.constructs.pipeline import Pipeline

    return Pipeline(
        stack,
        "Returns",
        name="returns",
        root=project,
        stage=pipeline._stage,
        watermarks=pipeline._shared.watermarks,
        key=stack.node.try_find_child("Key") or key_of(stack),
    )


def test_what_only_a_deployment_knows_is_not_judged(cdk, project):
    from aws_cdk import aws_glue as glue

    pipeline = new_pipeline(cdk, project)
    first = disable(pipeline, "first")
    stack = cdk.Stack.of(pipeline)
    schedule = cdk.CfnParameter(stack, "Schedule")
    cdk.CfnParameter(stack, "Runs", type="Number")
    first.resource.add_property_override("ExecutionProperty.MaxConcurrentRuns", {"Ref": "Runs"})
    glue.CfnTrigger(
        stack,
        "ByHand",
        type="SCHEDULED",
        schedule=schedule.value_as_string,
        start_on_creation=True,
        actions=[glue.CfnTrigger.ActionProperty(job_name=first.resource.ref)],
    )
    chosen = glue.CfnTrigger(stack, "Chosen", type="ON_DEMAND", actions=[])
    cdk.CfnCondition(stack, "If", expression=cdk.Fn.condition_equals("a", "b"))
    chosen.add_property_override("Actions", {"Fn::If": ["If", [{"JobName": "x"}], []]})

    assert synthesized(pipeline)["Resources"]


def test_the_app_ends_with_one_line_when_it_does_not_validate(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(
        "tidemark.constructs.graph_check.problems", lambda graph: [problem_of(graph.triggers[0].at)]
    )
    monkeypatch.setenv("CDK_OUTDIR", str(tmp_path))

    assert app.main() == 2

    assert capsys.readouterr().err.endswith(
        "error: the app does not validate; correct the errors above\n"
    )


def test_the_app_ends_with_one_line_when_a_construct_refuses_at_synthesis(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tidemark.constructs.monitoring.alerts.MAX_CHARACTERS", 10)
    monkeypatch.setenv("CDK_OUTDIR", str(tmp_path))

    assert app.main() == 2

    err = capsys.readouterr().err
    assert re.match(r"error: the pipeline has \d+ jobs, whose names make an event pattern of ", err)
    assert "100 jobs, crawlers and triggers in a workflow, and 10 characters in a pattern;" in err


def problem_of(at):
    from tidemark.checks.graph.model import Problem

    return Problem(next(iter(RULES)), at, "wrong", "fix it")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("Command.Name", "pythonshell", "Worker Type is not supported for Job Command pythonshell"),
        (
            "Description",
            "d" * 2_049,
            "Description is a string of 2049 characters; allowed: at most",
        ),
        ("GlueVersion", "7.0", "GlueVersion is '7.0'"),
    ],
)
def test_an_override_that_glue_refuses_is_refused_at_synthesis(cdk, project, path, value, said):
    pipeline = new_pipeline(cdk, project)
    disable(pipeline, "first").resource.add_property_override(path, value)

    assert said in " ".join(text for _, text, _ in refusals(pipeline))


def test_a_job_that_names_no_version_is_told_what_it_runs_on(cdk, project):
    pipeline = new_pipeline(cdk, project)
    disable(pipeline, "first").resource.add_property_deletion_override("GlueVersion")

    synthesized(pipeline)  # a warning: nothing fails

    (said,) = [text for _, text, _ in shown_by(pipeline) if "names no GlueVersion" in text]
    assert "it runs on Spark 4 (Glue 6.0) from now on" in said


def test_a_job_with_watermarks_that_may_run_twice_at_once_is_refused_at_synthesis(cdk, project):
    resource = disable(new_pipeline(cdk, project), "first").resource
    resource.add_property_override("DefaultArguments.--watermark_table", "glue-watermarks")
    resource.add_property_override("ExecutionProperty.MaxConcurrentRuns", 3)

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(resource.stack.node.find_child("Orders"))
    said = [text for _, text, _ in shown_by(resource.stack.node.find_child("Orders"))]
    assert any("keeps watermarks and has MaxConcurrentRuns 3" in text for text in said)
