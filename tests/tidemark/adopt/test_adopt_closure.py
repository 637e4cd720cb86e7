"""Each resource of any file is in the code, or named in the plan with a reason."""

from __future__ import annotations

import json
import re
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tidemark.adopt.finds import (
    FOLDER,
    WHOLE,
)
from tests.tries import tries
from tidemark.adopt.adoption import adopt
from tidemark.adopt.model import Adoption
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.report import as_json, as_markdown
from tidemark.adopt.sources.cloudformation import read_templates
from tidemark.adopt.sources.contents import found_in
from tidemark.errors import UsageError

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
@settings(max_examples=tries(100), deadline=None)
def test_each_resource_of_a_template_is_in_the_code_or_named_with_a_reason(data, tmp_path_factory):
    template = data.draw(templates())
    file = tmp_path_factory.mktemp("any") / "any.json"
    file.write_text(json.dumps(template, default=str), encoding="utf-8")
    contents = read_templates(file, {})
    names = data.draw(
        st.lists(
            st.sampled_from(sorted(contents.kinds["AWS::Glue::Job"])), min_size=1, unique=True
        ),
        label="named",
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
