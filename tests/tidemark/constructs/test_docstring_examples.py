"""The examples in the docstrings of constructs run, and show what is printed there."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from enum import EnumMeta

import pytest

from tests.examples import assert_examples_run
from tests.fixtures.pipelines import Declared
from tidemark import constructs

# Constructs that only `Lake`, `Pipeline` and others make, or that need a stack of their own: the
# pages of docs/ show them. Members of an enumeration need none.
WITHOUT = {
    "Condition",
    "CrawledDatabase",
    "CrawledOpenTables",
    "Crawler",
    "ExistingBuckets",
    "ExistingSecurity",
    "GlueJob",
    "IncrementalJob",
    "InjectedProjection",
    "Lake",
    "LakeBucket",
    "MskTopics",
    "Pipeline",
    "PipelineSet",
    "ShellJob",
    "SlackChannel",
    "SqsQueue",
    "StageKey",
    "StreamingJob",
    "WatermarkTable",
}


@pytest.fixture(scope="module")
def examples(cdk):
    """Return what has an example, by name."""
    found = {}
    for name in constructs.__all__:
        value = getattr(constructs, name)
        found[name] = value
        if inspect.isclass(value):
            found |= {f"{name}.{it}": member for it, member in vars(value).items()}
    return {name: it for name, it in found.items() if ">>>" in (inspect.getdoc(it) or "")}


def test_what_a_pipeline_is_declared_with_has_an_example(examples):
    public = {name for name in constructs.__all__ if callable(getattr(constructs, name))}
    enumerations = {name for name in public if isinstance(getattr(constructs, name), EnumMeta)}

    assert public - enumerations - WITHOUT <= set(examples)
    assert {"Pipeline.add_job", "Pipeline.add_shell_job"} <= set(examples)


def test_the_examples_run(examples, cdk, tmp_path):
    from aws_cdk import aws_s3 as s3

    names = {name: getattr(constructs, name) for name in constructs.__all__}
    for number, (name, shown) in enumerate(examples.items()):
        root = tmp_path / str(number)
        root.mkdir()
        world = Declared(cdk, root, out=str(root / "out"))
        bucket = s3.Bucket.from_bucket_name(world.stack, "Lake", "lake")
        given = {"bucket": bucket, "pipeline": world.pipeline(), "UTC": UTC, "datetime": datetime}
        assert_examples_run(name, shown, names | given)
