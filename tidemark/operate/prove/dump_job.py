"""A job that writes the rows of tables of Iceberg as Parquet, so that they can be compared.

Called with ``--tables`` (``database.table`` names, separated by commas) and ``--out``, a folder of
this machine. It runs in the home of the tables: their metadata name its objects.
"""

import sys
from pathlib import Path

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions


def main() -> None:
    """Write each table into a folder of its name."""
    args = getResolvedOptions(sys.argv, ["tables", "out"])
    glue = GlueContext(SparkContext.getOrCreate())
    for name in args["tables"].split(","):
        database, _, table = name.partition(".")
        rows = glue.create_data_frame.from_catalog(database=database, table_name=table)
        rows.write.parquet(Path(args["out"], name).as_uri())


if __name__ == "__main__":
    main()
