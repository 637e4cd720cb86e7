"""The calls of docs/glue-arguments.md synthesize what the page says."""

from __future__ import annotations

import pytest

from tests.pages import Page
from tidemark.model.stage.runtime import JobRuntime

pytestmark = pytest.mark.synth
FILES = ("jars/driver.jar", "config/rates.json", "glue_jobs/orders.py", "glue_jobs/report.py")


def test_the_calls_of_the_page_give_what_it_says(cdk, tmp_path):
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3
    from aws_cdk.assertions import Template

    from tidemark.constructs import StageConfig

    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("print()\n")
    stack = cdk.Stack(cdk.App(analytics_reporting=False), "stack")
    given = {
        "stack": stack,
        "ROOT": tmp_path,
        "stage": StageConfig("dev", None, None, None, JobRuntime()),
        "watermarks": None,
        "key": kms.Key(stack, "Key"),
        "logs": s3.Bucket.from_bucket_name(stack, "Logs", "acme-logs"),
    }

    Page("docs/glue-arguments.md").run("glue arguments", "job options", **given)

    jobs = Template.from_stack(stack).find_resources("AWS::Glue::Job").values()
    orders, report = sorted((j["Properties"] for j in jobs), key=lambda job: job["Name"])
    assert orders["DefaultArguments"]["--conf"] == (
        "spark.sql.shuffle.partitions=64 --conf spark.sql.adaptive.enabled=true"
    )
    assert orders["DefaultArguments"]["--user-jars-first"] == "true"
    assert orders["DefaultArguments"]["--spark-event-logs-path"] == "s3://acme-logs/spark/"
    assert report["NonOverridableArguments"] == {"--source": "s3://acme/orders/"}
    assert report["ExecutionProperty"] == {"MaxConcurrentRuns": 5}
    assert report["NotificationProperty"] == {"NotifyDelayAfter": 10}
    assert report["DefaultArguments"]["--enable-observability-metrics"] == "true"
