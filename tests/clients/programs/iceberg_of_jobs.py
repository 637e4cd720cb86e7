"""Reads and appends to a table of Iceberg that a job of Glue made, by pyiceberg. Prints JSON."""

import json
import os
import sys

import pyarrow as pa
from pyiceberg.catalog import load_catalog

ENDPOINT = os.environ["AWS_ENDPOINT_URL"]  # pyarrow, which reads the files, does not look there
ROW = pa.table({"id": pa.array([9], pa.int32()), "name": ["by pyiceberg"]})


def main() -> None:
    """Read, append, read."""
    place = {"s3.endpoint": ENDPOINT, "s3.region": "us-east-1"}
    catalog = load_catalog("glue", type="glue", **place)
    table = catalog.load_table("jobs.orders")
    found: dict[str, object] = {"rows": table.scan().to_arrow().to_pylist()}
    table.append(ROW)
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
