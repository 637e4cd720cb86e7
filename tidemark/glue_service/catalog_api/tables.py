"""Operations on tables.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-catalog-tables.html
"""

import fnmatch
import re
from functools import partial

from tidemark.glue_service.catalog_api.open_table_format import check_iceberg, iceberg_table_of
from tidemark.glue_service.catalog_api.requests import attempt
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.models import as_shape
from tidemark.glue_service.protocol.pages import PAGE, Answer, Request, glue_page, page
from tidemark.glue_service.protocol.service_errors import (
    AlreadyExistsError,
    InvalidInputError,
    ServiceError,
)
from tidemark.local_state.catalog.definitions import existing_database
from tidemark.local_state.catalog.tables import (
    TableVersion,
    catalog_tables,
    drop_table,
    find_table,
    put_tables,
    table_or_none,
    version_of,
)
from tidemark.model.assembly.catalog_tables import CatalogTable, table_of_request
from tidemark.model.assembly.iceberg import is_of_iceberg
from tidemark.model.assembly.shape_limits import faults_of_partition_keys

HIVE_PATTERN = re.compile(r"[\w .*|-]*")
REPEATED_GROUP = re.compile(r"\)[*+{?]")
REPEAT = re.compile(r"(?<![\\(])[*+{?]")
MAX_REPEATS = 3
SEARCHED_FIELDS = ("Name", "DatabaseName", "Description", "Owner")


def create_table(glue: GlueState, request: Request) -> Answer:
    """Define a table in an existing database."""
    existing_database(glue.store, request["DatabaseName"])
    _check_keys(request)
    if is_of_iceberg(request):
        check_iceberg(request)
    table = table_of_request(request)
    with glue.store.transaction():
        if table_or_none(glue.store, table.database, table.name):
            raise AlreadyExistsError(f"Table already exists: {table.full_name}")
        if is_of_iceberg(request):
            table = iceberg_table_of(glue.machine.home, request, glue.now_ms())
        put_tables(glue.store, [table])
    return {}


def _check_keys(request: Request) -> None:
    keys = (request.get("TableInput") or {}).get("PartitionKeys")
    if faults := list(faults_of_partition_keys(keys)):
        raise InvalidInputError("; ".join(faults))


def get_table(glue: GlueState, request: Request) -> Answer:
    """Return a table."""
    return {"Table": member(glue, find_table(glue.store, request["DatabaseName"], request["Name"]))}


def get_partition_indexes(glue: GlueState, request: Request) -> Answer:
    """Return the partition indexes of a table: none, because they cannot be created here."""
    find_table(glue.store, request["DatabaseName"], request["TableName"])
    return {"PartitionIndexDescriptorList": []}


def get_tables(glue: GlueState, request: Request) -> Answer:
    """Return a page of the tables of a database, by name, filtered by an Expression."""
    database = existing_database(glue.store, request["DatabaseName"])
    tables = catalog_tables(glue.store, database.name)
    if expression := request.get("Expression"):
        matches = _pattern(expression)
        tables = [table for table in tables if matches.fullmatch(table.name)]
    shown, token = glue_page(tables, request)
    return {"TableList": [member(glue, table) for table in shown], "NextToken": token}


def _pattern(expression: str) -> re.Pattern[str]:
    """Return a name pattern: Hive's, where * is anything, or a Java expression."""
    # Source: https://docs.aws.amazon.com/glue/latest/webapi/API_GetTables.html
    if HIVE_PATTERN.fullmatch(expression):
        names = expression.replace(".*", "*").replace(".", "?").split("|")
        text = "|".join(map(fnmatch.translate, names))
    else:
        text = re.sub(r"(?<![.\])\\])\*", ".*", expression)
        # More repetitions may take longer than anybody waits, and nothing else runs meanwhile.
        if REPEATED_GROUP.search(text) or len(REPEAT.findall(text)) > MAX_REPEATS:
            raise InvalidInputError(
                f"Expression {expression!r} repeats too much for this machine; allowed: names with "
                f"*, or up to {MAX_REPEATS} of * + ? {{ outside of groups"
            )
    try:
        return re.compile(text, re.IGNORECASE)
    except (re.error, OverflowError, RecursionError) as error:
        raise InvalidInputError(f"Expression {expression!r} is not a pattern: {error}") from error


