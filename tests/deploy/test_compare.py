"""What was deployed is compared with its template member by member."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.deploy.compare import Deployed, Surroundings, differences, resolve

AROUND = Surroundings(
    stack="tidemark-dev-flights",
    account="210987654321",
    region="eu-west-2",
    resources={
        "Role": Deployed("AWS::IAM::Role", "role-1"),
        "Bucket": Deployed("AWS::S3::Bucket", "bucket-1"),
    },
    exports={"storage:Table": "glue-watermarks"},
)
VALUES = st.recursive(
    st.none() | st.integers() | st.text("abc", min_size=1, max_size=5),
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text("xyz", max_size=3), children)
    ),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("value", "resolved"),
    [
        ({"Ref": "Bucket"}, "bucket-1"),
        ({"Ref": "AWS::Region"}, "eu-west-2"),
        ({"Fn::GetAtt": ["Role", "Arn"]}, "arn:aws:iam::210987654321:role/role-1"),
        ({"Fn::ImportValue": "storage:Table"}, "glue-watermarks"),
        ({"Fn::Join": ["", ["s3://", {"Ref": "Bucket"}, "/raw/"]]}, "s3://bucket-1/raw/"),
        ({"Fn::Sub": "${Bucket} in ${AWS::AccountId}"}, "bucket-1 in 210987654321"),
        ({"Fn::Sub": "role ${Role.Arn}"}, "role arn:aws:iam::210987654321:role/role-1"),
        ({"A": [{"B": {"Ref": "Role"}}]}, {"A": [{"B": "role-1"}]}),
    ],
)
def test_intrinsic_functions_become_what_they_refer_to(value: Any, resolved: Any) -> None:
    assert resolve(value, AROUND) == resolved


@pytest.mark.parametrize(
    "value",
    [{"Ref": "Nothing"}, {"Fn::GetAtt": ["Role", "RoleId"]}, {"Fn::Split": [",", "a,b"]}],
)
def test_what_cannot_be_resolved_is_an_error(value: Any) -> None:
    with pytest.raises(LookupError):
        resolve(value, AROUND)


@pytest.mark.parametrize(
    ("asked", "found", "line"),
    [
        ({"Timeout": 60}, {}, "Timeout: asked for 60, found 'absent'"),
        ({"Timeout": 60}, {"Timeout": 61}, "Timeout: asked for 60, found 61"),
        ({"Flag": True}, {"Flag": 1}, "Flag: asked for True, found 1"),
        ({"A": {"x": 1}}, {"A": {"x": 1, "y": 2}}, "A.y: asked for 'absent', found 2"),
        ({"A": [1]}, {"A": [1, 2]}, "A: asked for [1], found [1, 2]"),
        ({"A": [{"x": 1}]}, {"A": [{"x": 2}]}, "A[0].x: asked for 1, found 2"),
        ({"A": {"x": 1}}, {"A": '{"x": 2}'}, "A.x: asked for 1, found 2"),
    ],
)
def test_a_difference_is_named_with_its_path(asked: Any, found: Any, line: str) -> None:
    assert differences(asked, found) == [line]


def test_what_a_service_adds_at_the_top_is_no_difference() -> None:
    assert differences({"Name": "a"}, {"Name": "a", "CreatedOn": 1}) == []


@given(VALUES, VALUES)
def test_two_values_differ_exactly_if_they_are_not_equal(left: Any, right: Any) -> None:
    assert bool(differences({"A": left}, {"A": right})) == (left != right)
    assert differences({"A": left}, {"A": left}) == []
