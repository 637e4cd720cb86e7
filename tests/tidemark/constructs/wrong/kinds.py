"""Python shell jobs, streaming jobs and crawlers."""

import tidemark.constructs as tc
from tests.fixtures.pipelines import stage_of
from tests.tidemark.constructs.wrong.world import KAFKA, KINESIS, cdk, glue, token

# What is declared, and a part of why it is refused.
WRONG = {
    "checkpoint with table": (
        lambda w: w.stream(checkpoint=w.data("state/", table=w.table())),
        "job 'one' has checkpoint 'state/' with a table",
    ),
    "open tables depth": (
        lambda w: tc.CrawledOpenTables(w.data(), tc.OpenFormat.HUDI, depth=21),
        "CrawledOpenTables has depth 21; allowed: an integer from 1 to 20",
    ),
    "delta exclusions": (
        lambda w: tc.CrawledOpenTables(w.data(), tc.OpenFormat.DELTA, exclusions=["x"]),
        "CrawledOpenTables has exclusions ['x']; allowed: none for Delta Lake",
    ),
    "wheel for another Python": (
        lambda w: w.shell(python_modules=["s3://b/x-1-cp311-cp311-linux_x86_64.whl"]),
        "job 'one' has the wheel 'x-1-cp311-cp311-linux_x86_64.whl', which is for cp311",
    ),
    "exclusions of everything": (
        lambda w: w.crawler(targets=[tc.CrawledData(w.data(), exclusions=["a.tmp", "**"])]),
        "CrawledData has exclusions ['a.tmp', '**']; allowed: a list of glob patterns",
    ),
    "exclusions that are no globs": (
        lambda w: w.crawler(targets=[tc.CrawledData(w.data(), exclusions=["a.tmp", "[b"])]),
        "CrawledData has exclusions ['a.tmp', '[b']; allowed: a list of glob patterns",
    ),
    "crawled database by a network": (
        lambda w: tc.CrawledDatabase(
            glue.CfnConnection(
                w.stack,
                "Net",
                catalog_id="1",
                connection_input={"connectionType": "NETWORK", "name": "n"},
            ),
            "shop/%",
        ),
        "CrawledDatabase has a connection of the type NETWORK, which is not to a database",
    ),
    "connections by a list token": (
        lambda w: w.job(connections=cdk.Token.as_list({"Ref": "X"})),
        "job 'one' has connections with a list that only the deployment knows",
    ),
    "argument with a token as its name": (
        lambda w: w.job(arguments={token(): "x"}),
        "job 'one' has arguments with a key that only the deployment knows",
    ),
    "description with a control character": (
        lambda w: tc.JobOptions(description="a\x07b"),
        "without control characters other than tab and new line",
    ),
    "dynamodb arn": (
        lambda w: tc.CrawledDynamoDB("arn:aws:dynamodb:eu-west-1:123456789012:table/t"),
        "allowed: a table, or a name of 3 to 255 letters",
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
    "kinesis key alias": (
        lambda w: tc.KinesisStream("arn:aws:kinesis:eu-west-1:123456789012:stream/x", "alias/x"),
        "KinesisStream has key_arn 'alias/x'",
    ),
    "msk topics star": (
        lambda w: tc.MskTopics("arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", ["*"]),
        "MskTopics has the name '*'",
    ),
    "msk topics empty": (
        lambda w: tc.MskTopics("arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", []),
        "MskTopics has topics []",
    ),
    "msk arn": (
        lambda w: tc.MskTopics("b-1.kafka:9092", ["t"]),
        "MskTopics has cluster_arn 'b-1.kafka:9092'",
    ),
    "crawler targets empty": (lambda w: w.crawler(targets=[]), "crawler 'crawl' has targets []"),
    "crawler targets twice": (
        lambda w: w.crawler(targets=[w.data(), w.data()]),
        "allowed: each once",
    ),
    "crawler db upper": (lambda w: w.crawler(database="Db"), "crawler 'crawl' has database 'Db'"),
    "crawler mixed": (
        lambda w: w.crawler(targets=[w.data(), tc.CrawledTable("a.b", w.data("x/"))]),
        "crawler 'crawl' has tables of the Data Catalog and other targets",
    ),
    "crawler jdbc path": (
        lambda w: tc.CrawledDatabase("conn", "db"),
        "CrawledDatabase has path 'db'",
    ),
    "crawler jdbc conn star": (
        lambda w: w.crawler(targets=[tc.CrawledDatabase("*", "db/public/%")]),
        "job 'crawl' has connections ['*']",
    ),
    "crawler data sampled 250": (
        lambda w: tc.CrawledData(w.data(), sampled_files=250),
        "CrawledData has sampled_files 250",
    ),
    "crawled table": (
        lambda w: tc.CrawledTable("orders", w.data()),
        "CrawledTable has table 'orders'",
    ),
    "crawler table delete": (
        lambda w: w.crawler(
            targets=[tc.CrawledTable("db.orders", w.data())],
            options=tc.CrawlerOptions(on_missing=tc.MissingData.DELETE),
        ),
        "crawler 'crawl' updates tables of the Data Catalog",
    ),
    "crawler table prefix": (
        lambda w: w.crawler(
            targets=[tc.CrawledTable("db.orders", w.data())],
            options=tc.CrawlerOptions(table_prefix="x_"),
        ),
        "crawler 'crawl' updates tables of the Data Catalog",
    ),
    "crawleropts prefix": (
        lambda w: tc.CrawlerOptions(table_prefix="Ab"),
        "CrawlerOptions has table_prefix 'Ab'",
    ),
    "crawleropts recrawl": (
        lambda w: tc.CrawlerOptions(recrawl=tc.Recrawl.NEW_FOLDERS_ONLY),
        "recrawl is Recrawl.NEW_FOLDERS_ONLY, which changes no existing table",
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
    "tag with a token as its value": lambda w: w.job(options=tc.JobOptions(tags={"team": token()})),
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
    "wheel of pure Python": lambda w: w.job(python_modules=["s3://b/x-1-py3-none-any.whl"]),
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
