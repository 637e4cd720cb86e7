"""The pipeline of docs/job-kinds.md is synthesized."""

import re
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.pipelines import Declared
from tests.pages import Page

pytestmark = pytest.mark.synth
STREAM = "arn:aws:kinesis:eu-west-1:123456789012:stream/clicks"


def declare_kinds(cdk: Any, folder: Path, **settings: Any) -> Declared:
    """Return an app of the page's pipeline, whose scripts are in a folder."""
    from aws_cdk import aws_s3 as s3

    page = Page("docs/job-kinds.md")
    (folder / "jobs").mkdir()
    for script in re.findall(r'script="(jobs/\w+\.py)"', page.blocks["kinds"]):
        (folder / script).write_text("print('hello')\n")
    declared = Declared(cdk, folder, **settings)
    bucket = s3.Bucket.from_bucket_name(declared.stack, "Bucket", "lake")
    page.run("kinds")["declare"](declared.pipeline(), bucket, "lake", STREAM)
    return declared


def test_the_kinds_of_the_page_are_declared_and_pass_the_rules_of_the_graph(cdk, tmp_path):
    declared = declare_kinds(cdk, tmp_path)
    declared.app.synth()

    commands = {job["Command"]["Name"] for job in declared.resources("AWS::Glue::Job")}
    assert commands == {"glueetl", "pythonshell", "gluestreaming"}
    assert len(declared.resources("AWS::Glue::Crawler")) == 1
