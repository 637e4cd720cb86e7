"""A pipeline to which a test adds jobs, and the template that becomes of it."""

import pytest

from tests.fixtures.pipelines import small_library
from tidemark.model.stage.runtime import JobRuntime


@pytest.fixture
def declare(cdk, tmp_path):
    """Return a function that makes a pipeline, as options say, and returns what adds jobs to it.

    Of what it returns, `properties(type)` are the resources of the template.
    """
    from aws_cdk import aws_kms as kms
    from aws_cdk.assertions import Template

    from tidemark.constructs.jobs.job_props import BookmarkOption
    from tidemark.constructs.pipeline import Pipeline
    from tidemark.constructs.watermark_table import WatermarkTable
    from tidemark.model.stage.config import StageConfig

    stack = cdk.Stack(cdk.App(analytics_reporting=False), "stack")
    small_library(tmp_path)
    (tmp_path / "job.py").write_text("print('hello')\n")
    watermarks = WatermarkTable(stack, "Watermarks")
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:eu-west-1:123456789012:key/k")

    def declare(stage=None, **options):
        pipeline = Pipeline(
            stack,
            "Orders",
            name="orders",
            root=tmp_path,
            stage=stage or StageConfig("dev", None, None, None, JobRuntime()),
            watermarks=watermarks,
            key=key,
            run_properties={"day": "today"},
            **options,
        )

        def add(name, bookmark=BookmarkOption.ENABLE, **declared):
            return pipeline.add_job(name, script="job.py", bookmark=bookmark, **declared)

        def properties(kind):
            found = Template.from_stack(stack).find_resources(kind).values()
            return [resource["Properties"] for resource in found]

        add.properties, add.pipeline, add.stack = properties, pipeline, stack
        add.bookmark, add.root = BookmarkOption.ENABLE, tmp_path
        return add

    return declare


@pytest.fixture
def add(declare):
    """Return a function that adds a job to a pipeline; see `declare`."""
    return declare()


@pytest.fixture
def data(cdk):
    """Return a function from a prefix to a dataset that others deliver and read."""
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset

    lake = s3.Bucket.from_bucket_name(cdk.Stack(cdk.App(), "lakes"), "Lake", "lake")
    return lambda prefix: Dataset(lake, prefix, delivered=True, published=True)
