"""Workflows that start themselves by events of other kinds, for certain or perhaps."""

import pytest

from tidemark.checks.graph.event_loops import event_loops
from tidemark.checks.graph.model import CRAWLER, EventRule, Graph, GraphJob, Trigger
from tidemark.checks.graph.template import read_graph


def found(pattern, job):
    """Return whether a loop is an error, of a workflow that has this job; empty without a loop."""
    graph = Graph(
        jobs=() if job.name.startswith(CRAWLER) else (job,),
        crawlers=(job,) if job.name.startswith(CRAWLER) else (),
        triggers=(Trigger("s/t", "t", "EVENT", "w", (job.name,)),),
        workflows={"w": "s/w"},
        event_rules=(EventRule("s/r", "w", pattern=pattern),),
    )
    return [problem.is_error for problem in event_loops(graph)]


def quality(**detail):
    return {
        "source": ["aws.glue-dataquality"],
        "detail-type": ["Data Quality Evaluation Results Available"],
        "detail": detail,
    }


def deleted(bucket="lake", **key):
    detail = {"bucket": {"name": [bucket]}, "object": {"key": [key or {"exists": True}]}}
    return {"source": ["aws.s3"], "detail-type": ["Object Deleted"], "detail": detail}


def call(service, *names, **parameters):
    detail = {"eventSource": [f"{service}.amazonaws.com"], "eventName": list(names)}
    if parameters:
        detail["requestParameters"] = parameters
    source, kind = f"aws.{service}", "AWS API Call via CloudTrail"
    return {"source": [source], "detail-type": [kind], "detail": detail}


JOB = GraphJob("s/one", "one", writes=("s3://lake/in/",), changes=("d.t",))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (quality(context={"jobName": ["one"]}), [True]),
        (quality(context={"jobName": ["one"]}, state=["FAILED"]), [True]),
        (quality(context={"contextType": ["GLUE_JOB"]}), [False]),
        (quality(context={"jobName": [{"anything-but": "x"}]}), [False]),
        (quality(), [False]),
        (quality(state=["FAILED"], rulesetNames=["rules"]), [False]),
        (quality(context={"databaseName": ["d"], "tableName": ["t"]}), [False]),
        (quality(context={"jobName": ["other"]}), []),
        (quality(context={"databaseName": ["d"], "tableName": ["u"]}), []),
    ],
)
def test_results_of_data_quality_start_whoever_evaluates_it(pattern, expected):
    assert found(pattern, JOB) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (deleted(prefix="in/"), [False]),
        (deleted(), [False]),
        (deleted(prefix="out/"), []),
        (deleted("other"), []),
        ({**deleted(), "detail-type": ["Object Created", "Object Deleted"]}, [True]),
    ],
)
def test_a_job_may_delete_where_it_writes(pattern, expected):
    assert found(pattern, JOB) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (call("s3", "PutObject", bucketName=["lake"]), [True]),
        (call("s3", "PutObject", bucketName=["lake"], key=[{"prefix": "in/"}]), [True]),
        (call("s3", "CompleteMultipartUpload", bucketName=["lake"]), [False]),
        (call("s3", "DeleteObject", "DeleteObjects", bucketName=["lake"]), [False]),
        (call("s3", "PutObject", bucketName=["lake"], key=[{"prefix": "out/"}]), []),
        (call("s3", "PutObject", bucketName=["other"]), []),
        (call("s3", "PutBucketPolicy", bucketName=["lake"]), []),
        (call("glue", "StartJobRun", jobName=["one"]), [False]),
        (call("glue", "StartJobRun"), [False]),
        (call("glue", "StartJobRun", jobName=["other"]), []),
        (call("glue", "UpdateTable", "BatchCreatePartition", databaseName=["d"]), [False]),
        (call("glue", "UpdateTable", databaseName=["e"]), []),
        (call("glue", "NotifyEvent"), [False]),
        (call("glue", "CreateJob"), []),
        (call("iam", "CreateRole"), []),
    ],
)
def test_calls_that_cloudtrail_tells_of_are_followed(pattern, expected):
    assert found(pattern, JOB) == expected


@pytest.mark.parametrize(
    ("table", "crawled", "expected"),
    [
        (["x_orders"], "d.x_*", [False]),
        ([{"prefix": "x_"}], "d.x_*", [True]),
        ([{"prefix": "x_or"}], "d.x_*", [False]),
        ([{"suffix": "s"}], "d.x_*", [False]),
        ([{"anything-but": "x_"}], "d.x_*", [False]),
        (["x_orders"], "d.x_orders", [True]),
        (["orders"], "d.x_*", []),
        (["x_orders"], "e.x_*", []),
    ],
)
def test_a_crawler_may_change_the_table_whose_changes_start_it(table, crawled, expected):
    detail = {"databaseName": ["d"], "tableName": table}
    pattern = {"source": ["aws.glue"], "detail": detail}

    assert found(pattern, GraphJob("s/c", f"{CRAWLER}c", crawled=(crawled,))) == expected


@pytest.mark.parametrize(("database", "expected"), [("d", [False]), ("e", [])])
def test_whoever_may_make_tables_changes_their_database(database, expected):
    kind = ["Glue Data Catalog Database State Change"]
    detail = {"databaseName": [database], "typeOfChange": ["CreateTable"]}
    pattern = {"source": ["aws.glue"], "detail-type": kind, "detail": detail}

    assert found(pattern, JOB) == expected
    assert found(pattern, GraphJob("s/c", f"{CRAWLER}c", crawled=("d.x_*",))) == expected


