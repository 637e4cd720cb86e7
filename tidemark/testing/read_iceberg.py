"""Glue job that reads a table of Iceberg for tests: its jar is not in the session of the tests."""

import pickle
import sys
from pathlib import Path

from pyspark.context import SparkContext

from awsglue.context import GlueContext
from awsglue.utils import getResolvedOptions
from tidemark.testing.lake_files import plain


def main() -> None:
    """Write the rows into a file, as a list of dicts."""
    args = getResolvedOptions(sys.argv, ["database", "table", "condition", "file"])
    frame = GlueContext(SparkContext.getOrCreate()).create_data_frame.from_catalog(
        database=args["database"], table_name=args["table"]
    )
    rows = [plain(row) for row in frame.where(args["condition"]).collect()]
    Path(args["file"]).write_bytes(pickle.dumps(rows))


if __name__ == "__main__":
    main()
