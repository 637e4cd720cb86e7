"""Optimizers of tables of Iceberg: what AWS runs on them, and with which permissions."""

import json

import pytest
from botocore.session import get_session
from botocore.validate import ParamValidator

from tests.fixtures.synthesis import as_list
from tests.tidemark.constructs.catalog.test_published_tables import resources
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth
READ = {"glue:GetTable", "s3:GetObject", "s3:ListBucket"}
WRITE = {"glue:UpdateTable", "s3:PutObject", "s3:AbortMultipartUpload"}


@pytest.fixture
def optimized(cdk, data):
    """Return a function from optimizers to the data of a table that has them."""
    from tidemark.constructs import Dataset, IcebergTable

    def optimized(*optimizers, **given):
        given = {"create": False, "optimizers": optimizers, **given}
        table = IcebergTable("mart", "orders", **given)
        return Dataset(data("orders/").bucket, "orders/", table=table, published=True)

    return optimized


def configurations(add):
    return {
        found["Properties"]["Type"]: found["Properties"]["TableOptimizerConfiguration"]
        for found in resources(add, "AWS::Glue::TableOptimizer").values()
    }


def role_of_optimizers(add):
    roles = resources(add, "AWS::IAM::Role")
    (id_,) = [id_ for id_ in roles if "Optimizers" in id_]
    return roles[id_]["Properties"]


def statements_of(add):
    (policy,) = role_of_optimizers(add)["Policies"]
    return policy["PolicyDocument"]["Statement"]


def actions_of(add):
    return {action for it in statements_of(add) for action in as_list(it["Action"])}


def test_a_table_has_each_optimizer_with_the_defaults_of_aws(add, optimized):
    from tidemark.constructs import Compaction, OrphanFileDeletion, SnapshotRetention

    add("first", writes=[optimized(Compaction(), SnapshotRetention(), OrphanFileDeletion())])

    found = configurations(add)
    assert list(found) == ["compaction", "retention", "orphan_file_deletion"]
    for one in found.values():
        assert one.pop("RoleArn")["Fn::GetAtt"][1] == "Arn"
        assert one == {"Enabled": True}
    (one, *_) = resources(add, "AWS::Glue::TableOptimizer").values()
    assert {key: one["Properties"][key] for key in ("DatabaseName", "TableName", "CatalogId")} == {
        "DatabaseName": "mart",
        "TableName": "orders",
        "CatalogId": {"Ref": "AWS::AccountId"},
    }


def test_settings_are_those_of_the_declaration(add, optimized):
    from tidemark.constructs import Compaction, OrphanFileDeletion, SnapshotRetention

    add(
        "first",
        writes=[
            optimized(
                Compaction(strategy="sort", min_input_files=20, delete_file_threshold=5),
                SnapshotRetention(days=30, snapshots=10, clean_expired_files=False),
                OrphanFileDeletion(days=7),
            )
        ],
    )

    found = configurations(add)
    assert found["compaction"]["CompactionConfiguration"]["IcebergConfiguration"] == {
        "Strategy": "sort",
        "MinInputFiles": 20,
        "DeleteFileThreshold": 5,
    }
    assert found["retention"]["RetentionConfiguration"]["IcebergConfiguration"] == {
        "SnapshotRetentionPeriodInDays": 30,
        "NumberOfSnapshotsToRetain": 10,
        "CleanExpiredFiles": False,
    }
    orphans = found["orphan_file_deletion"]["OrphanFileDeletionConfiguration"]
    assert orphans["IcebergConfiguration"] == {"OrphanFileRetentionPeriodInDays": 7}


def test_their_role_is_for_glue_and_for_this_table_alone(add, optimized):
    from tidemark.constructs import Compaction

    add("first", writes=[optimized(Compaction())])

    (trust,) = role_of_optimizers(add)["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Service": "glue.amazonaws.com"}
    logs = {"logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"}
    assert actions_of(add) == READ | WRITE | logs | {"s3:DeleteObject"}
    text = json.dumps(statements_of(add))
    assert ":table/mart/orders" in text
    assert "/orders/*" in text
    assert "log-group:/aws-glue/iceberg-compaction/logs:*" in text
    assert "iceberg-retention" not in text
    assert '"*"' not in text