def test_calls_of_a_crawler_are_followed():
    crawler = GraphJob("s/c", f"{CRAWLER}c", crawled=("d.x_*",))

    assert found(call("glue", "StartCrawler", name=["c"]), crawler) == [False]
    assert found(call("glue", "CreateTable", databaseName=["d"]), crawler) == [False]
    assert found(call("glue", "CreateTable", databaseName=["e"]), crawler) == []


@pytest.mark.parametrize(("second", "is_error"), [(deleted(prefix="b/"), False), (None, True)])
def test_a_ring_is_an_error_if_each_of_its_steps_is_certain(second, is_error):
    created = {**deleted(prefix="a/"), "detail-type": ["Object Created"]}
    sure = {**deleted(prefix="b/"), "detail-type": ["Object Created"]}
    patterns = {"a": created, "b": second or sure}
    graph = Graph(
        jobs=(
            GraphJob("s/a", "a", writes=("s3://lake/b/",)),
            GraphJob("s/b", "b", writes=("s3://lake/a/",)),
        ),
        triggers=tuple(Trigger(f"s/t{n}", f"t{n}", "EVENT", n, (n,)) for n in "ab"),
        workflows={"a": "s/wa", "b": "s/wb"},
        event_rules=tuple(EventRule(f"s/r{n}", n, pattern=patterns[n]) for n in "ab"),
    )

    assert [problem.is_error for problem in event_loops(graph)] == [is_error]


def graph_of(pattern, **rule):
    """Return the graph of a template: a workflow that a rule starts, whose job writes in/."""
    job = {"Name": "one", "DefaultArguments": {"--TempDir": "s3://lake/in/"}}
    event = {"Type": "EVENT", "WorkflowName": "w", "Actions": [{"JobName": "one"}]}
    arn = "arn:aws:glue:eu-west-1:1:workflow/w"
    sent = {"EventPattern": pattern, "Targets": [{"Arn": arn}], **rule}
    kinds = {"Glue::Job": job, "Glue::Trigger": event, "Events::Rule": sent}
    resources = {
        kind[-3:]: {"Type": f"AWS::{kind}", "Properties": properties}
        for kind, properties in kinds.items()
    }
    return read_graph({"s": {"Resources": resources}})


@pytest.mark.parametrize(
    ("state", "is_loop"),
    [({}, True), ({"State": "ENABLED"}, True), ({"State": "DISABLED"}, False)],
)
def test_a_rule_that_is_off_starts_nothing(state, is_loop):
    graph = graph_of({**deleted(prefix="in/"), "detail-type": ["Object Created"]}, **state)

    assert [problem.rule for problem in event_loops(graph)] == ["starts-itself"] * is_loop


@pytest.mark.parametrize(
    ("kinds", "reason", "expected"),
    [
        (["Object Created"], [], [True]),
        (["Object Created", "Object Deleted"], [], [True]),
        (["Object Created"], ["PutObject"], [True]),
        (["Object Created"], ["CopyObject"], [False]),
        (["Object Created"], ["POST Object"], []),
        (["Object Deleted"], [], [False]),
        (["Object Deleted"], ["DeleteObject"], [False]),
        (["Object Deleted"], ["Lifecycle Expiration"], []),
        (["Object Restore Completed"], [], []),
        (["Object Tags Added"], [], []),
    ],
)
def test_only_objects_that_arrive_arrive_in_a_folder_that_a_template_watches(
    kinds, reason, expected
):
    pattern = {**deleted(prefix="in/"), "detail-type": kinds}
    detail = pattern["detail"] | ({"reason": reason} if reason else {})

    problems = event_loops(graph_of({**pattern, "detail": detail}))

    assert [problem.is_error for problem in problems] == expected


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ({"prefix": "in/"}, [True]),
        ({"prefix": "in/part/"}, [True]),
        ({"wildcard": "in/*"}, [True]),
        ({"anything-but": {"suffix": ".tmp"}}, [True]),
        ({"suffix": ".done"}, [False]),
        ({"wildcard": "in/*.csv"}, [False]),
        ({"equals-ignore-case": "in/ready.json"}, [False]),
    ],
)
def test_an_object_of_just_this_name_may_be_written(key, expected):
    pattern = {**deleted(**key), "detail-type": ["Object Created"]}

    assert found(pattern, JOB) == expected


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        ({}, [True]),
        ({"account": ["222222222222"]}, [False]),
        ({"detail": {"requester": ["222222222222"]}}, [False]),
        ({"detail": {"source-ip-address": [{"cidr": "10.0.0.0/8"}]}}, [False]),
        ({"$or": [{"account": ["2"]}, {"region": ["us-east-1"]}]}, [False]),
    ],
)
def test_a_rule_that_asks_who_did_it_may_mean_others(who, expected):
    detail = {"bucket": {"name": ["lake"]}, "object": {"key": [{"prefix": "in/"}]}}
    pattern = {"source": ["aws.s3"], "detail-type": ["Object Created"], "detail": detail}
    narrowed = {**pattern, **who, "detail": {**detail, **who.get("detail", {})}}

    assert found(narrowed, JOB) == expected
