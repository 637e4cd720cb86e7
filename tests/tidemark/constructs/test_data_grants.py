"""Roles that are of no job, and read data and its table."""

import json

import pytest

from tests.fixtures.synthesis import as_list
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth


@pytest.fixture
def analyst(cdk):
    """Return a role of the app in a stack of its own."""
    from aws_cdk import aws_iam as iam

    stack = cdk.Stack(cdk.App(analytics_reporting=False), "stack")
    return iam.Role(stack, "Analyst", assumed_by=iam.AccountRootPrincipal())


@pytest.fixture
def lake(analyst):
    """Return a bucket with its own key."""
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    key = kms.Key.from_key_arn(analyst, "Key", "arn:aws:kms:eu-west-1:123456789012:key/k")
    return s3.Bucket.from_bucket_attributes(analyst, "Lake", bucket_name="lake", encryption_key=key)


def granted(cdk, role):
    """Return the actions that a role may do, each with the ends of its resources."""
    from aws_cdk.assertions import Template

    found = {}
    policies = Template.from_stack(cdk.Stack.of(role)).find_resources("AWS::IAM::Policy")
    for policy in policies.values():
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]:
            for action in as_list(statement["Action"]):
                text = json.dumps(statement["Resource"])
                found.setdefault(action, set()).add(text)
    return found


def test_a_reader_of_a_table_of_iceberg_may_find_it_and_read_its_folder(cdk, analyst, lake):
    from tidemark.constructs import Dataset, IcebergTable

    Dataset(lake, "orders/", table=IcebergTable("sales", "orders")).grant_read(analyst)

    found = granted(cdk, analyst)
    assert found.keys() == {
        "s3:ListBucket",
        "s3:GetObject",
        "kms:Decrypt",
        "glue:GetDatabase",
        "glue:GetTable",
    }
    assert "/orders/*" in str(found["s3:GetObject"])
    assert "table/sales/orders" in str(found["glue:GetTable"])


def test_a_reader_of_a_table_of_files_may_find_its_partitions(cdk, analyst, lake):
    from tidemark.constructs import Column, Dataset, Table

    table = Table("sales", "orders", [Column("id", "bigint")])
    Dataset(lake, "orders/", table=table).grant_read(analyst)

    assert granted(cdk, analyst).keys() >= {"glue:GetPartitions", "glue:GetTable"}


def test_a_reader_of_data_without_a_table_reads_its_folder_alone(cdk, analyst, lake):
    from tidemark.constructs import Dataset

    Dataset(lake, "orders/").grant_read(analyst)

    assert not [action for action in granted(cdk, analyst) if action.startswith("glue:")]


def test_a_table_that_lake_formation_governs_is_granted_there(analyst, lake):
    from tidemark.constructs import Column, Dataset, Table

    table = Table("sales", "orders", [Column("id", "bigint")], lake_formation=True)

    with pytest.raises(JobDefinitionError, match="Lake Formation"):
        Dataset(lake, "orders/", table=table).grant_read(analyst)


def test_a_role_that_the_app_may_not_change_is_refused(cdk, analyst, lake):
    from aws_cdk import aws_iam as iam

    from tidemark.constructs import Dataset

    arn = "arn:aws:iam::999988887777:role/theirs"
    theirs = iam.Role.from_role_arn(analyst, "Theirs", arn, mutable=False)

    with pytest.raises(JobDefinitionError, match=r"role/theirs.*orders/"):
        Dataset(lake, "orders/").grant_read(theirs)


def test_an_imported_role_that_may_be_changed_gets_a_policy(cdk, analyst, lake):
    from aws_cdk import aws_iam as iam

    from tidemark.constructs import Dataset

    theirs = iam.Role.from_role_arn(analyst, "Theirs", "arn:aws:iam::123456789012:role/theirs")
    Dataset(lake, "orders/").grant_read(theirs)

    assert granted(cdk, analyst).keys() >= {"s3:GetObject"}
