"""Which writes and purges delete what the script has yet to read."""

from __future__ import annotations

import pytest

from tidemark.checks.script.overwrites import deleted_sources

BAD = {
    "one literal path": (
        "df = spark.read.parquet('s3://raw/t/')\n"
        "df.filter('id > 1').write.mode('overwrite').parquet('s3://raw/t/')",
        2,
    ),
    "another scheme, no slash, a glob": (
        "df = spark.read.parquet('s3a://raw/t/*')\ndf.write.mode('overwrite').parquet('s3://raw/t')",
        2,
    ),
    "in one chain": ("spark.read.json('s3://t/').write.mode('overwrite').json('s3://t/')", 1),
    "one argument for both": (
        "args = getResolvedOptions(sys.argv, ['path'])\ndf = spark.read.orc(args['path'])\n"
        "df.write.mode('overwrite').orc(args['path'])",
        3,
    ),
    "an argument, by two variables": (
        "args = getResolvedOptions(sys.argv, ['path'])\nsource = args['path']\n"
        "target = args['path']\nspark.read.orc(source).write.mode('overwrite').orc(target)",
        4,
    ),
    "an f-string of an argument": (
        "df = spark.read.csv(f\"{args['lake']}orders/\")\n"
        "df.write.mode('overwrite').csv(f\"{args['lake']}orders\")",
        2,
    ),
    "format of constants": (
        "PATH = 's3://{}/{}/'.format('lake', 'orders')\ndf = spark.read.parquet(PATH)\n"
        "df.write.mode('overwrite').parquet('s3://lake/orders/')",
        3,
    ),
    "a variable that only a run knows": (
        "path = find()\ndf = spark.read.parquet(path)\ndf.write.mode('overwrite').parquet(path)",
        3,
    ),
    "a folder in what is read": (
        "df = spark.read.option('recursiveFileLookup', True).json('s3://t/')\n"
        "df.write.mode('overwrite').json('s3://t/archive/')",
        2,
    ),
    "a table of a database": (
        "df = spark.read.jdbc(url, 'orders', properties=p)\n"
        "df.dropDuplicates().write.jdbc(url, 'orders', mode='overwrite', properties=p)",
        2,
    ),
    "more than what is read": (
        "df = spark.read.parquet('s3://t/day=1/')\ndf.write.mode('overwrite').parquet('s3://t/')",
        2,
    ),
    "through steps, a join and a union": (
        "old = spark.read.parquet('s3://t/')\nnew = spark.read.parquet('s3://n/')\n"
        "df = old.unionByName(new)\ndf = df.join(x, 'id')\ndf = df.dropDuplicates(['id'])\n"
        "df.coalesce(1).write.mode('overwrite').parquet('s3://t/')",
        6,
    ),
    "by options, load and save": (
        "df = spark.read.format('csv').option('header', True).load('s3://t/')\n"
        "df.write.format('csv').mode('overwrite').save('s3://t/')",
        2,
    ),
    "mode as an argument": ("spark.read.json('s3://t').write.json('s3://t', mode='overwrite')", 1),
    "a writer in a variable": (
        "df = spark.read.json('s3://t')\nw = df.write.mode('overwrite')\nw.json('s3://t')",
        3,
    ),
    "through a DynamicFrame": (
        "f = gc.create_dynamic_frame.from_options('s3', {'paths': ['s3://t/']}, 'json')\n"
        "f = ApplyMapping.apply(frame=f, mappings=[])\n"
        "f.toDF().write.mode('overwrite').json('s3://t/')",
        3,
    ),
    "in functions": (
        "def read(path):\n    return spark.read.parquet(path)\n"
        "def save(df, path):\n    df.write.mode('overwrite').parquet(path)\n"
        "save(read('s3://t/').dropna(), 's3://t/')",
        4,
    ),
    "in main": (
        "def main():\n    path = 's3://t/'\n    df = spark.read.parquet(path)\n"
        "    df.write.mode('overwrite').parquet(path)\nmain()",
        4,
    ),
    "in a loop": (
        "for t in tables:\n    df = spark.read.parquet(f's3://lake/{t}/')\n"
        "    df.write.mode('overwrite').parquet(f's3://lake/{t}/')",
        3,
    ),
    "in one branch": (
        "if exists:\n    df = new.union(spark.read.parquet('s3://t/'))\nelse:\n    df = new\n"
        "df.write.mode('overwrite').parquet('s3://t/')",
        5,
    ),
    "a table": ("df = spark.table('db.t')\ndf.write.mode('overwrite').saveAsTable('db.t')", 2),
    "a table by insertInto": (
        "df = spark.read.table('db.t').distinct()\ndf.write.insertInto('db.t', overwrite=True)",
        2,
    ),
    "a table of the catalog": (
        "f = gc.create_dynamic_frame.from_catalog(database='db', table_name='t')\n"
        "f.toDF().write.mode('overwrite').saveAsTable('db.t')",
        2,
    ),
    "SQL alone": ("spark.sql('INSERT OVERWRITE TABLE db.t SELECT DISTINCT * FROM db.t')", 1),
    "SQL with a CTE": (
        "spark.sql('WITH s AS (SELECT * FROM db.t) INSERT OVERWRITE db.t SELECT * FROM s')",
        1,
    ),
    "SQL by a view": (
        "spark.table('db.t').createOrReplaceTempView('v')\n"
        "spark.sql('INSERT OVERWRITE TABLE db.t SELECT * FROM v')",
        2,
    ),
    "a view made by SQL": (
        "spark.sql('CREATE OR REPLACE TEMP VIEW v AS SELECT * FROM db.t WHERE x > 1')\n"
        "spark.sql('INSERT OVERWRITE TABLE db.t SELECT * FROM v')",
        2,
    ),
    "an attribute": (
        "class Etl:\n    def run(self):\n        self.df = spark.read.orc('s3://t/')\n"
        "        self.df = self.df.distinct()\n"
        "        self.df.write.mode('overwrite').orc('s3://t/')\nEtl().run()",
        5,
    ),
    "arguments of main": (
        "def main(argv):\n    args = getResolvedOptions(argv, ['path'])\n    run(args)\n"
        "def run(args):\n    save(read(args['path']).dropna(), args['path'])\n"
        "def read(path):\n    return spark.read.json(path)\n"
        "def save(df, path):\n    df.write.mode('overwrite').json(path)\nmain(sys.argv)",
        9,
    ),
    "a view of a folder": (
        "spark.read.parquet('s3://t/').createOrReplaceTempView('v')\n"
        "spark.sql('SELECT * FROM v').write.mode('overwrite').parquet('s3://t/')",
        2,
    ),
    "a folder in SQL": (
        "spark.sql('SELECT * FROM parquet.`s3://t/`').write.mode('overwrite').parquet('s3://t/')",
        1,
    ),
    "SQL into a folder": (
        "spark.read.parquet('s3://t/').createOrReplaceTempView('v')\n"
        "spark.sql(\"INSERT OVERWRITE DIRECTORY 's3://t' SELECT * FROM v\")",
        2,
    ),
    "a count that is a frame": (
        "df = spark.read.parquet('s3://t/').groupBy('id').count()\n"
        "df.write.mode('overwrite').parquet('s3://t/')",
        2,
    ),
    "a frame of an RDD": (
        "df = spark.createDataFrame(spark.read.json('s3://t/').rdd.map(f), schema)\n"
        "df.write.mode('overwrite').json('s3://t/')",
        2,
    ),
}
PURGED = {
    "purge_s3_path": (
        "old = spark.read.parquet('s3://t/')\ndf = old.union(new)\n"
        "gc.purge_s3_path('s3://t/', {'retentionPeriod': 0})\n"
        "df.write.mode('append').parquet('s3://t/')",
        3,
    ),
    "and a write elsewhere": (
        "df = spark.read.parquet('s3://t/')\ngc.purge_s3_path('s3://t/')\n"
        "df.write.mode('overwrite').parquet('s3://archive/')",
        2,
    ),
    "and a sink of Glue": (
        "f = gc.create_dynamic_frame.from_options('s3', {'paths': [args['path']]}, 'json')\n"
        "gc.purge_s3_path(args['path'], {'retentionPeriod': 0})\n"
        "gc.write_dynamic_frame.from_options(frame=f, connection_type='s3', format='json')",
        2,
    ),
    "purge_table": (
        "f = gc.create_dynamic_frame.from_catalog('db', 't')\ngc.purge_table('db', 't')\n"
        "gc.write_dynamic_frame.from_catalog(f, 'db', 't')",
        2,
    ),
    "a bucket of boto3": (
        "df = spark.read.parquet('s3://b/t/')\n"
        "boto3.resource('s3').Bucket('b').objects.filter(Prefix='t/').delete()\n"
        "df.write.parquet('s3://b/t/')",
        2,
    ),
    "a bucket of boto3, by a variable": (
        "df = spark.read.parquet('s3://b/t/')\nbucket = boto3.resource('s3').Bucket('b')\n"
        "bucket.objects.filter(Prefix='t/').delete()\ndf.write.parquet('s3://b/t/')",
        3,
    ),
    "listed keys": (
        "df = spark.read.parquet('s3://b/t/')\n"
        "for item in s3.list_objects_v2(Bucket='b', Prefix='t/')['Contents']:\n"
        "    s3.delete_object(Bucket='b', Key=item['Key'])\ndf.write.parquet('s3://b/t/')",
        3,
    ),
    "pages of keys": (
        "df = spark.read.parquet('s3://b/t/')\npages = s3.get_paginator('list_objects_v2')\n"
        "for page in pages.paginate(Bucket='b', Prefix='t/'):\n"
        "    keys = [{'Key': one['Key']} for one in page['Contents']]\n"
        "    s3.delete_objects(Bucket='b', Delete={'Objects': keys})\n"
        "df.write.parquet('s3://b/t/')",
        5,
    ),
    "in a function that is called between": (
        "def clear(path):\n    gc.purge_s3_path(path)\ndf = spark.read.orc('s3://t/')\n"
        "clear('s3://t/')\ndf.write.orc('s3://t/')",
        2,
    ),
    "before a function that writes": (
        "def save(df, path):\n    df.write.orc(path)\ndf = spark.read.orc('s3://t/')\n"
        "gc.purge_s3_path('s3://t/')\nsave(df, 's3://t/')",
        4,
    ),
    "TRUNCATE": (
        "df = spark.table('db.t').where('x')\nspark.sql('TRUNCATE TABLE db.t')\n"
        "df.write.insertInto('db.t')",
        2,
    ),
    "a path of Hadoop": (
        "df = spark.read.parquet('s3://b/t/')\n"
        "fs.delete(spark._jvm.org.apache.hadoop.fs.Path('s3://b/t/'), True)\n"
        "df.write.parquet('s3://b/t/')",
        2,
    ),
}
GOOD = {
    "the parameter of a function that is handed on hides a constant": (
        "path = 's3://t/'\ndf = spark.read.parquet(path)\ndef write(path):\n"
        "    df.write.mode('overwrite').parquet(path)\nlist(map(write, ['s3://n/']))"
    ),
    "the parameter of a function that is called hides a constant": (
        "path = 's3://t/'\ndf = spark.read.parquet(path)\ndef write(path):\n"
        "    df.write.mode('overwrite').parquet(path)\nwrite('s3://n/')"
    ),
    "another folder": "spark.read.json('s3://a/').write.mode('overwrite').json('s3://b/')",
    "a folder beside it": "spark.read.json('s3://a/').write.mode('overwrite').json('s3://a2/')",
    "appended": "spark.read.json('s3://a/').write.mode('append').json('s3://a/')",
    "read again after the write": (
        "df.write.mode('overwrite').json('s3://a/')\nspark.read.json('s3://a/').show()"
    ),
    "read for its schema": (
        "old = spark.read.parquet('s3://t/')\ndf = spark.read.schema(old.schema).json('s3://n/')\n"
        "df.select(*old.columns).write.mode('overwrite').parquet('s3://t/')"
    ),
    "read for one value": (
        "last = spark.read.parquet('s3://t/').agg(F.max('at')).first()[0]\n"
        "df = spark.read.json('s3://n/').where(F.col('at') > last)\n"
        "df.write.mode('overwrite').parquet('s3://t/')"
    ),
    "collected": (
        "rows = spark.read.json('s3://t/').collect()\n"
        "spark.createDataFrame(rows).write.mode('overwrite').json('s3://t/')"
    ),
    "kept": (
        "df = spark.read.json('s3://t/').cache()\ndf.count()\n"
        "df.write.mode('overwrite').json('s3://t/')"
    ),
    "kept by a statement": (
        "df = spark.read.json('s3://t/')\ndf.persist()\ndf.write.mode('overwrite').json('s3://t/')"
    ),
    "a checkpoint": (
        "df = spark.read.json('s3://t/').localCheckpoint()\n"
        "df.write.mode('overwrite').json('s3://t/')"
    ),
    "by another folder": (
        "df = spark.read.json('s3://t/')\ndf.write.mode('overwrite').json('s3://tmp/')\n"
        "spark.read.json('s3://tmp/').write.mode('overwrite').json('s3://t/')"
    ),
    "purged after it was copied": (
        "df = spark.read.json('s3://t/')\ndf.write.json('s3://tmp/')\ngc.purge_s3_path('s3://t/')\n"
        "spark.read.json('s3://tmp/').write.json('s3://t/')"
    ),
    "purged before it is read": (
        "gc.purge_s3_path('s3://t/')\nspark.read.json('s3://t/').write.json('s3://u/')"
    ),
    "the target is purged": (
        "df = spark.read.json('s3://a/')\ngc.purge_s3_path('s3://t/')\ndf.write.json('s3://t/')"
    ),
    "purged by a function, after it": (
        "def clear(path):\n    gc.purge_s3_path(path)\ndf = spark.read.orc('s3://t/')\n"
        "df.write.orc('s3://u/')\nclear('s3://t/')"
    ),
    "either purged or written": (
        "df = spark.read.json('s3://t/')\nif args['purge']:\n    gc.purge_s3_path('s3://t/')\n"
        "else:\n    df.write.json('s3://u/')"
    ),
    "partitions, when all is read": (
        "spark.conf.set('spark.sql.sources.partitionOverwriteMode', 'dynamic')\n"
        "df = spark.read.json('s3://t/')\n"
        "df.write.mode('overwrite').partitionBy('day').json('s3://t/')"
    ),
    "a partition, of the others": (
        "df = spark.read.json('s3://t/').where('day < 5')\n"
        "df.write.mode('overwrite').json('s3://t/day=5/')"
    ),
    "another table of the database": (
        "spark.read.jdbc(url, 'a').write.mode('overwrite').jdbc(url, 'b')"
    ),
    "another value of the variable": (
        "path = 's3://a/'\ndf = spark.read.json(path)\npath = 's3://b/'\n"
        "df.write.mode('overwrite').json(path)"
    ),
    "another frame by then": (
        "df = spark.read.json('s3://t/')\nprint(df.count())\ndf = spark.read.json('s3://n/')\n"
        "df.write.mode('overwrite').json('s3://t/')"
    ),
    "another frame in each branch": (
        "if args['full']:\n    df = spark.read.json('s3://n/')\n"
        "    df.write.mode('overwrite').json('s3://t/')\nelse:\n"
        "    df = spark.read.json('s3://t/')\n    df.write.mode('append').json('s3://u/')"
    ),
    "each call of a function by itself": (
        "def save(df, path):\n    df.write.mode('overwrite').json(path)\n"
        "a = spark.read.json('s3://a/')\nsave(a, 's3://b/')\n"
        "b = spark.read.json('s3://b/')\nsave(b, 's3://a/')"
    ),
    "two dicts with one key": (
        "df = spark.read.json(source['path'])\ndf.write.mode('overwrite').json(target['path'])"
    ),
    "two arguments": (
        "df = spark.read.json(args['source'])\ndf.write.mode('overwrite').json(args['target'])"
    ),
    "what a function returns may be another": (
        "df = spark.read.json(path())\ndf.write.mode('overwrite').json(path())"
    ),
    "a module makes of it what it likes": (
        "from company import summary\nrows = summary(spark.read.json('s3://t/'))\n"
        "spark.createDataFrame(rows).write.mode('overwrite').json('s3://t/')"
    ),
    "a table of Iceberg": (
        "df = spark.table('glue_catalog.db.t')\n"
        "df.writeTo('glue_catalog.db.t').overwritePartitions()\n# iceberg"
    ),
    "SQL of Iceberg": (
        "spark.sql('INSERT OVERWRITE glue_catalog.db.t SELECT * FROM glue_catalog.db.t')\n"
        "FORMAT = 'iceberg'"
    ),
    "Delta keeps its files": (
        "df = spark.read.format('delta').load('s3://t/')\n"
        "df.write.format('delta').mode('overwrite').save('s3://t/')"
    ),
    "another table": "spark.sql('INSERT OVERWRITE db.t SELECT * FROM db.u')",
    "a view of another": (
        "spark.table('db.u').createOrReplaceTempView('t')\n"
        "spark.sql('INSERT OVERWRITE db.t SELECT * FROM t')"
    ),
    "a recursion": "def f(df):\n    return f(df.x())\nf(spark.read.json('a')).write.json('a')",
    "not Python": "not python",
    "two objects": (
        "class A:\n  def __init__(self, path): self.path = path\n"
        "  def load(self): return spark.read.orc(self.path)\n"
        "  def save(self, df): df.write.mode('overwrite').orc(self.path)\n"
        "A('s3://a/').save(A('s3://b/').load())"
    ),
    "no SQL": "spark.sql('TRUNCATE SELECT')\nspark.sql('a UUID (``x``)').write.json('a')",
    "calls that fail in every run": "fs.delete(Path())\nspark.sql('t'.lower(1) + 't'.replace('t'))",
}


