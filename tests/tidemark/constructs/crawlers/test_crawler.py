"""Crawlers: what they are deployed as, what starts them, what they may do, what is refused."""

import json
from enum import Enum

import pytest

from tests.fixtures.pipelines import Declared, stage_of
from tests.tidemark.constructs.jobs.test_job_kinds import allowed, one
from tidemark.errors import JobDefinitionError

pytestmark = pytest.mark.synth


@pytest.fixture
def declared(cdk, tmp_path):
    return Declared(cdk, tmp_path)


@pytest.fixture
def pipeline(declared):
    return declared.pipeline()


@pytest.fixture
def data(declared):
    from aws_cdk import aws_s3 as s3

    from tidemark.constructs import Dataset

    bucket = s3.Bucket.from_bucket_name(declared.stack, "Bucket", "lake")
    return lambda prefix, **flags: Dataset(bucket, prefix, **flags)


@pytest.fixture
def crawl(pipeline, data):
    """Return a function that adds the crawler `landing`."""

    def add(**changes):
        given = {"targets": [data("raw/", delivered=True)], "database": "lake", **changes}
        return pipeline.add_crawler("landing", **given)

    return add


def test_a_crawler_of_data_is_deployed_with_the_safe_policies(declared, crawl):
    from tidemark.constructs import CrawlerOptions

    crawl(options=CrawlerOptions(table_prefix="raw_", description="what arrived", tags={"a": "b"}))

    crawler = one(declared, "AWS::Glue::Crawler")
    assert crawler["Targets"] == {"S3Targets": [{"Path": "s3://lake/raw/"}]}
    assert (crawler["DatabaseName"], crawler["TablePrefix"]) == ("lake", "raw_")
    assert crawler["SchemaChangePolicy"] == {
        "UpdateBehavior": "UPDATE_IN_DATABASE",
        "DeleteBehavior": "LOG",
    }
    assert crawler["RecrawlPolicy"] == {"RecrawlBehavior": "CRAWL_EVERYTHING"}
    assert crawler["Tags"]["a"] == "b"
    assert "Ref" in crawler["CrawlerSecurityConfiguration"]


def test_targets_of_every_kind_are_written_as_cloudformation_takes_them(declared, pipeline, data):
    from tidemark.constructs import CrawledData, CrawledDatabase, CrawledTable

    whole = data("raw/", delivered=True)
    some = CrawledData(data("more/", delivered=True), exclusions=["**.tmp"], sampled_files=9)
    shop = CrawledDatabase("shop-db", "shop/public/%", exclusions=["tmp_*"])
    pipeline.add_crawler("files", targets=[whole, some, shop], database="lake")
    pipeline.add_crawler("tables", targets=[CrawledTable("sales.a", whole)], database="lake")

    files, tables = (it["Targets"] for it in declared.resources("AWS::Glue::Crawler"))
    assert files == {
        "S3Targets": [
            {"Path": "s3://lake/raw/"},
            {"Path": "s3://lake/more/", "Exclusions": ["**.tmp"], "SampleSize": 9},
        ],
        "JdbcTargets": [
            {"ConnectionName": "shop-db", "Path": "shop/public/%", "Exclusions": ["tmp_*"]}
        ],
    }
    assert tables == {"CatalogTargets": [{"DatabaseName": "sales", "Tables": ["a"]}]}


def test_tables_of_open_formats_and_of_dynamodb_are_targets(declared, data, crawl):
    from tidemark.constructs import CrawledDynamoDB, CrawledOpenTables, OpenFormat

    delta, hudi, iceberg = (data(f"{name}/", delivered=True) for name in ("d", "h", "i"))
    crawl(
        targets=[
            CrawledOpenTables(delta, OpenFormat.DELTA, connection="office"),
            CrawledOpenTables(hudi, OpenFormat.HUDI, depth=2, exclusions=["tmp/**"]),
            CrawledOpenTables(iceberg, OpenFormat.ICEBERG),
            CrawledDynamoDB("orders", sampled=True, scan_rate=0.5),
        ]
    )

    assert one(declared, "AWS::Glue::Crawler")["Targets"] == {
        "DeltaTargets": [
            {
                "DeltaTables": ["s3://lake/d/"],
                "ConnectionName": "office",
                "CreateNativeDeltaTable": True,
                "WriteManifest": False,
            }
        ],
        "HudiTargets": [
            {"Paths": ["s3://lake/h/"], "Exclusions": ["tmp/**"], "MaximumTraversalDepth": 2}
        ],
        "IcebergTargets": [{"Paths": ["s3://lake/i/"]}],
        "DynamoDBTargets": [{"Path": "orders", "ScanAll": False, "ScanRate": 0.5}],
    }
    may = allowed(declared)
    assert ":table/orders" in may["dynamodb:Scan"]
    assert all(f"lake/{name}/*" in may["s3:GetObject"] for name in "dhi")


