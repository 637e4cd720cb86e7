"""Crawlers on the port: their definitions, crawls as runs, and what is on AWS only."""

from __future__ import annotations

import json

import pytest
from botocore.exceptions import ClientError

from tests.waiting import wait_until
from tidemark.glue_service.runs.crawls import crawl_job
from tidemark.local_state.sparks.installed import own_glue_version

pytestmark = pytest.mark.spark
ORDERS = {"S3Targets": [{"Path": "s3://raw/orders/"}]}


@pytest.fixture
def crawler(port, request):
    """Return the name of a crawler of a folder with one file."""
    folder = port.home.lake / "raw" / "orders" / "day=1"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "a.json").write_text('{"id": 1, "total": 1.5}\n', encoding="utf-8")
    name = request.node.name[:60]
    port.glue.create_crawler(
        Name=name, Role="anyone", DatabaseName="sales", Targets=ORDERS, TablePrefix="raw_"
    )
    return name


def test_a_crawl_runs_on_the_spark_that_is_installed():
    assert crawl_job("any").glue_version == own_glue_version()


def refused(call, **request):
    with pytest.raises(ClientError) as error:
        call(**request)
    return error.value.response["Error"]


def crawled(port, name):
    port.glue.start_crawler(Name=name)

    def ended():
        crawler = port.glue.get_crawler(Name=name)["Crawler"]
        return crawler if crawler["State"] == "READY" else None

    return wait_until(ended)


def test_a_crawl_defines_tables_and_is_a_run(port, crawler):
    last = crawled(port, crawler)["LastCrawl"]

    assert last["Status"] == "SUCCEEDED"
    table = port.glue.get_table(DatabaseName="sales", Name="raw_orders")["Table"]
    assert table["Parameters"]["UPDATED_BY_CRAWLER"] == crawler
    assert table["PartitionKeys"] == [{"Name": "day", "Type": "string"}]
    (crawl,) = port.glue.list_crawls(CrawlerName=crawler)["Crawls"]
    assert (crawl["State"], crawl["CrawlId"]) == ("COMPLETED", last["LogStream"])
    assert "sales.raw_orders: " in port.printed(last["LogStream"])
    (metrics,) = port.glue.get_crawler_metrics(CrawlerNameList=[crawler])["CrawlerMetricsList"]
    assert metrics["LastRuntimeSeconds"] > 0


