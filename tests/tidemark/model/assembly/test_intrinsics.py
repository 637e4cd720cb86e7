"""Every intrinsic function that is resolved, and a clear answer to the others."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tidemark.errors import UnsupportedError
from tidemark.model.assembly.intrinsics import Scope


@pytest.fixture
def scope():
    return Scope(
        stack_name="app",
        region="eu-west-2",
        resource_types={
            "Lake": "AWS::S3::Bucket",
            "Marks": "AWS::DynamoDB::Table",
            "Role": "AWS::IAM::Role",
            "Key": "AWS::KMS::Key",
            "Alarms": "AWS::SNS::Topic",
        },
        physical_names={
            "Lake": "app-lake",
            "Marks": "marks",
            "Role": "app-role",
            "Key": "app-key",
            "Alarms": "app-alarms",
        },
        parameters={"Stage": "dev"},
        exports={"shared-lake": "other-lake"},
    )


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("text", "text"),
        (7, 7),
        (None, None),
        ({"Ref": "Lake"}, "app-lake"),
        ({"Fn::GetAtt": ["Key", "Arn"]}, "arn:aws:kms:eu-west-2:000000000000:key/app-key"),
        ({"Ref": "Stage"}, "dev"),
        ({"Ref": "Alarms"}, "arn:aws:sns:eu-west-2:000000000000:app-alarms"),
        ({"Ref": "AWS::AccountId"}, "000000000000"),
        ({"Ref": "AWS::Region"}, "eu-west-2"),
        ({"Ref": "AWS::Partition"}, "aws"),
        ({"Ref": "AWS::URLSuffix"}, "amazonaws.com"),
        ({"Ref": "AWS::StackName"}, "app"),
        ({"Fn::GetAtt": ["Lake", "Arn"]}, "arn:aws:s3:::app-lake"),
        ({"Fn::GetAtt": "Lake.Arn"}, "arn:aws:s3:::app-lake"),
        (
            {"Fn::GetAtt": ["Marks", "Arn"]},
            "arn:aws:dynamodb:eu-west-2:000000000000:table/marks",
        ),
        ({"Fn::GetAtt": ["Role", "Arn"]}, "arn:aws:iam::000000000000:role/app-role"),
        ({"Fn::Join": ["", ["s3://", {"Ref": "Lake"}, "/in/"]]}, "s3://app-lake/in/"),
        ({"Fn::Join": ["-", {"Fn::Split": [".", "a.b"]}]}, "a-b"),
        (
            {"Fn::Sub": "${AWS::Region}/${Lake}/${Lake.Arn}"},
            "eu-west-2/app-lake/arn:aws:s3:::app-lake",
        ),
        ({"Fn::Sub": "plain"}, "plain"),
        ({"Fn::Sub": "${!Literal} ${Stage}"}, "${Literal} dev"),
        ({"Fn::Sub": ["${here}/${Stage}", {"here": {"Ref": "Lake"}}]}, "app-lake/dev"),
        ({"Fn::Select": ["1", ["a", {"Ref": "Stage"}]]}, "dev"),
        ({"Fn::Select": [0, {"Fn::Split": ["-", {"Ref": "Lake"}]}]}, "app"),
        ({"Fn::Split": ["-", "a-b"]}, ["a", "b"]),
        ({"Fn::ImportValue": "shared-lake"}, "other-lake"),
        ({"Fn::ImportValue": {"Fn::Sub": "shared-lake"}}, "other-lake"),
        (
            {"a": [{"Ref": "Lake"}], "b": {"c": {"Ref": "Stage"}}},
            {"a": ["app-lake"], "b": {"c": "dev"}},
        ),
    ],
    ids=lambda value: str(value)[:50],
)
def test_value_is_resolved(scope, value, result):
    assert scope.resolve(value) == result


@pytest.mark.parametrize("function", ["Fn::If", "Fn::FindInMap", "Fn::Base64", "Fn::GetAZs"])
def test_unknown_function_is_refused_with_stack_and_function(scope, function):
    with pytest.raises(UnsupportedError, match=f"uses the intrinsic function {function};"):
        scope.resolve({"deep": [{function: []}]})


def test_unknown_reference_names_stack_and_reference(scope):
    with pytest.raises(UnsupportedError, match=r"^stack app refers to 'Nowhere', not known here"):
        scope.resolve({"Ref": "Nowhere"})


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        (["Role", "RoleId"], r"stack app reads RoleId of Role \(AWS::IAM::Role\)"),
        ("Lake.DomainName", r"stack app reads DomainName of Lake \(AWS::S3::Bucket\)"),
        (["Nowhere", "Arn"], r"stack app reads Arn of Nowhere \(no resource\)"),
    ],
    ids=["resource type", "attribute", "resource"],
)
def test_unknown_attribute_names_stack_resource_and_attribute(scope, argument, text):
    with pytest.raises(UnsupportedError, match=text):
        scope.resolve({"Fn::GetAtt": argument})


def test_import_that_nothing_exports_names_stack_and_export(scope):
    with pytest.raises(UnsupportedError, match=r"^stack app imports 'nowhere', which no stack"):
        scope.resolve({"Fn::ImportValue": "nowhere"})


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"Ref": "Nowhere"}, "{Nowhere}"),
        ({"Fn::GetAtt": ["Queue", "Arn"]}, "{Queue.Arn}"),
        ({"Fn::ImportValue": "theirs"}, "{import theirs}"),
        ({"Fn::FindInMap": ["a", "b", "c"]}, '{Fn::FindInMap ["a", "b", "c"]}'),
        (
            {"Fn::Join": ["", ["s3://", {"Fn::ImportValue": "theirs"}, "/in/"]]},
            "s3://{import theirs}/in/",
        ),
    ],
)
def test_what_only_aws_knows_is_text_where_nothing_is_run(scope, value, shown):
    with pytest.raises(UnsupportedError):
        scope.resolve(value)

    assert replace(scope, may_guess=True).resolve(value) == shown


def test_a_part_of_what_only_aws_knows_is_text_too(scope):
    value = {"Fn::Select": [5, {"Fn::Split": [":", {"Fn::ImportValue": "theirs"}]}]}

    assert "theirs" in replace(scope, may_guess=True).resolve(value)
    with pytest.raises(UnsupportedError, match=r"selects item 9 of \['a'\], which has fewer"):
        scope.resolve({"Fn::Select": [9, ["a"]]})
