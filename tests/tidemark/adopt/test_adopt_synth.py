"""What is adopted synthesizes, and is what it was, except for what the plan lists."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Set
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.projects import PROJECT
from tests.tidemark.adopt.answers import LOCATIONS, answers, crawlers
from tests.tidemark.adopt.apps import (
    APP,
    adopt,
    new_project,
    put_into_app,
    resources,
    synthesized,
)
from tidemark.adopt.adoption import adopt as make_pipeline
from tidemark.adopt.model import Difference, Existing
from tidemark.adopt.plan.code import stack_of
from tidemark.adopt.plan.migration import steps_of
from tidemark.adopt.reading import leaves
from tidemark.adopt.sources.cloudformation import read_templates
from tidemark.adopt.sources.contents import found_in
from tidemark.scaffold.files import formatted, write_files

pytestmark = pytest.mark.synth

# What the constructs say of every job, beside what it declares: the plan says so of all of them.
ADDED = {
    ("Role",),
    ("SecurityConfiguration",),
    ("DefaultArguments", "--extra-py-files"),
    ("DefaultArguments", "--custom-logGroup-prefix"),
    ("DefaultArguments", "--job-bookmark-option"),
    ("DefaultArguments", "--job-language"),
    ("NotificationProperty",),
    ("ExecutionClass",),
    ("ExecutionProperty",),
    ("JobRunQueuingEnabled",),
    ("MaxRetries",),
    ("Tags",),
    ("Command",),
    ("SchemaChangePolicy",),
    ("RecrawlPolicy",),
    ("CrawlerSecurityConfiguration",),
    ("Targets", "CatalogTargets", "1"),  # where one target named two tables: that is listed
    *(("Targets", f"{kind}Targets", n) for kind in ("Delta", "Hudi", "Iceberg") for n in "123"),
}
STREAM_ARGUMENTS = {("DefaultArguments", "--checkpoint"), ("DefaultArguments", "--enable-metrics")}


def unlisted(
    old: Mapping[str, Any],
    new: Mapping[str, Any],
    differences: list[Difference],
    added: Set[tuple[str, ...]] = frozenset(),
) -> list[tuple[str, ...]]:
    """Return the leaves of which a job has other values than before, and no one said so."""
    before, after = dict(leaves(old)), dict(leaves(new))
    listed = {one.path for one in differences}
    return [
        path
        for path in before.keys() | after.keys()
        if before.get(path) != after.get(path)
        and not any(path[: len(one)] == one for one in listed)
        and not (path not in after and is_off(path, before[path]))
        and not (path not in before and any(path[: len(one)] == one for one in ADDED | added))
    ]


def is_off(path: tuple[str, ...], value: Any) -> bool:
    """Return whether Glue returns a value for what is not set, or off."""
    switches = ("LakeFormationConfiguration", "LineageConfiguration")
    if path == ("TablePrefix",) and value == "":
        return True
    return value in ([], {}) or (path[0] in switches and value in ("DISABLE", False, ""))


def node_of(part: Mapping[str, Any]) -> Any:
    """Return the reference to the job or crawler of an action or a condition."""
    return part.get("JobName") or part["CrawlerName"]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = new_project(tmp_path_factory.mktemp("adopted"))
    adopt(project, "--workflow", "Nightly Orders", "--template", str(APP))
    put_into_app(project, "NightlyOrders", "nightly-orders")
    return project


@pytest.fixture(scope="module")
def template(project: Path) -> Mapping[str, Any]:
    return synthesized(project, "nightly-orders")


def test_the_jobs_are_what_they_were_except_for_what_is_listed(template):
    adoptable = found_in(read_templates(APP, {}), [], "Nightly Orders")
    adoption = make_pipeline(adoptable)
    new = {job["Name"]: job for job in resources(template, "AWS::Glue::Job")}

    assert len(new) == 5
    for job in adoption.jobs:
        own = [one for one in adoption.differences if one.of == f"job {job.old}"]
        assert unlisted(adoptable.jobs[job.old], new[job.name], own) == []


def test_the_crawlers_are_what_they_were_except_for_what_is_listed(template):
    adoptable = found_in(read_templates(APP, {}), [], "Nightly Orders")
    differences = make_pipeline(adoptable).differences
    (new,) = resources(template, "AWS::Glue::Crawler")

    own = [one for one in differences if one.of == "crawler Orders Crawler"]
    assert unlisted(adoptable.crawlers["Orders Crawler"], new, own) == []
    assert new["Targets"]["S3Targets"] == [
        {"Path": "s3://acme-curated/orders/", "Exclusions": ["**.tmp"], "SampleSize": 5}
    ]
    assert {one.path[0] for one in own} == {
        "Configuration",
        "Name",
        "Role",
        "Schedule",
        "Targets",
    }


def test_what_a_trigger_adds_to_the_runs_of_a_job_is_added_again(template):
    actions = [
        action
        for trigger in resources(template, "AWS::Glue::Trigger")
        for action in trigger["Actions"]
        if "Arguments" in action
    ]

    assert [{key: one[key] for key in one if key != "JobName"} for one in actions] == [
        {
            "Arguments": {"--day": "yesterday", "--extra_source": "s3://acme-landing/prices/"},
            "NotificationProperty": {"NotifyDelayAfter": 30},
            "Timeout": 60,
        }
    ]


def test_the_triggers_wait_for_what_they_waited_for(template):
    names = {
        resource["Properties"]["Name"]: {"Ref": id_}
        for id_, resource in template["Resources"].items()
        if resource["Type"] in ("AWS::Glue::Job", "AWS::Glue::Crawler")
    }
    triggers = resources(template, "AWS::Glue::Trigger")
    waits = {
        json.dumps(node_of(action)): (
            trigger["Predicate"]["Logical"],
            [
                (node_of(c), c.get("State") or c["CrawlState"])
                for c in trigger["Predicate"]["Conditions"]
            ],
        )
        for trigger in triggers
        if trigger["Type"] == "CONDITIONAL"
        for action in trigger["Actions"]
    }

    assert waits == {
        json.dumps(names["orders-merge"]): ("AND", [(names["orders-ingest"], "SUCCEEDED")]),
        json.dumps(names["orders-crawler"]): ("AND", [(names["orders-merge"], "SUCCEEDED")]),
        json.dumps(names["orders-export"]): ("AND", [(names["orders-crawler"], "SUCCEEDED")]),
        json.dumps(names["orders-report"]): ("AND", [(names["orders-merge"], "SUCCEEDED")]),
        json.dumps(names["orders-alert"]): (
            "ANY",
            [
                (names["orders-ingest"], "FAILED"),
                (names["orders-merge"], "TIMEOUT"),
                (names["orders-crawler"], "FAILED"),
            ],
        ),
    }
    (start,) = (trigger for trigger in triggers if trigger["Type"] != "CONDITIONAL")
    assert [action["JobName"] for action in start["Actions"]] == [names["orders-ingest"]]


def test_the_workflow_begins_with_the_same_run_properties(template):
    (workflow,) = resources(template, "AWS::Glue::Workflow")

    assert workflow["DefaultRunProperties"] == {"region": "emea"}


@pytest.mark.nightly
def test_nothing_starts_the_pipeline_until_its_step_whatever_the_stage_says(project):
    """The stage prod of a new project has a schedule."""
    adoptable = found_in(read_templates(APP, {}), [], "Nightly Orders")
    steps = steps_of(make_pipeline(adoptable), adoptable, "infra/nightly_orders_stack.py")
    lines = [line for step in steps for line in (*step.commands, *step.rollback)]
    begin, end = (line for line in lines if line.startswith("sed "))
    kind = "AWS::Scheduler::Schedule"

    before = resources(synthesized(project, "nightly-orders", "prod"), kind)
    subprocess.run(begin, shell=True, cwd=project, check=True)  # noqa: S602 (a line of the plan)
    begun = resources(synthesized(project, "nightly-orders", "prod"), kind)
    subprocess.run(end, shell=True, cwd=project, check=True)  # noqa: S602 (likewise)

    assert before == []
    assert [schedule["ScheduleExpression"] for schedule in begun] == [
        "cron(0 3 * * ? *)",
        "cron(0 15 * * ? *)",
    ]
    stack = (project / "infra" / "nightly_orders_stack.py").read_text(encoding="utf-8")
    assert "STARTS_BY_ITSELF = False\n" in stack


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check"),
        ("ruff", "format", "--check"),
        # The CDK's types take half a minute.
        pytest.param(
            ("mypy", "--config-file", str(PROJECT / "pyproject.toml")), marks=pytest.mark.nightly
        ),
    ],
)
def test_the_stack_passes_the_checks_of_a_project(project, command, tmp_path):
    types = tmp_path / "types"  # the CDK's take minutes: what `make check` knows of them will do
    types.mkdir()
    if (PROJECT / ".mypy_cache").is_dir():
        shutil.copytree(PROJECT / ".mypy_cache", types, dirs_exist_ok=True)
    run = subprocess.run(
        [sys.executable, "-m", *command, "infra"],
        cwd=project,
        env=os.environ
        | {
            "MYPYPATH": f"{PROJECT}:{PROJECT / 'libs'}",
            "MYPY_CACHE_DIR": str(types),
        },
        capture_output=True,
        text=True,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr


@pytest.mark.nightly
def test_jobs_and_crawlers_of_any_form_synthesize_with_no_difference_that_is_not_listed(tmp_path):
    project = new_project(tmp_path)
    names = [f"Any_Job{number}" for number in range(40)]
    commands = [
        {"Name": name, "ScriptLocation": "s3://code/any.py", "PythonVersion": python}
        for name, python in (("glueetl", "3"), ("pythonshell", "3.9"), ("gluestreaming", "3"))
    ]
    jobs = _examples([answers("Job", Command=command) for command in commands], names)
    for name, job in jobs.items():
        if job["Command"]["Name"] == "gluestreaming":
            place = {"--checkpoint_dir": f"s3://bucket-of-mine/state/{name}/"}
            jobs[name] = job | {"DefaultArguments": job.get("DefaultArguments", {}) | place}
    jobs["First"] = {"Name": "First", "Command": {"Name": "glueetl"}}
    actions = _examples([answers("Action")], ["First", *names], "JobName")
    actions = {
        name: {key: value for key, value in action.items() if key != "CrawlerName"}
        for name, action in actions.items()
    }
    crawled = _examples([crawlers()], [f"Any_Crawler{number}" for number in range(60)])
    condition = {"JobName": "First", "State": "SUCCEEDED"}
    triggers = {
        name: {
            "Name": name,
            "Type": "CONDITIONAL",
            "Predicate": {"Conditions": [condition]},
            "Actions": [{"CrawlerName": name}],
        }
        for name in crawled
    }
    triggers["s"] = {
        "Name": "s",
        "Type": "EVENT",
        "Actions": list(actions.values()),
        "EventBatchingCondition": {"BatchSize": 10, "BatchWindow": 120},
    }
    pattern = {"source": ["acme.shop"], "detail": {"total": [{"numeric": [">", 1.5]}, True]}}
    rule = {"Name": "sold", "EventPattern": json.dumps(pattern)}
    workflow = {"Name": "any"}
    triggers = {name: one | {"WorkflowName": "any"} for name, one in triggers.items()}
    text = "import sys\n"
    existing = Existing(
        "",
        jobs,
        triggers,
        workflow,
        crawlers=crawled,
        locations=LOCATIONS,
        rules={"any": (rule,)},
        scripts=dict.fromkeys(jobs, text),
    )
    adoption = make_pipeline(existing, "any")
    stack = "infra/any_stack.py"
    switched = stack_of(adoption, "any-migration.md", {}).replace("ITSELF = False", "ITSELF = True")
    files = {stack: formatted(project, stack, switched)}
    write_files(project, files | {job.script: text for job in adoption.jobs})
    put_into_app(project, "Any", "any")

    template = synthesized(project, "any")

    new = {job["Name"]: job for job in resources(template, "AWS::Glue::Job")}
    assert len(adoption.jobs) >= 10
    assert len(new) == len(adoption.jobs)
    for job in adoption.jobs:
        own = [one for one in adoption.differences if one.of == f"job {job.old}"]
        added = STREAM_ARGUMENTS if job.is_streaming else frozenset()
        assert unlisted(jobs[job.old], new[job.name], own, added) == [], jobs[job.old]
    assert len(adoption.streaming_jobs) >= 3
    (start,) = [one for one in resources(template, "AWS::Glue::Trigger") if "Predicate" not in one]
    assert start["Type"] == "EVENT"
    assert start["EventBatchingCondition"] == {"BatchSize": 10, "BatchWindow": 120}
    patterns = [one.get("EventPattern") for one in resources(template, "AWS::Events::Rule")]
    assert pattern in patterns
    made = {one["Name"]: one for one in resources(template, "AWS::Glue::Crawler")}
    assert len(adoption.crawlers) == len(made) >= 3
    for crawler in adoption.crawlers:
        own = [one for one in adoption.differences if one.of == crawler.old]
        old = crawled[crawler.old_name]
        assert unlisted_of_crawler(old, made[crawler.name], own) == [], old


def unlisted_of_crawler(
    old: Mapping[str, Any], new: Mapping[str, Any], differences: list[Difference]
) -> list[tuple[str, ...]]:
    """Return the leaves that no one said to be other than before; targets may have moved up."""
    listed = [one.path for one in differences]
    may_be_new = [wherever(path) for path in (*listed, *ADDED)]
    added = Counter((wherever(path), repr(value)) for path, value in leaves(new))
    gone = []
    for path, value in leaves(old):
        if any(path[: len(one)] == one for one in listed):
            continue
        leaf = (wherever(path), repr(value))
        if added[leaf] > 0:
            added[leaf] -= 1
        elif not is_off(path, value):
            gone.append(path)
    return gone + [
        path
        for (path, _), count in added.items()
        if count > 0 and not any(path[: len(one)] == one for one in may_be_new)
    ]


def wherever(path: tuple[str, ...]) -> tuple[str, ...]:
    """Return the path of a leaf without the number of its target, as CloudFormation spells it."""
    if path[0] != "Targets":
        return path
    kind, name = path[1:2], path[3:4]
    return ("Targets", *kind, *(f"{one[0].upper()}{one[1:]}" for one in name), *path[4:])


@pytest.mark.nightly
def test_roles_are_kept_on_demand_and_get_what_is_declared(tmp_path):
    project = new_project(tmp_path)
    adopt(project, "--workflow", "Nightly Orders", "--template", str(APP), "--keep-roles")
    put_into_app(project, "NightlyOrders", "nightly-orders")

    template = synthesized(project, "nightly-orders")

    old = "arn:aws:iam::111122223333:role/glue-everything"
    assert {job["Role"] for job in resources(template, "AWS::Glue::Job")} == {old}
    (crawler,) = resources(template, "AWS::Glue::Crawler")
    assert crawler["Role"] != old  # the template has its name only, which the plan says
    attached = [
        policy["PolicyDocument"]
        for policy in resources(template, "AWS::IAM::Policy")
        if policy["Roles"] == ["glue-everything"]
    ]
    assert "acme-landing/orders/*" in json.dumps(attached)


def _examples(
    forms: list[st.SearchStrategy[dict[str, Any]]], names: list[str], key: str = "Name"
) -> dict[str, dict[str, Any]]:
    """Return a resource of any form for each name, the same ones in every run."""
    found: list[dict[str, Any]] = []

    @settings(
        max_examples=len(names),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.one_of(forms))
    def collect(one: dict[str, Any]) -> None:
        found.append(one)

    collect()
    return {name: one | {key: name} for name, one in zip(names, found[-len(names) :], strict=False)}
