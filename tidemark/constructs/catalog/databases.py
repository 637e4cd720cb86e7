"""The database of a table or a crawler: a construct of the app, an imported one, or a name."""

from typing import TypeAlias, cast

import aws_cdk as cdk
from aws_cdk import aws_glue as glue

from tidemark.constructs.shared_checks import check_catalog, check_here

Database: TypeAlias = glue.IDatabase | glue.CfnDatabase | str
ALLOWED = "a Database or a CfnDatabase, as lake.catalog_database, or the name of a database"


def resource_of(database: Database) -> glue.CfnDatabase | None:
    """Return the resource of a database of the app; None of one that the app does not create."""
    made = database.node.default_child if isinstance(database, glue.Database) else database
    return made if isinstance(made, glue.CfnDatabase) else None


def name_of_database(database: Database) -> str:
    """Return the name of a database, which may be known at deployment only."""
    if isinstance(database, str):
        return database
    made = resource_of(database)
    if made is None:
        return cast(glue.IDatabase, database).database_name
    name = getattr(made.database_input, "name", None)
    return name if isinstance(name, str) else made.ref


def reference_of(database: Database) -> str:
    """Return the name of a database, in a form that makes its user wait for it."""
    made = resource_of(database)
    return made.ref if made else name_of_database(database)


class InDatabase:
    """A table of a database; its names may be known at deployment only."""

    database: Database
    name: str

    @property
    def database_name(self) -> str:
        """Return the name of the database."""
        return name_of_database(self.database)

    @property
    def full_name(self) -> str:
        """Return ``database.table``."""
        return f"{self.database_name}.{self.name}"


def check_database(of: str, stack: cdk.Stack, database: Database) -> None:
    """Raise if a database is known to be where the jobs and crawlers of a stack do not look.

    Args:
        of: who uses it, at the start of an error.
        stack: the stack.
        database: the database.

    Raises:
        JobDefinitionError: it is in another account or region, or in another catalog than the
            account's own, where Tidemark makes tables.
    """
    if isinstance(database, str):
        return
    check_here(of, stack, "a database", database)
    if made := resource_of(database):
        check_catalog(of, stack, "a database", made.catalog_id)
