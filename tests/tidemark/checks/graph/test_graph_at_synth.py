"""Synthesis refuses a bad graph, and random good ones become triggers that mean the same."""

import json
import re
from itertools import product
from pathlib import Path
from tempfile import mkdtemp

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import app
from tidemark.assembly.resources import METADATA
from tidemark.assembly.template import _trigger as trigger_of
from tidemark.checks.graph.rules import RULES, problems
from tidemark.checks.graph.template import read_graph
from tidemark.local_glue.workflows.predicates import triggers_to_fire

pytestmark = pytest.mark.synth

KEY = "arn:aws:kms:eu-west-1:123456789012:key/k"
STATES = ("SUCCEEDED", "FAILED", "TIMEOUT", "STOPPED")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    root = tmp_path_factory.mktemp("project")
    (root / "libs").mkdir()
    (root / "job.py").write_text("print('hello')\n")
    return root


def new_pipeline(cdk, project, context=None):
    """Return a pipeline in a stack of an app of its own."""
    from tidemark.constructs.pipeline import Pipeline
    from tidemark.stage.config import StageConfig
    from tidemark.stage.runtime import JobRuntime

    out = mkdtemp(dir=project)
    stack = cdk.Stack(cdk.App(analytics_reporting=False, outdir=out, context=context), "stack")
    return Pipeline(
        stack,
        "Orders",
        name="orders",
        root=project,
        stage=StageConfig("dev", None, None, None, JobRuntime()),
        watermarks=new_table(stack),
        key=key_of(stack),
    )


def shown_by(pipeline):
    """Return what the validation report says, each finding as its path, text and remedy."""
    report = json.loads((Path(pipeline.node.root.outdir) / "validation-report.json").read_text())
    return [
        (construct["constructPath"], violation["description"], violation["suggestedFix"])
        for plugin in report["pluginReports"]
        if plugin["pluginName"] == "tidemark"
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    ]


def synthesized(pipeline):
    """Return the template."""
    folder = pipeline.node.root.synth().directory
    return json.loads((Path(folder) / "stack.template.json").read_text())


def disable(pipeline, name, **changes):
    from tidemark.constructs.jobs.incremental_job import BookmarkOption

    return pipeline.add_job(name, script="job.py", bookmark=BookmarkOption.DISABLE, **changes)


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

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)

    path = "stack/Orders/ByHand"
    assert shown_by(pipeline) == [
        (
            path,
            "the trigger names the job 'nobody', which this stage does not define",
            "name a job of the same stage; jobs of other stages cannot be waited for",
        ),
        (
            path,
            "the CONDITIONAL trigger is created inactive and will never fire",
            "set StartOnCreation to true",
        ),
    ]


def test_a_template_that_cloudformation_refuses_for_its_size_is_refused(cdk, project):
    pipeline = new_pipeline(cdk, project)
    disable(pipeline, "first").resource.add_metadata("much", "x" * 1_000_000)

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)

    ((_, text, fix),) = shown_by(pipeline)
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


ENABLE = "job-bookmark-enable"


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
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)
    ((path, text, fix),) = shown_by(pipeline)
    assert path == "stack/Orders/Second/Resource"
    assert "'first' and 'second' can write s3://lake/x/ at the same time" in text
    assert 'job.acknowledge("two-writers", "...")' in fix

    pipeline, second = racing()
    second.acknowledge("two-writers", "each writes partitions of its own")
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

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(pipeline)

    shown = shown_by(pipeline)
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

    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesized(one)

    ((path, text, _),) = shown_by(one)
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


def new_table(scope):
    from tidemark.constructs.watermark_table import WatermarkTable

    return WatermarkTable(scope, "Watermarks")


def key_of(scope):
    from aws_cdk import aws_kms as kms

    return kms.Key.from_key_arn(scope, "Key", KEY)


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
        "error: the app does not validate; correct what is listed above\n"
    )


