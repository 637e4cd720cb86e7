"""The names that OpenLineage gives to datasets and runs.

Source: https://openlineage.io/docs/spec/naming/
"""

import re
from typing import NamedTuple
from uuid import NAMESPACE_URL, uuid5

S3 = re.compile(r"s3[an]?://(?P<bucket>[^/]+)/?(?P<key>.*)")
JDBC = re.compile(r"jdbc:(?P<kind>[a-z0-9]+):(?P<rest>[^#]*)(#(?P<table>.*))?", re.DOTALL)
HOST = re.compile(r"//(?:[^/@]*@)?(?P<host>[^/:;?,@]+)(?::(?P<port>\d+))?(?:/(?P<path>[^?;]*))?")
DATABASE = re.compile(r";database(?:Name)?=(?P<name>[^;?]*)", re.IGNORECASE)  # SQL Server
SCHEMES = {"postgresql": ("postgres", "5432"), "mysql": ("mysql", "3306")}
OTHER_PORTS = {"mariadb": "3306", "oracle": "1521", "redshift": "5439", "sqlserver": "1433"}
DYNAMODB = "dynamodb:"
SECRETS = re.compile(r"[?;].*", re.DOTALL)  # parameters of a URL, where passwords are


class DatasetName(NamedTuple):
    """The name of a dataset: its data source, and the name within that."""

    namespace: str
    name: str


def dataset_name(dataset: str, region: str) -> DatasetName:
    """Return the name of a dataset as checkpoints write it; no user and password is ever in it."""
    if match := S3.fullmatch(dataset):
        return DatasetName(f"s3://{match['bucket']}", match["key"].strip("/") or "/")
    if match := JDBC.fullmatch(dataset):
        return _of_database(match["kind"], match["rest"], match["table"] or "")
    if dataset.startswith(DYNAMODB):
        return DatasetName(f"dynamodb://{region}", dataset.removeprefix(DYNAMODB))
    scheme, colon, rest = dataset.partition(":")
    return DatasetName(scheme if colon else "unknown", rest or dataset)


def _of_database(kind: str, rest: str, table: str) -> DatasetName:
    match = HOST.match(rest)
    if match is None:  # a database in this process, as Derby's
        return DatasetName(f"{kind}:{SECRETS.sub('', rest)}".rstrip(":"), table or "a query")
    scheme, port = SCHEMES.get(kind, (kind, OTHER_PORTS.get(kind, "")))
    port = match["port"] or port
    host = f"{match['host']}:{port}" if port else match["host"]
    named = DATABASE.search(rest)
    parts = [match["path"] or (named["name"] if named else ""), table or "a query"]
    return DatasetName(f"{scheme}://{host}", ".".join(part for part in parts if part))


def catalog_name(table: str, region: str, account: str) -> DatasetName:
    """Return the name of a table of the Data Catalog, given as ``database.table``."""
    return DatasetName(catalog_namespace(region, account), f"table/{table.replace('.', '/', 1)}")


def catalog_namespace(region: str, account: str) -> str:
    """Return the namespace of an account's Glue in a region."""
    return f"arn:aws:glue:{region}:{account}"


def run_uuid(run_id: str) -> str:
    """Return the UUID of a run or an execution: always the same one for the same id."""
    return str(uuid5(NAMESPACE_URL, f"tidemark:{run_id}"))
