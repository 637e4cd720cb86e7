"""Tables of the Data Catalog."""

import tidemark.constructs as tc
from tests.fixtures.pipelines import ACCOUNT, REGION, stage_of
from tests.tidemark.constructs.wrong.world import cdk, glue, token

# What is declared, and a part of why it is refused.
WRONG = {
    "temp with table": (
        lambda w: w.job(temp=w.data("temp/", table=w.table())),
        "job 'one' has temp 'temp/' with a table",
    ),
    "spark_ui with table": (
        lambda w: tc.GlueArguments(spark_ui=w.data("ui/", table=w.table())),
        "GlueArguments has spark_ui 'ui/' with a table",
    ),
    "proj date rev from now": (
        lambda w: tc.DateProjection("NOW-1WEEK", "NOW-3YEARS"),
        "a partition projection has range ('NOW-1WEEK', 'NOW-3YEARS')",
    ),
    "iceberg on temp": (
        lambda w: w.job(temp=w.data("temp/", table=tc.IcebergTable("db", "t"))),
        "job 'one' has temp 'temp/' with a table",
    ),
    "iceberg optimizer": (
        lambda w: tc.IcebergTable("db", "t", create=False, optimizers=["compaction"]),
        "IcebergTable 't' has optimizers ['compaction']; allowed: a list, each a Compaction",
    ),
    "iceberg conf": (
        lambda w: w.job(
            writes=[w.data("o/", table=tc.IcebergTable("db", "t"))],
            glue_arguments=tc.GlueArguments(conf={"spark.sql.catalog.glue_catalog": "x"}),
        ),
        "job 'one' has spark.sql.catalog.glue_catalog 'x' in conf of its glue_arguments",
    ),
    "iceberg places": (
        lambda w: w.job(
            writes=[w.data(f"{n}/", table=tc.IcebergTable("db", n)) for n in ("a", "b")]
        ),
        "job 'one' may create the Iceberg table 'db.b', which Iceberg would put at",
    ),
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
        "allowed: a Database or a CfnDatabase, as lake.catalog_database",
    ),
    "t name upper": (lambda w: w.table(name="T"), "table 'T' has name 'T'"),
    "t cols empty": (
        lambda w: w.data(table=w.table(columns=[])),
        "table 't' has columns {}; allowed: those of schema= of its dataset, which has none",
    ),
    "t cols twice": (
        lambda w: w.table(columns=[tc.Column("id", "bigint"), tc.Column("id", "bigint")]),
        "table 't' has column 'id'",
    ),
    "t key is col": (
        lambda w: w.table(partition_keys=[tc.Column("id", "bigint")]),
        "table 't' has column 'id'",
    ),
    "t projection no keys": (
        lambda w: w.table(projection=tc.Projection({"day": tc.DateProjection("2020-01-01")})),
        "table 't' has projection of 'day'",
    ),
    "t params reserved": (
        lambda w: w.table(parameters={"projection.enabled": "true"}),
        "table 't' has parameter 'projection.enabled'",
    ),
    "col type": (
        lambda w: tc.Column("id", "integerr"),
        "column 'id' has the type 'integerr': 'integerr' is not a type of",
    ),
    "col name upper": (lambda w: tc.Column("Id", "int"), "column name 'Id' is not valid"),
    "col name space": (
        lambda w: tc.Column("my id", "int"),
        "column name 'my id' is not valid",
    ),
    "col comment long": (lambda w: tc.Column("a", "int", "c" * 256), "column 'a' has the comment"),
    "col decimal": (
        lambda w: tc.Column("a", "decimal(39,2)"),
        "column 'a' has the type 'decimal(39,2)': decimal has '39' where",
    ),
    "col struct open": (
        lambda w: tc.Column("a", "struct<x:int"),
        "column 'a' has the type 'struct<x:int': 'struct<x:int' does not have the form",
    ),
    "col array none": (
        lambda w: tc.Column("a", "array"),
        "column 'a' has the type 'array': 'array' does not have the form array<type>",
    ),
    "proj enum comma": (
        lambda w: tc.EnumProjection(["a,b"]),
        "a partition projection has values ['a,b']",
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
    "csv same": (
        lambda w: tc.TableFormat.csv(delimiter=",", quote=","),
        "a csv table has ',', ',' and '\\\\' for delimiter, quote and",
    ),
    "avro": (lambda w: tc.TableFormat.avro("{"), "an avro table has the schema '{'"),
    "dq empty": (
        lambda w: tc.DataQualityRuleset("Rules = []"),
        "a data quality ruleset has the rules 'Rules = []': the",
    ),
    "dq open": (
        lambda w: tc.DataQualityRuleset("Rules = [RowCount > 0"),
        "a data quality ruleset has the rules 'Rules = [RowCount > 0':",
    ),
    "dq name": (
        lambda w: tc.DataQualityRuleset("Rules = [RowCount > 0]", name="a b"),
        "a data quality ruleset has the name 'a b'",
    ),
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
        "job 'b' declares the table 'db.t' for 'b/' differently than",
    ),
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
    "t descr secret": (lambda w: w.table(description="password=hunter2"), "without a secret"),
    "t params secret": (
        lambda w: w.job(writes=[w.data("o/", table=w.table(parameters={"password": "hunter2"}))]),
        "values without secrets",
    ),
    "use bare token": (
        lambda w: w.job(tables=[token()]),
        "in tables; allowed: each database.table",
    ),
}
# What looks wrong and is not.
VALID = {
    "proj date to a year ago": lambda w: (tc.DateProjection("2020-01-01", "NOW-1YEAR"), w.job()),
    "proj now weeks": lambda w: (tc.DateProjection("NOW-3WEEKS", "NOW+2DAYS"), w.job()),
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
    "table of a hand": (
        lambda w: (
            w.job(writes=[w.data("o/", table=w.table())]),
            glue.CfnTable(
                w.stack,
                "ByHand",
                catalog_id=ACCOUNT,
                database_name="db",
                table_input=glue.CfnTable.TableInputProperty(name="t"),
            ),
        ),
        "duplicate-name",
    ),
}
