"""Iceberg tables by pyiceberg's GlueCatalog, from two writers. Prints JSON."""

import json
import os
import sys

import boto3
import pyarrow as pa
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.expressions import EqualTo
from pyiceberg.types import StringType

BUCKET = sys.argv[1]
ENDPOINT = os.environ["AWS_ENDPOINT_URL"]  # pyarrow, which reads the files, does not look there
ROWS = pa.table({"id": pa.array([1, 2], pa.int64()), "day": ["a", "b"]})


def name_of(call: object, *arguments: object) -> str:
    """Return the error that a call raises."""
    try:
        call(*arguments)
    except Exception as error:  # noqa: BLE001 (its name is the fact)
        return type(error).__name__
    return "none"


def made_by_glue(catalog: Catalog) -> dict[str, object]:
    """Create a table by Glue's CreateTable, write to it, drop it; return what pyiceberg sees."""
    columns = [
        {"Name": "id", "Type": "bigint"},
        {"Name": "day", "Type": "string"},
        {"Name": "sizes", "Type": "map<string,decimal(10,2)>"},
    ]
    storage = {"Location": f"s3://{BUCKET}/made/", "Columns": columns}
    boto3.client("glue").create_table(
        DatabaseName="ice",
        TableInput={"Name": "made", "TableType": "EXTERNAL_TABLE", "StorageDescriptor": storage},
        OpenTableFormatInput={"IcebergInput": {"MetadataOperation": "CREATE", "Version": "2"}},
    )
    table = catalog.load_table("ice.made")
    empty = table.scan().to_arrow().num_rows
    table.append(ROWS)
    rows = catalog.load_table("ice.made").scan().to_arrow().num_rows
    types = [str(field.field_type) for field in table.schema().fields]
    catalog.purge_table("ice.made")
    return {"empty": empty, "rows": rows, "types": types, "version": table.format_version}


def main() -> None:
    """Create, append, change and drop."""
    place = {"s3.endpoint": ENDPOINT, "s3.region": "us-east-1"}
    properties = {"warehouse": f"s3://{BUCKET}/warehouse", **place}
    catalog = load_catalog("glue", type="glue", **properties)
    found: dict[str, object] = {}
    catalog.create_namespace("ice", {"comment": "a namespace", "owner": "me"})
    found["twice"] = name_of(catalog.create_namespace, "ice")
    assert found["twice"] == NamespaceAlreadyExistsError.__name__
    catalog.update_namespace_properties("ice", updates={"owner": "you"})
    found["properties"] = catalog.load_namespace_properties("ice")
    table = catalog.create_table("ice.events", schema=ROWS.schema)
    found["table twice"] = name_of(catalog.create_table, "ice.events", ROWS.schema)
    assert found["table twice"] == TableAlreadyExistsError.__name__
    table.append(ROWS)
    stale = catalog.load_table("ice.events")
    table.append(ROWS)
    found["stale"] = name_of(stale.append, ROWS)
    assert found["stale"] in ("none", CommitFailedException.__name__)
    table = catalog.load_table("ice.events")
    found["rows"] = table.scan().to_arrow().num_rows
    with table.update_schema() as update:
        update.add_column("note", StringType())
    table.delete(EqualTo("id", 1))
    found["left"] = catalog.load_table("ice.events").scan().to_arrow().num_rows
    found["columns"] = [field.name for field in catalog.load_table("ice.events").schema().fields]
    found["tables"] = [".".join(one) for one in catalog.list_tables("ice")]
    found["namespaces"] = [".".join(one) for one in catalog.list_namespaces()]
    catalog.rename_table("ice.events", "ice.renamed")
    found["renamed"] = catalog.load_table("ice.renamed").scan().to_arrow().num_rows
    found["old name"] = name_of(catalog.load_table, "ice.events")
    assert found["old name"] == NoSuchTableError.__name__
    metadata = catalog.load_table("ice.renamed").metadata_location
    catalog.drop_table("ice.renamed")
    catalog.register_table("ice.again", metadata)
    found["registered"] = catalog.load_table("ice.again").scan().to_arrow().num_rows
    found["not empty"] = name_of(catalog.drop_namespace, "ice")
    catalog.purge_table("ice.again")
    found["made by Glue"] = made_by_glue(catalog)
    catalog.drop_namespace("ice")
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main()
