"""Tables of datasets: created once, with their rulesets, and granted to the jobs that use them."""

import json

import pytest

from tidemark.errors import JobDefinitionError


@pytest.fixture
def table(cdk):
    """Return a function that declares a table of the database `mart`."""
    from tidemark.constructs import Column, Table

    def table(name="delays", **declared):
        columns = [Column("origin", "string"), Column("flights", "BIGINT", "how many")]
        return Table(**{"database": "mart", "name": name, "columns": columns, **declared})

    return table


@pytest.fixture
def published(data):
    """Return a function from a table and a prefix to the dataset that it is about."""
    from tidemark.constructs import Dataset

    def published(table, prefix="delays/", **declared):
        declared = {"published": True, **declared}
        return Dataset(data(prefix).bucket, prefix, table=table, **declared)

    return published


def resources(add, kind):
    from aws_cdk.assertions import Template

    return Template.from_stack(add.stack).find_resources(kind)


def granted(add, prefix="glue:"):
    """Return each role's grants as (action, end of the ARN), by the name of its job."""
    from aws_cdk.assertions import Template

    template = Template.from_stack(add.stack).to_json()["Resources"]
    found = {}
    for job in (r for r in template.values() if r["Type"] == "AWS::Glue::Job"):
        role = template[job["Properties"]["Role"]["Fn::GetAtt"][0]]
        statements = [
            statement
            for policy in role["Properties"]["Policies"]
            for statement in policy["PolicyDocument"]["Statement"]
        ]
        found[job["Properties"]["Name"]] = {
            (action, json.dumps(arn).split(":")[-1].rstrip('"]}'))
            for statement in statements
            for action in listed(statement["Action"])
            if action.startswith(prefix)
            for arn in listed(statement["Resource"])
        }
    return found


def listed(value):
    return value if isinstance(value, list) else [value]


def grants(actions, *tables, database="mart"):
    ends = ["catalog", f"database/{database}", *(f"table/{database}/{name}" for name in tables)]
    return {(f"glue:{action}", end) for action in actions for end in ends}


READ = ("BatchGetPartition", "GetDatabase", "GetPartition", "GetPartitions", "GetTable")
WRITE = ("BatchCreatePartition", "BatchDeletePartition", "CreatePartition")
WRITE += ("DeletePartition", "UpdatePartition", "UpdateTable")


def test_the_job_that_writes_the_data_creates_the_table_and_waits_for_it(add, table, published):
    delays = published(table(description="A route and a day."))

    first = add("first", writes=[delays])
    add("second", after=[first], reads=[delays])

    ((id_, found),) = resources(add, "AWS::Glue::Table").items()
    assert found["Properties"] == {
        "CatalogId": {"Ref": "AWS::AccountId"},
        "DatabaseName": "mart",
        "TableInput": {
            "Name": "delays",
            "Description": "A route and a day.",
            "TableType": "EXTERNAL_TABLE",
            "Parameters": {"EXTERNAL": "TRUE", "classification": "parquet"},
            "PartitionKeys": [],
            "StorageDescriptor": {
                "Columns": [
                    {"Name": "origin", "Type": "string"},
                    {"Name": "flights", "Type": "bigint", "Comment": "how many"},
                ],
                "Location": "s3://lake/delays/",
                "InputFormat": ("org.apache.hadoop.hive.ql.io.parquet.MapredParquetInputFormat"),
                "OutputFormat": ("org.apache.hadoop.hive.ql.io.parquet.MapredParquetOutputFormat"),
                "SerdeInfo": {
                    "SerializationLibrary": (
                        "org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe"
                    ),
                    "Parameters": {"serialization.format": "1"},
                },
            },
        },
    }
    jobs = resources(add, "AWS::Glue::Job").values()
    (waiting,) = [job for job in jobs if job["Properties"]["Name"] == "first"]
    assert id_ in waiting["DependsOn"]


def test_readers_read_exactly_the_table_and_writers_register_its_partitions(add, table, published):
    from tidemark.constructs import Column

    delays = published(table(partition_keys=[Column("day", "date")]))

    first = add("first", writes=[delays])
    add("second", after=[first], reads=[delays])

    assert granted(add) == {
        "first": grants(READ + WRITE, "delays"),
        "second": grants(READ, "delays"),
    }


def test_who_writes_data_whose_partitions_athena_works_out_needs_no_catalog(add, table, published):
    from tidemark.constructs import Column, DateProjection, Projection

    delays = published(
        table(
            partition_keys=[Column("day", "date")],
            projection=Projection({"day": DateProjection("2013-01-01")}),
        )
    )

    add("first", writes=[delays])

    assert granted(add) == {"first": set()}
    ((found),) = resources(add, "AWS::Glue::Table").values()
    assert found["Properties"]["TableInput"]["Parameters"]["projection.day.range"] == (
        "2013-01-01,NOW"
    )
    assert found["DeletionPolicy"] == "Delete"  # nothing is in it but its declaration


def test_a_table_with_registered_partitions_is_kept(add, table, published):
    from tidemark.constructs import Column

    add("first", writes=[published(table(partition_keys=[Column("day", "date")]))])

    (found,) = resources(add, "AWS::Glue::Table").values()
    assert (found["DeletionPolicy"], found["UpdateReplacePolicy"]) == ("Retain", "Retain")