def update_table(glue: GlueState, request: Request) -> Answer:
    """Replace the definition of a table, and increment its version.

    VersionId must be the current version: otherwise another client was faster.
    """
    _check_keys(request)
    new = table_of_request(request)
    with glue.store.transaction():
        old = find_table(glue.store, new.database, request.get("Name", new.name))
        if old.name != new.name:
            raise InvalidInputError(f"a table cannot be renamed, from {old.name} to {new.name}")
        version = str(version_of(glue.store, old).version)
        if request.get("VersionId", version) != version:
            raise ServiceError(
                "ConcurrentModificationException",
                f"table {old.full_name} has the version {version}, the request changes "
                f"{request['VersionId']}: read it again",
            )
        put_tables(glue.store, [new], keeps_replaced=not request.get("SkipArchive", False))
    return {}


def delete_table(glue: GlueState, request: Request) -> Answer:
    """Delete a table with its partitions and versions; the data is kept."""
    table = find_table(glue.store, request["DatabaseName"], request["Name"])
    drop_table(glue.store, table.database, table.name)
    return {}


def batch_delete_table(glue: GlueState, request: Request) -> Answer:
    """Delete several tables; each that fails is an error."""
    database = existing_database(glue.store, request["DatabaseName"]).name
    errors = [
        {"TableName": name, "ErrorDetail": detail}
        for name in request["TablesToDelete"]
        if (detail := attempt(delete_table, glue, {"DatabaseName": database, "Name": name}))
    ]
    return {"Errors": errors}


def search_tables(glue: GlueState, request: Request) -> Answer:
    """Return a page of the tables that contain a string and have the given properties."""
    text = request.get("SearchText", "")
    tables = [member(glue, table) for table in catalog_tables(glue.store)]
    filters = request.get("Filters", [])
    matching = [
        table
        for table in tables
        if _contains(table, text) and all(_meets(table, predicate) for predicate in filters)
    ]
    # Sorting is stable: the first criterion decides if it is applied last.
    for criterion in reversed(request.get("SortCriteria", [])):
        name, order = criterion.get("FieldName", "Name"), criterion.get("Sort", "ASC")
        matching.sort(key=partial(_word, name), reverse=order == "DESC")
    shown, token = page(matching, request.get("NextToken"), request.get("MaxResults", PAGE))
    return {"TableList": shown, "NextToken": token}


def _word(name: str, table: Answer) -> str:
    return str(table.get(name, ""))


def _contains(table: Answer, text: str) -> bool:
    columns = [
        *table.get("StorageDescriptor", {}).get("Columns", []),
        *table.get("PartitionKeys", []),
    ]
    words = [str(table[name]) for name in SEARCHED_FIELDS if name in table]
    words += [
        str(column[name]) for column in columns for name in ("Name", "Comment") if name in column
    ]
    words += [str(value) for value in table.get("Parameters", {}).values()]
    if len(text) > 1 and text[0] == text[-1] == '"':
        # In quotes it must be a whole word.
        return text[1:-1].lower() in [word.lower() for word in words]
    return any(text.lower() in word.lower() for word in words)


def _meets(table: Answer, predicate: Request) -> bool:
    key, value = predicate.get("Key", ""), predicate.get("Value", "")
    comparator = predicate.get("Comparator", "EQUALS")
    if comparator != "EQUALS":
        raise InvalidInputError(f"Comparator {comparator} does not work here; allowed: EQUALS")
    return str(table.get(key, table.get("Parameters", {}).get(key))) == str(value)


def member(glue: GlueState, table: CatalogTable) -> Answer:
    """Return a table in the form of answers."""
    return member_of_version(glue, version_of(glue.store, table))


def member_of_version(glue: GlueState, version: TableVersion) -> Answer:
    """Return a version of a table in the form of answers."""
    table = version.table
    return {
        **as_shape("Table", table.definition),
        "Name": table.name,
        "DatabaseName": table.database,
        "CreateTime": version.created_at_ms,
        "UpdateTime": version.changed_at_ms,
        "IsRegisteredWithLakeFormation": False,
        "CatalogId": glue.account,
        "VersionId": str(version.version),
    }
