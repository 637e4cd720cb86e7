"""A job that writes the rows of tables of Iceberg as Parquet, so that they can be compared.

Called with ``--tables FILE``: a list of objects with the `table` (`catalog.database.name`), its
`snapshot` or null, and `out`, a folder of this machine. It runs in the home of the tables.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main() -> None:
    """Write each table into its folder."""
    asked = json.loads(Path(sys.argv[sys.argv.index("--tables") + 1]).read_text(encoding="utf-8"))
    spark = SparkSession.builder.getOrCreate()
    for table in asked:
        reader = spark.read.format("iceberg")
        if table["snapshot"] is not None:
            reader = reader.option("snapshot-id", table["snapshot"])
        reader.load(table["table"]).write.parquet(Path(table["out"]).as_uri())
    spark.stop()


if __name__ == "__main__":
    main()
