"""A job that writes the rows of tables as Parquet, so that they can be compared.

Called with ``--asked FILE``: an object with ``tables``, tables of Iceberg by ``database.name`` with
their snapshot or null, ``databases`` (names of embedded databases), and ``out``, a folder of this
machine. It runs in the home of the tables: their metadata name its objects.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

DRIVER = {"driver": "org.apache.derby.jdbc.EmbeddedDriver"}
TABLES = (
    "(SELECT s.SCHEMANAME AS s, t.TABLENAME AS t FROM SYS.SYSTABLES t "
    "JOIN SYS.SYSSCHEMAS s ON t.SCHEMAID = s.SCHEMAID WHERE t.TABLETYPE = 'T') AS tables"
)


def main() -> None:
    """Write each table into a folder of its name."""
    asked = json.loads(Path(sys.argv[sys.argv.index("--asked") + 1]).read_text(encoding="utf-8"))
    spark, out = SparkSession.builder.getOrCreate(), Path(asked["out"])
    for name, snapshot in asked["tables"].items():
        reader = spark.read.format("iceberg")
        if snapshot is not None:
            reader = reader.option("snapshot-id", snapshot)
        reader.load(f"glue_catalog.{name}").write.parquet((out / name).as_uri())
    for name in asked["databases"]:
        url = f"jdbc:derby:{name}"
        for schema, table in spark.read.jdbc(url, TABLES, properties=DRIVER).collect():
            rows = spark.read.jdbc(url, f'"{schema}"."{table}"', properties=DRIVER)
            rows.write.parquet((out / f"derby.{name}.{schema}.{table}").as_uri())


if __name__ == "__main__":
    main()
