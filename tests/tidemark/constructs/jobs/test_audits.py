"""What follows in a template from the audits of a dataset."""

from __future__ import annotations

import json

import pytest

from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth
AUDITS = ["amount >= 0", 'Rules = [IsComplete "id"]']


@pytest.fixture
def data(cdk):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset

    bucket = s3.Bucket.from_bucket_name(cdk.Stack(cdk.App(), "lakes"), "Lake", "lake")
    return lambda prefix="out/", **given: Dataset(bucket, prefix, published=True, **given)


def test_a_job_gets_the_audits_of_what_it_writes_and_no_others(add, data):
    out, source = data(audit=AUDITS), data("in/", audit=["id > 0"], delivered=True)
    (add.root / "job.py").write_text("print('audit_of_target')\n")

    add("one", reads=[source], writes=[out], arguments={"target": out, "source": source})

    (job,) = add.properties("AWS::Glue::Job")
    assert json.loads(job["DefaultArguments"]["--audit_of_target"]) == AUDITS
    assert "--audit_of_source" not in job["DefaultArguments"]


def test_a_script_that_does_not_ask_for_audits_is_refused(add, data):
    out = data(audit=AUDITS)

    with pytest.raises(JobDefinitionError, match="does not name the argument audit_of_target"):
        add("one", writes=[out], arguments={"target": out})


@pytest.mark.parametrize(
    ("audit", "told"), [(" ", "it is empty"), ("Rules = [IsComplet]", "IsComplet")]
)
def test_what_is_no_audit_is_refused(data, audit, told):
    with pytest.raises(JobDefinitionError, match=f"the dataset 'out/' has the audit .*{told}"):
        data(audit=[audit])