def test_who_deletes_orphans_only_may_write_nothing(add, optimized):
    from tidemark.constructs import OrphanFileDeletion

    add("first", writes=[optimized(OrphanFileDeletion())])

    assert actions_of(add) >= READ | {"s3:DeleteObject"}
    assert not actions_of(add) & WRITE


def test_two_jobs_of_a_table_make_its_optimizers_once(add, optimized):
    from tidemark.constructs import Compaction

    orders = optimized(Compaction())
    first = add("first", writes=[orders])
    add("second", after=[first], reads=[orders])

    assert len(resources(add, "AWS::Glue::TableOptimizer")) == 1


def test_a_key_of_the_bucket_is_used(cdk, add):
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Compaction, Dataset, IcebergTable

    key = kms.Key.from_key_arn(add.stack, "Theirs", "arn:aws:kms:eu-west-1:123456789012:key/x")
    bucket = s3.Bucket.from_bucket_attributes(
        add.stack, "Bucket", bucket_name="theirs", encryption_key=key
    )
    table = IcebergTable("mart", "orders", create=False, optimizers=[Compaction()])

    add("first", writes=[Dataset(bucket, "orders/", table=table, published=True)])

    assert actions_of(add) >= {"kms:Decrypt", "kms:GenerateDataKey"}


def test_a_table_that_a_job_still_has_to_create_is_refused(optimized):
    from tidemark.constructs import Compaction

    with pytest.raises(JobDefinitionError, match=r"first run.*create=False"):
        optimized(Compaction(), create=True)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda c: c.Compaction(strategy="zorder"), "strategy 'zorder'"),
        (lambda c: c.Compaction(min_input_files=0), "min_input_files 0"),
        (lambda c: c.SnapshotRetention(days=0), "SnapshotRetention has days 0"),
        (lambda c: c.SnapshotRetention(snapshots=0), "snapshots 0"),
        (lambda c: c.OrphanFileDeletion(days=0), "OrphanFileDeletion has days 0"),
    ],
)
def test_what_aws_refuses_is_refused(cdk, make, told):
    from tidemark import constructs

    with pytest.raises(JobDefinitionError, match=told):
        make(constructs)


def test_an_optimizer_is_named_once(optimized):
    from tidemark.constructs import Compaction

    with pytest.raises(JobDefinitionError, match="Compaction"):
        optimized(Compaction(), Compaction(min_input_files=5))


def test_what_is_declared_is_what_the_api_of_glue_takes(add, optimized):
    """No emulator of AWS deploys optimizers: their names and values are those of its model."""
    from tidemark.constructs import Compaction, OrphanFileDeletion, SnapshotRetention

    optimizers = (
        Compaction(strategy="z-order", min_input_files=20, delete_file_threshold=5),
        SnapshotRetention(days=30, snapshots=10, clean_expired_files=False),
        OrphanFileDeletion(days=7),
    )
    add("first", writes=[optimized(*optimizers)])

    shape = get_session().get_service_model("glue").operation_model("CreateTableOptimizer")
    for found in resources(add, "AWS::Glue::TableOptimizer").values():
        request = found["Properties"]
        settings = as_of_api(request.pop("TableOptimizerConfiguration"))
        settings["roleArn"] = "arn:aws:iam::111122223333:role/r"
        request = {**request, "CatalogId": "111122223333", "TableOptimizerConfiguration": settings}
        report = ParamValidator().validate(request, shape.input_shape)
        assert not report.has_errors(), report.generate_report()
        assert request["Type"] in shape.input_shape.members["Type"].enum


def as_of_api(value):
    """Return a value of a template with names as the API of Glue writes them."""
    if not isinstance(value, dict):
        return value
    return {key[0].lower() + key[1:]: as_of_api(one) for key, one in value.items()}
