"""Databases of the Data Catalog, as Glue's CreateDatabase defines them.

Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateDatabase.html
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tidemark.errors import UsageError

DEFAULT_DATABASE = "default"  # Spark creates it if it is missing


@dataclass(frozen=True)
class CatalogDatabase:
    """One database of the Data Catalog.

    Attributes:
        name: its name, in lower case.
        definition: Glue's DatabaseInput.
    """

    name: str
    definition: Mapping[str, Any] = field(default_factory=dict)

    @property
    def location(self) -> str:
        """The location of tables that state none; empty if not set."""
        return str(self.definition.get("LocationUri") or "")

    @property
    def description(self) -> str:
        """Its description."""
        return str(self.definition.get("Description") or "")

    @property
    def parameters(self) -> dict[str, str]:
        """Its properties."""
        return dict(self.definition.get("Parameters") or {})


def database_of_request(request: Mapping[str, Any]) -> CatalogDatabase:
    """Return the database that a request of Glue's CreateDatabase defines."""
    definition = request.get("DatabaseInput")
    if not isinstance(definition, Mapping) or not definition.get("Name"):
        raise UsageError("the request has no DatabaseInput.Name; see `aws glue create-database`")
    return CatalogDatabase(str(definition["Name"]).lower(), definition)
