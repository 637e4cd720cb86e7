"""Which writes a retry can double, and jobs that leave their version of Glue to AWS."""

import pytest

from tidemark.checks.lint.linter import lint_source, retry_findings, version_findings
from tidemark.checks.script.appends import appends_in, possible_appends_in

APPENDING = {
    "df.write.mode('append').parquet(path)": "write.parquet",
    "MODE = 'append'\ndf.write.mode(MODE).partitionBy('d').json(path)": "write.json",
    "df.write.parquet(path, mode='append')": "write.parquet",
    "df.write.parquet(path, 'append')": "write.parquet",
    "df.write.format('delta').mode('append').save(path)": "write.save",
    "df.write.mode('append').jdbc(url, 'orders', properties=p)": "write.jdbc",
    "df.write.jdbc(url, 'orders', 'append', p)": "write.jdbc",
    "df.write.mode('append').saveAsTable('lake.orders')": "write.saveAsTable",
    "df.write.insertInto('lake.orders')": "write.insertInto",
    "df.write.insertInto('lake.orders', overwrite=False)": "write.insertInto",
    "df.writeTo('lake.orders').append()": "writeTo.append",
    "spark.sql('insert into lake.orders select * from new')": "INSERT INTO",
    "spark.sql(f'INSERT INTO lake.orders SELECT * FROM {view}')": "INSERT INTO",
    "spark.sql('-- load\\n  INSERT INTO lake.orders VALUES (1)')": "INSERT INTO",
    "spark.sql('/* nightly */ INSERT INTO lake.orders SELECT * FROM v')": "INSERT INTO",
    "spark.sql('WITH s AS (SELECT * FROM v) INSERT INTO lake.orders SELECT * FROM s')": (
        "INSERT INTO"
    ),
    "spark.sql('FROM v INSERT INTO lake.orders SELECT *')": "INSERT INTO",
    "spark.sql('FROM v INSERT OVERWRITE lake.a SELECT * INSERT INTO lake.b SELECT *')": (
        "INSERT INTO"
    ),
    "spark.sql('insert into table lake.orders partition (day) (id) select id from v')": (
        "INSERT INTO"
    ),
    "spark.sql('INSERT lake.orders SELECT 1')": "INSERT INTO",
    "spark.sql('INSERT INTO {}.orders SELECT * FROM v'.format(database))": "INSERT INTO",
    "spark.sql('INSERT INTO %s.orders SELECT * FROM v' % database)": "INSERT INTO",
    "spark.sql(' '.join(['INSERT INTO', 'lake.orders', 'SELECT 1']))": "INSERT INTO",
    "import textwrap\nspark.sql(textwrap.dedent('INSERT INTO t SELECT 1').strip())": "INSERT INTO",
    "def load():\n    query = 'INSERT INTO t SELECT 1'\n    spark.sql(query)": "INSERT INTO",
    "def load(verb):\n    spark.sql(f'{verb} t SELECT 1')\nload('INSERT INTO')": "INSERT INTO",
    "run = spark.sql\nrun('INSERT INTO t SELECT 1')": "INSERT INTO",
    "writer = df.write.mode('append')\nwriter.parquet(path)": "write.parquet",
    "writer = df.write\nwriter.mode('append')\nwriter.parquet(path)": "write.parquet",
    "writer = df.write\nwriter = writer.mode('append')\nwriter.save(path)": "write.save",
    "save = df.write.mode('append').parquet\nsave(path)": "write.parquet",
    "def writer(df):\n    return df.write.mode('append')\nwriter(df).orc(path)": "write.orc",
    "def save(df, how):\n    df.write.mode(how).json(path)\nsave(df, 'append')": "write.json",
    "def save(writer):\n    writer.json(path)\nsave(df.write.mode('append'))": "write.json",
    "(df.write.mode('append') if day else df.write.mode('overwrite')).csv(path)": "write.csv",
    "sink = gc.write_dynamic_frame\nsink.from_options(f, 's3', {'path': p})": (
        "write_dynamic_frame.from_options"
    ),
    (
        "class Sink:\n    def __init__(self):\n        self.writer = df.write.mode('append')\n"
        "    def end(self):\n        self.writer.orc(path)"
    ): "write.orc",
    "gc.write_dynamic_frame.from_options(f, 's3', {'path': p}, 'json')": (
        "write_dynamic_frame.from_options"
    ),
    "gc.write_dynamic_frame.from_options(frame=f, connection_type='s3', format='parquet')": (
        "write_dynamic_frame.from_options"
    ),
    "gc.write_dynamic_frame_from_options(f, 'redshift', {})": "write_dynamic_frame_from_options",
    "gc.write_dynamic_frame.from_catalog(f, 'lake', 'orders')": "write_dynamic_frame.from_catalog",
    "gc.write_dynamic_frame.from_jdbc_conf(f, 'shop', {})": "write_dynamic_frame.from_jdbc_conf",
    "gc.write_data_frame.from_catalog(frame=f, database='lake', table_name='orders')": (
        "write_data_frame.from_catalog"
    ),
    "spark.sql('INSERT INTO glue_catalog.lake.orders TABLE new')": "INSERT INTO",
    "df.writeTo('glue_catalog.lake.orders').option('x', 'y').append()": "writeTo.append",
    "sink = gc.getSink('s3', path=p)\nsink.writeFrame(f)": "getSink",
}
SAFE = [
    "from watermarks import write_window\nwrite_window(df, path, window)",
    "from watermarks import merge_window\nmerge_window(df, path, window, key=['id'])",
    "from watermarks import append_window\nappend_window(df, 'glue_catalog.lake.orders', window)",
    "df.writeTo('glue_catalog.lake.orders').createOrReplace()",
    "from watermarks import upsert_jdbc\nupsert_jdbc(df, options, 'orders', key=['id'])",
    "df.write.mode('overwrite').parquet(path)",
    "df.write.mode('overwrite').option('partitionOverwriteMode', 'dynamic').parquet(path)",
    "df.write.mode('overwrite').insertInto('lake.orders')",
    "df.write.insertInto('lake.orders', True)",
    "df.writeTo('lake.orders').overwritePartitions()",
    "df.write.parquet(path)",  # the retry fails where the first run wrote
    "df.write.format('hudi').options(**keys).mode('append').save(path)",
    "spark.sql('MERGE INTO lake.orders t USING new n ON t.id = n.id WHEN MATCHED THEN DELETE')",
    "spark.sql('INSERT OVERWRITE lake.orders SELECT * FROM new')",
    "gc.write_dynamic_frame.from_options(f, 'dynamodb', {'dynamodb.output.tableName': 't'})",
    "gc.write_dynamic_frame_from_options(f, 'redshift', {'preactions': 'DELETE FROM t'})",
    "gc.purge_s3_path(p, {'retentionPeriod': 0})\ngc.write_dynamic_frame.from_options(f, 's3', {})",
    "df.write.mode('overwrite' if full else 'error').parquet(path)",
    "spark.sql('SELECT * FROM orders WHERE note = \"INSERT INTO x\"')",
    "spark.sql('SELEKT 1')",
    "spark.sql('SELECT 1 -- INSERT INTO t SELECT 1')",
    "spark.sql('INSERT INTO t REPLACE WHERE day = 1 SELECT * FROM v')",
    "spark.sql('MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *')",
    "import duckdb\nduckdb.sql('INSERT INTO t SELECT 1')",
    "writer = df.write.mode('overwrite')\nwriter.parquet(path)",
    "def save(df, how):\n    df.write.mode(how).json(path)\nsave(df, 'overwrite')",
    "reader = spark.read\nreader.json(path)",
    "names.append(df.write)",
    "df.writeStream.format('parquet').start(path)",
    "not python",
]


