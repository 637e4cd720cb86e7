"""Workflows that start themselves by events, over others or not: on plain data."""

import pytest

from tidemark.checks.graph.event_loops import event_loops
from tidemark.checks.graph.model import CRAWLER, EventRule, Graph, GraphJob, Trigger
from tidemark.checks.graph.start_rules import problems_of_starts
from tidemark.checks.graph.template import read_graph


def objects_in(bucket="lake", **key):
    key_pattern = [key] if key else [{"exists": True}]
    detail = {"bucket": {"name": [bucket]}, "object": {"key": key_pattern}}
    return {"source": ["aws.s3"], "detail-type": ["Object Created"], "detail": detail}


def state_of(**detail):
    return {"source": ["aws.glue"], "detail": detail}


def found(patterns, writes, crawlers=()):
    """Return where loops are; each workflow has one job, or crawler, of its name."""
    names = list(patterns)
    nodes = {name: CRAWLER + name if name in crawlers else name for name in names}
    graph = Graph(
        jobs=tuple(
            GraphJob(f"s/{n}", n, writes=writes.get(n, ())) for n in names if n not in crawlers
        ),
        crawlers=tuple(GraphJob(f"s/{n}", CRAWLER + n, crawled=("d.t",)) for n in crawlers),
        triggers=tuple(Trigger(f"s/t-{n}", f"t-{n}", "EVENT", n, (nodes[n],)) for n in names),
        workflows={n: f"s/w-{n}" for n in names},
        event_rules=tuple(EventRule(f"s/r-{n}", n, pattern=patterns[n]) for n in names),
    )
    return [(problem.rule, problem.at) for problem in event_loops(graph)]


@pytest.mark.parametrize("length", [2, 3, 5])
def test_pipelines_that_start_each_other_by_objects_are_found_once(length):
    patterns = {f"p{n}": objects_in(prefix=f"in-{n}/") for n in range(length)}
    writes = {f"p{n}": (f"s3://lake/in-{(n + 1) % length}/",) for n in range(length)}

    assert found(patterns, writes) == [("starts-itself", "s/p0")]
    assert found(patterns, {**writes, "p1": ("s3://lake/out/",)}) == []


@pytest.mark.parametrize(
    "pattern",
    [
        state_of(jobName=["one"], state=["SUCCEEDED"]),
        state_of(jobName=["one"]),
        state_of(state=[{"anything-but": ["SUCCEEDED"]}]),
        state_of(jobName=[{"prefix": "o"}], jobRunId=[{"prefix": "jr_"}]),
        {"source": [{"prefix": "aws."}]},
        {"source": ["aws.glue"], "$or": [{"detail": {"jobName": ["one"]}}, {"region": ["x"]}]},
    ],
)
def test_a_pipeline_that_its_own_job_starts_by_a_change_of_state_is_found(pattern):
    assert found({"one": pattern}, {}) == [("starts-itself", "s/one")]


@pytest.mark.parametrize(
    "pattern",
    [
        state_of(jobName=["other"], state=["SUCCEEDED"]),
        state_of(jobName=[{"anything-but": "one"}]),
        state_of(crawlerName=["one"]),
        {"source": ["acme.shop"]},
        {},
    ],
)
def test_events_of_others_are_none_of_its_own(pattern):
    assert found({"one": pattern}, {"one": ("s3://lake/x/",)}) == []


def test_the_success_of_one_pipeline_may_start_another_but_not_in_a_ring():
    first, second = state_of(jobName=["b"], state=["SUCCEEDED"]), state_of(jobName=["a"])

    assert found({"a": {"source": ["acme"]}, "b": second}, {}) == []
    assert found({"a": first, "b": second}, {}) == [("starts-itself", "s/a")]


def test_a_crawler_that_its_own_crawl_or_table_starts_is_found():
    for detail in ({"crawlerName": ["c"], "state": ["Succeeded"]}, {"tableName": ["t"]}):
        assert found({"c": state_of(**detail)}, {}, ["c"]) == [("starts-itself", "s/c")]
    assert found({"c": state_of(tableName=["u"])}, {}, ["c"]) == []


