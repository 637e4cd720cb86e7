"""Operations on databases.

Source: https://docs.aws.amazon.com/glue/latest/dg/aws-glue-api-catalog-databases.html
"""

from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.jobs import check_tags
from tidemark.glue_service.protocol.models import as_shape
from tidemark.glue_service.protocol.pages import Answer, Request, glue_page
from tidemark.glue_service.protocol.service_errors import AlreadyExistsError, InvalidInputError
from tidemark.local_state.catalog.definitions import (
    TAGS,
    catalog_databases,
    drop_database,
    existing_database,
    put_databases,
)
from tidemark.model.assembly.catalog_databases import CatalogDatabase, database_of_request


def create_database(glue: GlueState, request: Request) -> Answer:
    """Define a database."""
    check_tags(request.get(TAGS, {}))
    database = database_of_request(request)
    tagged = {**database.definition, TAGS: request.get("Tags", {})}
    with glue.store.transaction():
        if glue.store.query("SELECT 1 FROM catalog_database WHERE name = ?", (database.name,)):
            raise AlreadyExistsError(f"Database already exists: {database.name}")
        put_databases(glue.store, [CatalogDatabase(database.name, tagged)])
    return {}


def get_database(glue: GlueState, request: Request) -> Answer:
    """Return a database."""
    return {"Database": _member(glue, existing_database(glue.store, request["Name"]))}


def get_databases(glue: GlueState, request: Request) -> Answer:
    """Return a page of the databases, by name."""
    page, token = glue_page(catalog_databases(glue.store), request)
    return {"DatabaseList": [_member(glue, database) for database in page], "NextToken": token}


def update_database(glue: GlueState, request: Request) -> Answer:
    """Replace the definition of a database; it keeps its name."""
    old = existing_database(glue.store, request["Name"])
    new = database_of_request(request)
    if new.name != old.name:
        raise InvalidInputError(f"a database cannot be renamed, from {old.name} to {new.name}")
    put_databases(glue.store, [new])
    return {}


def delete_database(glue: GlueState, request: Request) -> Answer:
    """Delete a database with its tables; the data is kept."""
    drop_database(glue.store, existing_database(glue.store, request["Name"]).name)
    return {}


def _member(glue: GlueState, database: CatalogDatabase) -> Answer:
    members = as_shape("Database", database.definition)
    return {
        "CreateTime": glue.machine.home.created_at_ms,  # of one that nobody has defined
        **members,
        "Name": database.name,
        "CatalogId": glue.account,
    }
