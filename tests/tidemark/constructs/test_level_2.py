"""What aws-cdk-lib calls stable is taken where a name or an ARN is; a job is a grantee too."""

import json

import pytest

from tests.fixtures.pipelines import ACCOUNT, REGION, Declared
from tidemark.constructs import (
    Column,
    CrawledDynamoDB,
    Dataset,
    ExistingSecurity,
    GlueArguments,
    IcebergTable,
    JobRuntime,
    KinesisStream,
    Table,
)
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


@pytest.fixture
def lake(declared):
    from aws_cdk import aws_s3 as s3

    return s3.Bucket.from_bucket_name(declared.stack, "Lake", "lake")


def policies(declared):
    return json.dumps(
        [*declared.resources("AWS::IAM::Role"), *declared.resources("AWS::IAM::Policy")]
    )


@pytest.mark.parametrize("kind", ["made", "imported"])
def test_a_database_names_tables_and_crawlers_and_comes_before_them(declared, lake, kind):
    from aws_cdk import aws_glue as glue

    if kind == "made":
        database = glue.Database(declared.stack, "Sales", database_name="sales")
    else:
        arn = f"arn:aws:glue:{REGION}:{ACCOUNT}:database/sales"
        database = glue.Database.from_database_arn(declared.stack, "Sales", arn)
    files = Table(database, "orders", [Column("id", "bigint")])
    iceberg = IcebergTable(database, "lines")
    pipeline = declared.pipeline()
    writes = [
        Dataset(lake, "orders/", published=True, table=files),
        Dataset(lake, "w/sales.db/lines/", published=True, table=iceberg),
    ]
    declared.add(pipeline, writes=writes)
    pipeline.add_crawler(
        "crawl", targets=[Dataset(lake, "raw/", delivered=True)], database=database
    )

    (made,) = declared.template("AWS::Glue::Table").values()
    assert (files.full_name, iceberg.full_name) == ("sales.orders", "sales.lines")
    assert made["Properties"]["DatabaseName"] == "sales"
    assert bool(made.get("DependsOn")) == (kind == "made")
    (crawler,) = declared.resources("AWS::Glue::Crawler")
    reference = crawler["DatabaseName"]
    assert "Ref" in reference if kind == "made" else reference == "sales"
    assert "table/sales/orders" in policies(declared)


def test_a_stream_brings_its_arn_and_its_key(declared, lake):
    from aws_cdk import aws_kinesis as kinesis
    from aws_cdk import aws_kms as kms

    stream = kinesis.Stream(declared.stack, "Clicks", encryption_key=kms.Key(declared.stack, "K2"))
    declared.pipeline().add_streaming_job(
        "clicks", script="job.py", checkpoint=Dataset(lake, "ck/"), sources=[KinesisStream(stream)]
    )

    granted = policies(declared)
    assert "kinesis:GetRecords" in granted
    (made,) = declared.template("AWS::Kinesis::Stream")
    (key,) = declared.template("AWS::KMS::Key")
    assert {made, key} <= {name for name in (made, key) if name in granted}


def test_a_security_configuration_of_the_app_brings_its_name_and_its_keys(declared):
    from aws_cdk import aws_glue as glue
    from aws_cdk import aws_kms as kms

    key = kms.Key(declared.stack, "Own")
    made = glue.SecurityConfiguration(
        declared.stack,
        "Security",
        security_configuration_name="ours",
        cloud_watch_encryption=glue.CloudWatchEncryption.kms(key),
        job_bookmarks_encryption=glue.JobBookmarksEncryption.client_side_kms(key),
    )
    security = ExistingSecurity(made)
    declared.add(declared.pipeline(security=security))

    assert (security.logs_key, security.bookmarks_key, security.data_key) == (key, key, None)
    (job,) = declared.resources("AWS::Glue::Job")
    assert "Ref" in job["SecurityConfiguration"]
    groups = [str(group["LogGroupName"]) for group in declared.resources("AWS::Logs::LogGroup")]
    assert groups
    assert all("ours-role" in name for name in groups)


def test_a_key_and_a_table_of_dynamodb_are_taken_too(declared):
    from aws_cdk import aws_dynamodb as dynamodb
    from aws_cdk import aws_kms as kms

    key = kms.Key(declared.stack, "Metadata")
    table = dynamodb.Table.from_table_name(declared.stack, "Theirs", "orders")
    pipeline = declared.pipeline()
    declared.add(
        pipeline,
        runtime=JobRuntime(glue_version="auto", max_retries=1),
        glue_arguments=GlueArguments(auto_upgrade_metadata_kms_key=key),
    )
    pipeline.add_crawler("crawl", targets=[CrawledDynamoDB(table)], database="db")

    (job,) = declared.resources("AWS::Glue::Job")
    assert "Fn::GetAtt" in job["DefaultArguments"]["--auto-upgrade-metadata-kms-key-arn"]
    (crawler,) = declared.resources("AWS::Glue::Crawler")
    assert crawler["Targets"]["DynamoDBTargets"][0]["Path"] == "orders"
    assert "table/orders" in policies(declared)