def test_jobs_and_crawlers_wait_for_each_other(declared, pipeline, crawl):
    from tidemark.constructs import CrawlState, JobState, all_of, any_of

    first = declared.add(pipeline, "first")
    landing = crawl(after=[first])
    declared.add(pipeline, "behind", after=[landing])
    declared.add(pipeline, "failed", after=all_of(landing, on=JobState.FAILED))
    declared.add(
        pipeline,
        "either",
        after=any_of(landing.on(CrawlState.CANCELLED), first.on(JobState.FAILED)),
    )

    triggers = [it for it in declared.resources("AWS::Glue::Trigger") if "Predicate" in it]
    watched = [
        [
            ("CrawlerName" in condition and condition["CrawlState"]) or condition["State"].lower()
            for condition in trigger["Predicate"]["Conditions"]
        ]
        for trigger in triggers
    ]
    assert watched == [["succeeded"], ["SUCCEEDED"], ["FAILED"], ["CANCELLED", "failed"]]
    assert list(triggers[0]["Actions"][0]) == ["CrawlerName"]
    declared.app.synth()


def test_the_role_reads_the_targets_and_writes_tables_of_its_prefix_in_its_database(
    declared, crawl
):
    from tidemark.constructs import CrawlerOptions

    crawl(options=CrawlerOptions(table_prefix="raw_"))

    may = allowed(declared)
    assert "/raw/*" in may["s3:GetObject"]
    assert "table/lake/raw_*" in may["glue:UpdateTable"]
    assert "table/lake/*" in may["glue:GetTables"]
    assert "table/lake/*" not in may["glue:CreateTable"]
    assert may["logs:PutLogEvents"].count("log-group:") == 1
    own = "log-group:/aws-glue/crawlers-role/*-tidemark-dev-orders:*"
    assert f'{own}"' in may["logs:PutLogEvents"]
    assert {"s3:PutObject", "glue:DeleteTable", "ec2:CreateNetworkInterface"}.isdisjoint(may)


def test_tables_are_deleted_only_if_that_is_asked_for(declared, crawl):
    from tidemark.constructs import CrawlerOptions, MissingData

    crawl(options=CrawlerOptions(on_missing=MissingData.DELETE))

    assert "table/lake/*" in allowed(declared)["glue:DeleteTable"]


def test_the_database_may_be_a_member_of_an_enumeration_of_strings(crawl):
    databases = Enum("Databases", {"LAKE": "lake"}, type=str)

    assert crawl(database=databases.LAKE).database == "lake"


def test_a_crawler_of_named_tables_writes_those(declared, crawl, data):
    from tidemark.constructs import CrawledTable

    crawl(targets=[CrawledTable("sales.orders", data("orders/", delivered=True))])

    may = allowed(declared)
    assert "table/sales/orders" in may["glue:UpdateTable"]
    assert "/orders/*" in may["s3:GetObject"]
    assert "lake" not in may["glue:UpdateTable"].replace("lake/", "")


def test_a_crawler_of_a_database_uses_its_connection(declared, crawl):
    from tidemark.constructs import CrawledDatabase

    crawl(targets=[CrawledDatabase("shop-db", "shop/public/%")])

    may = allowed(declared)
    assert "connection/shop-db" in may["glue:GetConnection"]
    assert "s3:GetObject" not in may


def test_its_log_group_is_encrypted_and_named_by_its_role(declared, crawl):
    crawl()

    group = one(declared, "AWS::Logs::LogGroup")
    name = json.dumps(group["LogGroupName"])
    assert "/aws-glue/crawlers-role/" in name
    assert "-tidemark-dev-orders" in name
    assert "KmsKeyId" in group


