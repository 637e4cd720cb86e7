"""The example of docs/security.md: a key per sensitivity keeps others out."""

import json
import os
import re

import pytest

from tests.fixtures.synthesis import ROOT, as_list
from tidemark.app import find_node

pytestmark = pytest.mark.synth


@pytest.fixture(scope="module")
def resources(tmp_path_factory):
    """Return the resources of the documented pipeline, beside one with a key of its own."""
    os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
    import aws_cdk as cdk

    from tidemark.model.stage.config import StageConfig
    from tidemark.model.stage.runtime import JobRuntime

    text = (ROOT / "docs" / "security.md").read_text()
    (code,) = re.findall(r"test_security_doc.py -->\n```python\n(.*?)```", text, re.DOTALL)
    known: dict = {}
    exec(code, known)  # noqa: S102 (our own document)
    out = tmp_path_factory.mktemp("payroll")
    own = cdk.App(analytics_reporting=False, outdir=str(out))
    stage = StageConfig("dev", None, None, None, JobRuntime())
    known["add_payroll"](cdk.Stack(own, "payroll"), root=ROOT, stage=stage)
    own.synth()
    return json.loads((out / "payroll.template.json").read_text())["Resources"]


def of_type(resources, kind):
    return {id_: r["Properties"] for id_, r in resources.items() if r["Type"] == kind}


def test_data_bookmarks_and_logs_have_the_key_of_the_bucket_and_no_other(resources):
    ((key, _),) = of_type(resources, "AWS::KMS::Key").items()
    arn = {"Fn::GetAtt": [key, "Arn"]}
    (bucket,) = of_type(resources, "AWS::S3::Bucket").values()
    (security,) = of_type(resources, "AWS::Glue::SecurityConfiguration").values()

    assert json.dumps(arn) in json.dumps(bucket["BucketEncryption"])
    assert json.dumps(security).count(json.dumps(arn)) == 3
    assert {
        json.dumps(g["KmsKeyId"]) for g in of_type(resources, "AWS::Logs::LogGroup").values()
    } == {json.dumps(arn)}
    (role,) = of_type(resources, "AWS::IAM::Role").values()
    used = [
        statement["Resource"]
        for policy in role["Policies"]
        for statement in policy["PolicyDocument"]["Statement"]
        if "kms:" in json.dumps(statement["Action"])
    ]
    assert [one for resource in used for one in as_list(resource)] == [arn]


def test_the_services_that_log_and_alert_may_use_that_key(resources):
    (key,) = of_type(resources, "AWS::KMS::Key").values()
    principals = json.dumps([s["Principal"] for s in key["KeyPolicy"]["Statement"]])

    assert all(name in principals for name in ("logs.", "cloudwatch.", "events."))
