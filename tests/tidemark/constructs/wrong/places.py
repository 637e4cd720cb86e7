"""What is in another account or region than who uses it, and data that two describe."""

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, REGION, stage_of
from tests.tidemark.constructs.wrong.world import KINESIS, cdk, dynamodb, glue, kms, s3, sqs

OTHER = "999999999999"


def elsewhere(w):
    """Return a stack of another account."""
    return w.elsewhere(account=OTHER, region=REGION)


def network(w):
    """Return a connection of a stack in another region."""
    given = {"connectionType": "NETWORK", "name": "office"}
    return glue.CfnConnection(w.elsewhere(), "C", catalog_id=ACCOUNT, connection_input=given)


def database(stack, catalog=ACCOUNT):
    """Return a database of a stack."""
    return glue.CfnDatabase(stack, "D", catalog_id=catalog, database_input={"name": "d"})


def other_key(w):
    """Return a key that was imported from another region."""
    return kms.Key.from_key_arn(w.stack, "Key2", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/k")


def jdbc(w, secret):
    """Return a connection to a database whose password is a secret."""
    properties = {"JDBC_CONNECTION_URL": "jdbc:postgresql://db/shop", "SECRET_ID": secret}
    given = {"connectionType": "JDBC", "name": "shop", "connectionProperties": properties}
    return glue.CfnConnection(w.stack, "Cj", catalog_id=ACCOUNT, connection_input=given)


def declared(w, **given):
    """Return delivered data with a table."""
    return w.data("declared/", table=w.table(**given))


def ruleset(w, name):
    """Return data with a ruleset `q`."""
    rules = tc.DataQualityRuleset("Rules = [RowCount > 0]", name="q")
    return w.data(f"{name}/", table=w.table(name=name, quality=rules))


# What is declared, and a part of why it is refused.
WRONG = {
    "stage of other account": (
        lambda w: w.given(stage=stage_of(account=OTHER)),
        f"the stage 'dev', which is in the account {OTHER}, and its stack is in {ACCOUNT}",
    ),
    "stage of other region": (
        lambda w: w.given(stage=stage_of(region="us-east-1")),
        f"the stage 'dev', which is in the region us-east-1, and its stack is in {REGION}",
    ),
    "set with env of other account": (
        lambda w: w.set_of(env=cdk.Environment(account=OTHER, region=REGION)).add("x"),
        f"and its stack is in {OTHER}; allowed: one account",
    ),
    "lake of other account": (
        lambda w: tc.Lake(elsewhere(w), "L", stage=stage_of()),
        "the lake has the stage 'dev', which is in the account",
    ),
    "key of other account": (
        lambda w: tc.StageKey(elsewhere(w), "K", stage=stage_of()),
        "the key has the stage 'dev', which is in the account",
    ),
    "slack of other account": (
        lambda w: w.slack(scope=elsewhere(w)),
        "SlackChannel has the stage 'dev', which is in the account",
    ),
    "security key of other region": (
        lambda w: w.given(
            security=tc.ExistingSecurity(
                "x",
                logs_key=kms.Key.from_key_arn(
                    w.stack, "K2", f"arn:aws:kms:us-east-1:{ACCOUNT}:key/k"
                ),
            )
        ),
        "has security with logs_key in the region us-east-1",
    ),
    "connection of other region": (
        lambda w: w.job(connections=[network(w)]),
        "job 'one' has a connection in the region us-east-1",
    ),
    "connection of another catalog": (
        lambda w: w.job(
            connections=[
                glue.CfnConnection(
                    w.stack,
                    "C",
                    catalog_id=OTHER,
                    connection_input={"connectionType": "NETWORK", "name": "office"},
                )
            ]
        ),
        f"job 'one' has a connection of the catalog '{OTHER}'",
    ),
    "connection of other region shell": (
        lambda w: w.shell(connections=[network(w)]),
        "job 'one' has a connection in the region us-east-1",
    ),
    "table of database of other region": (
        lambda w: w.job(reads=[declared(w, database=database(w.elsewhere()))]),
        "job 'one' has a database in the region us-east-1",
    ),
    "table of database of other account": (
        lambda w: w.job(writes=[declared(w, database=database(elsewhere(w)))]),
        f"job 'one' has a database in the account {OTHER}",
    ),
    "database of another catalog": (
        lambda w: w.job(
            writes=[declared(w, database=database(w.stack, catalog="s3tablescatalog"))]
        ),
        "job 'one' has a database of the catalog 's3tablescatalog'",
    ),
    "database imported of other account": (
        lambda w: w.job(
            writes=[
                declared(
                    w,
                    database=glue.Database.from_database_arn(
                        w.stack, "Dba", f"arn:aws:glue:{REGION}:{OTHER}:database/d"
                    ),
                )
            ]
        ),
        f"job 'one' has a database in the account {OTHER}",
    ),
    "crawler with database of other region": (
        lambda w: w.crawler(database=database(w.elsewhere())),
        "crawler 'crawl' has a database in the region us-east-1",
    ),
    "crawler with connection of other region": (
        lambda w: w.crawler(targets=[tc.CrawledData(w.data(), connection=network(w))]),
        "crawler 'crawl' has a connection in the region us-east-1",
    ),
    "connection imported of other account": (
        lambda w: w.job(
            connections=[
                glue.Connection.from_connection_arn(
                    w.stack, "Ca", f"arn:aws:glue:{REGION}:{OTHER}:connection/c"
                )
            ]
        ),
        f"job 'one' has a connection in the account {OTHER}",
    ),
    "bucket of another partition": (
        lambda w: w.job(
            reads=[
                tc.Dataset(s3.Bucket.from_bucket_arn(w.stack, "Cn", "arn:aws-cn:s3:::lake"), "x/")
            ]
        ),
        "job 'one' has data in a bucket in the partition aws-cn; allowed: aws",
    ),
    "bucket of another account starts": (
        lambda w: w.started_by(
            tc.OnObjects(
                tc.Dataset(
                    s3.Bucket.from_bucket_attributes(
                        w.stack, "Ob", bucket_name="theirs", account=OTHER
                    ),
                    "x/",
                )
            )
        ),
        f"has starts with a bucket in the account {OTHER}",
    ),
    "watermarks imported of other region": (
        lambda w: tc.WatermarkTable.from_table(
            w.stack,
            "Wt",
            dynamodb.Table.from_table_arn(
                w.stack, "Ta", f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/marks"
            ),
        ),
        "the watermark table has its table in the region us-east-1",
    ),
    "watermarks of TableV2 with other keys": (
        lambda w: tc.WatermarkTable.from_table(w.stack, "Wv", w.keyed_v2("id")),
        "has the keys id (S); allowed: jobName (S), runId (S)",
    ),
    "lake with a key of other region": (
        lambda w: w.lake_of(key=other_key(w)),
        "the lake has key in the region us-east-1",
    ),
    "bucket with a key of other region": (
        lambda w: w.bucket(key=other_key(w)),
        "the bucket 'B' has key in the region us-east-1",
    ),
    "slack with a key of other region": (
        lambda w: w.slack(key=other_key(w)),
        "SlackChannel has key in the region us-east-1",
    ),
    "upgrade key of other region": (
        lambda w: w.job(
            runtime=tc.JobRuntime(glue_version="auto", max_retries=1),
            glue_arguments=tc.GlueArguments(
                auto_upgrade_metadata_kms_key=f"arn:aws:kms:us-east-1:{ACCOUNT}:key/k"
            ),
        ),
        "job 'one' has auto_upgrade_metadata_kms_key in the region us-east-1",
    ),
    "connection with a secret of other region": (
        lambda w: w.job(
            connections=[
                jdbc(w, secret=f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:secret:db-AbCdEf")
            ]
        ),
        "job 'one' has a connection with a secret in the region us-east-1",
    ),
    "crawled table of DynamoDB of other region": (
        lambda w: w.crawler(
            targets=[
                tc.CrawledDynamoDB(
                    dynamodb.Table.from_table_arn(
                        w.stack, "Td", f"arn:aws:dynamodb:us-east-1:{ACCOUNT}:table/marks"
                    )
                )
            ]
        ),
        "crawler 'crawl' has a table of DynamoDB in the region us-east-1",
    ),
    "crawled data with table": (
        lambda w: w.crawler(targets=[declared(w)]),
        "which has the declared table 'db.t', and would create a second table for it",
    ),
    "crawled data with table, part": (
        lambda w: w.crawler(targets=[tc.CrawledData(declared(w), exclusions=["**.tmp"])]),
        "which has the declared table 'db.t', and would create a second table for it",
    ),
    "crawled iceberg with table": (
        lambda w: w.crawler(targets=[tc.CrawledOpenTables(declared(w), tc.OpenFormat.ICEBERG)]),
        "which has the declared table 'db.t', and would create a second table for it",
    ),
    "crawled table of other data": (
        lambda w: w.crawler(targets=[tc.CrawledTable("db.x", declared(w))]),
        "crawler 'crawl' has the table 'db.x' for 'declared/', whose declared table is 'db.t'",
    ),
    "stream with notice of long runs": (
        lambda w: w.stream(options=tc.JobOptions(notify_after_minutes=5)),
        "job 'one' has notify_after_minutes 5 and is a streaming job",
    ),
    "event numeric of texts": (
        lambda w: tc.OnEvent({"source": ["a"], "detail": {"n": [{"numeric": ["x"]}]}}),
        "['x'] is not an operand of numeric; allowed: a list like",
    ),
    "event numeric without a number": (
        lambda w: tc.OnEvent({"source": ["a"], "detail": {"n": [{"numeric": [">", "1"]}]}}),
        "is not an operand of numeric; allowed: a list like",
    ),
    "event numeric operator": (
        lambda w: tc.OnEvent({"source": ["a"], "detail": {"n": [{"numeric": ["=>", 1]}]}}),
        "is not an operand of numeric; allowed: a list like",
    ),
    "event exists text": (
        lambda w: tc.OnEvent({"source": ["a"], "detail": {"n": [{"exists": "yes"}]}}),
        "'yes' is not an operand of exists; allowed: true or false",
    ),
    "event two filters in one": (
        lambda w: tc.OnEvent({"source": ["a"], "detail": {"n": [{"prefix": "x", "suffix": "y"}]}}),
        "detail.n has {'prefix': 'x', 'suffix': 'y'}; allowed: one of prefix",
    ),
    "event null, which the CDK drops": (
        lambda w: tc.OnEvent({"source": ["a"], "detail": {"n": [None, "x"]}}),
        "whose 'n' has null, which is lost on its way into the template",
    ),
    "event filter empty": (
        lambda w: tc.OnEvent({"source": ["a"], "detail": {"n": [{}]}}),
        "detail.n has {}; allowed: one of prefix",
    ),
    "run property with NUL in its name": (
        lambda w: w.given(run_properties={"a\0": "x"}),
        "has the run property 'a\\x00'; allowed: names of 1 to 255",
    ),
    "run property with a long name": (
        lambda w: w.given(run_properties={"a" * 256: "x"}),
        "names of 1 to 255 characters",
    ),
    "modules that differ in case": (
        lambda w: w.job(python_modules=["Pandas==1.0", "pandas==1.0"]),
        "allowed: each package once",
    ),
    "modules that differ in _": (
        lambda w: w.job(python_modules=["a_b==1.0", "a-b==1.0"]),
        "allowed: each package once",
    ),
    "one wheel of two buckets": (
        lambda w: w.job(python_modules=["s3://b/x.whl", "s3://c/x.whl"]),
        "allowed: each package once",
    ),
    "started with a notice at its end": (
        lambda w: w.job(started=tc.ActionOptions(timeout_minutes=5, notify_after_minutes=5)),
        "notify_after_minutes 5 and times out after 5",
    ),
    "after a crawler of another pipeline": (
        lambda w: w.job(after=[w.crawler(pipeline=w.pipeline("zz"))]),
        "job 'one' waits for 'crawl', which no trigger of this pipeline starts",
    ),
    "all_of two states of one job": (
        lambda w: (lambda j: tc.all_of(j.on(tc.JobState.FAILED), j))(w.job("a")),
        "a run ends in one state only",
    ),
    "script outside by ..": (
        lambda w: ((w.root.parent / "o.py").write_text("1"), w.job(script="../o.py")),
        "which is outside the project",
    ),
    "script in another encoding": (
        lambda w: ((w.root / "u.py").write_bytes(b"\xff\xfe"), w.job(script="u.py")),
        "which is not Python",
    ),
    "script that does not compile": (
        lambda w: ((w.root / "sx.py").write_text("def"), w.job(script="sx.py")),
        "which is not Python",
    ),
    "script that is nested too deeply": (
        lambda w: ((w.root / "sx.py").write_text("-" * 100_000 + "1"), w.job(script="sx.py")),
        "which is nested too deeply for Python",
    ),
    "map with a struct as its key": (
        lambda w: tc.Column("a", "map<struct<a:int>,int>"),
        "the key of a map must be a type without others in it",
    ),
    "column of Athena's own": (
        lambda w: tc.Column("$path", "string"),
        "column name '$path' is not valid",
    ),
    "decimal with more behind than in all": (
        lambda w: tc.Column("a", "decimal(5,6)"),
        "decimal has more digits after the point",
    ),
}
# What looks wrong and is not.
VALID = {
    "stage without an account": lambda w: w.given(stage=stage_of(account=None, region=None)),
    "crawlers of one folder, two databases": lambda w: (
        w.job(),
        w.crawler("a"),
        w.crawler("b", database="db2"),
    ),
    "crawlers of one folder, two prefixes": lambda w: (
        w.job(),
        w.crawler("a", options=tc.CrawlerOptions(table_prefix="a_")),
        w.crawler("b", options=tc.CrawlerOptions(table_prefix="b_")),
    ),
    "crawlers of one folder, said to be right": lambda w: (
        w.job(),
        w.crawler("a"),
        w.crawler("b").acknowledge("crawled-twice", "each excludes what the other reads"),
    ),
    "crawled table that is declared": lambda w: (
        lambda crawl: w.job(reads=[declared(w)], after=[crawl])
    )(w.crawler(targets=[tc.CrawledTable("db.t", declared(w))])),
    "event filters": lambda w: w.started_by(
        tc.OnEvent(
            {
                "source": ["a"],
                "detail": {"n": [{"numeric": [">", 0, "<=", 5.5]}, {"exists": False}]},
            }
        )
    ),
    "queue of another account": lambda w: w.given(
        alerts=tc.Alerting(
            subscribers=[
                tc.SqsQueue(
                    sqs.Queue.from_queue_arn(w.stack, "Q", f"arn:aws:sqs:{REGION}:{OTHER}:q")
                )
            ]
        )
    ),
    "stream of another region": lambda w: (
        w.job(),
        w.stream("s", sources=[tc.KinesisStream(KINESIS.replace(REGION, "us-east-1"))]),
    ),
    "any_of all states of one job": lambda w: (
        lambda job: w.job("b", after=tc.any_of(*[job.on(state) for state in tc.JobState]))
    )(w.job("a")),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "two crawlers of one folder": (
        lambda w: (w.job(), w.crawler("a"), w.crawler("b")),
        "crawled-twice",
    ),
    "two crawlers of two pipelines": (
        lambda w: (w.job(), w.crawler("a"), w.crawler("b", pipeline=w.pipeline("zz"))),
        "crawled-twice",
    ),
    "a crawler inside of another's folder": (
        lambda w: (
            w.job(),
            w.crawler("a", targets=[w.data("x/")]),
            w.crawler("b", targets=[w.data("x/y/")]),
        ),
        "crawled-twice",
    ),
    "a crawler beside a declared table": (
        lambda w: (w.job(reads=[declared(w)]), w.crawler(targets=[w.data("declared/")])),
        "crawled-and-declared",
    ),
    "a tag of AWS": (
        lambda w: (w.job(), cdk.Tags.of(w.orders).add("aws:team", "sales")),
        "reserved-tag",
    ),
    "a checkpoint that is read and crawled": (
        lambda w: (
            w.stream("s"),
            w.job(reads=[w.data("checkpoint/")]),
            w.crawler(targets=[w.data("checkpoint/offsets/")]),
        ),
        "state-as-data",
    ),
    "two connections of one name": (
        lambda w: (
            w.job(connections=[jdbc(w, "s")]),
            glue.CfnConnection(
                w.stack,
                "Again",
                catalog_id=ACCOUNT,
                connection_input={"connectionType": "NETWORK", "name": "shop"},
            ),
        ),
        "duplicate-name",
    ),
    "two rules of one name": (
        lambda w: (
            w.job(),
            *(
                cdk.aws_events.CfnRule(
                    w.stack, id_, name="nightly", event_pattern={"source": [id_]}
                )
                for id_ in ("One", "Two")
            ),
        ),
        "duplicate-name",
    ),
    "two rulesets of one name": (
        lambda w: w.job(writes=[ruleset(w, "t"), ruleset(w, "u")]),
        "duplicate-name",
    ),
}
