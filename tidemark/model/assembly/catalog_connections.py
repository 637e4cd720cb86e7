"""Connections of the Data Catalog: how a table that is in a database is reached.

Source: https://docs.aws.amazon.com/glue/latest/webapi/API_CreateConnection.html
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.errors import UnsupportedError, UsageError

# Glue's connection properties -> the options of Spark's JDBC source.
_OPTIONS = {
    "JDBC_CONNECTION_URL": "url",
    "USERNAME": "user",
    "PASSWORD": "password",
    "JDBC_DRIVER_CLASS_NAME": "driver",
}


@dataclass(frozen=True)
class CatalogConnection:
    """One connection; `definition` is Glue's ConnectionInput."""

    name: str
    definition: Mapping[str, Any]

    @property
    def properties(self) -> Mapping[str, Any]:
        """Return its ConnectionProperties."""
        return self.definition.get("ConnectionProperties") or {}

    def jdbc_options(self) -> dict[str, str]:
        """Return url, user, password and driver, those that it has."""
        properties = self.properties
        if "SECRET_ID" in properties:
            raise UnsupportedError(
                f"the connection {self.name!r} has its password in the secret "
                f"{properties['SECRET_ID']!r}, which is not on this machine: define a local one of "
                "the same name with USERNAME and PASSWORD by `tidemark catalog put FILE.json`"
            )
        if "JDBC_CONNECTION_URL" not in properties:
            raise UsageError(
                f"the connection {self.name!r} has no JDBC_CONNECTION_URL but "
                f"{sorted(properties) or 'no properties'}; a table of a database needs one"
            )
        return {_OPTIONS[key]: str(properties[key]) for key in _OPTIONS if key in properties}


def connection_of_request(request: Mapping[str, Any]) -> CatalogConnection:
    """Return the connection that a request of Glue's CreateConnection defines."""
    definition = request.get("ConnectionInput")
    if not isinstance(definition, Mapping) or not definition.get("Name"):
        raise UsageError(
            "the request has no ConnectionInput.Name; see `aws glue create-connection help`"
        )
    return CatalogConnection(str(definition["Name"]), definition)