def test_delivered_data_has_its_table_created_by_the_first_job_that_reads_it(add, table, published):
    landed = published(table("landed"), "landed/", delivered=True)

    add("first", reads=[landed])
    add("second", reads=[landed])

    assert len(resources(add, "AWS::Glue::Table")) == 1
    assert granted(add)["second"] == grants(READ, "landed")


def test_a_database_of_the_app_is_named_by_its_construct(add, table, published, cdk):
    from aws_cdk import aws_glue as glue

    database = glue.CfnDatabase(
        add.stack,
        "Database",
        catalog_id="123456789012",
        database_input=glue.CfnDatabase.DatabaseInputProperty(name="ours"),
    )

    add("first", writes=[published(table(database=database))])

    (found,) = resources(add, "AWS::Glue::Table").values()
    assert found["Properties"]["DatabaseName"] == "ours"
    assert found["DependsOn"] == ["Database"]
    assert granted(add)["first"] == grants(READ + WRITE, "delays", database="ours")


def test_one_name_is_one_table(add, table, published):
    add("first", writes=[published(table())])

    with pytest.raises(JobDefinitionError, match=r"declares the table 'mart.delays' for 'other/'"):
        add("second", writes=[published(table(), "other/")])
    with pytest.raises(JobDefinitionError, match="allowed: one declaration of a table"):
        add("third", writes=[published(table(description="Another."))])


def test_a_ruleset_is_created_with_its_table(add, table, published):
    from tidemark.constructs import DataQualityRuleset

    rules = 'Rules = [RowCount > 0, IsComplete "origin"]'

    add("first", writes=[published(table(quality=DataQualityRuleset(rules)))])

    ((id_, _),) = resources(add, "AWS::Glue::Table").items()
    (found,) = resources(add, "AWS::Glue::DataQualityRuleset").values()
    assert found["DependsOn"] == [id_]
    properties = {key: value for key, value in found["Properties"].items() if key != "Tags"}
    assert properties == {
        "Name": "mart_delays",
        "Ruleset": rules,
        "TargetTable": {"DatabaseName": "mart", "TableName": "delays"},
    }


def test_lake_formation_grants_each_role_its_part_of_the_table(add, table, published):
    delays = published(table(lake_formation=True))

    first = add("first", writes=[delays])
    add("second", after=[first], reads=[delays])

    found = resources(add, "AWS::LakeFormation::PrincipalPermissions").values()
    roles = {
        job["Properties"]["Role"]["Fn::GetAtt"][0]: job["Properties"]["Name"]
        for job in resources(add, "AWS::Glue::Job").values()
    }
    shown = {
        (
            roles[one["Properties"]["Principal"]["DataLakePrincipalIdentifier"]["Fn::GetAtt"][0]],
            *one["Properties"]["Permissions"],
            next(iter(one["Properties"]["Resource"])),
        )
        for one in found
    }
    assert shown == {
        *((job, "DESCRIBE", "Database") for job in ("first", "second")),
        *((job, "DESCRIBE", "SELECT", "Table") for job in ("first", "second")),
        ("first", "ALTER", "DELETE", "INSERT", "Table"),
        ("first", "DATA_LOCATION_ACCESS", "DataLocation"),
    }
    ((id_, _),) = resources(add, "AWS::Glue::Table").items()
    on_table = [one for one in found if "Table" in one["Properties"]["Resource"]]
    assert all(id_ in one["DependsOn"] for one in on_table)
    asked = granted(add, "lakeformation:")
    assert asked == {job: {("lakeformation:GetDataAccess", '"*')} for job in ("first", "second")}


def test_each_account_has_a_catalog_of_its_own(cdk, tmp_path, data, table, published):
    from aws_cdk import aws_kms as kms
    from aws_cdk.assertions import Template

    from tests.fixtures.pipelines import REGION, stage_of
    from tidemark.constructs import BookmarkOption, Pipeline

    (tmp_path / "job.py").write_text("print('hello')\n")
    app, stacks = cdk.App(analytics_reporting=False), []
    for prefix, account in (("dev/", "111111111111"), ("prod/", "222222222222")):
        stack = cdk.Stack(app, prefix[:-1], env=cdk.Environment(account=account, region=REGION))
        key = kms.Key.from_key_arn(stack, "Key", f"arn:aws:kms:{REGION}:{account}:key/k")
        stage = stage_of(account=account)
        pipeline = Pipeline(
            stack, "P", name="mart", root=tmp_path, stage=stage, watermarks=None, key=key
        )
        pipeline.add_job(
            "publish",
            script="job.py",
            bookmark=BookmarkOption.ENABLE,
            writes=[published(table(), prefix)],
        )
        stacks.append((stack, prefix))

    for stack, prefix in stacks:
        (made,) = Template.from_stack(stack).find_resources("AWS::Glue::Table").values()
        location = made["Properties"]["TableInput"]["StorageDescriptor"]["Location"]
        assert location == f"s3://lake/{prefix}"
