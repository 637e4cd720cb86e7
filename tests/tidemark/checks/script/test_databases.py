"""Which lines of a script write to a database."""

from __future__ import annotations

import pytest

from tidemark.checks.script.databases import database_writes_in


@pytest.mark.parametrize(
    "script",
    [
        "df.write.mode('append').jdbc(url, 'orders')",
        "DataFrameWriter(df).jdbc(url, 'orders')",
        "(df.write\n    .format('JDBC')\n    .save())",
        "df.write.save(format='org.elasticsearch.spark.sql')",
        "FORMAT = 'jdbc'; df.write.format(FORMAT).save()",
        "url = 'jdbc:x#y'; df.write.format('jdbc').save()",
        "df.writeStream.format('kafka').start()",
        "glue.write_dynamic_frame.from_jdbc_conf(f, catalog_connection='c')",
        "glue.write_dynamic_frame_from_options(f, connection_type='mongodb')",
        "glue.write_dynamic_frame.from_options(f, 'mysql', options)",
        "o = {'connection_type': 'mysql'}; glue.write_dynamic_frame.from_options(f, **o)",
        "glue.getSink(connection_type='redshift')",
        "sc._jvm.java.sql.DriverManager.getConnection(url)",
        "upsert_jdbc(rows, url)",
        "import psycopg2",
        "import mysql.connector",
        "from sqlalchemy import create_engine",
    ],
)
def test_a_write_to_a_database_is_found(script):
    assert database_writes_in(f"\n{script}") == (2,)


@pytest.mark.parametrize(
    "script",
    [
        "rows = spark.read.jdbc(url, 'orders')  # what df.write.jdbc wrote",
        "rows = glue.create_dynamic_frame.from_options('mysql', options)",
        "df.write.parquet('s3://lake/out/')\nrows = spark.read.format('jdbc').load()",
        "glue.write_dynamic_frame.from_options(f, 's3', o)\n"
        "glue.create_dynamic_frame.from_options(connection_type='mysql')",
        "df.write.format('parquet').save('s3://lake/postgresql/orders/')",
        "sink = glue.getSink(connection_type='s3', path='s3://lake/mysql/')",
        "glue.write_dynamic_frame.from_options(f, 'dynamodb', options)",
        "df.write.format(args['format']).save(path)",
        "'''Write the orders of the mysql database to the lake.'''",
        "print('will write rows of oracle')",
        "from sqlalchemy.types import Integer",
        "this is not Python",
    ],
)
def test_other_lines_are_not(script):
    assert database_writes_in(script) == ()


@pytest.mark.parametrize(
    ("script", "lines"),
    [
        ("df.write.jdbc(url, 'orders')", ()),
        ("df.write.format('jdbc').save()", ()),
        ("glue.write_dynamic_frame.from_options(f, 'postgresql', {})", ()),
        ("jvm.java.sql.DriverManager.getConnection(url)", ()),
        ("upsert_jdbc(df, options, 'orders', window, ['id'])", ()),
        ("df.write.format('mongodb').save()", (1,)),
        ("import psycopg2", (1,)),
        ("df.write.format('jdbc').save()\nimport redis", (2,)),
    ],
)
def test_what_goes_through_a_driver_of_jdbc_can_be_left_out(script, lines):
    assert database_writes_in(script, is_without_jdbc=True) == lines
