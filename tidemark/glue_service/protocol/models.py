"""The service models that botocore ships: which operations there are, and their shapes."""

import gzip
import re
from functools import cache
from pathlib import Path

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel

NAMES = re.compile(rb'"(?:endpointPrefix|signingName)" *: *"([^"]+)"')
HEAD_BYTES = 4_000  # of the file of a model, in which its metadata are
TARGETS = {"AWSGlue": "glue", "Logs_20140328": "logs"}  # of the header X-Amz-Target


@cache
def service_model(service: str) -> ServiceModel:
    """Return the model of a service by botocore's name for it, such as ``glue``."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


@cache
def services_signed_as(name: str) -> tuple[str, ...]:
    """Return the services, as boto3 calls them, whose requests are signed with a name.

    Of several, one that has the name itself.

    >>> services_signed_as("monitoring")
    ('cloudwatch',)
    """
    found = set()
    for folder in Loader().search_paths:
        for path in Path(folder).glob("*/*/service-2.json.gz"):
            with gzip.open(path) as file:
                if name.encode() in NAMES.findall(file.read(HEAD_BYTES)):
                    found.add(path.parent.parent.name)
    return (name,) if name in found else tuple(sorted(found))


def find_operation(service: str, name: str) -> OperationModel | None:
    """Return an operation of a service; None if AWS has none of this name."""
    model = service_model(service)
    return model.operation_model(name) if name in model.operation_names else None