def test_the_end_of_a_crawl_is_an_event_of_its_crawler(port, crawler):
    crawled(port, crawler)

    lines = (port.home.root / "events.jsonl").read_text(encoding="utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    (event,) = [event for event in events if event["detail"].get("crawlerName") == crawler]
    assert event["detail-type"] == "Glue Crawler State Change"
    assert (event["detail"]["state"], event["source"]) == ("Succeeded", "aws.glue")
    assert f"crawler {crawler}" not in {event["detail"].get("jobName") for event in events}


@pytest.mark.nightly
def test_a_crawl_that_fails_says_why_and_leaves_the_crawler_ready(port, crawler):
    targets = {"S3Targets": [{"Path": "s3://raw/nothing/"}]}
    port.glue.update_crawler(Name=crawler, Targets=targets)

    after = crawled(port, crawler)

    assert after["Version"] == 2
    assert after["LastCrawl"]["Status"] == "FAILED"
    assert "s3://raw/nothing" in after["LastCrawl"]["ErrorMessage"]


def test_a_crawler_that_runs_is_neither_started_nor_changed_and_can_be_stopped(port, crawler):
    glue = port.glue
    glue.start_crawler(Name=crawler)

    for call in (glue.start_crawler, glue.delete_crawler, glue.update_crawler):
        assert refused(call, Name=crawler)["Code"] == "CrawlerRunningException"
    glue.stop_crawler(Name=crawler)

    def ended():
        after = glue.get_crawler(Name=crawler)["Crawler"]
        return after["LastCrawl"] if after["State"] == "READY" else None

    assert wait_until(ended)["Status"] == "CANCELLED"
    assert refused(glue.stop_crawler, Name=crawler)["Code"] == "CrawlerNotRunningException"


def test_crawlers_are_listed_and_a_new_one_has_no_crawl_of_an_old_one(port, crawler):
    glue = port.glue
    assert crawler in glue.list_crawlers()["CrawlerNames"]
    got = glue.batch_get_crawlers(CrawlerNames=[crawler, "none"])
    assert [member["Name"] for member in got["Crawlers"]] == [crawler]
    assert got["CrawlersNotFound"] == ["none"]
    again = {"Name": crawler, "Role": "anyone", "DatabaseName": "sales", "Targets": ORDERS}
    assert refused(glue.create_crawler, **again)["Code"] == "AlreadyExistsException"

    glue.delete_crawler(Name=crawler)

    assert refused(glue.get_crawler, Name=crawler)["Code"] == "EntityNotFoundException"
    glue.create_crawler(**again)
    assert "LastCrawl" not in glue.get_crawler(Name=crawler)["Crawler"]


@pytest.mark.parametrize(
    ("members", "named"),
    [
        ({"Targets": {"JdbcTargets": [{"ConnectionName": "c"}]}}, "JdbcTargets"),
        ({"Targets": {}}, "S3Targets"),
        ({"Targets": {"S3Targets": [{"Path": "s3://"}]}}, "s3://BUCKET/FOLDER/"),
        ({"Targets": {"S3Targets": [{"Path": "s3://a/", "Exclusions": ["*"]}]}}, "Exclusions"),
        ({"Schedule": "cron(0 1 * * ? *)"}, "StartCrawler"),
        ({"Classifiers": ["mine"]}, "Classifiers"),
        ({"SchemaChangePolicy": {"UpdateBehavior": "LOG"}}, "UPDATE_IN_DATABASE"),
        ({"SchemaChangePolicy": {"DeleteBehavior": "DELETE_FROM_DATABASE"}}, "DeleteBehavior"),
        ({"RecrawlPolicy": {"RecrawlBehavior": "CRAWL_NEW_FOLDERS_ONLY"}}, "CRAWL_EVERYTHING"),
        ({"Configuration": '{"Version": 1.0, "Grouping": {}}'}, "Grouping"),
        ({"Configuration": "[]"}, "JSON object"),
    ],
)
def test_what_a_crawl_here_does_not_do_is_refused_by_name(port, members, named):
    request = {"Name": "other", "Role": "anyone", "DatabaseName": "sales", "Targets": ORDERS}

    error = refused(port.glue.create_crawler, **{**request, **members})

    assert error["Code"] == "InvalidInputException"
    assert named in error["Message"]


@pytest.mark.nightly
def test_a_state_machine_starts_a_crawler_and_waits_for_it(port, crawler):
    wait = {"Type": "Wait", "Seconds": 1, "Next": "Look"}
    call = {"Type": "Task", "Parameters": {"Name": crawler}}
    definition = {
        "StartAt": "Start",
        "States": {
            "Start": {
                **call,
                "Resource": "arn:aws:states:::aws-sdk:glue:startCrawler",
                "Next": "Wait",
            },
            "Wait": wait,
            "Look": {
                **call,
                "Resource": "arn:aws:states:::aws-sdk:glue:getCrawler",
                "OutputPath": "$.Crawler",
                "Next": "Ready?",
            },
            "Ready?": {
                "Type": "Choice",
                "Choices": [{"Variable": "$.State", "StringEquals": "READY", "Next": "Crawled"}],
                "Default": "Wait",
            },
            "Crawled": {"Type": "Pass", "InputPath": "$.LastCrawl.Status", "End": True},
        },
    }
    states = port.client("stepfunctions")
    role = "arn:aws:iam::000000000000:role/any"
    machine = states.create_state_machine(
        name="crawls", definition=json.dumps(definition), roleArn=role
    )
    execution = states.start_execution(stateMachineArn=machine["stateMachineArn"])

    def ended():
        answer = states.describe_execution(executionArn=execution["executionArn"])
        return answer if answer["status"] != "RUNNING" else None

    answer = wait_until(ended)
    assert (answer["status"], json.loads(answer["output"])) == ("SUCCEEDED", "SUCCEEDED")


def workflow_of(port, crawler, name, state):
    """Define a workflow: the crawler, then a job when the crawl has ended in a state."""
    glue = port.glue
    job = port.job(f"{name}-after")
    glue.create_workflow(Name=name)
    glue.create_trigger(
        Name=f"{name}-start",
        Type="ON_DEMAND",
        WorkflowName=name,
        Actions=[{"CrawlerName": crawler}],
    )
    ended = {"LogicalOperator": "EQUALS", "CrawlerName": crawler, "CrawlState": state}
    glue.create_trigger(
        Name=f"{name}-next",
        Type="CONDITIONAL",
        WorkflowName=name,
        StartOnCreation=True,
        Predicate={"Conditions": [ended]},
        Actions=[{"JobName": job}],
    )
    return job


def finished(port, name, run_id):
    """Return a workflow run with its graph, as soon as it has ended."""

    def look():
        run = port.glue.get_workflow_run(Name=name, RunId=run_id, IncludeGraph=True)["Run"]
        return run if run["Status"] != "RUNNING" else None

    return wait_until(look)


def crawls_in(run):
    """Return the states of the crawls of a workflow run."""
    details = [node.get("CrawlerDetails") for node in run["Graph"]["Nodes"]]
    return [crawl["State"] for of_node in details if of_node for crawl in of_node["Crawls"]]


def test_a_crawler_of_a_workflow_starts_the_job_behind_it_and_is_resumed(port, crawler):
    job = workflow_of(port, crawler, "crawls-then-job", "SUCCEEDED")
    (port.home.lake / "raw" / "orders").rename(port.home.lake / "raw" / "away")
    run_id = port.glue.start_workflow_run(Name="crawls-then-job")["RunId"]

    run = finished(port, "crawls-then-job", run_id)

    assert (crawls_in(run), port.states(job)) == (["FAILED"], [])
    (node,) = [node for node in run["Graph"]["Nodes"] if node["Type"] == "CRAWLER"]
    (port.home.lake / "raw" / "away").rename(port.home.lake / "raw" / "orders")
    again = port.glue.resume_workflow_run(
        Name="crawls-then-job", RunId=run_id, NodeIds=[node["UniqueId"]]
    )
    run = finished(port, "crawls-then-job", again["RunId"])
    assert (crawls_in(run), port.states(job)) == (["SUCCEEDED"], ["SUCCEEDED"])
    assert run["Statistics"]["SucceededActions"] == 2


@pytest.mark.nightly
def test_a_job_reacts_to_a_crawl_that_failed(port, crawler):
    targets = {"S3Targets": [{"Path": "s3://raw/nothing/"}]}
    port.glue.update_crawler(Name=crawler, Targets=targets)
    job = workflow_of(port, crawler, "crawl-fails", "FAILED")

    run_id = port.glue.start_workflow_run(Name="crawl-fails")["RunId"]

    run = finished(port, "crawl-fails", run_id)
    assert (crawls_in(run), port.states(job)) == (["FAILED"], ["SUCCEEDED"])