@pytest.mark.parametrize(
    ("detail", "is_loop"),
    [
        ({"databaseName": ["d"], "tableName": ["t"]}, True),
        ({"databaseName": ["d"], "typeOfChange": ["BatchCreatePartition"]}, True),
        ({"databaseName": ["d"], "tableName": ["u"]}, False),
        ({"databaseName": ["e"], "tableName": ["t"]}, False),
    ],
)
def test_a_job_that_changes_the_table_whose_changes_start_it_is_found(detail, is_loop):
    pattern = {**state_of(**detail), "detail-type": ["Glue Data Catalog Table State Change"]}
    graph = Graph(
        jobs=(GraphJob("s/one", "one", changes=("d.t",)),),
        triggers=(Trigger("s/t", "t", "EVENT", "w", ("one",)),),
        workflows={"w": "s/w"},
        event_rules=(EventRule("s/r", "w", pattern=pattern),),
    )

    assert [problem.rule for problem in event_loops(graph)] == ["starts-itself"] * is_loop


@pytest.mark.parametrize(
    ("key", "is_loop"),
    [
        ({}, True),
        ({"prefix": "in/"}, True),
        ({"prefix": "in/part/"}, True),
        ({"suffix": ".csv"}, True),
        ({"wildcard": "in/*.csv"}, True),
        ({"wildcard": "*/x/*.csv"}, True),
        ({"equals-ignore-case": "in/a.csv"}, True),
        ({"anything-but": {"prefix": "out/"}}, True),
        ({"prefix": "into/"}, False),
        ({"anything-but": {"prefix": "in/"}}, False),
        ({"wildcard": "out/*.csv"}, False),
    ],
)
def test_patterns_of_objects_written_by_hand_are_matched_too(key, is_loop):
    expected = [("starts-itself", "s/one")] if is_loop else []

    assert found({"one": objects_in(**key)}, {"one": ("s3://lake/in/",)}) == expected
    assert found({"one": objects_in("other", **key)}, {"one": ("s3://lake/in/",)}) == []


@pytest.mark.parametrize(
    ("resource", "parameters", "job", "is_loop"),
    [
        ("aws-sdk:glue:startWorkflowRun", {"Name": "orders"}, "load", True),
        ("glue:startJobRun", {"JobName": "load"}, "load", True),
        ("glue:startJobRun.sync", {"JobName": {"Ref": "Job"}}, "load", True),
        ("aws-sdk:glue:startJobRun", {"JobName": "load"}, "load", True),
        ("glue:startJobRun.sync", {"JobName": "load"}, "other", False),
    ],
)
def test_a_rule_that_starts_a_machine_that_starts_what_sends_the_event_is_a_loop(
    resource, parameters, job, is_loop
):
    start = {
        "Type": "Task",
        "Resource": f"arn:aws:states:::{resource}",
        "Parameters": parameters,
        "End": True,
    }
    ended = {"jobName": [job], "state": ["SUCCEEDED"]}
    pattern = {"source": ["aws.glue"], "detail-type": ["Glue Job State Change"], "detail": ended}
    definition = {"StartAt": "A", "States": {"A": start}}
    resources = {
        "Flow": {"Type": "AWS::Glue::Workflow", "Properties": {"Name": "orders"}},
        "Job": {"Type": "AWS::Glue::Job", "Properties": {"Name": "load", "Command": {}}},
        "Start": {
            "Type": "AWS::Glue::Trigger",
            "Properties": {
                "Type": "ON_DEMAND",
                "WorkflowName": "orders",
                "Actions": [{"JobName": "load"}],
            },
        },
        "Machine": {
            "Type": "AWS::StepFunctions::StateMachine",
            "Properties": {"Definition": definition},
        },
        "Rule": {
            "Type": "AWS::Events::Rule",
            "Properties": {
                "EventPattern": pattern,
                "Targets": [{"Id": "M", "Arn": {"Ref": "Machine"}}],
            },
        },
    }

    problems = list(problems_of_starts(read_graph({"s": {"Resources": resources}})))

    expected = [("starts-itself", True)] * is_loop
    assert [(problem.rule, problem.is_error) for problem in problems] == expected
