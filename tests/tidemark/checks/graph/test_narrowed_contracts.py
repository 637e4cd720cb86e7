"""Synthesis refuses a contract that loses a column or a type that the manifest records."""

import json

import pytest

from tests.tidemark.checks.graph.synthesized import disable, new_pipeline, refusals, synthesized
from tidemark.checks.state.manifest import CONTRACT, MANIFEST, Manifest, StatefulResource
from tidemark.checks.state.plan import PLAN

pytestmark = pytest.mark.synth
PLACE = "contract/s3://lake/out/"


@pytest.fixture
def declared(cdk, project, monkeypatch):
    """Return what declares a job that writes under a contract, in a project with a manifest."""
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset, SchemaPolicy

    monkeypatch.chdir(project)

    def declare(ddl, *recorded):
        held = {PLACE: StatefulResource(CONTRACT, "", recorded)}
        (project / MANIFEST).write_text(Manifest(resources=held).render(), encoding="utf-8")
        pipeline = new_pipeline(cdk, project)
        lake = s3.Bucket.from_bucket_name(pipeline, "Lake", "lake")
        out = Dataset(lake, "out/", schema=SchemaPolicy.rescue(ddl), published=True)
        disable(pipeline, "load", writes=[out], arguments={"target": out})
        return pipeline

    yield declare
    for name in (MANIFEST, PLAN):
        (project / name).unlink(missing_ok=True)


def test_a_column_that_is_gone_and_a_type_that_is_not_wider_are_errors(declared):
    ((_, text, fix),) = refusals(declared("id STRING", "id int", "tip double"))

    lost = "id was int and is string, tip was double and is gone"
    assert text.startswith(f"{PLACE}: {lost}: a reader of the files that exist fails")
    assert "tidemark state write" in fix
    assert fix.endswith("(TM489)")


@pytest.mark.parametrize(
    ("ddl", "recorded"),
    [("id BIGINT, tip DOUBLE", ["id int"]), ("id INT", ["id int"]), ("id INT", [])],
)
def test_what_is_added_or_wider_is_none(declared, ddl, recorded):
    assert synthesized(declared(ddl, *recorded))["Resources"]


def test_a_loss_that_the_plan_gives_up_is_none(declared, project):
    pipeline = declared("id STRING", "id int")
    entry = {"discard": {"resource": PLACE, "reason": "written anew"}}
    (project / PLAN).write_text(json.dumps([entry]), encoding="utf-8")

    assert synthesized(pipeline)["Resources"]
