"""What cannot be in a pipeline is named with the true reason, and the rest goes on."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.adopt.adoption import adopt
from tidemark.adopt.jobs import secrets as own
from tidemark.adopt.model import Adoption, Found
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.migration import steps_of
from tidemark.adopt.plan.report import as_json, as_markdown
from tidemark.adopt.sources.cloudformation import read_templates
from tidemark.adopt.sources.contents import found_in
from tidemark.adopt.sources.state_file import read_state_file
from tidemark.errors import UsageError

PLAIN = {"Name": "x", "Command": {"Name": "glueetl", "ScriptLocation": "s3://code/x.py"}}
RAY = {"Name": "x", "Command": {"Name": "glueray"}}
WHOLE = {
    "Name": "raw",
    "DatabaseName": "sales",
    "Targets": {"S3Targets": [{"Path": "s3://acme-lake"}]},
}
FOLDER = WHOLE | {"Name": "mart", "Targets": {"S3Targets": [{"Path": "s3://acme-lake/mart/"}]}}


def trigger(name: str, *starts: str, after: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    """Return a trigger; a crawler is written as `crawler NAME`."""

    def node(text: str) -> dict[str, str]:
        kind, _, of = text.rpartition(" ")
        return {"CrawlerName" if kind else "JobName": of}

    found = {"Name": name, "Type": "ON_DEMAND", "Actions": [node(one) for one in starts]}
    if after:
        conditions = [
            node(one) | {"CrawlState" if " " in one else "State": "SUCCEEDED"} for one in after
        ]
        found |= {"Type": "CONDITIONAL", "Predicate": {"Conditions": conditions}}
    return found | more


def found(jobs: dict[str, Any], *triggers: dict[str, Any], **more: Any) -> Found:
    named = {name: one | {"Name": name} for name, one in jobs.items()}
    return Found("", named, {one["Name"]: one for one in triggers}, **more)


def why(adoption: Adoption) -> dict[str, str]:
    return {one.job: one.why for one in adoption.left_out}


def test_a_job_that_waits_for_a_crawler_that_cannot_be_declared_starts_when_that_has_ended():
    adoption = adopt(
        found(
            {"process": PLAIN, "report": PLAIN},
            trigger("start", "crawler raw", Type="SCHEDULED", Schedule="cron(0 1 * * ? *)"),
            trigger("then", "process", after=("crawler raw",)),
            trigger("last", "report", after=("process",)),
            crawlers={"raw": WHOLE},
        )
    )

    assert [(job.old, job.wait is None) for job in adoption.jobs] == [
        ("process", True),
        ("report", False),
    ]
    assert "whole bucket s3://acme-lake" in why(adoption)["crawler raw"]
    (event,) = adoption.events
    assert event.pattern == {
        "source": ["aws.glue"],
        "detail-type": ["Glue Crawler State Change"],
        "detail": {"crawlerName": ["raw"], "state": ["Succeeded"]},
    }
    assert adoption.schedules == ()  # it started the crawler
    listed = [one for one in adoption.differences if one.path in (("Predicate",), ("Schedule",))]
    assert all("whole bucket s3://acme-lake" in one.why for one in listed)
    assert "OnEvent(" in stack_of(adoption, "x.md", {})


def test_a_job_that_waits_for_two_such_crawlers_is_declared_and_started_by_hand():
    adoption = adopt(
        found(
            {"process": PLAIN},
            trigger("then", "process", after=("crawler raw", "crawler absent")),
            crawlers={"raw": WHOLE},
        )
    )

    assert [job.old for job in adoption.jobs] == ["process"]
    assert (adoption.events, adoption.schedules) == ((), ())
    (listed,) = [one for one in adoption.differences if one.path == ("Predicate",)]
    assert "crawler absent" in listed.why
    assert "when it has ended" in listed.do


def test_a_job_that_waits_for_a_ray_job_starts_when_that_has_ended():
    adoption = adopt(
        found({"ray": RAY, "x": PLAIN}, trigger("s", "ray"), trigger("t", "x", after=("ray",)))
    )

    assert [job.old for job in adoption.jobs] == ["x"]
    assert why(adoption) == {"ray": "it is a Ray job"}
    assert adoption.events[0].pattern["detail"] == {"jobName": ["ray"], "state": ["SUCCEEDED"]}


def test_where_other_jobs_can_be_declared_such_a_job_is_left_out():
    adoption = adopt(
        found(
            {"orders": PLAIN, "process": PLAIN},
            trigger("start", "orders", "crawler raw"),
            trigger("then", "process", after=("crawler raw",)),
            crawlers={"raw": WHOLE},
        )
    )

    assert [job.old for job in adoption.jobs] == ["orders"]
    assert set(why(adoption)) == {"crawler raw", "process"}


def test_first_jobs_that_other_triggers_start_are_named_and_go_on():
    adoption = adopt(
        found(
            {"a": PLAIN, "b": PLAIN, "c": PLAIN, "d": PLAIN},
            trigger("of-a", "a", Type="SCHEDULED", Schedule="cron(0 1 * * ? *)"),
            trigger("of-b", "b", Type="SCHEDULED", Schedule="cron(0 2 * * ? *)"),
            trigger("then", "c", after=("b",)),
        )
    )

    assert [job.old for job in adoption.jobs] == ["a"]
    assert adoption.schedules == (("cron(0 1 * * ? *)", "UTC"),)
    assert "started by of-b, and a by of-a" in why(adoption)["b"]
    assert "started by nothing" in why(adoption)["d"]
    assert set(why(adoption)) == {"b", "c", "d"}
    assert adoption.start_triggers == ("of-a",)  # the others go on
    assert "of-b goes on starting it" in adoption.left_out[0].do


def test_a_second_trigger_of_one_first_job_is_named_and_no_schedule_of_all():
    daily = {"Type": "SCHEDULED", "WorkflowName": "nightly", "Schedule": "cron(0 1 * * ? *)"}
    adoption = adopt(
        found(
            {"a": PLAIN, "b": PLAIN},
            trigger("hourly", "a", Type="SCHEDULED", Schedule="cron(0 * * * ? *)"),
            trigger("daily", "a", "b", **daily),
            workflow={"Name": "nightly"},
        )
    )

    assert {job.old for job in adoption.jobs} == {"a", "b"}
    assert adoption.schedules == (("cron(0 1 * * ? *)", "UTC"),)
    assert set(adoption.start_triggers) == {"hourly", "daily"}
    (listed,) = [
        one for one in adoption.differences
        if one.of == "trigger hourly" and one.path == ("Schedule",)
    ]  # fmt: skip
    assert "starts a alone" in listed.why


def test_crawlers_alone_are_a_pipeline_too():
    adoption = adopt(
        found({"ray": RAY}, trigger("s", "ray", "crawler mart"), crawlers={"mart": FOLDER})
    )

    assert [one.old for one in adoption.nodes] == ["crawler mart"]
    assert adoption.name == "mart"


def test_a_pipeline_of_nothing_is_refused_with_every_reason():
    with pytest.raises(UsageError, match=r"it is a Ray job.*whole bucket"):
        adopt(found({"r": RAY}, trigger("s", "r", "crawler raw"), crawlers={"raw": WHOLE}))


SCRIPT = """
import boto3
NAME = "orders/constant"
client = boto3.client("secretsmanager")
client.get_secret_value(SecretId="orders/literal")
client.get_secret_value(SecretId=NAME)
client.get_secret_value(SecretId=args["db"])
client.get_secret_value(SecretId=unknown())
options = {"secretId": "orders/option", "url": "x"}
client.get_secret_value(SecretId="not a secret: it has spaces")
"""


def test_secrets_that_a_script_or_a_connection_names_are_declared():
    job = PLAIN | {
        "DefaultArguments": {"--db": "orders/argument"},
        "Connections": {"Connections": ["office", "other"]},
    }
    adoption = adopt(
        found(
            {"x": job},
            scripts={"x": SCRIPT},
            connections={"office": {"SECRET_ID": "orders/office"}, "other": {"USERNAME": "me"}},
        )
    )

    assert set(adoption.jobs[0].secrets) == {
        f"orders/{one}" for one in ("literal", "constant", "argument", "option", "office")
    }
    text = stack_of(adoption, "x.md", {})
    assert re.search(r'secrets=\[.*"orders/literal".*"orders/office"\]', text)
    spaces = [one for one in adoption.guesses if "it has spaces" in one.what]
    assert ["secrets=" in one.check for one in spaces] == [True]


def test_what_is_taken_for_a_secret_is_what_the_constructs_take():
    from tidemark.constructs.jobs.secrets import ARN, NAME

    arn = "arn:aws:secretsmanager:eu-west-1:111122223333:secret:a/b-"
    for text in ("a/b", "a b", arn, f"{arn}AbCdEf", "a:b", "", "x" * 513):
        assert bool(own.SECRET.fullmatch(text)) == bool(
            NAME.fullmatch(text) or ARN.fullmatch(text)
        ), text


def test_what_starts_the_old_jobs_from_outside_is_disabled_by_a_step_and_enabled_back():
    target = {"Arn": "arn:aws:scheduler:::aws-sdk:glue:startWorkflowRun"}
    target |= {"Input": '{"Name": "nightly"}'}
    clock = tuple(
        {"Name": name, "GroupName": "g", "State": state, "Target": target,
         "ScheduleExpression": "at(2030-01-01T00:00:00)"}
        for name, state in (("on", "ENABLED"), ("off", "DISABLED"))
    )  # fmt: skip
    rules = tuple(
        {"Name": name, "EventPattern": '{"source": ["a"]}', "State": state}
        for name, state in (("sold", "ENABLED"), ("closed", "DISABLED"))
    )
    one = found(
        {"a": PLAIN},
        trigger("start", "a", Type="EVENT", WorkflowName="nightly"),
        workflow={"Name": "nightly"},
        clock=clock,
        rules={"nightly": rules, "other": rules},
    )
    adoption = adopt(one)

    steps = {step.title: step for step in steps_of(adoption, one, "infra/x_stack.py")}
    stop = steps["Stop everything that starts the old jobs"]

    assert [(it.kind, it.name) for it in adoption.switches] == [
        ("rule", "sold"),
        ("schedule", "on"),
    ]
    told = "\n".join(stop.commands)
    assert "aws glue stop-trigger --name start" in told
    assert "aws events disable-rule --name sold" in told
    assert re.search(r"get-schedule --name on --group-name g .*DISABLED > (\S+)\n.*file://\1", told)
    assert "closed" not in told
    assert "--name off" not in told
    back = "\n".join(stop.rollback)
    assert "enable-rule --name sold" in back
    assert "ENABLED" in back
    titles = list(steps)
    assert titles.index(stop.title) < titles.index("Start the new pipeline")


# Closure: a file of any resources, of which each is in the code or named in the plan.

KINDS = {
    **{f"AWS::Glue::{kind}": kind for kind in (
        "Classifier", "Connection", "CustomEntityType", "DataCatalogEncryptionSettings",
        "DataQualityRuleset", "Database", "DevEndpoint", "Integration", "MLTransform", "Partition",
        "Registry", "Schema", "SchemaVersion", "SecurityConfiguration", "Table", "TableOptimizer",
        "UsageProfile", "OfTomorrow")},
    "AWS::LakeFormation::PrincipalPermissions": "Permissions",
    "AWS::StepFunctions::StateMachine": "glue",
    "AWS::Lambda::Function": "glue",
    "AWS::Serverless::Function": "boto3.client('glue')",
    "AWS::Serverless::StateMachine": "arn:aws:states:::glue:startJobRun.sync",
    "AWS::Pipes::Pipe": "glue",
    "AWS::MWAA::Environment": "",
}  # fmt: skip
OF_TERRAFORM = (
    *("aws_glue_classifier", "aws_glue_connection", "aws_glue_catalog_database"),
    *("aws_glue_catalog_table", "aws_glue_data_quality_ruleset", "aws_glue_dev_endpoint"),
    *("aws_glue_ml_transform", "aws_glue_registry", "aws_glue_security_configuration"),
    *("aws_glue_user_defined_function", "aws_glue_of_tomorrow", "aws_lakeformation_permissions"),
)


@st.composite
def triggers(draw: st.DrawFn, nodes: list[dict[str, str]]) -> dict[str, Any]:
    """Draw a trigger that starts any nodes."""
    kind = draw(st.sampled_from(["ON_DEMAND", "SCHEDULED", "CONDITIONAL", "EVENT"]))
    properties = {
        "Type": kind,
        "Actions": draw(st.lists(st.sampled_from(nodes), max_size=3)),
        **draw(st.sampled_from([{}, {"WorkflowName": "nightly"}])),
        **draw(st.sampled_from([{}, {"StartOnCreation": True}, {"StartOnCreation": False}])),
    }
    if kind == "SCHEDULED":
        properties["Schedule"] = "cron(0 1 * * ? *)"
    if kind == "CONDITIONAL":
        conditions = [
            one | {"CrawlState" if "CrawlerName" in one else "State": "SUCCEEDED"}
            for one in draw(st.lists(st.sampled_from(nodes), min_size=1, max_size=2))
        ]
        properties["Predicate"] = {"Logical": "AND", "Conditions": conditions}
    return properties


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a template with jobs and crawlers that triggers start in any way."""
    commands = st.sampled_from(["glueetl", "glueetl", "glueetl", "pythonshell", "glueray"])
    jobs = [f"job{n}" for n in range(draw(st.integers(1, 4)))]
    crawled = [f"crawler{n}" for n in range(draw(st.integers(0, 2)))]
    resources: dict[str, Any] = {
        name: {
            "Type": "AWS::Glue::Job",
            "Properties": {"Name": name, "Command": {"Name": draw(commands)}},
        }
        for name in jobs
    }
    for name in crawled:
        properties = draw(st.sampled_from([WHOLE, WHOLE, FOLDER])) | {"Name": name}
        resources[name] = {"Type": "AWS::Glue::Crawler", "Properties": properties}
    nodes = [{"JobName": it} for it in jobs] + [{"CrawlerName": it} for it in crawled]
    for number in range(draw(st.integers(0, 4))):
        properties = draw(triggers(nodes)) | {"Name": f"trigger{number}"}
        resources[f"T{number}"] = {"Type": "AWS::Glue::Trigger", "Properties": properties}
    for name in ("nightly", "weekly"):
        resources[name] = {"Type": "AWS::Glue::Workflow", "Properties": {"Name": name}}
    others = st.lists(st.sampled_from(sorted(KINDS)), unique=True, max_size=6)
    for number, kind in enumerate(draw(others)):
        resources[f"Other{number}"] = {"Type": kind, "Properties": {"X": KINDS[kind]}}
    for kind, target in (
        ("AWS::Events::Rule", {"Targets": [{"Arn": draw(st.sampled_from(
            ["arn:aws:glue:::workflow/nightly", "arn:aws:glue:::workflow/weekly", "arn:x"]))}]}),
        ("AWS::Scheduler::Schedule", {"ScheduleExpression": "rate(1 day)", "Target": {
            "Arn": "arn:aws:scheduler:::aws-sdk:glue:startJobRun",
            "Input": json.dumps({"JobName": draw(st.sampled_from([*jobs, "elsewhere"]))})}}),
    ):  # fmt: skip
        if draw(st.booleans()):
            properties = target | draw(st.sampled_from([{}, {"State": "DISABLED"}]))
            resources[kind[-8:].strip(":")] = {"Type": kind, "Properties": properties}
    return {"Resources": resources}