def test_the_secret_of_a_connection_of_level_2_may_be_read(declared):
    from aws_cdk import aws_glue as glue
    from aws_cdk import aws_secretsmanager as secretsmanager

    secret = secretsmanager.Secret(declared.stack, "Password")
    connection = glue.Connection(
        declared.stack,
        "Shop",
        type=glue.ConnectionType.JDBC,
        properties={"JDBC_CONNECTION_URL": "jdbc:x://db", "SECRET_ID": secret.secret_arn},
    )
    declared.add(declared.pipeline(), connections=[connection])

    (made,) = declared.template("AWS::SecretsManager::Secret")
    granted = policies(declared)
    assert "secretsmanager:GetSecretValue" in granted
    assert f'{{"Ref": "{made}"}}' in granted


@pytest.mark.parametrize("kind", ["SALESFORCE", "SAPODATA", "JDBC"])
def test_a_connection_to_an_application_may_refresh_its_tokens_and_no_other(declared, kind):
    from aws_cdk import aws_glue as glue

    one = glue.CfnConnection
    authentication = one.AuthenticationConfigurationProperty(
        authentication_type="OAUTH2",
        secret_arn=f"arn:aws:secretsmanager:{REGION}:{ACCOUNT}:secret:app-AbCdEf",
    )
    connection = one(
        declared.stack,
        "App",
        catalog_id=ACCOUNT,
        connection_input=one.ConnectionInputProperty(
            name="app",
            connection_type=kind,
            connection_properties={},
            authentication_configuration=authentication,
        ),
    )
    declared.add(declared.pipeline(), connections=[connection])

    granted = policies(declared)
    needed = ("glue:RefreshOAuth2Tokens", "glue:ListEntities", "secretsmanager:PutSecretValue")
    assert [action in granted for action in needed] == [kind != "JDBC"] * 3
    assert "secretsmanager:GetSecretValue" in granted


def test_a_job_is_granted_to_and_started_and_measured_as_constructs_of_the_cdk_are(declared):
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_sns as sns

    job = declared.add(declared.pipeline())
    sns.Topic(declared.stack, "Topic").grant_publish(job)
    starter = iam.Role(declared.stack, "Starter", assumed_by=iam.AccountRootPrincipal())
    job.grant_start_run(starter)
    metric = job.metric_failure()

    granted = policies(declared)
    assert "sns:Publish" in granted
    assert "glue:StartJobRun" in granted
    assert ":job/" in job.job_arn
    assert metric.namespace == "AWS/Events"
    patterns = [rule["EventPattern"] for rule in declared.resources("AWS::Events::Rule")]
    assert any("FAILED" in str(pattern) and "one" in str(pattern) for pattern in patterns)


def test_a_crawler_is_granted_to_as_constructs_of_the_cdk_are(declared, lake):
    from aws_cdk import aws_sns as sns

    crawler = declared.pipeline().add_crawler(
        "found", targets=[Dataset(lake, "raw/", delivered=True)], database="sales"
    )

    sns.Topic(declared.stack, "Topic").grant_publish(crawler)

    assert "sns:Publish" in policies(declared)


@pytest.mark.parametrize("kind", ["write", "read_write"])
def test_a_function_may_read_and_write_data_of_the_app(declared, lake, kind):
    from aws_cdk import aws_lambda as functions

    made = functions.Function(
        declared.stack,
        "Function",
        runtime=functions.Runtime.PYTHON_3_13,
        handler="x.y",
        code=functions.Code.from_inline("x"),
    )
    orders = Dataset(lake, "orders/", table=Table("sales", "orders", [Column("id", "bigint")]))

    getattr(orders, f"grant_{kind}")(made)

    granted = policies(declared)
    assert ("s3:GetObject" in granted) == (kind == "read_write")
    assert "s3:PutObject" in granted
    assert "glue:CreatePartition" in granted


@pytest.mark.parametrize("kind", ["service", "imported function"])
def test_what_has_no_policy_to_add_to_is_refused(declared, lake, kind):
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_lambda as functions

    arn = f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:x"
    grantee = (
        iam.ServicePrincipal("athena.amazonaws.com")
        if kind == "service"
        else functions.Function.from_function_arn(declared.stack, "Theirs", arn)
    )

    with pytest.raises(JobDefinitionError, match="the app may not change it"):
        Dataset(lake, "orders/").grant_read(grantee)
