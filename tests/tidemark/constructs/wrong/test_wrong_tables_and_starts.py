"""Tables of the Data Catalog, and what starts a pipeline: what is wrong is refused in one line."""

import pytest

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, REGION, stage_of
from tests.tidemark.constructs.wrong.world import World, cdk, s3, token
from tidemark.errors import InputError

pytestmark = pytest.mark.synth

# What is declared, and a part of why it is refused.
WRONG = {
    "t db none": (lambda w: w.table(database=None), "table 't' has database None"),
    "t db star": (lambda w: w.table(database="*"), "table 't' has database '*'"),
    "t db token": (
        lambda w: w.job(
            writes=[
                w.data(
                    "o/",
                    table=tc.Table(database=token(), name="t", columns=[tc.Column("id", "bigint")]),
                )
            ]
        ),
        "allowed: a CfnDatabase, as lake.database, or the name of a",
    ),
    "t name upper": (lambda w: w.table(name="T"), "table 'T' has name 'T'"),
    "t cols str": (lambda w: w.table(columns="id bigint"), "table 't' has columns 'id bigint'"),
    "t cols tuple list": (
        lambda w: w.table(columns=[("id", "bigint")]),
        "table 't' has columns [('id', 'bigint')]",
    ),
    "t cols empty": (lambda w: w.table(columns=[]), "table 't' has columns ()"),
    "t cols twice": (
        lambda w: w.table(columns=[tc.Column("id", "bigint"), tc.Column("id", "bigint")]),
        "table 't' has column 'id'",
    ),
    "t key is col": (
        lambda w: w.table(partition_keys=[tc.Column("id", "bigint")]),
        "table 't' has column 'id'",
    ),
    "t format str": (lambda w: w.table(format="parquet"), "table 't' has format 'parquet'"),
    "t format method": (
        lambda w: w.table(format=tc.TableFormat.parquet),
        "table 't' has format <bound method TableFormat.parquet of",
    ),
    "t projection dict": (
        lambda w: w.table(projection={"day": "x"}),
        "table 't' has projection {'day': 'x'}",
    ),
    "t projection no keys": (
        lambda w: w.table(projection=tc.Projection({"day": tc.DateProjection("2020-01-01")})),
        "table 't' has projection of 'day'",
    ),
    "t descr none": (lambda w: w.table(description=None), "table 't' has description None"),
    "t params int": (lambda w: w.table(parameters={"a": 1}), "table 't' has parameters {'a': 1}"),
    "t params reserved": (
        lambda w: w.table(parameters={"projection.enabled": "true"}),
        "table 't' has parameter 'projection.enabled'",
    ),
    "t quality str": (
        lambda w: w.table(quality="Rules = [RowCount > 0]"),
        "table 't' has quality 'Rules = [RowCount > 0]'",
    ),
    "t lf int": (lambda w: w.table(lake_formation=1), "table 't' has lake_formation 1"),
    "col type": (
        lambda w: tc.Column("id", "integerr"),
        "column 'id' has the type 'integerr': 'integerr' is no type of",
    ),
    "col type none": (
        lambda w: tc.Column("id", None),
        "column 'id' has the type None: it is not a string",
    ),
    "col name upper": (lambda w: tc.Column("Id", "int"), "column name 'Id' is not one of a table"),
    "col name space": (
        lambda w: tc.Column("my id", "int"),
        "column name 'my id' is not one of a table",
    ),
    "col comment long": (lambda w: tc.Column("a", "int", "c" * 256), "column 'a' has the comment"),
    "col decimal": (
        lambda w: tc.Column("a", "decimal(39,2)"),
        "column 'a' has the type 'decimal(39,2)': decimal has '39' where",
    ),
    "col struct open": (
        lambda w: tc.Column("a", "struct<x:int"),
        "column 'a' has the type 'struct<x:int': it ends where ',' or",
    ),
    "col array none": (
        lambda w: tc.Column("a", "array"),
        "column 'a' has the type 'array': it ends where '<' should be",
    ),
    "proj enum str": (
        lambda w: tc.EnumProjection("a,b"),
        "a partition projection has values 'a,b'",
    ),
    "proj enum comma": (
        lambda w: tc.EnumProjection(["a,b"]),
        "a partition projection has values ['a,b']",
    ),
    "proj int float": (
        lambda w: tc.IntegerProjection(1.0, 2),
        "a partition projection has least 1.0",
    ),
    "proj int rev": (
        lambda w: tc.IntegerProjection(2, 1),
        "a partition projection has range (2, 1)",
    ),
    "proj int digits": (
        lambda w: tc.IntegerProjection(1, 1000, digits=2),
        "a partition projection has digits 2",
    ),
    "proj date fmt": (
        lambda w: tc.DateProjection("2020-01-01", format="YYYY-MM-dd"),
        "a partition projection has format 'YYYY-MM-dd'",
    ),
    "proj date start": (
        lambda w: tc.DateProjection("2020-13-01"),
        "a partition projection has start '2020-13-01'",
    ),
    "proj date unit": (
        lambda w: tc.DateProjection("2020", format="yyyy", unit=tc.DateUnit.DAYS, end="2024"),
        "a partition projection has unit <DateUnit.DAYS: 'DAYS'>",
    ),
    "proj date unit str": (
        lambda w: tc.DateProjection("2020-01-01", unit="DAYS"),
        "a partition projection has unit 'DAYS'",
    ),
    "proj none": (lambda w: tc.Projection(None), "a partition projection has keys None"),
    "proj value": (
        lambda w: tc.Projection({"a": "enum"}),
        "a partition projection has keys {'a': 'enum'}",
    ),
    "proj mismatch": (
        lambda w: w.job(
            writes=[
                w.data(
                    "o/",
                    table=w.table(
                        partition_keys=[tc.Column("day", "string")],
                        projection=tc.Projection({"dai": tc.DateProjection("2020-01-01")}),
                    ),
                )
            ]
        ),
        "table 't' has projection of 'dai'",
    ),
    "proj type": (
        lambda w: w.job(
            writes=[
                w.data(
                    "o/",
                    table=w.table(
                        partition_keys=[tc.Column("day", "double")],
                        projection=tc.Projection({"day": tc.DateProjection("2020-01-01")}),
                    ),
                )
            ]
        ),
        "table 't' has DateProjection of Column(name='day',",
    ),
    "csv quote": (lambda w: tc.TableFormat.csv(quote="''"), "a csv table has quote \"''\""),
    "csv delim none": (
        lambda w: tc.TableFormat.csv(delimiter=None),
        "a csv table has delimiter None",
    ),
    "csv same": (
        lambda w: tc.TableFormat.csv(delimiter=",", quote=","),
        "a csv table has ',', ',' and '\\\\' for delimiter, quote and",
    ),
    "avro": (lambda w: tc.TableFormat.avro("{"), "an avro table has the schema '{'"),
    "csv header int": (lambda w: tc.TableFormat.csv(header=1), "a csv table has header 1"),
    "dq none": (
        lambda w: tc.DataQualityRuleset(None),
        "a data quality ruleset has the rules None, of which it is not a",
    ),
    "dq empty": (
        lambda w: tc.DataQualityRuleset("Rules = []"),
        "a data quality ruleset has the rules 'Rules = []', of which the",
    ),
    "dq open": (
        lambda w: tc.DataQualityRuleset("Rules = [RowCount > 0"),
        "a data quality ruleset has the rules 'Rules = [RowCount > 0',",
    ),
    "dq name": (
        lambda w: tc.DataQualityRuleset("Rules = [RowCount > 0]", name="a b"),
        "a data quality ruleset has the name 'a b'",
    ),
    "ds table str": (lambda w: w.data("o/", table="db.t"), "dataset 'o/' has table 'db.t'"),
    "same table two data": (
        lambda w: (
            w.job(
                "a",
                writes=[
                    w.data(
                        "a/",
                        table=tc.Table(
                            database="db", name="t", columns=[tc.Column("id", "bigint")]
                        ),
                    )
                ],
            ),
            w.job(
                "b",
                writes=[
                    w.data(
                        "b/",
                        table=tc.Table(
                            database="db", name="t", columns=[tc.Column("id", "bigint")]
                        ),
                    )
                ],
            ),
        ),
        "job 'b' declares the table 'db.t' for 'b/' otherwise than",
    ),
    "use none": (lambda w: w.job(tables=[tc.TableUse(None)]), "a TableUse has None in tables"),
    "use upper": (lambda w: w.job(tables=[tc.TableUse("Db.T")]), "a TableUse has 'Db.T' in tables"),
    "use star": (lambda w: w.job(tables=[tc.TableUse("db.*")]), "a TableUse has 'db.*' in tables"),
    "use create": (
        lambda w: w.job(tables=[tc.TableUse("db.t", create=True)]),
        "the TableUse of 'db.t' has create True",
    ),
    "use catalog": (
        lambda w: w.job(tables=[tc.TableUse("db.t", catalog_id="x")]),
        "the TableUse of 'db.t' has catalog_id 'x'",
    ),
    "use catalog int": (
        lambda w: w.job(tables=[tc.TableUse("db.t", catalog_id=123456789012)]),
        "the TableUse of 'db.t' has catalog_id 123456789012",
    ),
    "use write str": (
        lambda w: w.job(tables=[tc.TableUse("db.t", write="yes")]),
        "the TableUse of 'db.t' has write 'yes'",
    ),
    "use ruleset": (
        lambda w: w.job(tables=[tc.TableUse("db.t", ruleset="*")]),
        "the TableUse of 'db.t' has ruleset '*'",
    ),
    "use lf+cat": (
        lambda w: w.job(
            tables=[tc.TableUse("db.t", catalog_id="123456789013", lake_formation=True)]
        ),
        "the TableUse of 'db.t' has lake_formation True",
    ),
    "use twice": (
        lambda w: w.job(tables=["db.t", tc.TableUse("db.t", write=True)]),
        "job 'one' has 'db.t' in tables twice",
    ),
    "use table obj": (
        lambda w: w.job(
            tables=[tc.Table(database="db", name="t", columns=[tc.Column("id", "bigint")])]
        ),
        "job 'one' has tables [Table(database='db', name='t',",
    ),
    "use none in list": (lambda w: w.job(tables=[None]), "job 'one' has tables [None]"),
    "starts schedule": (
        lambda w: w.pipeline("o", starts=tc.Schedule("rate(1 hour)")),
        "pipeline 'o' has starts Schedule(expression='rate(1 hour)',",
    ),
    "starts str": (
        lambda w: w.pipeline("o", starts="rate(1 hour)"),
        "pipeline 'o' has starts 'rate(1 hour)'",
    ),
    "starts list str": (
        lambda w: w.pipeline("o", starts=["rate(1 hour)"]),
        "pipeline 'o' has starts ['rate(1 hour)']",
    ),
    "starts twice": (
        lambda w: w.started_by(tc.Schedule("rate(1 hour)"), tc.Schedule("rate(1 hour)")),
        "pipeline 'orders' has the start Schedule(expression='rate(1",
    ),
    "starts batches": (
        lambda w: w.started_by(
            tc.OnObjects(w.data(), batch_size=2), tc.OnObjects(w.data("b/"), batch_size=3)
        ),
        "pipeline 'orders' is started by batches of 2 in 15 min and 3 in",
    ),
    "starts set": (
        lambda w: w.pipeline("o", starts={tc.Schedule("rate(1 hour)")}),
        "pipeline 'o' has starts {Schedule(expression='rate(1 hour)',",
    ),
    "starts dataset": (
        lambda w: w.pipeline("o", starts=[w.data()]),
        "allowed: a list of Schedule(...), OnObjects(...) and",
    ),
    "oo bucket": (lambda w: tc.OnObjects(w.lake), "allowed: a Dataset"),
    "oo size 0": (lambda w: tc.OnObjects(w.data(), batch_size=0), "OnObjects has batch_size 0"),
    "oo size 101": (
        lambda w: tc.OnObjects(w.data(), batch_size=101),
        "OnObjects has batch_size 101",
    ),
    "oo size true": (
        lambda w: tc.OnObjects(w.data(), batch_size=True),
        "OnObjects has batch_size True",
    ),
    "oo window 16": (
        lambda w: tc.OnObjects(w.data(), batch_window_minutes=16),
        "OnObjects has batch_window_minutes 16",
    ),
    "oo window str": (
        lambda w: tc.OnObjects(w.data(), batch_window_minutes="5"),
        "OnObjects has batch_window_minutes '5'",
    ),
    "oo none": (lambda w: tc.OnObjects(None), "OnObjects has dataset None"),
    "oe str": (lambda w: tc.OnEvent("x"), "OnEvent has pattern 'x', which is no event pattern"),
    "oe empty": (
        lambda w: tc.OnEvent({}),
        "OnEvent has pattern {}, which names no source, so that events",
    ),
    "oe nosource": (
        lambda w: tc.OnEvent({"detail-type": ["x"]}),
        "OnEvent has pattern {'detail-type': ['x']}, which names no",
    ),
    "oe value str": (
        lambda w: tc.OnEvent({"source": "acme"}),
        "OnEvent has pattern {'source': 'acme'}, which is no event",
    ),
    "oe long": (lambda w: tc.OnEvent({"source": ["a" * 3000]}), "OnEvent has pattern {'source':"),
    "oe set": (
        lambda w: tc.OnEvent({"source": {"acme"}}),
        "OnEvent has pattern {'source': {'acme'}}, which is no event",
    ),
    "starts none in list": (
        lambda w: w.pipeline("o", starts=[None]),
        "pipeline 'o' has starts [None]",
    ),
    "set starts": (lambda w: w.set_of().add("a", starts="x"), "pipeline 'a' has starts 'x'"),
    "t descr secret": (lambda w: w.table(description="password=hunter2"), "without a secret"),
    "t params secret": (
        lambda w: w.job(writes=[w.data("o/", table=w.table(parameters={"password": "hunter2"}))]),
        "values that are no secret",
    ),
    "use bare token": (
        lambda w: w.job(tables=[token()]),
        "in tables; allowed: each database.table",
    ),
    "oe key": (
        lambda w: w.started_by(tc.OnEvent({"source": ["acme"], "detailtype": ["x"]})),
        "whose field 'detailtype' no event has",
    ),
    "oe detail list": (
        lambda w: tc.OnEvent({"source": ["acme"], "detail": ["x"]}),
        "whose detail is no dict",
    ),
    "oe secret": (
        lambda w: w.started_by(
            tc.OnEvent({"source": ["acme"], "detail": {"password": ["hunter2"]}})
        ),
        "whose 'password' looks like a secret",
    ),
    "oo other region bucket": (
        lambda w: w.started_by(
            tc.OnObjects(
                tc.Dataset(
                    s3.Bucket.from_bucket_attributes(
                        w.stack, "BB", bucket_name="their-bucket", region="us-east-1"
                    ),
                    "in/",
                )
            )
        ),
        "has starts with a bucket in the region us-east-1",
    ),
    "stream checkpoint = writes": (
        lambda w: (
            w.job("x"),
            w.stream(checkpoint=w.data("c/"), writes=[w.data("c/")]),
        ),
        "a folder that holds nothing else",
    ),
    "stream checkpoint = reads": (
        lambda w: (
            w.job("x"),
            w.stream(checkpoint=w.data("c/"), reads=[w.data("c/")]),
        ),
        "a folder that holds nothing else",
    ),
    "stream checkpoint in writes": (
        lambda w: (
            w.job("x"),
            w.stream(checkpoint=w.data("c/x/"), writes=[w.data("c/")]),
        ),
        "a folder that holds nothing else",
    ),
    "oe unknown filter": (
        lambda w: tc.OnEvent({"source": [{"prefx": "acme"}]}),
        "is matched by prefx, which is none",
    ),
    "oe nan": (
        lambda w: tc.OnEvent({"source": ["acme"], "detail": {"x": [float("nan")]}}),
        "which is no JSON",
    ),
}
# What looks wrong and is not.
VALID = {
    "proj keys": lambda w: tc.Projection({}),
    "proj ok": lambda w: w.job(
        writes=[
            w.data(
                "o/",
                table=w.table(
                    partition_keys=[tc.Column("day", "string")],
                    projection=tc.Projection({"day": tc.DateProjection("2020-01-01")}),
                ),
            )
        ]
    ),
    "format by hand": lambda w: tc.TableFormat("x", "y", "z", "w"),
    "table in two stacks": lambda w: (
        w.job(
            "a",
            writes=[
                w.data(
                    "a/",
                    table=tc.Table(database="db", name="t", columns=[tc.Column("id", "bigint")]),
                )
            ],
        ),
        w.job(
            "b",
            reads=[
                w.data(
                    "a/",
                    table=tc.Table(database="db", name="t", columns=[tc.Column("id", "bigint")]),
                )
            ],
            pipeline=w.pipeline("other"),
        ),
    ),
    "use own catalog id": lambda w: w.job(tables=[tc.TableUse("db.t", catalog_id=ACCOUNT)]),
    "use token": lambda w: w.job(tables=[f"{token()}.orders"]),
    "use streaming": lambda w: (
        w.job("x"),
        w.stream("s", tables=[tc.TableUse("db.t", write=True, create=True)]),
    ),
    "use shell": lambda w: w.shell(tables=[tc.TableUse("db.t", write=True)]),
    "use ruleset token": lambda w: w.job(tables=[tc.TableUse("db.t", ruleset=token())]),
    "oe none val": lambda w: w.started_by(tc.OnEvent({"source": [None]})),
    "oe own": lambda w: w.started_by(tc.OnEvent({"source": ["tidemark"]})),
    "oe aws glue self": lambda w: w.started_by(
        tc.OnEvent({"source": ["aws.glue"], "detail-type": ["Glue Job State Change"]})
    ),
    "oe token": lambda w: w.started_by(tc.OnEvent({"source": [token()]})),
    "starts + stage schedule": lambda w: w.pipeline(
        "o", stage=stage_of(schedule="rate(1 day)"), starts=[]
    ).add_job("one", script="job.py", bookmark=tc.BookmarkOption.ENABLE),
    "sched 2": lambda w: w.started_by(
        tc.Schedule("cron(0 6 * * ? *)"), tc.Schedule("cron(0 18 * * ? *)")
    ),
    "sched+event": lambda w: w.started_by(tc.Schedule("cron(0 6 * * ? *)"), tc.OnObjects(w.data())),
    "stream notify": lambda w: (
        w.job("x"),
        w.stream(options=tc.JobOptions(notify_after_minutes=5)),
    ),
    "msk no conn": lambda w: (
        w.job("x"),
        w.stream(
            sources=[tc.MskTopics("arn:aws:kafka:eu-west-1:123456789012:cluster/x/abc-1", ["t"])]
        ),
    ),
    "kinesis other region": lambda w: (
        w.job("x"),
        w.stream(sources=[tc.KinesisStream("arn:aws:kinesis:us-east-1:123456789012:stream/x")]),
    ),
    "msk token": lambda w: (w.job("x"), w.stream(sources=[tc.MskTopics(token(), ["t"])])),
    "es token": lambda w: w.job(pipeline=w.pipeline("x", security=tc.ExistingSecurity(token()))),
    "stream flex ga": lambda w: (
        w.job("x"),
        w.stream(glue_arguments=tc.GlueArguments(auto_scale_within_microbatch=False)),
    ),
    "use token after the dot": lambda w: w.job(tables=[f"sales.{token()}"]),
}
# What a rule of the graph refuses at synthesis, and the rule.
REFUSED_AT_SYNTHESIS = {
    "table of read not delivered": (
        lambda w: w.job(
            reads=[
                w.data(
                    "a/",
                    delivered=False,
                    table=tc.Table(database="db", name="t", columns=[tc.Column("id", "bigint")]),
                )
            ]
        ),
        "table-not-created",
    ),
    "oo own output": (
        lambda w: (
            lambda p: p.add_job(
                "one",
                script="job.py",
                bookmark=tc.BookmarkOption.ENABLE,
                writes=[w.data("in/", delivered=False)],
            )
        )(w.pipeline("o", starts=[tc.OnObjects(w.data("in/", delivered=False))])),
        "starts-itself",
    ),
    "oo parent of output": (
        lambda w: (
            lambda p: p.add_job(
                "one",
                script="job.py",
                bookmark=tc.BookmarkOption.ENABLE,
                writes=[w.data("in/x/", delivered=False)],
            )
        )(w.pipeline("o", starts=[tc.OnObjects(w.data("in/", delivered=False))])),
        "starts-itself",
    ),
    "lake twice + pipe": (
        lambda w: (
            w.lake_of(),
            tc.Lake(w.stack, "L2", stage=stage_of()),
            w.pipeline("o").add_job("one", script="job.py", bookmark=tc.BookmarkOption.ENABLE),
        ),
        "duplicate-name",
    ),
    "wt twice + pipe": (
        lambda w: (
            w.marks,
            tc.WatermarkTable(
                cdk.Stack(w.app, "s2", env=cdk.Environment(account=ACCOUNT, region=REGION)), "W2"
            ),
            w.job(),
        ),
        "duplicate-name",
    ),
    "two pipes one name": (
        lambda w: (
            w.job(),
            tc.Pipeline(
                w.stack,
                "X",
                name="orders",
                root=w.root,
                stage=stage_of(),
                watermarks=None,
                key=w.key,
            ).add_job("two", script="job.py", bookmark=tc.BookmarkOption.ENABLE),
        ),
        "duplicate-name",
    ),
    "stream checkpoint = temp": (
        lambda w: (w.job("x"), w.stream(checkpoint=w.data("c/"), temp=w.data("c/"))),
        "temp-overlaps",
    ),
    "stream checkpoint = job writes": (
        lambda w: (w.job("x", writes=[w.data("c/")]), w.stream(checkpoint=w.data("c/"))),
        "two-writers",
    ),
}


@pytest.mark.parametrize(("declare", "why"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_refused_in_one_line(world, declare, why):
    with pytest.raises(InputError) as refused:
        declare(world)

    text = str(refused.value)
    assert why in text
    assert "\n" not in text
    assert ";" in text  # what to do follows what is wrong


@pytest.mark.parametrize("declare", VALID.values(), ids=VALID)
def test_what_only_looks_wrong_is_synthesized(cdk, tmp_path, declare):
    world = World(tmp_path)

    declare(world)

    assert world.app.synth().stacks


@pytest.mark.parametrize(
    ("declare", "rule"), REFUSED_AT_SYNTHESIS.values(), ids=REFUSED_AT_SYNTHESIS
)
def test_what_only_all_of_it_shows_to_be_wrong_is_refused_at_synthesis(
    cdk, tmp_path, declare, rule
):
    world = World(tmp_path)
    declare(world)

    assert rule in world.broken_rules()
