"""Many pipelines: one stack each, and a new job moves nothing but its own pipeline."""

import json
import os

import pytest

import app

pytestmark = pytest.mark.synth


@pytest.fixture(scope="module")
def synthesize(tmp_path_factory):
    """Return a function: numbers of jobs per pipeline to stack name to template."""
    os.environ["JSII_NODE"] = app.find_node(os.environ.get("JSII_NODE"))
    import aws_cdk as cdk

    from infra.config import StageConfig
    from infra.dataset import Dataset
    from infra.incremental_job import BookmarkOption
    from infra.pipeline_set import PipelineSet
    from infra.storage_stack import StorageStack

    context = app.read_context(app.ROOT / "cdk.json", '{"stage": "prod"}')
    stage = StageConfig.from_context(context)

    def synthesize(**sizes):
        out = tmp_path_factory.mktemp("set")
        cdk_app = cdk.App(outdir=str(out), analytics_reporting=False, context=context)
        env = cdk.Environment()
        storage = StorageStack(cdk_app, "tidemark-prod-storage", stage=stage, env=env)
        pipelines = PipelineSet(cdk_app, stage=stage, storage=storage, root=app.ROOT, env=env)
        for name, size in sizes.items():
            pipeline, before = pipelines.add(name), []
            for number in range(size):
                data = Dataset(storage.raw, f"{name}/{number}/", delivered=True, published=True)
                job = pipeline.add_job(
                    f"{name}-{number}",
                    script="glue_jobs/ingest_weather.py",
                    bookmark=BookmarkOption.ENABLE,
                    after=before,
                    reads=[data],
                    writes=[data],
                    arguments={"source_path": data, "target_path": data},
                )
                before = [job]
        cdk_app.synth()
        return {
            path.name.removesuffix(".template.json"): path.read_text()
            for path in out.glob("*.template.json")
        }

    return synthesize


def test_a_new_job_changes_the_stack_of_its_pipeline_only(synthesize):
    before, after = (
        synthesize(orders=3, returns=3, stock=2),
        synthesize(orders=3, returns=4, stock=2),
    )

    changed = {name for name in before if before[name] != after[name]}

    assert changed == {"tidemark-prod-returns"}
    old, new = (json.loads(text["tidemark-prod-returns"])["Resources"] for text in (before, after))
    moved = {id_ for id_ in old if old[id_] != new.get(id_)}
    kinds = {old[id_]["Type"] for id_ in moved}
    # Those that name all jobs, or the last; no job, role or alarm of another job.
    assert kinds == {"AWS::CloudWatch::Dashboard", "AWS::Events::Rule", "AWS::Glue::Trigger"}


def test_the_longest_pipeline_fits_into_a_stack(synthesize):
    templates = synthesize(long=50)

    template = templates["tidemark-prod-long"]
    assert len(json.loads(template)["Resources"]) < 500
    assert len(template) < 1_000_000


def test_a_pipeline_with_more_jobs_than_a_workflow_holds_is_refused(synthesize):
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesize(long=51)
