"""Python shell jobs, streaming jobs and crawlers."""

import tidemark.constructs as tc
from tests.fixtures.pipelines import stage_of
from tests.tidemark.constructs.wrong.world import KAFKA, KINESIS, token

# What is declared, and a part of why it is refused.
WRONG = {
    "checkpoint with table": (
        lambda w: w.stream(checkpoint=w.data("state/", table=w.table())),
        "job 'one' has checkpoint 'state/' with a table",
    ),
    "open tables format": (
        lambda w: tc.CrawledOpenTables(w.data(), "iceberg"),
        "CrawledOpenTables has format 'iceberg'; allowed: OpenFormat.DELTA",
    ),
    "open tables depth": (
        lambda w: tc.CrawledOpenTables(w.data(), tc.OpenFormat.HUDI, depth=21),
        "CrawledOpenTables has depth 21; allowed: an integer from 1 to 20",
    ),
    "delta exclusions": (
        lambda w: tc.CrawledOpenTables(w.data(), tc.OpenFormat.DELTA, exclusions=["x"]),
        "CrawledOpenTables has exclusions ['x']; allowed: none of Delta Lake",
    ),
    "dynamodb arn": (
        lambda w: tc.CrawledDynamoDB("arn:aws:dynamodb:eu-west-1:123456789012:table/t"),
        "allowed: the name of a table",
    ),
    "dynamodb rate": (
        lambda w: tc.CrawledDynamoDB("orders", scan_rate=2),
        "CrawledDynamoDB has scan_rate 2; allowed: a number from 0.1 to 1.5",
    ),
    "dynamodb vpc only": (
        lambda w: w.crawler(
            pipeline=w.pipeline("x", stage=stage_of(vpc_only=True)),
            targets=[tc.CrawledDynamoDB("orders")],
        ),
        "crawler 'crawl' has a target without a connection, and the stage says vpcOnly",
    ),
    "crawler.on jobstate": (
        lambda w: w.crawler().on(tc.JobState.FAILED),
        "on(...) of 'crawl' is <JobState.FAILED: 'FAILED'>",
    ),
    "crawler.on none": (lambda w: w.crawler().on(None), "on(...) of 'crawl' is None"),
    "dup name": (lambda w: (w.job("a"), w.job("a")), "job 'a' is in the pipeline already"),
    "dup name shell": (lambda w: (w.job("a"), w.shell("a")), "job 'a' is in the pipeline already"),
    "dup name stream": (
        lambda w: (w.job("a"), w.stream("a")),
        "job 'a' is in the pipeline already",
    ),
    "dup name crawler": (
        lambda w: (w.job("a"), w.crawler("a")),
        "crawler 'a' is in the pipeline already",
    ),
    "id collide shell load-1x": (
        lambda w: (w.job("load-1x"), w.shell("load1x")),
        "job 'load1x' would have the construct id 'Load1x', which the",
    ),
    "dup name stream trig": (
        lambda w: (w.job("x"), w.stream("a-trigger"), w.job("a")),
        "job 'a' would have the construct id 'A', which the pipeline",
    ),
    "shell watermark": (
        lambda w: w.shell(watermark=True),
        "job 'one' is a Python shell job with watermark True",
    ),
    "shell runtime job": (
        lambda w: w.shell(runtime=tc.JobRuntime()),
        "job 'one' has runtime JobRuntime(worker_type='G.1X',",
    ),
    "shell runtime dict": (lambda w: w.shell(runtime={}), "job 'one' has runtime {}"),
    "shell script none": (lambda w: w.shell(script=None), "job 'one' has script None"),
    "shell script newer syntax": (
        lambda w: (
            (w.root / "n.py").write_text("match 1:\n  case 1: pass\n"),
            w.shell(script="n.py"),
        ),
        "correct it, or correct the path in script=",
    ),
    "shell conf": (
        lambda w: w.shell(glue_arguments=tc.GlueArguments(conf={"spark.x": "1"})),
        "job 'one' has conf in its glue_arguments (--conf), which a job",
    ),
    "shell iceberg": (
        lambda w: w.shell(glue_arguments=tc.GlueArguments(datalake_formats=["iceberg"])),
        "job 'one' has datalake_formats in its glue_arguments",
    ),
    "shell argument library-set": (
        lambda w: w.shell(arguments={"library-set": "x"}),
        "job 'one' has the argument 'library-set'",
    ),
    "shell capacity": (lambda w: tc.ShellRuntime(capacity=0.0625), "capacity is 0.0625"),
    "shell analytics int": (
        lambda w: tc.ShellRuntime(analytics_libraries=1),
        "analytics_libraries is 1",
    ),
    "shell timeout": (lambda w: tc.ShellRuntime(timeout_minutes=None), "timeout_minutes is None"),
    "shell role": (lambda w: w.shell(role="x"), "job 'one' has role 'x'"),
    "stream checkpoint none": (
        lambda w: w.stream(checkpoint=None),
        "job 'one' has checkpoint None",
    ),
    "stream checkpoint str": (
        lambda w: w.stream(checkpoint="s3://x/"),
        "job 'one' has checkpoint 's3://x/'",
    ),
    "stream script none": (lambda w: w.stream(script=None), "job 'one' has script None"),
    "stream sources str": (lambda w: w.stream(sources="x"), "job 'one' has sources 'x'"),
    "stream sources arn": (
        lambda w: w.stream(sources=["arn:aws:kinesis:eu-west-1:123456789012:stream/x"]),
        "job 'one' has sources",
    ),
    "stream runtime job": (
        lambda w: w.stream(runtime=tc.JobRuntime()),
        "job 'one' has runtime JobRuntime(worker_type='G.1X',",
    ),
    "stream runs 2": (
        lambda w: w.stream(options=tc.JobOptions(max_concurrent_runs=2)),
        "job 'one' has max_concurrent_runs 2 and one checkpoint, which",
    ),
    "stream window": (
        lambda w: tc.StreamingRuntime(maintenance_window="Sunday:10"),
        "maintenance_window is 'Sunday:10'",
    ),
    "stream window 24": (
        lambda w: tc.StreamingRuntime(maintenance_window="Sun:24"),
        "maintenance_window is 'Sun:24'",
    ),
    "stream window+timeout": (
        lambda w: tc.StreamingRuntime(maintenance_window="Sun:10", timeout_minutes=60),
        "timeout_minutes is 60 and maintenance_window 'Sun:10'",
    ),
    "stream timeout 0": (lambda w: tc.StreamingRuntime(timeout_minutes=0), "timeout_minutes is 0"),
    "stream workers 1": (
        lambda w: tc.StreamingRuntime(number_of_workers=1),
        "number_of_workers is 1",
    ),
    "stream worker Standard": (
        lambda w: tc.StreamingRuntime(worker_type="Standard"),
        "worker_type is 'Standard'",
    ),
    "kinesis arn name": (lambda w: tc.KinesisStream("clicks"), "KinesisStream has arn 'clicks'"),
    "kinesis consumer": (
        lambda w: tc.KinesisStream("arn:aws:kinesis:eu-west-1:123456789012:stream/x/consumer/y:1"),
        "KinesisStream has arn",
    ),
    "kinesis none": (lambda w: tc.KinesisStream(None), "KinesisStream has arn None"),
    "kinesis construct": (
        lambda w: tc.KinesisStream(
            __import__("aws_cdk.aws_kinesis", fromlist=["x"]).Stream(w.stack, "S")
        ),
        "allowed: the ARN of a Kinesis data stream",
    ),
    "kinesis key alias": (
        lambda w: tc.KinesisStream("arn:aws:kinesis:eu-west-1:123456789012:stream/x", "alias/x"),
        "KinesisStream has key_arn 'alias/x'",
    ),
    "msk topics str": (
        lambda w: tc.MskTopics("arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", "t"),
        "MskTopics has topics 't'",
    ),
    "msk topics star": (
        lambda w: tc.MskTopics("arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", ["*"]),
        "MskTopics has the name '*'",
    ),
    "msk topics empty": (
        lambda w: tc.MskTopics("arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", []),
        "MskTopics has topics []",
    ),
    "msk group none": (
        lambda w: tc.MskTopics(
            "arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", ["t"], group_prefix=None
        ),
        "MskTopics has the name None",
    ),
    "msk arn": (
        lambda w: tc.MskTopics("b-1.kafka:9092", ["t"]),
        "MskTopics has cluster_arn 'b-1.kafka:9092'",
    ),
    "crawler name none": (lambda w: w.crawler(None), "crawler name None is not in kebab case"),
    "crawler targets str": (
        lambda w: w.crawler(targets="s3://x/"),
        "crawler 'crawl' has targets 's3://x/'",
    ),
    "crawler targets empty": (lambda w: w.crawler(targets=[]), "crawler 'crawl' has targets []"),
    "crawler targets bucket": (
        lambda w: w.crawler(targets=[w.lake]),
        "allowed: a Dataset, CrawledData, CrawledTable, CrawledDatabase,",
    ),
    "crawler targets twice": (
        lambda w: w.crawler(targets=[w.data(), w.data()]),
        "allowed: each once",
    ),
    "crawler db none": (lambda w: w.crawler(database=None), "crawler 'crawl' has database None"),
    "crawler db upper": (lambda w: w.crawler(database="Db"), "crawler 'crawl' has database 'Db'"),
    "crawler db construct": (
        lambda w: w.crawler(database=w.lake_of()),
        "allowed: up to 255 lower case letters, digits, _ and -, or",
    ),
    "crawler options job": (
        lambda w: w.crawler(options=tc.JobOptions()),
        "crawler 'crawl' has options JobOptions(description=None,",
    ),
    "crawler options falsy": (lambda w: w.crawler(options=0), "crawler 'crawl' has options 0"),
    "crawler role str": (lambda w: w.crawler(role="x"), "crawler 'crawl' has role 'x'"),
    "crawler after str": (lambda w: w.crawler(after="x"), "after is 'x'"),
    "crawler after none": (lambda w: w.crawler(after=None), "after is None"),
    "crawler mixed": (
        lambda w: w.crawler(targets=[w.data(), tc.CrawledTable("a.b", w.data("x/"))]),
        "crawler 'crawl' has tables of the Data Catalog and other targets",
    ),
    "crawler jdbc path": (
        lambda w: tc.CrawledDatabase("conn", "db"),
        "CrawledDatabase has path 'db'",
    ),
    "crawler jdbc conn none": (
        lambda w: w.crawler(targets=[tc.CrawledDatabase(None, "db/public/%")]),
        "CrawledDatabase 'db/public/%' has connection None",
    ),
    "crawler jdbc conn star": (
        lambda w: w.crawler(targets=[tc.CrawledDatabase("*", "db/public/%")]),
        "job 'crawl' has connections ['*']",
    ),
    "crawler data conn list": (
        lambda w: w.crawler(targets=[tc.CrawledData(w.data(), connection=["a"])]),
        "job 'crawl' has connections [['a']]",
    ),
    "crawler data exclusions str": (
        lambda w: tc.CrawledData(w.data(), exclusions="**.tmp"),
        "CrawledData has exclusions '**.tmp'",
    ),
    "crawler data sampled bool": (
        lambda w: tc.CrawledData(w.data(), sampled_files=True),
        "CrawledData has sampled_files True",
    ),
    "crawler data sampled 250": (
        lambda w: tc.CrawledData(w.data(), sampled_files=250),
        "CrawledData has sampled_files 250",
    ),
    "crawler data str": (lambda w: tc.CrawledData("s3://x/"), "CrawledData has data 's3://x/'"),
    "crawled table": (
        lambda w: tc.CrawledTable("orders", w.data()),
        "CrawledTable has table 'orders'",
    ),
    "crawled table data none": (
        lambda w: tc.CrawledTable("a.orders", None),
        "CrawledTable 'a.orders' has data None",
    ),
    "crawler table delete": (
        lambda w: w.crawler(
            targets=[tc.CrawledTable("db.orders", w.data())],
            options=tc.CrawlerOptions(on_missing=tc.MissingData.DELETE),
        ),
        "crawler 'crawl' brings tables of the Data Catalog up to date",
    ),
    "crawler table prefix": (
        lambda w: w.crawler(
            targets=[tc.CrawledTable("db.orders", w.data())],
            options=tc.CrawlerOptions(table_prefix="x_"),
        ),
        "crawler 'crawl' brings tables of the Data Catalog up to date",
    ),
    "crawleropts prefix": (
        lambda w: tc.CrawlerOptions(table_prefix="Ab"),
        "CrawlerOptions has table_prefix 'Ab'",
    ),
    "crawleropts prefix none": (
        lambda w: tc.CrawlerOptions(table_prefix=None),
        "CrawlerOptions has table_prefix None",
    ),
    "crawleropts on_change str": (
        lambda w: tc.CrawlerOptions(on_change="LOG"),
        "CrawlerOptions has on_change 'LOG'",
    ),
    "crawleropts missing wrong enum": (
        lambda w: tc.CrawlerOptions(on_missing=tc.SchemaUpdate.LOG),
        "CrawlerOptions has on_missing <SchemaUpdate.LOG: 'LOG'>",
    ),
    "crawleropts recrawl": (
        lambda w: tc.CrawlerOptions(recrawl=tc.Recrawl.NEW_FOLDERS_ONLY),
        "recrawl is Recrawl.NEW_FOLDERS_ONLY, which changes no table",
    ),
    "crawleropts classifiers str": (
        lambda w: tc.CrawlerOptions(classifiers="csv"),
        "CrawlerOptions has classifiers 'csv'",
    ),
    "crawleropts classifiers dup": (
        lambda w: w.crawler(options=tc.CrawlerOptions(classifiers=["a", "a"])),
        "CrawlerOptions has classifiers ['a', 'a']",
    ),
    "crawleropts descr": (
        lambda w: tc.CrawlerOptions(description="a\0b"),
        "CrawlerOptions has description 'a\\x00b'",
    ),
    "crawleropts descr empty": (
        lambda w: tc.CrawlerOptions(description=""),
        "CrawlerOptions has description ''",
    ),
    "crawleropts tag aws": (
        lambda w: w.crawler(options=tc.CrawlerOptions(tags={"aws:x": "y"})),
        "CrawlerOptions has tags {'aws:x': 'y'}",
    ),
    "crawleropts tag star": (
        lambda w: w.crawler(options=tc.CrawlerOptions(tags={"a*": "y"})),
        "CrawlerOptions has tags {'a*': 'y'}",
    ),
    "crawleropts tags 60": (
        lambda w: w.crawler(options=tc.CrawlerOptions(tags={f"t{i}": "y" for i in range(60)})),
        "CrawlerOptions has tags {'t0': 'y', 't1': 'y', 't2': 'y', 't3':",
    ),
    "crawleropts tags list": (
        lambda w: tc.CrawlerOptions(tags=["a"]),
        "CrawlerOptions has tags ['a']",
    ),
    "crawleropts classifiers long": (
        lambda w: w.crawler(options=tc.CrawlerOptions(classifiers=["a" * 300])),
        "CrawlerOptions has classifiers",
    ),
    "crawler tags w stage": (
        lambda w: w.crawler(
            pipeline=w.pipeline("other", stage=stage_of(tags={f"s{i}": "y" for i in range(40)})),
            options=tc.CrawlerOptions(tags={f"t{i}": "y" for i in range(20)}),
        ),
        "crawler 'crawl' has 60 tags with those of its stage",
    ),
}
# What looks wrong and is not.
VALID = {
    "crawler db of the lake": lambda w: w.crawler(
        database=w.lake_of(watermarks=w.marks).catalog_database
    ),
    "stream only": lambda w: w.stream(),
    "msk without connection": lambda w: w.stream(sources=[tc.MskTopics(KAFKA, ["t"])]),
    "stream source twice": lambda w: w.stream(sources=[tc.KinesisStream(KINESIS)] * 2),
    "kinesis token": lambda w: w.stream(sources=[tc.KinesisStream(token())]),
    "msk token arn": lambda w: w.stream(sources=[tc.MskTopics(token(), ["t"])], connections=["c"]),
    "shell argument library_set": lambda w: w.shell(arguments={"library_set": "x"}),
    "shell non_overridable": lambda w: w.shell(
        options=tc.JobOptions(non_overridable=["library-set"])
    ),
    "shell modules+analytics": lambda w: w.shell(python_modules=["pandas==2.0.0"]),
    "shell wheel": lambda w: w.shell(python_modules=["s3://b/x.whl"]),
    "crawler nested targets": lambda w: w.crawler(targets=[w.data("a/"), w.data("a/b/")]),
    "crawler jdbc upper": lambda w: w.crawler(targets=[tc.CrawledDatabase("conn", "db/public/%")]),
    "crawleropts tag empty value": lambda w: tc.CrawlerOptions(tags={"a": ""}),
    "crawler new folders sampled": lambda w: w.crawler(
        targets=[tc.CrawledData(w.data(), sampled_files=5)],
        options=tc.CrawlerOptions(
            recrawl=tc.Recrawl.NEW_FOLDERS_ONLY, on_change=tc.SchemaUpdate.LOG
        ),
    ),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "dup over pipelines": (
        lambda w: (w.job("a"), w.job("a", pipeline=w.pipeline("other"))),
        "duplicate-job-name",
    ),
    "stream same checkpoint": (lambda w: (w.job("x"), w.stream("a"), w.stream("b")), "two-writers"),
}
