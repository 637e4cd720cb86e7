"""The permissions of a job fit into what IAM has room for, and mean the same there."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import app
from tests.e2e.simulation import is_allowed
from tests.fixtures.pipelines import small_library
from tests.fixtures.synthesis import as_list
from tests.tries import tries
from tidemark.app import find_node, read_context
from tidemark.constructs.jobs.permissions import use_data
from tidemark.constructs.jobs.policies import MAX_INLINE, MAX_MANAGED, fit, size
from tidemark.errors import JobDefinitionError

KEY = "arn:aws:kms:eu-west-1:123456789012:key/8a1f5b0c-6c1e-4b52-9d0b-6f1a2c3d4e5f"
BUCKET = f"arn:aws:s3:::{'b' * 63}"


def length(statements):
    """Return the characters that IAM counts, of a policy without tokens."""
    document = {"Version": "2012-10-17", "Statement": statements}
    return len(json.dumps(document, separators=(",", ":")))


def places(count, bucket=BUCKET):
    return [(bucket, f"folder-{number:04}/part/") for number in range(count)]


def test_what_fits_stays_in_one_policy():
    statements = use_data(places(20), places(2))

    assert fit(statements) == (statements, [])


@pytest.mark.parametrize("count", [25, 40, 100, 200])
def test_no_policy_is_longer_than_iam_takes(count):
    inline, further = fit(use_data(places(count), [(BUCKET, "out/")]))

    assert length(inline) <= MAX_INLINE
    assert all(length(policy) <= MAX_MANAGED for policy in further)
    assert len(further) <= 10


@pytest.mark.parametrize(
    ("token", "most"),
    [
        ("${Token[TOKEN.123]}", "arn:aws-us-gov:s3:::" + "b" * 63),
        ("${Token[TOKEN.9]}", "arn:aws-us-gov:kms:us-gov-west-1:123456789012:key/" + "k" * 36),
        ("arn:${Token[AWS.Partition.7]}:s3:::lake", "arn:aws-us-gov:s3:::lake"),
        ("arn:aws:glue:${Token[AWS.Region.4]}:x", "arn:aws:glue:ap-southeast-2:x"),
        ("arn:aws:glue:x:${Token[AWS.AccountId.0]}:y", "arn:aws:glue:x:123456789012:y"),
    ],
)
def test_a_token_counts_as_the_longest_text_a_deployment_puts_there(token, most):
    statement = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": [token]}

    assert size([statement]) >= length([statement | {"Resource": [most]}])


folders = st.builds("{}/{}/".format, st.sampled_from("abcdefgh"), st.integers(0, 99))
some_places = st.lists(
    st.tuples(st.sampled_from([f"arn:aws:s3:::{n * 50}" for n in "xy"]), folders), unique=True
)


@settings(max_examples=tries(40), deadline=None)
@given(some_places.filter(lambda found: len(found) > 5), some_places, st.data())
def test_policies_together_allow_what_the_statements_did_and_nothing_else(read, written, data):
    statements = use_data(read, written)
    with pytest.MonkeyPatch.context() as patch:  # so that little is much
        patch.setattr("tidemark.constructs.jobs.policies.MAX_INLINE", 1_500)
        patch.setattr("tidemark.constructs.jobs.policies.MAX_MANAGED", 1_200)
        patch.setattr("tidemark.constructs.jobs.policies.MAX_PIECE", 300)
        inline, further = fit(statements)
    together = [statement for policy in (inline, *further) for statement in policy]

    for _ in range(20):
        bucket, folder = data.draw(st.sampled_from([*read, *written]))
        key = data.draw(st.sampled_from([folder, folder.rstrip("/"), f"{folder}k", "z/", ""]))
        action = data.draw(st.sampled_from(["GetObject", "PutObject", "DeleteObject"]))
        asked = f"s3:{action}", f"{bucket}/{key}", {}
        listed = "s3:ListBucket", bucket, {"s3:prefix": [key]}
        assert is_allowed(together, *asked) == is_allowed(statements, *asked)
        assert is_allowed(together, *listed) == is_allowed(statements, *listed)
    assert not is_allowed(together, "s3:ListBucket", "arn:aws:s3:::other", {"s3:prefix": ["a/"]})


def wide(count, project, context=None):
    """Return the app of a pipeline whose one job reads many datasets of a bucket it does not own.

    Its names are those of a deployment only.
    """
    os.environ["JSII_NODE"] = find_node(os.environ.get("JSII_NODE"))
    import aws_cdk as cdk
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs.dataset import Dataset
    from tidemark.constructs.jobs.job_props import BookmarkOption
    from tidemark.constructs.pipeline import Pipeline
    from tidemark.constructs.watermark_table import WatermarkTable
    from tidemark.model.stage.config import StageConfig
    from tidemark.model.stage.runtime import JobRuntime

    small_library(project)
    (project / "job.py").write_text("print('hello')\n")
    flags = read_context(app.ROOT / "cdk.json", None) | (context or {})
    own = cdk.App(analytics_reporting=False, outdir=str(project / "out"), context=flags)
    stack = cdk.Stack(own, "stack")
    lake = s3.Bucket(cdk.Stack(own, "lake"), "Raw")
    pipeline = Pipeline(
        stack,
        "Orders",
        name="orders",
        root=project,
        stage=StageConfig("dev", None, None, None, JobRuntime()),
        watermarks=WatermarkTable(stack, "Watermarks"),
        key=kms.Key.from_key_arn(stack, "Key", KEY),
    )
    pipeline.add_job(
        "merge",
        script="job.py",
        bookmark=BookmarkOption.ENABLE,
        reads=[Dataset(lake, f"source-{n:04}/orders/", delivered=True) for n in range(count)],
        writes=[Dataset(lake, "merged/orders/", published=True)],
    )
    return own


@pytest.mark.synth
@pytest.mark.parametrize(("count", "is_split"), [(25, False), (120, True)])
def test_a_wide_merge_deploys_with_every_permission(tmp_path, count, is_split, as_text):
    resources = json.loads(
        Path(wide(count, tmp_path).synth().directory, "stack.template.json").read_text()
    )["Resources"]

    (role,) = (r["Properties"] for r in resources.values() if r["Type"] == "AWS::IAM::Role")
    (inline,) = role["Policies"]
    managed = [resources[arn["Ref"]]["Properties"] for arn in role.get("ManagedPolicyArns", [])]
    documents = [policy["PolicyDocument"] for policy in (inline, *managed)]
    assert bool(managed) == is_split
    read = {
        as_text(arn).partition("/")[2]
        for document in documents
        for statement in document["Statement"]
        if statement["Action"] == "s3:GetObject"
        for arn in as_list(statement["Resource"])
    }
    assert {f"source-{n:04}/orders/*" for n in range(count)} <= read
    for document, most in zip(documents, [MAX_INLINE, *[MAX_MANAGED] * len(managed)], strict=True):
        assert len(json.dumps(deployed(document), separators=(",", ":"))) <= most


def deployed(value):
    """Return a value of a template as a deployment with long names resolves it."""
    match value:
        case dict() if value.keys() <= {
            "Ref",
            "Fn::GetAtt",
            "Fn::ImportValue",
            "Fn::Join",
            "Fn::Sub",
        }:
            ((kind, given),) = value.items()
            if kind == "Fn::Join":
                return given[0].join(deployed(part) for part in given[1])
            known = {
                "AWS::Partition": "aws-us-gov",
                "AWS::Region": "ap-southeast-2",
                "AWS::AccountId": "123456789012",
            }
            return known.get(str(given), "arn:aws-us-gov:s3:::" + "b" * 63)
        case dict():
            return {key: deployed(part) for key, part in value.items()}
        case list():
            return [deployed(part) for part in value]
    return value


@pytest.mark.synth
def test_more_than_iam_can_hold_is_refused_before_anything_is_deployed(tmp_path):
    with pytest.raises(JobDefinitionError, match=r"job 'merge' needs .* IAM attaches 10 to"):
        wide(1_000, tmp_path)


@pytest.mark.synth
def test_cdk_nag_finds_nothing_in_the_further_policies_without_a_reason(tmp_path):
    own = wide(120, tmp_path, {"tidemark:explain": True})
    import aws_cdk as cdk
    from cdk_nag import AwsSolutionsChecks

    cdk.Validations.of(own).add_plugins(AwsSolutionsChecks(own, verbose=True))
    with pytest.raises(RuntimeError, match="ValidationFailed"):  # a bucket without anything
        own.synth()

    report = json.loads((tmp_path / "out" / "validation-report.json").read_text())
    paths = {
        construct["constructPath"]
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    }
    assert any("Raw" in path for path in paths)
    assert not [path for path in paths if "/Merge/" in path]
