"""Nothing that Glue says of a resource is forgotten: it is in the code, or in the list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tidemark.adopt.answers import LOCATIONS, answers, crawlers
from tests.tries import tries
from tidemark.adopt.adoption import adopt
from tidemark.adopt.crawlers.crawler import crawler_of, crawler_refusal
from tidemark.adopt.jobs.glue_arguments import glue_arguments_of
from tidemark.adopt.jobs.job import job_of, kind_of
from tidemark.adopt.jobs.options import reading_of
from tidemark.adopt.jobs.runtimes import runtime_of
from tidemark.adopt.model import Difference, Existing, Member
from tidemark.adopt.plan.literals import runtime_call
from tidemark.adopt.reading import Reading, leaves
from tidemark.adopt.starts.triggers import account_for, read_triggers

PLAIN = {"Name": "orders", "Command": {"Name": "glueetl", "ScriptLocation": "s3://code/o.py"}}


def is_listed(path: tuple[str, ...], differences: list[Difference]) -> bool:
    return any(path[: len(one.path)] == one.path for one in differences)


def is_started(path: tuple[str, ...], value: object, started: Mapping[str, Any]) -> bool:
    """Return whether the code says what an action adds to the runs of its job."""
    if path[0] != "Actions":
        return False
    match path[2:]:
        case ("Arguments",):
            return value == {}
        case ("Arguments", name):
            return bool(started.get("arguments", {}).get(name.removeprefix("--")) == value)
        case ("Timeout",):
            return started.get("timeout_minutes") == value
        case ("NotificationProperty", "NotifyDelayAfter"):
            return started.get("notify_after_minutes") == value
    return False


@given(answers("Job", Name="orders"))
@settings(max_examples=tries(100), deadline=None)
def test_every_field_of_a_job_is_said_or_listed(resource):
    job = reading_of("orders", resource)
    if kind_of(job):
        return

    job_of(job, "new")

    for path, _ in leaves(resource):
        said = any(path[: len(taken)] == taken for taken in job.expressed)
        assert said or is_listed(path, job.differences), path


@given(
    st.lists(answers("Action", JobName="orders"), min_size=1, max_size=2).flatmap(
        lambda actions: answers("Trigger", Name="start", Actions=actions)
    )
)
@settings(max_examples=tries(150), deadline=None)
def test_every_field_of_a_trigger_is_said_or_listed_or_its_job_is_left_out(resource):
    starts = read_triggers([resource], ["orders"])

    if "orders" in starts.left_out:
        return
    account_for([resource], starts, {"orders": 60})
    wait = starts.waits["orders"]
    for path, value in leaves(resource):
        said = path[0] == "Actions" and path[2] == "JobName"
        said = said or is_started(path, value, starts.started["orders"])
        said = said or (path == ("Schedule",) and value in starts.schedules)
        said = said or (path == ("Type",) and bool(starts.schedules or wait))
        said = said or (path[0] == "Predicate" and wait is not None)
        assert said or is_listed(path, starts.differences), path


@given(crawlers())
@settings(max_examples=tries(200), deadline=None)
def test_every_field_of_a_crawler_is_said_or_listed(resource):
    crawler = Reading("crawler raw", resource)
    if crawler_refusal(crawler, LOCATIONS):
        return

    crawler_of(crawler, "new", LOCATIONS)

    for path, _ in leaves(resource):
        said = any(path[: len(taken)] == taken for taken in crawler.expressed)
        assert said or is_listed(path, crawler.differences), path


@given(crawlers())
@settings(max_examples=tries(60), deadline=None)
def test_a_crawler_is_adopted_or_left_out_with_what_waits_for_it(resource):
    jobs = {name: PLAIN | {"Name": name} for name in ("orders", "mart")}
    condition = {"CrawlerName": "raw", "CrawlState": "SUCCEEDED"}
    triggers = {
        "a": {"Name": "a", "Type": "ON_DEMAND", "Actions": [{"JobName": "orders"}]},
        "b": {
            "Name": "b",
            "Type": "CONDITIONAL",
            "Predicate": {"Conditions": [{"JobName": "orders", "State": "SUCCEEDED"}]},
            "Actions": [{"CrawlerName": "raw"}],
        },
        "c": {
            "Name": "c",
            "Type": "CONDITIONAL",
            "Predicate": {"Conditions": [condition]},
            "Actions": [{"JobName": "mart"}],
        },
    }

    adoption = adopt(Existing("", jobs, triggers, crawlers={"raw": resource}, locations=LOCATIONS))

    order = [node.old for node in adoption.nodes]
    left = {one.job for one in adoption.left_out if one.why}
    assert (order, left) in (
        (["orders", "crawler raw", "mart"], set()),
        (["orders"], {"crawler raw", "mart"}),
    )


@given(answers("Workflow", Name="nightly"))
@settings(max_examples=tries(100), deadline=None)
def test_every_field_of_a_workflow_is_said_or_listed(resource):
    existing = Existing(
        "",
        {"orders": PLAIN},
        triggers={"t": {"Name": "t", "Type": "ON_DEMAND", "Actions": [{"JobName": "orders"}]}},
        workflow=resource,
    )

    adoption = adopt(existing)

    differences = [one for one in adoption.differences if one.of == "workflow nightly"]
    for path, value in leaves(resource):
        said = path[0] == "DefaultRunProperties" and (
            path == ("DefaultRunProperties",) or adoption.run_properties.get(path[1]) == value
        )
        said = said or (path == ("MaxConcurrentRuns",) and value == 1)
        assert said or is_listed(path, differences), path


@given(answers("Job", Name="orders"))
@settings(max_examples=tries(60), deadline=None)
def test_a_job_is_adopted_or_left_out_with_a_reason(resource):
    start = {
        "Name": "start",
        "Type": "ON_DEMAND",
        "Actions": [{"JobName": "plain"}, {"JobName": "orders"}],
    }
    jobs = {"orders": resource, "plain": PLAIN | {"Name": "plain"}}

    adoption = adopt(Existing("", jobs, {"start": start}))

    adopted = {job.old for job in adoption.jobs}
    assert adopted | {left.job for left in adoption.left_out if left.why} == set(jobs)


@given(st.data())
@settings(max_examples=tries(20), deadline=None)
def test_a_secret_is_shown_nowhere(data):
    secret = "hunter2"  # noqa: S105 (as a value of a test)
    where = data.draw(st.sampled_from(["DefaultArguments", "NonOverridableArguments"]))
    name = data.draw(st.sampled_from(["--db_password", "--api_token", "--secret"]))
    resource = PLAIN | {where: {name: secret}, "SourceControlDetails": {"AuthToken": secret}}

    adoption = adopt(Existing("", {"orders": resource}))

    assert secret not in repr(adoption)


def test_open_tables_and_tables_of_dynamodb_are_targets_as_they_were():
    crawler = Reading(
        "crawler raw",
        {
            "DatabaseName": "sales",
            "Targets": {
                "DeltaTargets": [
                    {
                        "DeltaTables": ["s3://lake/a/", "s3://lake/b"],
                        "ConnectionName": "office",
                        "CreateNativeDeltaTable": True,
                        "WriteManifest": False,
                    },
                    {"DeltaTables": ["s3://lake/c/"], "WriteManifest": True},
                ],
                "IcebergTargets": [{"Paths": ["s3://lake/i/"], "MaximumTraversalDepth": 3}],
                "DynamoDBTargets": [{"Path": "orders", "scanAll": False, "scanRate": 0.5}],
            },
        },
    )

    targets = crawler_of(crawler, "new", {}).targets

    delta = {"format": Member("OpenFormat", "DELTA"), "connection": "office"}
    assert [(one.kind, one.place and one.place.uri, one.fields) for one in targets] == [
        ("CrawledOpenTables", "s3://lake/a/", delta),
        ("CrawledOpenTables", "s3://lake/b/", delta),
        (
            "CrawledOpenTables",
            "s3://lake/i/",
            {"format": Member("OpenFormat", "ICEBERG"), "depth": 3},
        ),
        ("CrawledDynamoDB", None, {"table": "orders", "sampled": True, "scan_rate": 0.5}),
    ]
    listed = [one.path for one in crawler.differences if one.path[0] == "Targets"]
    assert listed == [  # two tables become two targets; who only reads writes no manifest
        ("Targets", "DeltaTargets", "0", "DeltaTables"),
        ("Targets", "DeltaTargets", "1", "DeltaTables"),
        ("Targets", "DeltaTargets", "1", "WriteManifest"),
    ]


def test_the_key_of_automatic_upgrades_is_adopted_of_a_job_that_has_them():
    name = "--auto-upgrade-metadata-kms-key-arn"
    key = "arn:aws:kms:us-west-2:111122223333:key/1234abcd"

    def adopted(version: str, value: str) -> tuple[dict[str, object], list[tuple[str, ...]]]:
        members = {"GlueVersion": version, "MaxRetries": 1, "DefaultArguments": {name: value}}
        reading = Reading("job orders", {**PLAIN, "WorkerType": "G.1X", **members})
        fields = glue_arguments_of(reading, runtime_of(reading), "glueetl")
        return fields, [one.path for one in reading.differences]

    assert adopted("auto", key)[0] == {"auto_upgrade_metadata_kms_key": key}
    for version, value in (("5.1", key), ("auto", key.replace("key/", "alias/"))):
        fields, listed = adopted(version, value)
        assert fields == {}
        assert ("DefaultArguments", name) in listed


def test_a_job_gets_the_version_that_aws_runs_it_on():
    def adopted(**members: Any) -> tuple[Any, list[Difference]]:
        reading = Reading("job orders", {**PLAIN, "WorkerType": "G.1X", **members})
        return runtime_of(reading), reading.differences

    unnamed, said = adopted()
    upgraded, _ = adopted(GlueVersion="auto", MaxRetries=2)
    impossible, listed = adopted(GlueVersion="auto")

    assert (unnamed.glue_version, unnamed.timeout_minutes) == ("6.0", 480)
    assert "6.0, Spark 4, since August 2026" in next(
        one.why for one in said if one.path == ("GlueVersion",)
    )
    assert (upgraded.glue_version, upgraded.max_retries) == ("auto", 2)
    assert 'glue_version="auto"' in runtime_call(upgraded)
    assert impossible.max_retries == 1
    assert ("MaxRetries",) in [one.path for one in listed]
