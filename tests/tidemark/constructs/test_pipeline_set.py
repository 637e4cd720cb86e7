"""Many pipelines: one stack each, and a new job moves nothing but its own pipeline."""

import json
import os

import pytest

import app
from tidemark.app import find_node, read_context
from tidemark.errors import InputError

pytestmark = pytest.mark.synth


@pytest.fixture(scope="module")
def synthesize(tmp_path_factory):
    """Return a function: jobs per pipeline, their number or names, to stack name to template."""
    os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
    import aws_cdk as cdk

    from infra.storage_stack import StorageStack
    from tidemark.constructs.dataset import Dataset
    from tidemark.constructs.jobs.job_props import BookmarkOption
    from tidemark.constructs.pipeline.pipeline_set import PipelineSet
    from tidemark.model.stage.config import StageConfig

    context = read_context(app.ROOT / "cdk.json", '{"stage": "prod"}')
    stage = StageConfig.from_context(context, ("flightsSource",))

    def synthesize(**sizes):
        out = tmp_path_factory.mktemp("set")
        cdk_app = cdk.App(outdir=str(out), analytics_reporting=False, context=context)
        env = cdk.Environment()
        lake = StorageStack(cdk_app, "tidemark-prod-storage", stage=stage, env=env).lake
        pipelines = PipelineSet(
            cdk_app,
            stage=stage,
            watermarks=lake.watermarks,
            key=lake.key,
            root=app.ROOT,
            env=env,
        )
        for name, jobs in sizes.items():
            pipeline, before = pipelines.add(name), []
            for number in range(jobs) if isinstance(jobs, int) else jobs:
                source = Dataset(lake.landing, f"{name}/{number}/", delivered=True)
                target = Dataset(lake.raw, f"{name}/{number}/", published=True)
                job = pipeline.add_job(
                    f"{name}-{number}",
                    script="glue_jobs/ingest_weather.py",
                    bookmark=BookmarkOption.ENABLE,
                    after=before,
                    reads=[source],
                    writes=[target],
                    arguments={"source_path": source, "target_path": target},
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


@pytest.mark.parametrize(
    ("jobs", "gone"),
    [("ab0cd", set()), ("acd", {"b"}), ("a0cd", {"b"})],
    ids=["one in the middle", "one less", "one renamed"],
)
def test_a_job_in_the_middle_of_a_chain_moves_no_other(synthesize, jobs, gone):
    old, new = (
        json.loads(synthesize(orders=names)["tidemark-prod-orders"])["Resources"]
        for names in ("abcd", jobs)
    )

    moved = {id_ for id_ in old if id_ in new and old[id_] != new[id_]}
    assert {old[id_]["Type"] for id_ in moved} <= {
        "AWS::CloudWatch::Dashboard",
        "AWS::Events::Rule",
        "AWS::Glue::Trigger",
    }
    # What is gone is of the job that is gone, and of no other.
    lost = {id_.lower() for id_ in set(old) - set(new)}
    assert {name for name in "abcd" for id_ in lost if f"orders{name}" in id_} == gone
    assert all(any(f"orders{name}" in id_ for name in gone) for id_ in lost)


def test_a_pipeline_whose_stack_is_taken_is_refused(synthesize):
    with pytest.raises(InputError, match="'storage' would have the stack 'tidemark-prod-storage'"):
        synthesize(storage=1)
    with pytest.raises(InputError, match="pipeline name 'My_Orders' is not in kebab case"):
        synthesize(My_Orders=1)


@pytest.mark.nightly
def test_the_longest_pipeline_fits_into_a_stack(synthesize):
    templates = synthesize(long=50)

    template = templates["tidemark-prod-long"]
    assert len(json.loads(template)["Resources"]) < 500
    assert len(template) < 1_000_000


@pytest.mark.nightly
def test_a_pipeline_with_more_jobs_than_a_workflow_holds_is_refused(synthesize):
    with pytest.raises(RuntimeError, match="ValidationFailed"):
        synthesize(long=51)