def test_the_app_ends_with_one_line_when_a_construct_refuses_at_synthesis(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tidemark.constructs.monitoring.alerts.MOST_CHARACTERS", 10)
    monkeypatch.setenv("CDK_OUTDIR", str(tmp_path))

    assert app.main() == 2

    err = capsys.readouterr().err
    assert re.match(r"error: the names of \d+ jobs make an event pattern of ", err)
    assert err.endswith(
        "EventBridge allows 10; give them shorter names, or split the pipeline in two\n"
    )


def problem_of(at):
    from tidemark.checks.graph.model import Problem

    return Problem(next(iter(RULES)), at, "wrong", "fix it")


@st.composite
def plans(draw):
    """Return a valid plan: job name to None, or to AND or ANY and earlier jobs with states."""
    names = [f"job-{chr(97 + number)}" for number in range(draw(st.integers(1, 7)))]
    plan = {}
    for number, name in enumerate(names):
        logical = draw(st.sampled_from(["AND", "ANY"]))
        conditions = st.tuples(st.sampled_from(names[:number] or [""]), st.sampled_from(STATES))
        # All of them can only be one state of each job; any of them may be several.
        once = {"unique_by": lambda condition: condition[0]} if logical == "AND" else {}
        watched = draw(st.lists(conditions, max_size=5, unique=not once, **once)) if number else []
        plan[name] = (logical, watched) if watched else None
    assume(set(plan) == can_start(plan))
    return plan


def can_start(plan):
    """Return the jobs that start in some run, found by trying all runs."""
    states = {
        name: {s for after in plan.values() if after for w, s in after[1] if w == name}
        or {"FAILED"}
        for name in plan
    }
    runs = product(*states.values())
    return {name for run in runs for name in started_by(plan, dict(zip(states, run, strict=True)))}


def started_by(plan, ends):
    """Return the jobs of a plan that start, given how each job ends once it has started."""
    started = set()
    while True:
        final = {name: ends[name] for name in started}
        new = {
            name
            for name, after in plan.items()
            if after is None
            or (any if after[0] == "ANY" else all)(
                final.get(watched) == state for watched, state in after[1]
            )
        }
        if new == started:
            return started
        started |= new


def started_by_triggers(template, names, ends):
    """Return the jobs that the synthesized triggers start, by the local Glue's own decisions."""
    job_of = {
        id_: resource["Properties"]["Name"]
        for id_, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Glue::Job"
    }
    text = json.dumps(template)
    for id_, name in job_of.items():
        text = text.replace(json.dumps({"Ref": id_}), json.dumps(name))
    triggers = [
        trigger_of(id_, resource["Properties"])
        for id_, resource in json.loads(text)["Resources"].items()
        if resource["Type"] == "AWS::Glue::Trigger"
    ]
    (start,) = (trigger for trigger in triggers if trigger.type != "CONDITIONAL")
    started, fired = {action.job_name for action in start.actions}, []
    while firing := triggers_to_fire(triggers, {name: ends[name] for name in started}, fired):
        for trigger in firing:
            started |= {action.job_name for action in trigger.actions}
            fired.append(trigger.name)
    assert started <= set(names)
    return started


def built(cdk, project, plan):
    """Return the template of a plan."""
    from tidemark.constructs.jobs.conditions import JobState
    from tidemark.constructs.predicates import all_of, any_of

    pipeline = new_pipeline(cdk, project)
    jobs = {}
    for name, after in plan.items():
        waits = [jobs[watched].on(JobState[state]) for watched, state in after[1]] if after else []
        combine = any_of if after and after[0] == "ANY" else all_of
        jobs[name] = disable(pipeline, name, after=combine(*waits) if waits else ())
    return synthesized(pipeline)


ROUNDS = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))


@ROUNDS
@given(plan=plans(), data=st.data())
def test_triggers_mean_what_the_plan_says(cdk, project, plan, data):
    template = built(cdk, project, plan)

    for _ in range(10):
        ends = {name: data.draw(st.sampled_from(STATES)) for name in plan}
        assert started_by_triggers(template, plan, ends) == started_by(plan, ends)


def properties_of(template, kind, **wanted):
    """Return the properties of a template's resources of one type that are as wanted."""
    return [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == kind and wanted.items() <= resource["Properties"].items()
    ]


def add_trigger(template, trigger):
    template["Resources"]["Added"] = {"Type": "AWS::Glue::Trigger", "Properties": trigger}


def jobs_wait_for_each_other(template, start, trigger):
    """Let what a trigger watches wait for what it starts."""
    condition = {"JobName": trigger["Actions"][0]["JobName"], "LogicalOperator": "EQUALS"}
    back = {"JobName": trigger["Predicate"]["Conditions"][0]["JobName"]}
    conditions = [{**condition, "State": "SUCCEEDED"}]
    add_trigger(template, {**trigger, "Actions": [back], "Predicate": {"Conditions": conditions}})


def a_job_has_the_name_of_another(template, start, trigger):
    one, other = properties_of(template, "AWS::Glue::Job")[:2]
    other["Name"] = one["Name"]


