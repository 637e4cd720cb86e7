"""Puts a secret into the Secrets Manager of a home, whether or not its port is served.

Source: https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_PutSecretValue.html
"""

import json
import re
import uuid
from pathlib import Path
from typing import Any

from tidemark.emulated.services import EmulatedServices
from tidemark.errors import UsageError
from tidemark.glue_service.protocol.models import find_faults, service_model
from tidemark.glue_service.protocol.replies import Reply

SERVICE = "secretsmanager"
SCOPE = "AWS4-HMAC-SHA256 Credential=local/20260101/{region}/secretsmanager/aws4_request"
MISSING = b"ResourceNotFoundException"
OK = 200
# moto takes any name. Source: API_CreateSecret of the Secrets Manager API Reference.
NAME = re.compile(r"[\w/+=.@-]{1,512}", re.ASCII)


def put_secret(home: Path, region: str, name: str, value: str) -> bool:
    """Give a secret a value; return whether it is new."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"the name {name!r} is not valid; allowed: 1 to 512 letters, digits and /_+=.@-"
        )
    services = EmulatedServices(home)
    common = {"SecretString": value, "ClientRequestToken": str(uuid.uuid4())}
    done = _ask(services, region, "PutSecretValue", {"SecretId": name, **common})
    is_new = MISSING in bytes(done.body)  # type: ignore[arg-type] # moto's are bytes
    if is_new:
        done = _ask(services, region, "CreateSecret", {"Name": name, **common})
    if done.status != OK:
        text = json.loads(bytes(done.body))  # type: ignore[arg-type]
        raise UsageError(f"{name!r} cannot be put: {text.get('message') or text.get('Message')}")
    return is_new


def _ask(services: EmulatedServices, region: str, operation: str, request: dict[str, Any]) -> Reply:
    if faults := find_faults(service_model(SERVICE).operation_model(operation), request):
        raise UsageError(f"Secrets Manager cannot take this: {'; '.join(faults)}")
    headers = {
        "authorization": SCOPE.format(region=region) + ", SignedHeaders=host",
        "content-type": "application/x-amz-json-1.1",
        "x-amz-target": f"{SERVICE}.{operation}",
    }
    return services.answer(SERVICE, "/", headers, json.dumps(request).encode())
