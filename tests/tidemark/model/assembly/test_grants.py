"""What the role of a job must allow, read from templates as plain data."""

import pytest

from tidemark.errors import UsageError
from tidemark.model.assembly.grants import TRUST, grants_of, policy, pseudo_parameters

READ = {"Effect": "Allow", "Action": ["s3:GetObject"], "Resource": ["arn:aws:s3:::lake/in/*"]}
LOG = {"Effect": "Allow", "Action": ["logs:PutLogEvents"], "Resource": ["*"]}
MORE = {"Effect": "Allow", "Action": ["s3:PutObject"], "Resource": ["arn:aws:s3:::lake/out/*"]}
IMPORTED = "arn:aws:iam::123456789012:role/path/etl"


def template(role, metadata=None, **resources):
    job = {"Type": "AWS::Glue::Job", "Properties": {"Name": "one", "Role": role}}
    if metadata:
        job["Metadata"] = metadata
    return {"Resources": {"Job": job, **resources}}


def document(*statements):
    return {"Version": "2012-10-17", "Statement": list(statements)}


def test_the_policies_of_a_role_of_the_app_are_read_wherever_they_are():
    made = template(
        {"Fn::GetAtt": ["Role", "Arn"]},
        Role={
            "Type": "AWS::IAM::Role",
            "Properties": {
                "Policies": [{"PolicyName": "job", "PolicyDocument": document(READ)}],
                "ManagedPolicyArns": [{"Ref": "Managed"}, "arn:aws:iam::aws:policy/Other"],
            },
        },
        Managed={
            "Type": "AWS::IAM::ManagedPolicy",
            "Properties": {"PolicyDocument": document(LOG)},
        },
        Attached={
            "Type": "AWS::IAM::Policy",
            "Properties": {"PolicyDocument": document(MORE), "Roles": [{"Ref": "Role"}]},
        },
        OfAnother={
            "Type": "AWS::IAM::Policy",
            "Properties": {"PolicyDocument": document({"Action": "x"}), "Roles": ["another"]},
        },
    )

    found = grants_of({"app": made}, "one")

    assert list(found.statements) == [READ, LOG, MORE]
    assert (found.role, found.is_missing) == ("${app/Role.Arn}", False)
    assert found.unknown == ()


def test_the_policy_that_an_imported_role_got_is_found_by_its_name():
    policy_of_it = {
        "Type": "AWS::IAM::Policy",
        "Properties": {"PolicyDocument": document(READ), "Roles": ["etl"]},
    }

    found = grants_of({"app": template(IMPORTED, Policy=policy_of_it)}, "one")

    assert (found.role, found.statements) == (IMPORTED, (READ,))


def test_what_only_a_deployment_knows_stands_in_braces_and_is_named():
    bucket = {"Fn::ImportValue": "storage:LakeArn"}
    statement = {
        **READ,
        "Resource": [{"Fn::Join": ["", [bucket, "/in/*"]]}, {"Fn::Sub": "arn:${AWS::Partition}:x"}],
    }
    storage = {
        "Outputs": {
            "Lake": {
                "Value": {"Fn::GetAtt": ["Lake", "Arn"]},
                "Export": {"Name": "storage:LakeArn"},
            }
        }
    }
    app = template(IMPORTED, {"TidemarkMissingGrants": [statement, statement]})

    found = grants_of({"storage": storage, "app": app}, "one")

    assert found.is_missing
    (only,) = found.statements
    assert only["Resource"] == ["${storage/Lake.Arn}/in/*", "arn:${AWS::Partition}:x"]
    assert found.unknown == ("AWS::Partition", "storage/Lake.Arn")
    assert policy(found.statements)["Version"] == TRUST["Version"] == "2012-10-17"


def test_a_job_that_the_app_has_not_is_refused_with_those_it_has():
    with pytest.raises(UsageError, match="no job or crawler 'two'; it has: one"):
        grants_of({"app": template(IMPORTED)}, "two")


@pytest.mark.parametrize(
    ("environment", "known"),
    [
        (
            "aws://123456789012/eu-west-1",
            {"AccountId": "123456789012", "Region": "eu-west-1", "Partition": "aws"},
        ),
        ("aws://unknown-account/cn-north-1", {"Region": "cn-north-1", "Partition": "aws-cn"}),
        (
            "aws://unknown-account/us-gov-west-1",
            {"Region": "us-gov-west-1", "Partition": "aws-us-gov"},
        ),
        (
            "aws://unknown-account/us-isob-east-1",
            {"Region": "us-isob-east-1", "Partition": "aws-iso-b"},
        ),
        ("aws://123456789012/unknown-region", {"AccountId": "123456789012"}),
        ("", {}),
    ],
)
def test_what_the_environment_of_a_stack_says_is_known(environment, known):
    found = pseudo_parameters(environment)

    assert found == {f"AWS::{name}": value for name, value in known.items()}


def test_a_statement_is_complete_where_the_environment_is_known():
    arn = {"Fn::Sub": "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:x"}
    app = template(IMPORTED, {"TidemarkMissingGrants": [{**LOG, "Resource": [arn]}]})

    found = grants_of({"app": app}, "one", {"app": "aws://123456789012/eu-west-1"})

    (only,) = found.statements
    assert only["Resource"] == ["arn:aws:logs:eu-west-1:123456789012:log-group:x"]
    assert found.unknown == ()
