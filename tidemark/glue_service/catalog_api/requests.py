"""Shared parts of all operations on the Data Catalog."""

from collections.abc import Callable
from typing import Any

from tidemark.errors import TidemarkError
from tidemark.glue_service.glue_state import GlueState
from tidemark.glue_service.protocol.pages import Answer, Request
from tidemark.glue_service.protocol.service_errors import (
    InvalidInputError,
    NotFoundError,
    service_error,
)

NOT_HERE = {
    "TransactionId": "AWS ended governed tables",
    "QueryAsOfTime": "AWS ended governed tables",
    "UpdateOpenTableFormatInput": "change Iceberg tables by Spark SQL",
    "PartitionIndexes": "there are no partition indexes here",
    "ViewUpdateAction": "views of the Data Catalog are not supported here",
    "TargetDatabase": "links to other catalogs are not supported here",
    "FederatedDatabase": "federated databases are not supported here",
}


def check_catalog(glue: GlueState, request: Request) -> None:
    """Refuse a request for another account's catalog, or for an unsupported feature.

    An empty member requests nothing: Terraform sends an empty list of PartitionIndexes.
    """
    catalog_id = request.get("CatalogId", glue.account)
    if catalog_id != glue.account:
        raise NotFoundError(f"Catalog {catalog_id} not found: this machine has {glue.account}")
    for name, why in NOT_HERE.items():
        if request.get(name) or request.get("DatabaseInput", {}).get(name):
            raise InvalidInputError(f"{name} does not work on this machine: {why}")


def attempt(work: Callable[..., object], *item: Any) -> Answer | None:
    """Process one item of a batch; return its ErrorDetail if it fails."""
    try:
        work(*item)
    except TidemarkError as error:
        fault = service_error(error)
        return {"ErrorCode": fault.code, "ErrorMessage": str(fault)}
    return None
