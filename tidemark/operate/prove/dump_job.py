"""A job that writes the rows of tables as Parquet, so that they can be compared.

Called with ``--tables`` (names of tables of Iceberg, ``database.table``, separated by commas),
``--databases`` (names of embedded databases) and ``--out``, a folder of this machine. It runs in
the home of the tables: their metadata name its objects.
"""

import sys
from pathlib import Path

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions

DRIVER = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}
TABLES = (
    "(SELECT s.SCHEMANAME AS s, t.TABLENAME AS t FROM SYS.SYSTABLES t "
    "JOIN SYS.SYSSCHEMAS s ON t.SCHEMAID = s.SCHEMAID WHERE t.TABLETYPE = 'T') AS tables"
)


def main() -> None:
    """Write each table into a folder of its name."""
    args = getResolvedOptions(sys.argv, ["tables", "databases", "out"])
    glue = GlueContext(SparkContext.getOrCreate())
    for name in filter(None, args["tables"].split(",")):
        database, _, table = name.partition(".")
        rows = glue.create_data_frame.from_catalog(database=database, table_name=table)
        rows.write.parquet(Path(args["out"], name).as_uri())
    for name in filter(None, args["databases"].split(",")):
        url = f"jdbc:derby:{name}"
        for schema, table in glue.spark_session.read.jdbc(url, TABLES, properties=DRIVER).collect():
            rows = glue.spark_session.read.jdbc(url, f'"{schema}"."{table}"', properties=DRIVER)
            rows.write.parquet(Path(args["out"], f"derby.{name}.{schema}.{table}").as_uri())


if __name__ == "__main__":
    main()