def is_told(kind: str, name: str, adoption: Adoption, document: dict[str, Any]) -> bool:
    """Return whether a resource is in the code, or is named in the plan with a reason."""
    short = kind.rpartition("::")[2].lower() if "::" in kind else kind
    nodes = {node.old for node in adoption.nodes}
    if name in nodes or f"crawler {name}" in nodes or name == adoption.old_workflow:
        return True
    if any(name == event.rule for event in adoption.events):
        return True
    names = {f"{short} {name}", f"{short} default/{name}", f"{kind} {name}", name}
    rows = [
        *((one["job"], one["why"]) for one in (*document["notAdopted"], *document["others"])),
        *((one["of"], one["why"]) for one in document["differences"]),
    ]
    return any(of in names and reason for of, reason in rows)


@given(data=st.data())
@settings(max_examples=100, deadline=None)
def test_each_resource_of_a_template_is_in_the_code_or_named_with_a_reason(data, tmp_path_factory):
    template = data.draw(templates())
    file = tmp_path_factory.mktemp("any") / "any.json"
    file.write_text(json.dumps(template, default=str), encoding="utf-8")
    contents = read_templates(file, {})
    names = data.draw(
        st.lists(st.sampled_from(sorted(contents.jobs)), min_size=1, unique=True), label="named"
    )
    by_workflow = data.draw(st.booleans(), label="by workflow")
    try:
        read = found_in(contents, [] if by_workflow else names, "nightly" if by_workflow else None)
        adoption = adopt(read)
    except UsageError as error:
        told = str(error)
        adoption = None
    if adoption is None:
        assert re.search("none of the jobs|starts no job|wait for each other", told)
        return

    document = as_json(adoption, read, [])

    silent = [
        (kind, name)
        for kind, name in contents.resources
        if not is_told(kind, name, adoption, document)
    ]
    assert silent == []
    for one in adoption.others:
        assert one.job in as_markdown(adoption, read, [])
    compile(stack_of(adoption, "x.md", {}), "stack", "exec")


