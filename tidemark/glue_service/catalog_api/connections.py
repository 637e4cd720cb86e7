"""Operations on connections.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-catalog-connections.html
"""

from tidemark.glue_service.catalog_api.requests import attempt
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import check_tags
from tidemark.glue_service.protocol.models import as_shape
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import AlreadyExistsError, InvalidInputError
from tidemark.local_state.catalog.definitions import (
    TAGS,
    catalog_connections,
    find_connection,
    put_connections,
)
from tidemark.model.assembly.catalog_connections import CatalogConnection, connection_of_request

PASSWORDS = ("PASSWORD", "ENCRYPTED_PASSWORD")


def create_connection(glue: GlueState, request: Request) -> Answer:
    """Define a connection."""
    check_tags(request.get("Tags", {}))
    connection = connection_of_request(request)
    tagged = {**connection.definition, TAGS: request.get("Tags", {})}
    with glue.store.transaction():
        if connection.name in [known.name for known in catalog_connections(glue.store)]:
            raise AlreadyExistsError(f"Connection already exists: {connection.name}")
        put_connections(glue.store, [CatalogConnection(connection.name, tagged)])
    return {"CreateConnectionStatus": "READY"}


def get_connection(glue: GlueState, request: Request) -> Answer:
    """Return a connection, on request without its password."""
    connection = find_connection(glue.store, request["Name"])
    return {"Connection": _member(glue, connection, hides=request.get("HidePassword", False))}


def get_connections(glue: GlueState, request: Request) -> Answer:
    """Return a page of the connections, by name, filtered by type or criteria."""
    wanted = request.get("Filter", {})
    connections = [
        connection
        for connection in catalog_connections(glue.store)
        if wanted.get("ConnectionType") in (None, connection.definition.get("ConnectionType"))
        and set(wanted.get("MatchCriteria", []))
        <= set(connection.definition.get("MatchCriteria", []))
    ]
    page, token = glue_page(connections, request)
    hides = request.get("HidePassword", False)
    members = [_member(glue, connection, hides=hides) for connection in page]
    return {"ConnectionList": members, "NextToken": token}


def update_connection(glue: GlueState, request: Request) -> Answer:
    """Replace a connection."""
    old, new = find_connection(glue.store, request["Name"]), connection_of_request(request)
    if new.name != old.name:
        raise InvalidInputError(f"a connection cannot be renamed, from {old.name} to {new.name}")
    put_connections(glue.store, [new])
    return {}


def delete_connection(glue: GlueState, request: Request) -> Answer:
    """Delete a connection."""
    connection = find_connection(glue.store, request["ConnectionName"])
    glue.store.change("DELETE FROM catalog_connection WHERE name = ?", (connection.name,))
    return {}


def batch_delete_connection(glue: GlueState, request: Request) -> Answer:
    """Delete several connections; each missing one is an error."""
    succeeded, errors = [], {}
    for name in request["ConnectionNameList"]:
        if detail := attempt(delete_connection, glue, {"ConnectionName": name}):
            errors[name] = detail
        else:
            succeeded.append(name)
    return {"Succeeded": succeeded, "Errors": errors}


def _member(glue: GlueState, connection: CatalogConnection, *, hides: bool) -> Answer:
    # A connection whose times nobody has noted counts as old as the home.
    home_ms = glue.machine.home.created_at_ms
    times = {"CreationTime": home_ms, "LastUpdatedTime": home_ms}
    members = {**times, **as_shape("Connection", connection.definition)}
    if hides:
        properties = members.get("ConnectionProperties", {})
        members["ConnectionProperties"] = {
            name: value for name, value in properties.items() if name not in PASSWORDS
        }
    return {**members, "Status": "READY"}
