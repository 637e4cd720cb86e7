"""Random good graphs become triggers that mean the same, and a broken one is refused."""

import json
from itertools import product

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.tidemark.checks.graph.synthesized import (
    ENABLE,
    SCHEDULED,
    disable,
    new_pipeline,
    synthesized,
)
from tidemark.checks.graph.rules import RULES, problems
from tidemark.checks.graph.template import read_graph
from tidemark.glue_service.workflows.flow import Ended, Flow, Progress, after_end
from tidemark.model.assembly.resources import METADATA
from tidemark.model.assembly.template import _trigger as trigger_of

pytestmark = pytest.mark.synth

STATES = ("SUCCEEDED", "FAILED", "TIMEOUT", "STOPPED")


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
    flow, progress = Flow("wr_1", "flow", 0), Progress()
    started = [action.job_name for action in start.actions]
    for name in started:
        progress, firing = after_end(flow, progress, triggers, name, Ended(ends[name], name))
        started += [action.job_name for trigger in firing for action in trigger.actions]
    assert set(started) <= set(names)
    return set(started)


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


ROUNDS = settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.nightly
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


def a_job_reads_a_checkpoint(template, start, trigger):
    uses(jobs_of(template)[0], reads="s3://lake/checkpoint/")
    another_job_uses(template)
    state = {"uri": "s3://lake/checkpoint/", "published": True, "state": True}
    template["Resources"]["AddedJob"]["Metadata"]["Tidemark"]["writes"] = [state]


def a_reader_freezes_what_evolves(template, start, trigger):
    uses(jobs_of(template)[0], reads="s3://lake/held/")
    jobs_of(template)[0]["Metadata"]["Tidemark"]["reads"][0]["schema"] = {
        "fields": {"id": "int"},
        "columns": "freeze",
    }
    another_job_uses(template)
    written = {"uri": "s3://lake/held/", "schema": {"fields": {"id": "int"}}}
    template["Resources"]["AddedJob"]["Metadata"]["Tidemark"]["writes"] = [written]


def a_job_reads_a_quarantine_as_data(template, start, trigger):
    uses(jobs_of(template)[0], reads="s3://lake/bronze/")
    another_job_uses(template)
    aside = {"uri": "s3://lake/bronze/aside/", "published": True, "quarantine": True}
    template["Resources"]["AddedJob"]["Metadata"]["Tidemark"]["writes"] = [aside]


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


def a_job_uses_a_table_without_its_data(template, start, trigger):
    template["Resources"]["Alone"] = table_at("alone", "s3://alone/")
    known = jobs_of(template)[0].setdefault("Metadata", {}).setdefault("Tidemark", {})
    known["tables"] = ["sales.alone"]


def crawl(name: str) -> dict[str, object]:
    targets = {"S3Targets": [{"Path": "s3://lake/crawled/"}]}
    properties = {"Name": name, "DatabaseName": "d", "Targets": targets}
    return {"Type": "AWS::Glue::Crawler", "Properties": properties}


def two_crawlers_describe_one_folder(template, start, trigger):
    template["Resources"] |= {"CrawlA": crawl("crawl-a"), "CrawlB": crawl("crawl-b")}


def a_crawler_describes_what_a_table_declares(template, start, trigger):
    place = {"StorageDescriptor": {"Location": "s3://lake/crawled/orders/"}}
    table = {"DatabaseName": "d", "TableInput": {"Name": "orders", **place}}
    template["Resources"] |= {
        "CrawlA": crawl("crawl-a"),
        "Orders": {"Type": "AWS::Glue::Table", "Properties": table},
    }


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


def table_at(name, location):
    described = {"Name": name, "StorageDescriptor": {"Location": location}}
    properties = {"DatabaseName": "sales", "TableInput": described}
    return {"Type": "AWS::Glue::Table", "Properties": properties}


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
    "state-as-data": a_job_reads_a_checkpoint,
    "contract-refuses": a_reader_freezes_what_evolves,
    "quarantine-as-data": a_job_reads_a_quarantine_as_data,
    "table-without-waiting": a_job_uses_what_is_crawled_beside_it,
    "crawled-twice": two_crawlers_describe_one_folder,
    "crawled-and-declared": a_crawler_describes_what_a_table_declares,
    "nested-tables": lambda t, start, trigger: t["Resources"].update(
        Outer=table_at("outer", "s3://nested/"), Inner=table_at("inner", "s3://nested/in/")
    ),
    "table-not-created": a_job_uses_a_table_that_nothing_creates,
    "table-without-data": a_job_uses_a_table_without_its_data,
    "renamed-job": lambda t, start, trigger: jobs_of(t)[0]["Properties"].update(Name="by-hand"),
}


def test_every_rule_that_is_an_error_is_broken_below():
    assert set(RULES) - set(BROKEN) == {
        "output-never-read",
        "input-nobody-writes",
        "unknown-workflow",
        "event-not-sent",
        "schedules-too-close",
        "retention-too-short",
        "reads-duplicates",
    }


@pytest.mark.nightly
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
