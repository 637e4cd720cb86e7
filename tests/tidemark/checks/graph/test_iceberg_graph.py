"""The rules of the graph see tables of Iceberg, which no template has."""

import json
from pathlib import Path

import pytest

from tests.tidemark.checks.graph.synthesized import disable, new_pipeline, synthesized

pytestmark = pytest.mark.synth


@pytest.fixture
def pipeline(cdk, project):
    return new_pipeline(cdk, project)


@pytest.fixture
def orders(pipeline):
    """Return a function from what is said of a table to its data."""
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset, IcebergTable

    lake = s3.Bucket.from_bucket_name(pipeline, "Lake", "lake")

    def orders(prefix="orders/", *, name="orders", **given):
        return Dataset(lake, prefix, table=IcebergTable("sales", name, **given), published=True)

    return orders


def broken_rules(pipeline):
    try:
        synthesized(pipeline)
    except RuntimeError:
        out = Path(pipeline.node.root.outdir) / "validation-report.json"
        plugins = json.loads(out.read_text())["pluginReports"]
        return {found["ruleName"] for plugin in plugins for found in plugin["violations"]}
    return set()


def test_a_table_is_made_by_its_writer_and_read_after_it(pipeline, orders):
    data = orders()
    merge = disable(pipeline, "merge", writes=[data])
    disable(pipeline, "publish", reads=[data], after=[merge])

    assert broken_rules(pipeline) == set()


def test_two_jobs_that_may_merge_at_a_time_are_two_writers(pipeline, orders):
    data = orders()
    disable(pipeline, "one", writes=[data])
    disable(pipeline, "other", writes=[data])

    assert broken_rules(pipeline) == {"two-writers"}


def test_a_reader_has_to_wait(pipeline, orders):
    data = orders()
    disable(pipeline, "merge", writes=[data])
    disable(pipeline, "publish", reads=[data])

    assert broken_rules(pipeline) == {"reads-without-waiting"}


def test_a_table_that_no_job_writes_is_not_there(pipeline, orders):
    disable(pipeline, "publish", reads=[orders()])

    assert "table-not-created" in broken_rules(pipeline)


def test_a_table_that_exists_needs_no_writer(pipeline, orders):
    disable(pipeline, "publish", reads=[orders(create=False)])

    assert "table-not-created" not in broken_rules(pipeline)


def test_one_table_in_the_folder_of_another_is_nested(pipeline, orders):
    disable(pipeline, "one", writes=[orders()])
    disable(pipeline, "other", writes=[orders("orders/lines/", name="lines")])

    assert "nested-tables" in broken_rules(pipeline)
