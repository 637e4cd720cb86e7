"""The examples in the docstrings of constructs run, and show what is printed there."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime

import pytest

from tests.examples import assert_examples_run
from tests.fixtures.pipelines import Declared
from tidemark import constructs

SHOWN = {  # what every pipeline declares
    "Column",
    "Dataset",
    "OnEvent",
    "OnObjects",
    "Pipeline.add_job",
    "Pipeline.add_shell_job",
    "Schedule",
    "Table",
    "all_of",
    "any_of",
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


def test_what_every_pipeline_declares_has_an_example(examples):
    assert set(examples) >= SHOWN


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