def a_bookmark_has_two_runs(template, start, trigger):
    job = properties_of(template, "AWS::Glue::Job")[-1]
    job["DefaultArguments"]["--job-bookmark-option"] = ENABLE
    job["ExecutionProperty"]["MaxConcurrentRuns"] = 2


def a_flex_job_queues(template, start, trigger):
    job = properties_of(template, "AWS::Glue::Job")[-1]
    job.update(JobRunQueuingEnabled=True, ExecutionClass="FLEX")


def the_start_is_lost(template, start, trigger):
    resources = template["Resources"]
    del resources[next(id_ for id_, r in resources.items() if r.get("Properties") is start)]


def uses(job, **data):
    """Let a job of a template use data: `reads` and `writes` to a URI."""
    job["Metadata"] = {"Tidemark": {key: [{"uri": uri}] for key, uri in data.items()}}


def jobs_of(template):
    return [r for r in template["Resources"].values() if r["Type"] == "AWS::Glue::Job"]


def another_job_uses(template, **data):
    """Add a job that uses data; it has a name and nothing else."""
    added = {"Type": "AWS::Glue::Job", "Properties": {"Name": "added"}}
    template["Resources"]["AddedJob"] = added
    uses(added, **data)


def two_jobs_write_one_folder(template, start, trigger):
    uses(jobs_of(template)[0], writes="s3://lake/x/")
    another_job_uses(template, writes="s3://lake/x/y/")


def a_job_reads_what_it_writes(template, start, trigger):
    job = jobs_of(template)[0]
    job["Properties"]["DefaultArguments"]["--job-bookmark-option"] = ENABLE
    uses(job, reads="s3://lake/x/", writes="s3://lake/x/")


def temporary_files_are_where_data_is(template, start, trigger):
    another_job_uses(template, writes="s3://lake/x/")
    arguments = jobs_of(template)[0]["Properties"]["DefaultArguments"]
    arguments["--TempDir"] = {"Fn::Join": ["", ["s3://", "lake", "/x"]]}


def a_job_reads_what_starts_beside_it(template, start, trigger):
    another_job_uses(template, writes="s3://lake/x/")
    reader = start["Actions"][0]["JobName"]["Ref"]
    uses(template["Resources"][reader], reads="s3://lake/x/")
    start["Actions"].append({"JobName": "added"})


def add_crawler(template, id_="Crawler"):
    template["Resources"][id_] = {
        "Type": "AWS::Glue::Crawler",
        "Properties": {"Name": "crawled", "DatabaseName": "lake", "Targets": {}},
    }


def two_crawlers_have_one_name(template, start, trigger):
    add_crawler(template)
    add_crawler(template, "Other")


def a_job_uses_what_is_crawled_beside_it(template, start, trigger):
    add_crawler(template)
    job = template["Resources"][start["Actions"][0]["JobName"]["Ref"]]
    job.setdefault("Metadata", {}).setdefault("Tidemark", {})["tables"] = ["lake.orders"]
    start["Actions"].append({"CrawlerName": "crawled"})


def a_job_uses_a_table_that_nothing_creates(template, start, trigger):
    known = jobs_of(template)[0].setdefault("Metadata", {}).setdefault("Tidemark", {})
    data = {"uri": "s3://lake/x/", "delivered": True, "table": "lake.orders"}
    known["reads"] = [*known.get("reads", []), data]


SCHEDULED = {"Type": "SCHEDULED", "StartOnCreation": True}


def objects_start_the_workflow(template, trigger) -> None:
    """Add a rule that sends objects below s3://here/a/ to the workflow of a trigger."""
    (workflow,) = properties_of(template, "AWS::Glue::Workflow")
    name = workflow["Name"]
    arn = f"arn:aws:glue:eu-central-1:123456789012:workflow/{name}"
    arrivals = {"bucket": {"name": ["here"]}, "object": {"key": [{"prefix": "a/"}]}}
    template["Resources"]["Arrivals"] = {
        "Type": "AWS::Events::Rule",
        "Properties": {
            "EventPattern": {"source": ["aws.s3"], "detail": arrivals},
            "Targets": [{"Arn": arn, "Id": "Workflow"}],
        },
    }


def a_job_writes_what_starts_its_workflow(template, start, trigger) -> None:
    objects_start_the_workflow(template, trigger)
    job = template["Resources"][trigger["Actions"][0]["JobName"]["Ref"]]
    job.setdefault("Metadata", {}).setdefault(METADATA, {})["writes"] = [{"uri": "s3://here/a/"}]


