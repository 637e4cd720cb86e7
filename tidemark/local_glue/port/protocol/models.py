"""The service models that botocore ships: which operations there are, and their shapes."""

from functools import cache

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel

TARGETS = {"AWSGlue": "glue", "Logs_20140328": "logs"}  # of the header X-Amz-Target


@cache
def service_model(service: str) -> ServiceModel:
    """Return the model of a service by botocore's name for it, such as ``glue``."""
    return ServiceModel(Loader().load_service_model(service, "service-2"), service)


def find_operation(service: str, name: str) -> OperationModel | None:
    """Return an operation of a service; None if AWS has none of this name."""
    model = service_model(service)
    return model.operation_model(name) if name in model.operation_names else None