@pytest.mark.parametrize(("script", "line"), [*BAD.values(), *PURGED.values()], ids=[*BAD, *PURGED])
def test_what_is_deleted_before_it_is_read_is_found(script, line):
    assert [found.place.line for found in deleted_sources(script, {})] == [line]


@pytest.mark.parametrize("script", GOOD.values(), ids=GOOD)
def test_what_is_read_before_or_not_at_all_is_not_found(script):
    assert deleted_sources(script, {}) == []


def test_the_arguments_of_a_job_tell_that_two_names_are_one_folder():
    script = "df = spark.read.orc(args['a'])\ndf.write.mode('overwrite').orc(args['b'])"

    assert deleted_sources(script, {"--a": "s3://x/", "--b": "s3://y/"}) == []
    assert len(deleted_sources(script, {"--a": "s3://x/", "--b": "s3://x"})) == 1


def test_a_finding_says_what_is_deleted_where_it_is_read_and_where_it_is_written():
    (found,) = deleted_sources(PURGED["purge_s3_path"][0], {})

    assert (found.data, found.read_line, found.place.line, found.write_line) == (
        "s3://t/",
        1,
        3,
        4,
    )


def test_findings_of_one_line_come_in_the_order_of_the_script():
    names = [f"db.t{number}" for number in range(9)]
    inserts = " ".join(f"INSERT OVERWRITE {name} SELECT *" for name in names)
    script = f"spark.sql('FROM {' JOIN '.join(names)} {inserts}')"

    assert [found.data for found in deleted_sources(script, {})] == names


def test_many_branches_are_followed_in_time():
    steps = "\n".join(f"if a{n}:\n    df = df.where('{n}')" for n in range(40))
    script = f"df = spark.read.orc('s3://t/')\n{steps}\ndf.write.mode('overwrite').orc('s3://t/')"

    assert len(deleted_sources(script, {})) == 1