# What a hand can do to a valid template: the rule that must find it, given template, start trigger
# and one conditional trigger.
BROKEN = {
    "duplicate-job-name": a_job_has_the_name_of_another,
    "duplicate-crawler-name": two_crawlers_have_one_name,
    "bookmark-concurrent": a_bookmark_has_two_runs,
    "duplicate-name": lambda t, start, trigger: t["Resources"].update(
        Again={"Type": "AWS::Glue::Database", "Properties": {"DatabaseInput": {"Name": "d"}}},
        Twice={"Type": "AWS::Glue::Database", "Properties": {"DatabaseInput": {"Name": "d"}}},
    ),
    "bad-batch": lambda t, start, trigger: start.update(EventBatchingCondition={"BatchSize": 101}),
    "event-not-heard": lambda t, start, trigger: objects_start_the_workflow(t, trigger),
    "starts-itself": a_job_writes_what_starts_its_workflow,
    "unknown-job": lambda t, start, trigger: trigger["Actions"].append({"JobName": "nobody"}),
    "watched-and-started": lambda t, start, trigger: trigger["Actions"].append(
        {"JobName": trigger["Predicate"]["Conditions"][-1]["JobName"]}
    ),
    "inactive-trigger": lambda t, start, trigger: trigger.pop("StartOnCreation"),
    "active-on-demand": lambda t, start, trigger: start.update(StartOnCreation=True),
    "queue-refused": a_flex_job_queues,
    "starts-nothing": lambda t, start, trigger: trigger.update(Actions=[]),
    "incomplete-condition": lambda t, start, trigger: trigger["Predicate"]["Conditions"][0].pop(
        "LogicalOperator"
    ),
    "trigger-limit": lambda t, start, trigger: trigger["Actions"].extend(
        {"CrawlerName": f"crawler-{number}"} for number in range(3)
    ),
    "bad-schedule": lambda t, start, trigger: start.update(SCHEDULED, Schedule="rate(1 hour)"),
    "schedule-too-fine": lambda t, start, trigger: start.update(
        SCHEDULED, Schedule="cron(0/3 * * * ? *)"
    ),
    "trigger-in-two-workflows": lambda t, start, trigger: (
        start.update(Name="same"),
        add_trigger(t, {**start, "WorkflowName": "other"}),
    ),
    "two-starts": lambda t, start, trigger: add_trigger(t, start),
    "no-start": the_start_is_lost,
    "too-many-nodes": lambda t, start, trigger: t["Resources"].update(
        {f"More{n}": {"Type": "AWS::Glue::Trigger", "Properties": trigger} for n in range(100)}
    ),
    "cycle": jobs_wait_for_each_other,
    "unreachable-job": lambda t, start, trigger: trigger.update(WorkflowName="other"),
    "open-secret": lambda t, start, trigger: jobs_of(t)[0]["Properties"]["DefaultArguments"].update(
        {"--password": "hunter2"}
    ),
    "two-writers": two_jobs_write_one_folder,
    "reads-own-output": a_job_reads_what_it_writes,
    "temp-overlaps": temporary_files_are_where_data_is,
    "reads-without-waiting": a_job_reads_what_starts_beside_it,
    "table-without-waiting": a_job_uses_what_is_crawled_beside_it,
    "table-not-created": a_job_uses_a_table_that_nothing_creates,
}


def test_every_rule_that_is_an_error_is_broken_below():
    assert set(RULES) - set(BROKEN) == {
        "output-never-read",
        "input-nobody-writes",
        "unknown-workflow",
        "event-not-sent",
        "schedules-too-close",
    }


@ROUNDS
@given(plan=plans().filter(lambda plan: any(plan.values())), data=st.data())
def test_a_random_graph_that_is_broken_in_any_way_is_refused(cdk, project, plan, data):
    text = json.dumps(built(cdk, project, plan))
    assert problems(read_graph({"stack": json.loads(text)})) == []

    for rule, break_it in BROKEN.items():
        template = json.loads(text)
        (start,) = properties_of(template, "AWS::Glue::Trigger", Type="ON_DEMAND")
        conditional = properties_of(template, "AWS::Glue::Trigger", Type="CONDITIONAL")
        break_it(template, start, data.draw(st.sampled_from(conditional)))

        found = problems(read_graph({"stack": template}))

        assert rule in {problem.rule for problem in found if problem.is_error}
        assert all(problem.at.startswith("stack/") and problem.fix for problem in found)