UNCERTAIN = {
    "df.write.mode(args['mode']).parquet(path)": "write.parquet",
    "df.write.parquet(path, **options)": "write.parquet",
    "df.write.insertInto('lake.orders', overwrite=args['full'])": "write.insertInto",
    "spark.sql(open('load.sql').read())": "INSERT INTO",
    "class A:\n  def __init__(self, how): self.how = how\n"
    "  def save(self): df.write.mode(self.how).orc(path)\n"
    "A('append').save()\nA('overwrite').save()": "write.orc",
    "spark.sql(f'{verb} INTO lake.orders SELECT * FROM new')": "INSERT INTO",
    "query = 'INSERT '\nquery += 'INTO lake.orders SELECT 1'\nspark.sql(query)": "INSERT INTO",
    "spark.sql('INSERT INTO lake.orders SELEKT 1 FROM (')": "INSERT INTO",
    "gc.write_dynamic_frame.from_options(f, kind, {})": "write_dynamic_frame.from_options",
}


@pytest.mark.parametrize("script", APPENDING)
def test_a_write_that_adds_rows_is_found(script):
    (found,) = appends_in(script)

    assert found.name == APPENDING[script]
    line = script.splitlines()[found.place.line - 1]
    assert any(word in line for word in (found.name.rpartition(".")[2], "sql(", "run(", "save("))


@pytest.mark.parametrize("script", UNCERTAIN)
def test_a_write_that_only_a_run_can_judge_is_noted(script):
    (found,) = retry_findings(script, "5.1", 1)

    assert (found.rule, found.severity) == ("retry-appends", "note")
    assert f"whether {UNCERTAIN[script]} adds rows" in found.text
    assert appends_in(script) == ()


@pytest.mark.parametrize("script", SAFE)
def test_a_write_that_replaces_or_is_not_certain_is_not_found(script):
    assert possible_appends_in(script) == ()


@pytest.mark.parametrize(
    ("version", "retries", "text"),
    [
        ("auto", 1, "a retry after a failed upgrade can add its rows twice"),
        ("5.1", 2, "a retry (MaxRetries is 2) can add its rows twice"),
    ],
)
def test_a_job_that_is_tried_again_is_warned_of_it(version, retries, text):
    (found,) = retry_findings("df.write.mode('append').orc(path)", version, retries)

    assert (found.rule, found.severity) == ("retry-appends", "warning")
    assert text in found.text
    assert list(retry_findings("df.write.mode('append').orc(path)", "5.1", 0)) == []


def test_a_comment_on_the_line_of_the_write_acknowledges_it():
    script = "df.write.mode('append').orc(path)  # tidemark: ignore[retry-appends] read by key"
    found = retry_findings(script, "auto", 1)

    assert lint_source(script, "job.py", None, of_job=found).findings == ()


def test_a_spark_job_without_a_version_is_told_what_it_runs_on():
    (found,) = version_findings("glueetl", None)

    assert (found.rule, found.severity) == ("glue-version-missing", "warning")
    assert "runs on Spark 4 (Glue 6.0) from now on" in found.text
    assert list(version_findings("glueetl", "5.1")) == []
    assert list(version_findings("pythonshell", None)) == []