@given(
    kinds=st.lists(st.sampled_from(OF_TERRAFORM), unique=True),
    starters=st.lists(
        st.sampled_from(
            [
                *("aws_sfn_state_machine", "aws_cloudwatch_event_rule", "aws_lambda_function"),
                *("aws_pipes_pipe", "aws_mwaa_environment"),
            ]
        ),
        unique=True,
    ),
)
@settings(max_examples=40, deadline=None)
def test_each_resource_of_a_state_of_terraform_is_in_the_code_or_named(
    tmp_path_factory, kinds, starters
):
    job = {"name": "x", "command": [{"name": "glueetl", "script_location": "s3://code/x.py"}]}
    values = {"aws_glue_job": job} | {kind: {"name": f"of {kind}"} for kind in kinds}
    values |= {kind: {"name": "glue", "definition": "glue"} for kind in starters}
    resources = [
        {"mode": "managed", "type": kind, "name": "n", "instances": [{"attributes": one}]}
        for kind, one in values.items()
    ]
    file = tmp_path_factory.mktemp("any") / "any.tfstate"
    file.write_text(json.dumps({"version": 4, "resources": resources}), encoding="utf-8")
    read = read_state_file(file, ["x"], None)

    adoption = adopt(read)

    named = {one.job for one in adoption.others if one.why and one.do}
    assert named == {f"{kind} of {kind}" for kind in kinds} | {f"{it} glue" for it in starters}
