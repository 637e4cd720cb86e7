"""Operations on the versions of tables.

Source: https://docs.aws.amazon.com/glue/latest/webapi/API_GetTableVersions.html
"""

from tidemark.glue_service.catalog_api.requests import attempt
from tidemark.glue_service.catalog_api.tables import member_of_version
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import InvalidInputError, NotFoundError
from tidemark.local_state.catalog.tables import (
    TableVersion,
    find_table,
    forget_version,
    versions_of,
)
from tidemark.model.assembly.catalog_tables import CatalogTable

LATEST = 10**18


def get_table_version(glue: GlueState, request: Request) -> Answer:
    """Return a table at a version; the current one by default."""
    table = _table(glue, request)
    versions = versions_of(glue.store, table)
    wanted = request.get("VersionId", str(versions[0].version))
    return {"TableVersion": _member(glue, _find(table, versions, wanted))}


def _order(version: TableVersion) -> str:
    return f"{LATEST - version.version:020}"  # the newest first


def get_table_versions(glue: GlueState, request: Request) -> Answer:
    """Return a page of the versions of a table, the newest first."""
    page, token = glue_page(versions_of(glue.store, _table(glue, request)), request, _order)
    return {"TableVersions": [_member(glue, version) for version in page], "NextToken": token}


def delete_table_version(glue: GlueState, request: Request) -> Answer:
    """Delete a version of a table; the current one cannot be deleted."""
    _forget(glue, _table(glue, request), request["VersionId"])
    return {}


def batch_delete_table_version(glue: GlueState, request: Request) -> Answer:
    """Delete versions of a table; each missing one is an error."""
    table = _table(glue, request)
    errors = [
        {"TableName": table.name, "VersionId": version, "ErrorDetail": detail}
        for version in request["VersionIds"]
        if (detail := attempt(_forget, glue, table, version))
    ]
    return {"Errors": errors}


def _forget(glue: GlueState, table: CatalogTable, version_id: str) -> None:
    versions = versions_of(glue.store, table)
    version = _find(table, versions, version_id)
    if version == versions[0]:
        raise InvalidInputError(
            f"{version_id} is the version of the table {table.full_name} now; delete an earlier "
            "one, or the table"
        )
    forget_version(glue.store, table, version.version)


def _find(table: CatalogTable, versions: list[TableVersion], version_id: str) -> TableVersion:
    for version in versions:
        if str(version.version) == version_id:
            return version
    known = ", ".join(str(version.version) for version in versions)
    raise NotFoundError(
        f"Table version not found: {version_id!r} of the table {table.full_name}, which has {known}"
    )


def _member(glue: GlueState, version: TableVersion) -> Answer:
    return {"Table": member_of_version(glue, version), "VersionId": str(version.version)}


def _table(glue: GlueState, request: Request) -> CatalogTable:
    return find_table(glue.store, request["DatabaseName"], request["TableName"])