def test_a_failed_crawl_is_told_and_a_last_one_ends_a_run(declared, pipeline, crawl):
    first = declared.add(pipeline, "first")
    declared.add(pipeline, "beside")
    crawl(after=[first])

    patterns = [rule["EventPattern"] for rule in declared.resources("AWS::Events::Rule")]
    crawls = {"detail-type": ["Glue Crawler State Change"]}
    assert {
        "source": ["aws.glue"],
        **crawls,
        "detail": {"crawlerName": ["landing"], "state": ["Failed"]},
    } in patterns
    (succeeded,) = [pattern["$or"] for pattern in patterns if "$or" in pattern]
    assert succeeded == [
        {
            "detail-type": ["Glue Job State Change"],
            "detail": {"jobName": ["beside"], "state": ["SUCCEEDED"]},
        },
        {**crawls, "detail": {"crawlerName": ["landing"], "state": ["Succeeded"]}},
    ]


def test_a_crawler_of_a_stage_that_is_vpc_only_has_a_connection_for_each_target(declared, data):
    from tidemark.constructs import CrawledData

    pipeline = declared.pipeline(stage=stage_of(vpc_only=True, connections=("office",)))

    with pytest.raises(JobDefinitionError, match="crawler 'landing' has a target without a"):
        pipeline.add_crawler("landing", targets=[data("raw/")], database="lake")
    targets = [CrawledData(data("raw/", delivered=True), connection="office")]
    pipeline.add_crawler("landing", targets=targets, database="lake")
    (target,) = one(declared, "AWS::Glue::Crawler")["Targets"]["S3Targets"]
    assert target["ConnectionName"] == "office"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"targets": []}, r"has targets \[\]; allowed: a list of at least one"),
        ({"database": "Lake"}, "has database 'Lake'; allowed: a Database or a CfnDatabase"),
    ],
)
def test_a_crawler_that_cannot_be_is_refused(crawl, changes, text):
    with pytest.raises(JobDefinitionError, match=text):
        crawl(**changes)


def test_targets_that_exclude_each_other_are_refused(crawl, data):
    from tidemark.constructs import (
        CrawledDatabase,
        CrawledDynamoDB,
        CrawledOpenTables,
        CrawledTable,
        CrawlerOptions,
        OpenFormat,
        Recrawl,
        SchemaUpdate,
    )

    new_only = CrawlerOptions(recrawl=Recrawl.NEW_FOLDERS_ONLY, on_change=SchemaUpdate.LOG)
    with pytest.raises(JobDefinitionError, match="tables of the Data Catalog and other targets"):
        crawl(targets=[data("raw/"), CrawledTable("a.b", data("b/"))])
    iceberg = CrawledOpenTables(data("i/"), OpenFormat.ICEBERG)
    for other in (CrawledDatabase("shop-db", "shop/%"), CrawledDynamoDB("orders"), iceberg):
        with pytest.raises(JobDefinitionError, match="targets that are not data in S3"):
            crawl(targets=[other], options=new_only)


def test_options_and_targets_that_glue_refuses_are_refused(data):
    from tidemark.constructs import (
        CrawledData,
        CrawledDatabase,
        CrawledTable,
        CrawlerOptions,
        Recrawl,
    )

    for make, text in (
        (lambda: CrawlerOptions(table_prefix="Raw"), "table_prefix 'Raw'"),
        (
            lambda: CrawlerOptions(recrawl=Recrawl.NEW_FOLDERS_ONLY),
            "requires on_change",
        ),
        (lambda: CrawlerOptions(description=""), "description ''; allowed"),
        (lambda: CrawledData(data("a/"), sampled_files=250), "sampled_files 250; allowed"),
        (lambda: CrawledTable("orders", data("a/")), "CrawledTable has table 'orders'; allowed"),
        (lambda: CrawledDatabase("db", "shop"), "CrawledDatabase has path 'shop'; allowed"),
    ):
        with pytest.raises(JobDefinitionError, match=text):
            make()


def test_a_job_and_a_crawler_have_different_names(declared, pipeline, crawl):
    crawl()

    with pytest.raises(JobDefinitionError, match="job 'landing' is in the pipeline already"):
        declared.add(pipeline, "landing")


def test_states_are_those_of_crawls(crawl):
    from tidemark.constructs import JobState, all_of

    landing = crawl()

    with pytest.raises(JobDefinitionError, match=r"allowed: CrawlState\.SUCCEEDED, CrawlState"):
        landing.on(JobState.SUCCEEDED)
    with pytest.raises(JobDefinitionError, match=r"allowed: CrawlState\.SUCCEEDED"):
        all_of(landing, on=JobState.TIMEOUT)
