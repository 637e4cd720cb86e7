"""The jobs of an app as its templates have them."""

from __future__ import annotations

import json

import pytest

from tidemark.errors import UsageError
from tidemark.model.assembly.cloud_assembly import Assembly, Stack
from tidemark.operate.app_jobs import dpu_of, read_jobs


def job(name: str, **properties: object) -> dict[str, object]:
    command = {"Name": "glueetl", "ScriptLocation": "s3://b/k.py"}
    return {
        "Type": "AWS::Glue::Job",
        "Properties": {"Name": name, "Command": command, **properties},
    }


def assembly(resources: dict[str, object]) -> Assembly:
    return Assembly((Stack("one", json.loads(json.dumps({"Resources": resources}))),), ())


def trigger(action: dict[str, str], *watched: dict[str, str]) -> dict[str, object]:
    properties = {
        "Name": f"before-{action}",
        "Type": "CONDITIONAL",
        "WorkflowName": "flow",
        "Actions": [action],
        "Predicate": {"Conditions": [{**it, "State": "SUCCEEDED"} for it in watched]},
    }
    return {"Type": "AWS::Glue::Trigger", "Properties": properties}


def test_datasets_order_and_size_are_those_of_the_template() -> None:
    reads = [{"uri": {"Fn::Join": ["", ["s3://", {"Ref": "Lake"}, "/raw/"]]}, "delivered": True}]
    writes = [
        {"uri": "s3://lake/mart/", "table": "shop.mart"},
        {"uri": "s3://lake/out/", "published": True},
        {"uri": "s3://lake/between/"},
    ]
    second = job("second", WorkerType="G.2X", NumberOfWorkers=3, ExecutionClass="FLEX")
    second["Metadata"] = {"Tidemark": {"reads": reads, "writes": writes}}
    resources = {
        "Lake": {"Type": "AWS::S3::Bucket", "Properties": {"BucketName": "lake"}},
        "First": job("first"),
        "Second": second,
        "Trigger": trigger({"JobName": "second"}, {"JobName": "first"}),
    }

    first, found = read_jobs(assembly(resources), "us-east-1")

    assert (first.name, first.after, first.dpu) == ("first", (), 10.0)
    assert (found.after, found.workflow, found.is_flex) == (("first",), "flow", True)
    assert (found.reads, found.dpu) == (("s3://lake/raw/",), 6.0)
    assert found.published == ("s3://lake/mart/", "s3://lake/out/")
    assert found.tables == {"s3://lake/mart/": "shop.mart"}


def test_a_crawler_between_two_jobs_is_passed_through() -> None:
    resources = {
        "First": job("first"),
        "Second": job("second"),
        "Crawl": trigger({"CrawlerName": "c"}, {"JobName": "first"}),
        "Then": trigger({"JobName": "second"}, {"CrawlerName": "c"}),
    }

    assert read_jobs(assembly(resources), "us-east-1")[1].after == ("first",)


@pytest.mark.parametrize("resources", [{}, {"Job": {"Type": "AWS::Glue::Job", "Properties": []}}])
def test_an_app_without_a_job_that_can_be_read_is_refused(resources: dict[str, object]) -> None:
    with pytest.raises(UsageError, match=r"synthesize"):
        read_jobs(assembly(resources), "us-east-1")


def test_python_shell_jobs_are_small() -> None:
    assert dpu_of("pythonshell", "", {}) == 0.0625
    assert dpu_of("pythonshell", "", {"MaxCapacity": 1}) == 1.0
