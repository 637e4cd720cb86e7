"""The pipeline of docs/job-kinds.md is synthesized."""

import re

import pytest

from tests.fixtures.pipelines import Declared
from tests.projects import PROJECT

pytestmark = pytest.mark.synth
TEXT = (PROJECT / "docs" / "job-kinds.md").read_text(encoding="utf-8")


def test_the_kinds_of_the_page_are_declared_and_pass_the_rules_of_the_graph(cdk, tmp_path):
    from aws_cdk import aws_s3 as s3

    (snippet,) = re.findall(r"<!-- test: kinds -->\n```python\n(.*?)```", TEXT, re.DOTALL)
    defined: dict[str, object] = {}
    exec(compile(snippet, "job-kinds.md", "exec"), defined)  # noqa: S102 (our own page)
    (tmp_path / "jobs").mkdir()
    for script in re.findall(r'script="(jobs/\w+\.py)"', snippet):
        (tmp_path / script).write_text("print('hello')\n")
    declared = Declared(cdk, tmp_path)
    bucket = s3.Bucket.from_bucket_name(declared.stack, "Bucket", "lake")

    stream = "arn:aws:kinesis:eu-west-1:123456789012:stream/clicks"
    defined["declare"](declared.pipeline(), bucket, "lake", stream)
    declared.app.synth()

    commands = {job["Command"]["Name"] for job in declared.resources("AWS::Glue::Job")}
    assert commands == {"glueetl", "pythonshell", "gluestreaming"}
    assert len(declared.resources("AWS::Glue::Crawler")) == 1
